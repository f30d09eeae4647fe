package bls_test

import (
	"fmt"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// The floor: every benchmark of this project is read as a ratio to
// BenchmarkPairing in the same run.
func BenchmarkPairing(b *testing.B) {
	p, q := bls.G1Generator(), bls.G2Generator()
	for b.Loop() {
		bls.Pair(p, q)
	}
}

func BenchmarkPairLines(b *testing.B) {
	p, l := bls.G1Generator(), bls.Prepare(bls.G2Generator())
	for b.Loop() {
		l.Pair(p)
	}
}

func BenchmarkPrepare(b *testing.B) {
	q := bls.G2Generator()
	for b.Loop() {
		bls.Prepare(q)
	}
}

func BenchmarkVerifyG2(b *testing.B) {
	sk := random(b)
	q := bls.HashToG2([]byte("slot"), []byte("bench"))
	pk, l, sig := bls.MulG1Secret(sk), bls.Prepare(q), q.Mul(sk)
	for b.Loop() {
		if !bls.VerifyG2(pk, l, sig) {
			b.Fatal("does not verify")
		}
	}
}

func BenchmarkG1Mul(b *testing.B) {
	p, s := bls.G1Generator(), random(b)
	for b.Loop() {
		p.Mul(s)
	}
}

func BenchmarkG2Mul(b *testing.B) {
	q, s := bls.G2Generator(), random(b)
	for b.Loop() {
		q.Mul(s)
	}
}

func BenchmarkG1TableBuild(b *testing.B) {
	p := bls.G1Generator()
	for b.Loop() {
		bls.NewG1Table(p)
	}
}

func BenchmarkG1TableSecret(b *testing.B) {
	s := random(b)
	for b.Loop() {
		bls.MulG1Secret(s)
	}
}

func BenchmarkG1TablePublic(b *testing.B) {
	s := random(b)
	for b.Loop() {
		bls.MulG1Public(s)
	}
}

func BenchmarkGTTableBuild(b *testing.B) {
	g := bls.Pair(bls.G1Generator(), bls.G2Generator())
	for b.Loop() {
		bls.NewGTTable(g)
	}
}

func BenchmarkGTTableSecret(b *testing.B) {
	t, s := bls.NewGTTable(bls.Pair(bls.G1Generator(), bls.G2Generator())), random(b)
	for b.Loop() {
		t.ExpSecret(s)
	}
}

func BenchmarkGTTablePublic(b *testing.B) {
	t, s := bls.NewGTTable(bls.Pair(bls.G1Generator(), bls.G2Generator())), random(b)
	for b.Loop() {
		t.ExpPublic(s)
	}
}

func BenchmarkHashToG2(b *testing.B) {
	for b.Loop() {
		bls.HashToG2([]byte("slot"), []byte("bench"))
	}
}

func BenchmarkDecodeG1(b *testing.B) {
	enc := bls.G1Generator().Bytes()
	for b.Loop() {
		bls.DecodeG1(enc[:])
	}
}

func BenchmarkDecodeG2(b *testing.B) {
	enc := bls.G2Generator().Bytes()
	for b.Loop() {
		bls.DecodeG2(enc[:])
	}
}

func BenchmarkDecodeG2Unchecked(b *testing.B) {
	enc := bls.G2Generator().Bytes()
	for b.Loop() {
		bls.DecodeG2Unchecked(enc[:])
	}
}

func BenchmarkScalarMul(b *testing.B) {
	x, y := random(b), random(b)
	for b.Loop() {
		x = x.Mul(y)
	}
}

func terms(b *testing.B, n int) (p []bls.G1, q []bls.G2, s []bls.Scalar, c []bls.Coeff128) {
	for range n {
		x := random(b)
		p, q, s = append(p, bls.MulG1Secret(x)), append(q, bls.G2Generator().Mul(x)), append(s, random(b))
	}
	c, err := bls.RandomCoeffs(n)
	if err != nil {
		b.Fatal(err)
	}
	return p, q, s, c
}

var sizes = []int{7, 34, 67, 100, 667}

func BenchmarkMSMG2(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			_, q, s, _ := terms(b, n)
			for b.Loop() {
				bls.MSMG2(q, s)
			}
		})
	}
}

func BenchmarkMSMG2Short(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			_, q, _, c := terms(b, n)
			for b.Loop() {
				bls.MSMG2Short(q, c)
			}
		})
	}
}

func BenchmarkMSMG1(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			p, _, s, _ := terms(b, n)
			for b.Loop() {
				bls.MSMG1(p, s)
			}
		})
	}
}

func BenchmarkMSMG1Short(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			p, _, _, c := terms(b, n)
			for b.Loop() {
				bls.MSMG1Short(p, c)
			}
		})
	}
}

func BenchmarkLagrange(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			xs := make([]uint32, n)
			for i := range xs {
				xs[i] = uint32(i*3/2 + 1)
			}
			for b.Loop() {
				if _, err := bls.LagrangeAtZero(xs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A share of a commitment of 67 points, as for every member of a group of 100.
func BenchmarkEvalG1(b *testing.B) {
	p, _, _, _ := terms(b, 67)
	for b.Loop() {
		bls.EvalG1(p, 100)
	}
}
