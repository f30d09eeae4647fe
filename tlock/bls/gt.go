package bls

import (
	blst "github.com/supranational/blst/bindings/go"
)

// GT is an element of the target group of the pairing. Its zero value is not
// an element: elements come from Pair and the operations on them.
type GT struct{ f blst.Fp12 }

// Bytes returns the 576 bytes of g in the order that the package comment gives.
func (g GT) Bytes() [GTSize]byte { return [GTSize]byte(g.f.ToBendian()) }

// Equal reports whether g = h. It is not constant time.
func (g GT) Equal(h GT) bool { return g.f == h.f }

// Mul returns g * h.
func (g GT) Mul(h GT) GT {
	g.f.MulAssign(&h.f)
	return g
}

// Inverse returns 1/g, which in the target group is the conjugate of g.
func (g GT) Inverse() GT {
	conjugate(&g)
	return g
}

// Exp returns g^s in constant time.
func (g GT) Exp(s Scalar) GT { return NewGTTable(g).ExpSecret(s) }
