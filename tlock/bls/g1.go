package bls

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	blst "github.com/supranational/blst/bindings/go"
)

// G1 is a point of E(Fp) in affine form, in the group of public keys unless it
// came from DecodeG1Unchecked. The zero value is the identity.
type G1 struct{ p blst.P1Affine }

// DecodeG1 decodes 48 bytes: the canonical compressed encoding of a point of
// the subgroup of order r other than the identity.
func DecodeG1(b []byte) (G1, error) {
	p, err := DecodeG1Unchecked(b)
	if err != nil {
		return G1{}, err
	}
	if !p.InSubgroup() {
		return G1{}, fmt.Errorf("%w: G1 point is not in the subgroup", ErrInvalid)
	}
	return p, nil
}

// DecodeG1Unchecked is DecodeG1 without the subgroup check. It is for callers
// that accept a point only if its bytes equal those of a point that is known to
// be in the subgroup.
func DecodeG1Unchecked(b []byte) (G1, error) {
	if err := checkFlags("G1", b, G1Size); err != nil {
		return G1{}, err
	}
	var p G1
	if p.p.Uncompress(b) == nil {
		return G1{}, fmt.Errorf("%w: G1 bytes are not a point of the curve", ErrInvalid)
	}
	return p, nil
}

// checkFlags checks the length and the three flag bits of a compressed point,
// which blst would accept for the identity too.
func checkFlags(group string, b []byte, size int) error {
	switch {
	case len(b) != size:
		return fmt.Errorf("%w: %s point has %d bytes, want %d", ErrInvalid, group, len(b), size)
	case b[0]&0x80 == 0:
		return fmt.Errorf("%w: %s point is not in compressed form", ErrInvalid, group)
	case b[0]&0x40 != 0:
		return fmt.Errorf("%w: %s point is the identity", ErrInvalid, group)
	}
	return nil
}

// G1Generator returns the generator of the subgroup.
func G1Generator() G1 { return G1{*blst.P1Generator().ToAffine()} }

// Bytes returns the compressed encoding; the identity is 0xc0 and zeros.
func (p G1) Bytes() [G1Size]byte { return [G1Size]byte(p.p.Compress()) }

// Equal reports whether p = q.
func (p G1) Equal(q G1) bool { return p.p == q.p }

// IsInfinity reports whether p is the identity.
func (p G1) IsInfinity() bool { return p == G1{} }

// InSubgroup reports whether p is in the subgroup of order r, as every point is
// that did not come from DecodeG1Unchecked. The identity is.
func (p G1) InSubgroup() bool { return p.p.InG1() }

// Add returns p + q.
func (p G1) Add(q G1) G1 {
	j := p.jacobian()
	return G1{*j.AddAssign(&q.p).ToAffine()}
}

// Sub returns p - q.
func (p G1) Sub(q G1) G1 {
	j := p.jacobian()
	return G1{*j.SubAssign(&q.p).ToAffine()}
}

// Neg returns -p.
func (p G1) Neg() G1 { return G1{}.Sub(p) }

// Mul returns s * p in constant time. p must be in the subgroup.
func (p G1) Mul(s Scalar) G1 {
	j := p.jacobian()
	return G1{*j.MultAssign(&s.v).ToAffine()}
}

// MulUint64 returns x * p, faster the shorter x is. Its time depends on x.
func (p G1) MulUint64(x uint64) G1 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	j := p.jacobian()
	return G1{*j.MultAssign(b[:], bits.Len64(x)).ToAffine()}
}

// SumG1 returns the sum of all points; of none, the identity.
func SumG1(points []G1) G1 {
	var j blst.P1
	for i := range points {
		j.AddAssign(&points[i].p)
	}
	return G1{*j.ToAffine()}
}

func (p G1) jacobian() *blst.P1 {
	var j blst.P1
	j.FromAffine(&p.p)
	return &j
}
