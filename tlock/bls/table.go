package bls

import blst "github.com/supranational/blst/bindings/go"

// G1Table multiplies one point by many scalars.
type G1Table struct{ p G1 }

// NewG1Table makes the table of p.
func NewG1Table(p G1) *G1Table { return &G1Table{p} }

// MulSecret returns s * p in constant time.
func (t *G1Table) MulSecret(s Scalar) G1 { return t.p.Mul(s) }

// MulPublic returns s * p in a time that depends on s.
func (t *G1Table) MulPublic(s Scalar) G1 { return t.p.Mul(s) }

// MulG1Secret returns s times the generator in constant time.
func MulG1Secret(s Scalar) G1 { return G1Generator().Mul(s) }

// MulG1Public returns s times the generator in a time that depends on s.
func MulG1Public(s Scalar) G1 { return G1Generator().Mul(s) }

// GTTable raises one element to many powers.
type GTTable struct{ g GT }

// NewGTTable makes the table of g.
func NewGTTable(g GT) *GTTable { return &GTTable{g} }

// ExpSecret returns g^s in constant time.
func (t *GTTable) ExpSecret(s Scalar) GT { return t.exp(s) }

// ExpPublic returns g^s in a time that depends on s.
func (t *GTTable) ExpPublic(s Scalar) GT { return t.exp(s) }

func (t *GTTable) exp(s Scalar) GT {
	acc := blst.Fp12One()
	le := s.littleEndian()
	for i := 8*len(le) - 1; i >= 0; i-- {
		acc.MulAssign(&acc)
		factor := blst.Fp12One()
		if le[i/8]>>(i%8)&1 == 1 {
			factor = t.g.f
		}
		acc.MulAssign(&factor)
	}
	return GT{acc}
}
