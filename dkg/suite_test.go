package dkg

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"github.com/drand/kyber"
	kilic "github.com/drand/kyber-bls12381"
	"github.com/drand/kyber/share"
	"github.com/drand/kyber/util/random"
	"pgregory.net/rapid"
)

// endless is a stream of numbers that are not random at all.
type endless struct{ next byte }

func (e *endless) XORKeyStream(dst, src []byte) {
	for i := range dst {
		e.next = e.next*73 + 41
		dst[i] = src[i] ^ e.next
	}
}

func testSuite() *suite { return &suite{&endless{}} }

func marshal(t testing.TB, m kyber.Marshaling) []byte {
	t.Helper()
	b, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSuiteAgreesWithKybersOwn does the same sums over kyber's own implementation of the curve.
func TestSuiteAgreesWithKybersOwn(t *testing.T) {
	ours, theirs := kyber.Group(testSuite()), kilic.NewBLS12381Suite().G1()
	rapid.Check(t, func(rt *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 96, 96).Draw(rt, "scalars")
		small := rapid.Int64Range(-300, 1<<40).Draw(rt, "small")
		nil0 := rapid.Bool().Draw(rt, "generator by nil")
		calc := func(g kyber.Group) []byte {
			var s [3]kyber.Scalar
			for i := range s {
				s[i] = g.Scalar().SetBytes(raw[32*i : 32*i+32])
			}
			k := g.Scalar().SetInt64(small)
			one := g.Scalar().One()
			if s[1].Equal(g.Scalar().Zero()) {
				s[1] = one.Clone()
			}
			base := g.Point().Base()
			if nil0 {
				base = nil
			}
			p := g.Point().Mul(s[0], base)
			q := g.Point().Mul(k, p)
			p = p.Mul(s[1], p) // the receiver is an argument
			p.Add(p, q)
			p.Sub(p, g.Point().Neg(g.Point().Mul(k, nil)))
			x := g.Scalar().Div(g.Scalar().Mul(s[0], s[2]), s[1])
			x.Sub(x, k)
			x.Add(x, g.Scalar().Neg(s[2]))
			x.Mul(x, g.Scalar().Inv(s[1]))
			y := x.Clone()
			y.Div(y, s[1])
			x.Set(y)
			if !x.Equal(y) || p.Equal(g.Point().Null()) != p.Clone().Equal(g.Point().Null()) {
				rt.Error("a copy differs")
			}
			r := g.Point().Set(p)
			r.Mul(x, r)
			return append(append(marshal(t, r), marshal(t, x)...), marshal(t, p)...)
		}
		if got, want := calc(ours), calc(theirs); !bytes.Equal(got, want) {
			rt.Errorf("got %x\nwant %x", got, want)
		}
	})
}

func TestEvaluationTakesTheShortPath(t *testing.T) {
	s := testSuite()
	poly := share.NewPriPoly(s, 5, nil, s.RandomStream())
	commits := poly.Commit(s.Point().Base())
	for i := range 130 {
		p := commits.Eval(i)
		if want := s.Point().Mul(poly.Eval(i).V, nil); !p.V.Equal(want) {
			t.Errorf("public polynomial at %d differs", i)
		}
	}
	for name, x := range map[string]kyber.Scalar{
		"a sum":              s.Scalar().Add(s.Scalar().SetInt64(3), s.Scalar().SetInt64(4)),
		"a picked one":       s.Scalar().SetInt64(3).Pick(nil),
		"a decoded one":      func() kyber.Scalar { x := s.Scalar().SetInt64(3); _ = x.UnmarshalBinary(make([]byte, 32)); return x }(),
		"zero":               s.Scalar().SetInt64(3).Zero(),
		"a negative integer": s.Scalar().SetInt64(-3),
	} {
		if asScalar(x).short != 0 {
			t.Errorf("%s is taken for a small public integer", name)
		}
	}
	if x := asScalar(s.Scalar().SetInt64(77)); x.short != 77 {
		t.Error("an index is not taken for a small public integer")
	}
}

// TestPickIgnoresOtherStreams: all randomness of a suite is its own, also where kyber brings crypto/rand.
func TestPickIgnoresOtherStreams(t *testing.T) {
	draw := func(given func() cipher.Stream) string {
		s := testSuite()
		return fmt.Sprintf("%x %x", marshal(t, s.Scalar().Pick(given())), marshal(t, s.Scalar().Pick(given())))
	}
	if a, b := draw(func() cipher.Stream { return random.New() }), draw(func() cipher.Stream { return nil }); a != b {
		t.Error("a picked scalar depends on the stream that is handed in")
	}
	s := testSuite()
	if s.Scalar().Pick(nil).Equal(s.Scalar().Pick(nil)) {
		t.Error("two picks are equal")
	}
}

func TestSuiteRefusesBadPoints(t *testing.T) {
	outside := func() []byte {
		for x := byte(1); ; x++ {
			b := append([]byte{0x80}, make([]byte, 47)...)
			b[47] = x
			if p, err := bls.DecodeG1Unchecked(b); err == nil && !p.InSubgroup() {
				return b
			}
		}
	}()
	good := marshal(t, testSuite().Point().Base())
	for name, b := range map[string][]byte{
		"nothing":      nil,
		"the identity": append([]byte{0xc0}, make([]byte, 47)...),
		"outside":      outside,
		"uncompressed": append([]byte{good[0] &^ 0x80}, good[1:]...),
		"too long":     append(bytes.Clone(good), 0),
	} {
		p := testSuite().Point().Base()
		if err := p.UnmarshalBinary(b); err == nil {
			t.Errorf("%s: decoded", name)
		}
		if _, err := p.UnmarshalFrom(bytes.NewReader(b)); err == nil && name != "too long" {
			t.Errorf("%s: decoded from a reader", name)
		}
		if !p.Equal(testSuite().Point().Base()) {
			t.Errorf("%s: the receiver changed", name)
		}
	}
	order := bls.ScalarFromUint64(1).Neg().Bytes()
	order[31]++
	if err := testSuite().Scalar().UnmarshalBinary(order[:]); err == nil {
		t.Error("the order was decoded as a scalar")
	}
}

func TestSuiteDoesNotPrintScalars(t *testing.T) {
	x := testSuite().Scalar().Pick(nil)
	if got := x.String(); got != fmt.Sprint(bls.Scalar{}) {
		t.Errorf("a scalar prints as %s", got)
	}
}
