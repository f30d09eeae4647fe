package bls_test

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func random(t testing.TB) bls.Scalar {
	t.Helper()
	s, err := bls.RandomScalar()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestThresholdSignatureRoundTrip(t *testing.T) {
	const n, threshold = 5, 3
	coeffs := make([]bls.Scalar, threshold)
	commitments := make([]bls.G1, threshold)
	for i := range coeffs {
		coeffs[i] = random(t)
		commitments[i] = bls.MulG1Secret(coeffs[i])
	}
	q := bls.HashToG2([]byte("slot 7"), []byte("TEST_DST"))
	lines := bls.Prepare(q)
	xs := []uint32{5, 1, 3}
	var partials []bls.G2
	for _, x := range xs {
		share := bls.EvalScalar(coeffs, x)
		partial := q.Mul(share)
		if public := bls.EvalG1(commitments, x); !bls.VerifyG2(public, lines, partial) {
			t.Errorf("partial %d does not verify under its public share", x)
		}
		partials = append(partials, partial)
	}
	l, err := bls.LagrangeAtZero(xs)
	if err != nil {
		t.Fatal(err)
	}
	sig := bls.MSMG2(partials, l)
	if !bls.VerifyG2(commitments[0], lines, sig) {
		t.Error("the recovered signature does not verify")
	}
	if !sig.Equal(q.Mul(coeffs[0])) {
		t.Error("the recovered signature is not the secret times the hash")
	}
	if bls.VerifyG2(commitments[1], lines, sig) {
		t.Error("the signature verifies under another key")
	}
}

func TestShortSignaturesVerify(t *testing.T) {
	sk := random(t)
	q := bls.HashToG1([]byte("round 1"), []byte("TEST_DST"))
	if pk := bls.G2Generator().Mul(sk); !bls.VerifyG1(pk, q, q.Mul(sk)) || bls.VerifyG1(pk, q, q) {
		t.Error("VerifyG1 is wrong")
	}
}
