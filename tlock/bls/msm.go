package bls

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
)

// Coeff128 is a random coefficient for a batch check, the integer c0 + c1*|z|
// below 2^128 with z the parameter of the curve and random words c0 and c1: so
// split, it costs half as much in G2. No integer has more than two such forms, so
// a batch of points of the subgroup with a bad one among them passes with a
// probability of at most 2^-127. Points outside the subgroup can do better: a
// batch check needs every point's subgroup checked.
type Coeff128 struct{ c0, c1 uint64 }

// RandomCoeffs draws n coefficients from crypto/rand.
func RandomCoeffs(n int) ([]Coeff128, error) {
	buf := make([]byte, 16*n)
	if _, err := io.ReadFull(rand.Reader, buf); err != nil {
		return nil, fmt.Errorf("drawing random coefficients: %w", err)
	}
	out := make([]Coeff128, n)
	for i := range out {
		out[i] = Coeff128{binary.LittleEndian.Uint64(buf[16*i:]), binary.LittleEndian.Uint64(buf[16*i+8:])}
	}
	return out, nil
}

const zAbs = 0xd201000000010000 // |z|, the curve's parameter is negative

// Scalar returns the coefficient as a scalar.
func (c Coeff128) Scalar() Scalar {
	return ScalarFromUint64(c.c1).Mul(ScalarFromUint64(zAbs)).Add(ScalarFromUint64(c.c0))
}

// MSMG1 returns the sum of s[i] * p[i], of points of the subgroup; of none, the
// identity. It panics if the lengths differ. Its time depends on the scalars.
func MSMG1(p []G1, s []Scalar) G1 {
	sameLength(len(p), len(s))
	return msmG1(p, s)
}

// MSMG2 is MSMG1 in G2. With points from DecodeG2Unchecked that are outside the
// subgroup the result is some point that proves nothing: check it.
func MSMG2(p []G2, s []Scalar) G2 {
	sameLength(len(p), len(s))
	return msmG2(p, s)
}

// MSMG1Short is MSMG1 for random coefficients.
func MSMG1Short(p []G1, c []Coeff128) G1 {
	sameLength(len(p), len(c))
	return msmG1Short(p, c)
}

// MSMG2Short is MSMG2 for random coefficients.
func MSMG2Short(p []G2, c []Coeff128) G2 {
	sameLength(len(p), len(c))
	return msmG2Short(p, c)
}

func sameLength(points, scalars int) {
	if points != scalars {
		panic(fmt.Sprintf("bls: %d points with %d scalars", points, scalars))
	}
}
