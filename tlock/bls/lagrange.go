package bls

import "fmt"

// LagrangeAtZero returns the coefficients l such that f(0) is the sum of
// l[i] * f(xs[i]) for every polynomial f of degree below len(xs). The xs must
// be distinct and nonzero.
func LagrangeAtZero(xs []uint32) ([]Scalar, error) {
	if err := checkAbscissas(xs); err != nil {
		return nil, err
	}
	return lagrangeAtZero(xs), nil
}

func checkAbscissas(xs []uint32) error {
	seen := make(map[uint32]bool, len(xs))
	for _, x := range xs {
		if x == 0 {
			return fmt.Errorf("bls: interpolating at zero from the point zero")
		}
		if seen[x] {
			return fmt.Errorf("bls: interpolating with the point %d twice", x)
		}
		seen[x] = true
	}
	return nil
}

// EvalScalar returns the polynomial c[0] + c[1] x + c[2] x^2 + ... at x, in a
// time that does not depend on the coefficients.
func EvalScalar(c []Scalar, x uint32) Scalar { return evalScalar(c, x) }

// EvalG1 returns the point c[0] + x c[1] + x^2 c[2] + ...: the value at x of a
// polynomial that is known by its commitments. It is faster the shorter x is.
func EvalG1(c []G1, x uint32) G1 { return evalG1(c, x) }
