package bls

import blst "github.com/supranational/blst/bindings/go"

// What the C code of this package computes, by the textbook over blst's Go
// package alone: the fallback that the build tag bls_plain selects, and what
// the C code is tested against. It is slow, and constant time only where it
// multiplies a point.

func plainExp(g GT, s Scalar) GT {
	acc := blst.Fp12One()
	le := s.littleEndian()
	for i := 8*len(le) - 1; i >= 0; i-- {
		acc.MulAssign(&acc)
		if le[i/8]>>(i%8)&1 == 1 {
			acc.MulAssign(&g.f)
		}
	}
	return GT{acc}
}

// plainConjugate is the inverse, as the power r - 1.
func plainConjugate(g GT) GT { return plainExp(g, ScalarFromUint64(1).Neg()) }

func plainMSMG1(p []G1, s []Scalar) G1 {
	terms := make([]G1, len(p))
	for i := range p {
		terms[i] = p[i].Mul(s[i])
	}
	return SumG1(terms)
}

func plainMSMG2(p []G2, s []Scalar) G2 {
	terms := make([]G2, len(p))
	for i := range p {
		terms[i] = p[i].Mul(s[i])
	}
	return SumG2(terms)
}

func plainLagrangeAtZero(xs []uint32) []Scalar {
	out := make([]Scalar, len(xs))
	for i, xi := range xs {
		num, den := ScalarFromUint64(1), ScalarFromUint64(1)
		for j, xj := range xs {
			if j != i {
				num = num.Mul(ScalarFromUint64(uint64(xj)))
				den = den.Mul(ScalarFromUint64(uint64(xj)).Sub(ScalarFromUint64(uint64(xi))))
			}
		}
		inv, _ := den.Inverse() // not zero: the xs are distinct
		out[i] = num.Mul(inv)
	}
	return out
}

func plainEvalScalar(c []Scalar, x uint32) Scalar {
	var acc Scalar
	at := ScalarFromUint64(uint64(x))
	for i := len(c) - 1; i >= 0; i-- {
		acc = acc.Mul(at).Add(c[i])
	}
	return acc
}

func plainEvalG1(c []G1, x uint32) G1 {
	var acc G1
	for i := len(c) - 1; i >= 0; i-- {
		acc = acc.MulUint64(uint64(x)).Add(c[i])
	}
	return acc
}
