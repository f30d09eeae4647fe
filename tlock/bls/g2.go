package bls

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	blst "github.com/supranational/blst/bindings/go"
)

// G2 is a point of the twist over Fp2 in affine form, in the group of signatures unless it
// came from DecodeG2Unchecked. The zero value is the identity.
type G2 struct{ p blst.P2Affine }

// DecodeG2 decodes 96 bytes: the canonical compressed encoding of a point of
// the subgroup of order r other than the identity.
func DecodeG2(b []byte) (G2, error) {
	p, err := DecodeG2Unchecked(b)
	if err != nil {
		return G2{}, err
	}
	if !p.InSubgroup() {
		return G2{}, fmt.Errorf("%w: G2 point is not in the subgroup", ErrInvalid)
	}
	return p, nil
}

// DecodeG2Unchecked is DecodeG2 without the subgroup check. It is for the
// optimistic path of recovery, where only the result of an interpolation is
// checked. Arithmetic on such a point gives some point of the curve, and not
// always the one its name promises.
func DecodeG2Unchecked(b []byte) (G2, error) {
	if err := checkFlags("G2", b, G2Size); err != nil {
		return G2{}, err
	}
	var p G2
	if p.p.Uncompress(b) == nil {
		return G2{}, fmt.Errorf("%w: G2 bytes are not a point of the curve", ErrInvalid)
	}
	return p, nil
}

// G2Generator returns the generator of the subgroup.
func G2Generator() G2 { return G2{*blst.P2Generator().ToAffine()} }

// Bytes returns the compressed encoding; the identity is 0xc0 and zeros.
func (p G2) Bytes() [G2Size]byte { return [G2Size]byte(p.p.Compress()) }

// Equal reports whether p = q.
func (p G2) Equal(q G2) bool { return p.p == q.p }

// IsInfinity reports whether p is the identity.
func (p G2) IsInfinity() bool { return p == G2{} }

// InSubgroup reports whether p is in the subgroup of order r, as every point is
// that did not come from DecodeG2Unchecked. The identity is.
func (p G2) InSubgroup() bool { return p.p.InG2() }

// Add returns p + q.
func (p G2) Add(q G2) G2 {
	j := p.jacobian()
	return G2{*j.AddAssign(&q.p).ToAffine()}
}

// Sub returns p - q.
func (p G2) Sub(q G2) G2 {
	j := p.jacobian()
	return G2{*j.SubAssign(&q.p).ToAffine()}
}

// Neg returns -p.
func (p G2) Neg() G2 { return G2{}.Sub(p) }

// Mul returns s * p in constant time. p must be in the subgroup.
func (p G2) Mul(s Scalar) G2 {
	j := p.jacobian()
	return G2{*j.MultAssign(&s.v).ToAffine()}
}

// MulUint64 returns x * p, faster the shorter x is. Its time depends on x.
func (p G2) MulUint64(x uint64) G2 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	j := p.jacobian()
	return G2{*j.MultAssign(b[:], bits.Len64(x)).ToAffine()}
}

// SumG2 returns the sum of all points; of none, the identity.
func SumG2(points []G2) G2 {
	var j blst.P2
	for i := range points {
		j.AddAssign(&points[i].p)
	}
	return G2{*j.ToAffine()}
}

func (p G2) jacobian() *blst.P2 {
	var j blst.P2
	j.FromAffine(&p.p)
	return &j
}
