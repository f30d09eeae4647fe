package bls_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func TestGroupLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _ := drawScalar(t, "a")
		b, _ := drawScalar(t, "b")
		x := rapid.Uint64().Draw(t, "x") >> rapid.IntRange(0, 63).Draw(t, "shift")

		p, q := bls.G1Generator().Mul(a), bls.G1Generator().Mul(b)
		if !p.Add(q).Equal(bls.G1Generator().Mul(a.Add(b))) || !p.Sub(q).Equal(bls.G1Generator().Mul(a.Sub(b))) ||
			!p.Neg().Equal(bls.G1Generator().Mul(a.Neg())) || !p.MulUint64(x).Equal(p.Mul(bls.ScalarFromUint64(x))) ||
			!p.Add(p).Equal(p.MulUint64(2)) || !p.Sub(p).IsInfinity() || !p.Add(bls.G1{}).Equal(p) || !bls.SumG1([]bls.G1{p, q, p}).Equal(p.Add(q).Add(p)) {
			t.Error("G1 is not a group with its multiplication")
		}
		p2, q2 := bls.G2Generator().Mul(a), bls.G2Generator().Mul(b)
		if !p2.Add(q2).Equal(bls.G2Generator().Mul(a.Add(b))) || !p2.Sub(q2).Equal(bls.G2Generator().Mul(a.Sub(b))) ||
			!p2.Neg().Equal(bls.G2Generator().Mul(a.Neg())) || !p2.MulUint64(x).Equal(p2.Mul(bls.ScalarFromUint64(x))) ||
			!p2.Add(p2).Equal(p2.MulUint64(2)) || !p2.Sub(p2).IsInfinity() || !p2.Add(bls.G2{}).Equal(p2) || !bls.SumG2([]bls.G2{p2, q2, p2}).Equal(p2.Add(q2).Add(p2)) {
			t.Error("G2 is not a group with its multiplication")
		}
	})
}

func TestPairingIsBilinear(t *testing.T) {
	g := bls.Pair(bls.G1Generator(), bls.G2Generator())
	one := g.Mul(g.Inverse())
	if g.Equal(one) {
		t.Error("the pairing of the generators is one")
	}
	if !bls.Pair(bls.G1{}, bls.G2Generator()).Equal(one) || !bls.Pair(bls.G1Generator(), bls.G2{}).Equal(one) {
		t.Error("a pairing with the identity is not one")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, _ := drawScalar(t, "a")
		b, _ := drawScalar(t, "b")
		got := bls.Pair(bls.G1Generator().Mul(a), bls.G2Generator().Mul(b))
		if !got.Equal(g.Exp(a.Mul(b))) || !got.Equal(bls.Prepare(bls.G2Generator().Mul(b)).Pair(bls.G1Generator().Mul(a))) {
			t.Error("e(a G, b H) is not e(G, H)^(a b)")
		}
		if !g.Exp(a).Mul(g.Exp(b)).Equal(g.Exp(a.Add(b))) || !g.Exp(a).Inverse().Equal(g.Exp(a.Neg())) {
			t.Error("powers do not add up")
		}
	})
}

func TestIdentitiesNeverVerify(t *testing.T) {
	g, h := bls.G1Generator(), bls.G2Generator()
	for name, got := range map[string]bool{
		"G2: identity key and signature":  bls.VerifyG2(bls.G1{}, bls.Prepare(h), bls.G2{}),
		"G2: identity hash and signature": bls.VerifyG2(g, bls.Prepare(bls.G2{}), bls.G2{}),
		"G2: identity key and hash":       bls.VerifyG2(bls.G1{}, bls.Prepare(bls.G2{}), h),
		"G2: all identity":                bls.VerifyG2(bls.G1{}, bls.Prepare(bls.G2{}), bls.G2{}),
		"G1: identity key and signature":  bls.VerifyG1(bls.G2{}, g, bls.G1{}),
		"G1: identity hash and signature": bls.VerifyG1(h, bls.G1{}, bls.G1{}),
		"G1: all identity":                bls.VerifyG1(bls.G2{}, bls.G1{}, bls.G1{}),
	} {
		if got {
			t.Errorf("%s: verifies", name)
		}
	}
	if !bls.VerifyG2(g, bls.Prepare(h), h) || !bls.VerifyG1(h, g, g) {
		t.Error("the signature of the secret one does not verify")
	}
}

func TestAnyThresholdOfSharesGivesTheSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := rapid.IntRange(1, 12).Draw(t, "threshold")
		xs := rapid.SliceOfNDistinct(rapid.Uint32Min(1), threshold, threshold, func(x uint32) uint32 { return x }).Draw(t, "xs")
		c := make([]bls.Scalar, threshold)
		for i := range c {
			c[i], _ = drawScalar(t, "coefficient")
		}
		l, err := bls.LagrangeAtZero(xs)
		if err != nil {
			t.Fatal(err)
		}
		var got bls.Scalar
		for i, x := range xs {
			got = got.Add(l[i].Mul(bls.EvalScalar(c, x)))
		}
		if !got.Equal(c[0]) {
			t.Error("interpolation at zero does not give the constant term")
		}
	})
}

func TestLagrangeRefusesZeroAndRepeatedPoints(t *testing.T) {
	for _, c := range []struct {
		xs   []uint32
		want string
	}{
		{[]uint32{0}, "bls: interpolating at zero from the point zero"},
		{[]uint32{3, 1, 0}, "bls: interpolating at zero from the point zero"},
		{[]uint32{3, 1, 3}, "bls: interpolating with the point 3 twice"},
	} {
		if _, err := bls.LagrangeAtZero(c.xs); err == nil || err.Error() != c.want {
			t.Errorf("%v: error %v, want %q", c.xs, err, c.want)
		}
	}
}

func TestSumsRefuseUnequalLengths(t *testing.T) {
	p, q := []bls.G1{bls.G1Generator()}, []bls.G2{bls.G2Generator()}
	for _, f := range []func(){
		func() { bls.MSMG1(p, nil) }, func() { bls.MSMG2(q, nil) },
		func() { bls.MSMG1Short(p, nil) }, func() { bls.MSMG2Short(q, nil) },
	} {
		mustPanic(t, "bls: 1 points with 0 scalars", f)
	}
}

func TestBatchCheckCatchesOneBadSignature(t *testing.T) {
	const n = 10
	q := bls.HashToG2([]byte("slot 1"), []byte("TEST_DST"))
	lines := bls.Prepare(q)
	var pks []bls.G1
	var sigs []bls.G2
	for range n {
		sk := random(t)
		pks, sigs = append(pks, bls.MulG1Secret(sk)), append(sigs, q.Mul(sk))
	}
	c, err := bls.RandomCoeffs(n)
	if err != nil {
		t.Fatal(err)
	}
	check := func() bool { return bls.VerifyG2(bls.MSMG1Short(pks, c), lines, bls.MSMG2Short(sigs, c)) }
	if !check() {
		t.Error("ten good signatures do not verify together")
	}
	// Two errors that cancel in a plain sum.
	sigs[3], sigs[7] = sigs[3].Add(bls.G2Generator()), sigs[7].Sub(bls.G2Generator())
	if check() {
		t.Error("two bad signatures verify together")
	}
}
