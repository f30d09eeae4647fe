package bls

import (
	"fmt"
	"math/bits"
	"testing"
	"unsafe"

	blst "github.com/supranational/blst/bindings/go"
	"pgregory.net/rapid"
)

// These tests compare the C code with the textbook over blst's Go package.
// Built with the tag bls_plain they compare the fallback with itself, and only
// show that it builds and runs.

// edgeScalars are the scalars at which windows, carries and splits go wrong if
// they do.
func edgeScalars() []Scalar {
	one, m := ScalarFromUint64(1), ScalarFromUint64(zAbs)
	out := []Scalar{{}, one, one.Neg(), ScalarFromUint64(2), ScalarFromUint64(2).Neg(), m, m.Neg(), m.Sub(one),
		m.Mul(m), m.Mul(m).Neg(), m.Mul(m).Sub(one), m.Mul(m).Mul(m), m.Mul(m).Mul(m).Sub(one), ScalarFromUint64(1<<64 - 1)}
	for _, w := range []uint{4, 5, 6, 8} { // all digits half, just below, and just above it
		for _, digit := range []uint64{1<<(w-1) - 1, 1 << (w - 1), 1<<(w-1) + 1, 1<<w - 1} {
			var s Scalar
			for i := uint(0); i+w <= 252; i += w {
				s = s.Mul(ScalarFromUint64(1 << w)).Add(ScalarFromUint64(digit))
			}
			out = append(out, s)
		}
	}
	for i := range 64 {
		out = append(out, HashToScalar([]byte{byte(i)}, []byte("edge")))
	}
	return out
}

func points(n int) (p []G1, q []G2) {
	for i := range n {
		s := HashToScalar([]byte(fmt.Sprint(i)), []byte("points"))
		p, q = append(p, G1Generator().Mul(s)), append(q, G2Generator().Mul(s))
	}
	return p, q
}

func TestTablesAgreeWithPlainMultiplication(t *testing.T) {
	p, q := points(1)
	g := Pair(p[0], q[0])
	g1, gt := NewG1Table(p[0]), NewGTTable(g)
	for i, s := range edgeScalars() {
		if want := p[0].Mul(s); !g1.MulSecret(s).Equal(want) || !g1.MulPublic(s).Equal(want) {
			t.Errorf("scalar %d: G1Table is wrong", i)
		}
		if want := G1Generator().Mul(s); !MulG1Secret(s).Equal(want) || !MulG1Public(s).Equal(want) {
			t.Errorf("scalar %d: the generator's table is wrong", i)
		}
		if want := plainExp(g, s); !gt.ExpSecret(s).Equal(want) || !gt.ExpPublic(s).Equal(want) {
			t.Errorf("scalar %d: GTTable is wrong", i)
		}
	}
	identity := NewG1Table(G1{})
	for _, s := range edgeScalars()[:8] {
		if !identity.MulSecret(s).IsInfinity() || !identity.MulPublic(s).IsInfinity() {
			t.Error("a multiple of the identity is not the identity")
		}
	}
}

func TestLinesAgreeWithPlainPairing(t *testing.T) {
	ps, qs := points(4)
	ps, qs = append(ps, G1{}, G1Generator()), append(qs, G2{}, G2Generator())
	for i, q := range qs {
		lines := Prepare(q)
		for j, p := range ps {
			if got, want := lines.Pair(p), Pair(p, q); !got.Equal(want) {
				t.Errorf("e(p%d, q%d) over stored lines is wrong", j, i)
			}
		}
	}
}

func TestFinalExpAgreesWithBlst(t *testing.T) {
	ps, qs := points(8)
	cases := map[string]blst.Fp12{"one": blst.Fp12One(), "zero": {}}
	for i := range ps {
		cases[fmt.Sprintf("Miller loop %d", i)] = *blst.Fp12MillerLoop(&qs[i].p, &ps[i].p)
		cases[fmt.Sprintf("pairing %d", i)] = Pair(ps[i], qs[i]).f
	}
	// Few or nearly all of the twelve coefficients: subfields, and what else could
	// make something vanish on the way.
	for mask := range 1 << 12 {
		if n := bits.OnesCount(uint(mask)); n > 2 && n < 11 {
			continue
		}
		var f blst.Fp12
		words := (*[12][6]uint64)(unsafe.Pointer(&f))
		for i := range words {
			if mask>>i&1 == 1 {
				words[i][i%6] = uint64(mask + i)
			}
		}
		cases[fmt.Sprintf("coefficients %012b", mask)] = f
	}
	for name, f := range cases {
		got, want := GT{f}, f
		finalExp(&got)
		want.FinalExp()
		if got.f != want {
			t.Errorf("%s: the final exponentiation is wrong", name)
		}
	}
}

func TestVerifyAgreesWithPlainVerification(t *testing.T) {
	pks, qs := points(3)
	for i, pk := range pks {
		sk := HashToScalar([]byte(fmt.Sprint(i)), []byte("points"))
		for j, q := range qs {
			for k, sig := range []G2{q.Mul(sk), q.Mul(sk).Neg(), q, q.Add(G2Generator())} {
				want := equalPairings(pk, q, G1Generator(), sig)
				if want != (k == 0) {
					t.Errorf("plain verification of signature %d is %v", k, want)
				}
				if got := VerifyG2(pk, Prepare(q), sig); got != want {
					t.Errorf("key %d, hash %d, signature %d: %v, want %v", i, j, k, got, want)
				}
			}
		}
	}
}

func TestConjugateAgreesWithPlainInverse(t *testing.T) {
	p, q := points(1)
	g := Pair(p[0], q[0])
	if !g.Inverse().Equal(plainConjugate(g)) {
		t.Error("the conjugate is not the inverse")
	}
}

func TestPolynomialsAgreeWithPlainLoops(t *testing.T) {
	p, _ := points(9)
	s := edgeScalars()[:9]
	for _, n := range []int{0, 1, 2, 9} {
		for _, x := range []uint32{0, 1, 2, 3, 100, 1<<31 + 1, 1<<32 - 1} {
			if got, want := EvalScalar(s[:n], x), plainEvalScalar(s[:n], x); !got.Equal(want) {
				t.Errorf("scalar polynomial of %d coefficients at %d is wrong", n, x)
			}
			if got, want := EvalG1(p[:n], x), plainEvalG1(p[:n], x); !got.Equal(want) {
				t.Errorf("polynomial of %d points at %d is wrong", n, x)
			}
		}
	}
}

func TestLagrangeAgreesWithPlainLoop(t *testing.T) {
	for _, xs := range [][]uint32{
		{}, {1}, {7}, {1, 2}, {2, 1}, {1<<32 - 1}, {1<<32 - 1, 1, 1 << 31, 3, 1<<32 - 2, 65536, 65537},
		{67, 3, 1, 100, 42, 5, 9, 10, 11, 12, 13, 99, 98, 97, 96, 95, 94, 93},
	} {
		got, err := LagrangeAtZero(xs)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range plainLagrangeAtZero(xs) {
			if !got[i].Equal(want) {
				t.Errorf("coefficient %d for %v is wrong", i, xs)
			}
		}
	}
}

func TestMSMAgreesWithPlainSum(t *testing.T) {
	p, q := points(200)
	for _, n := range []int{0, 1, 2, 3, 10, 67, 200} {
		s := make([]Scalar, n)
		for i := range s {
			s[i] = HashToScalar([]byte(fmt.Sprint(n, i)), []byte("msm"))
		}
		compareMSM(t, fmt.Sprintf("%d random terms", n), p[:n], q[:n], s)
	}

	edges := edgeScalars()
	compareMSM(t, "edge scalars", p[:len(edges)], q[:len(edges)], edges)

	same := make([]Scalar, 20)
	for i := range same {
		same[i] = edges[len(edges)-1]
	}
	compareMSM(t, "all scalars equal", p[:20], q[:20], same)

	// Points that meet themselves, their negatives and the identity in a bucket.
	var hostileP []G1
	var hostileQ []G2
	for i := range 20 {
		switch i % 4 {
		case 0, 1:
			hostileP, hostileQ = append(hostileP, p[0]), append(hostileQ, q[0])
		case 2:
			hostileP, hostileQ = append(hostileP, p[0].Neg()), append(hostileQ, q[0].Neg())
		case 3:
			hostileP, hostileQ = append(hostileP, G1{}), append(hostileQ, G2{})
		}
	}
	compareMSM(t, "equal, opposite and identity points, equal scalars", hostileP, hostileQ, same)
	compareMSM(t, "equal, opposite and identity points", hostileP, hostileQ, edges[len(edges)-20:])
	compareMSM(t, "a sum that is the identity", []G1{p[0], p[0].Neg()}, []G2{q[0], q[0].Neg()}, same[:2])
}

func TestMSMOfFewPointsThatOftenMeet(t *testing.T) {
	p, q := points(1)
	poolP := []G1{{}, p[0], p[0].Neg(), p[0].MulUint64(2), p[0].MulUint64(zAbs), p[0].MulUint64(zAbs).MulUint64(zAbs)}
	poolQ := []G2{{}, q[0], q[0].Neg(), q[0].MulUint64(2), q[0].MulUint64(zAbs), q[0].MulUint64(zAbs).MulUint64(zAbs)}
	edges := edgeScalars()
	rapid.Check(t, func(t *rapid.T) {
		var ps []G1
		var qs []G2
		var s []Scalar
		for range rapid.IntRange(0, 12).Draw(t, "terms") {
			i := rapid.IntRange(0, len(poolP)-1).Draw(t, "point")
			ps, qs = append(ps, poolP[i]), append(qs, poolQ[i])
			s = append(s, edges[rapid.IntRange(0, len(edges)-1).Draw(t, "scalar")])
		}
		compareMSM(t, "drawn terms", ps, qs, s)
	})
}

func compareMSM(t interface {
	Helper()
	Errorf(string, ...any)
}, name string, p []G1, q []G2, s []Scalar) {
	t.Helper()
	if got, want := MSMG1(p, s), plainMSMG1(p, s); !got.Equal(want) {
		t.Errorf("%s: MSMG1 is wrong", name)
	}
	if got, want := MSMG2(q, s), plainMSMG2(q, s); !got.Equal(want) {
		t.Errorf("%s: MSMG2 is wrong", name)
	}
}

func TestShortMSMAgreesWithPlainSum(t *testing.T) {
	p, q := points(67)
	c, err := RandomCoeffs(67)
	if err != nil {
		t.Fatal(err)
	}
	const top = 1<<64 - 1
	copy(c, []Coeff128{{0, 0}, {0, 1}, {1, 0}, {top, top}, {0, top}, {top, 0}, {zAbs, zAbs}, {zAbs - 1, zAbs - 1}, {1 << 63, 1 << 63}})
	for _, n := range []int{0, 1, 2, 9, 67} {
		s := make([]Scalar, n)
		for i := range s {
			s[i] = c[i].Scalar()
		}
		if got, want := MSMG1Short(p[:n], c[:n]), plainMSMG1(p[:n], s); !got.Equal(want) {
			t.Errorf("n=%d: MSMG1Short is wrong", n)
		}
		if got, want := MSMG2Short(q[:n], c[:n]), plainMSMG2(q[:n], s); !got.Equal(want) {
			t.Errorf("n=%d: MSMG2Short is wrong", n)
		}
	}
}
