package bls

import "sync"

// G1Table multiplies one point of the subgroup by many scalars, three times as
// fast as G1.Mul or better. Making one takes as long as fifteen multiplications; it
// holds 130 KB.
type G1Table struct{ rows g1Rows }

// Windows of 6 bits are the fastest where a multiplication must read the whole
// table, and 8 bits where it need not but should fit the caches.
const (
	secretWindow = 6
	publicWindow = 8
)

// NewG1Table makes the table of p.
func NewG1Table(p G1) *G1Table { return newG1Table(p, secretWindow) }

func newG1Table(p G1, window int) *G1Table {
	t := new(G1Table)
	t.rows.set(&p, window)
	return t
}

// MulSecret returns s * p in constant time.
func (t *G1Table) MulSecret(s Scalar) G1 { return t.rows.mulSecret(&s) }

// MulPublic returns s * p in a time that depends on s.
func (t *G1Table) MulPublic(s Scalar) G1 { return t.rows.mulPublic(&s) }

var (
	generatorSecret = sync.OnceValue(func() *G1Table { return newG1Table(G1Generator(), secretWindow) })
	generatorPublic = sync.OnceValue(func() *G1Table { return newG1Table(G1Generator(), publicWindow) })
)

// MulG1Secret returns s times the generator in constant time.
func MulG1Secret(s Scalar) G1 { return generatorSecret().MulSecret(s) }

// MulG1Public returns s times the generator in a time that depends on s.
func MulG1Public(s Scalar) G1 { return generatorPublic().MulPublic(s) }

// GTTable raises one element to many powers, three times as fast as GT.Exp or
// better. Making one takes less time than a pairing; it holds 120 KB.
type GTTable struct{ rows gtRows }

// NewGTTable makes the table of g, which must come from a pairing.
func NewGTTable(g GT) *GTTable {
	t := new(GTTable)
	t.rows.set(&g)
	return t
}

// ExpSecret returns g^s in constant time.
func (t *GTTable) ExpSecret(s Scalar) GT { return t.rows.expSecret(&s) }

// ExpPublic returns g^s in a time that depends on s.
func (t *GTTable) ExpPublic(s Scalar) GT { return t.rows.expPublic(&s) }
