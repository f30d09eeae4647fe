package bls_test

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

const (
	groupOrder = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"
	zAbs       = 0xd201000000010000
)

// inSubgroup multiplies by r = m^4 - m^2 + 1, which no fast check is needed for.
func inSubgroupG1(p bls.G1) bool {
	m2 := p.MulUint64(zAbs).MulUint64(zAbs)
	return m2.MulUint64(zAbs).MulUint64(zAbs).Sub(m2).Add(p).IsInfinity()
}

func inSubgroupG2(p bls.G2) bool {
	m2 := p.MulUint64(zAbs).MulUint64(zAbs)
	return m2.MulUint64(zAbs).MulUint64(zAbs).Sub(m2).Add(p).IsInfinity()
}

// outsideG1 and outsideG2 are the points of least x with no part in the
// subgroup's order or only a share of it: on the curve, outside the subgroup.
func outsideG1(t testing.TB) []bls.G1 {
	return outside(t, bls.G1Size, bls.DecodeG1Unchecked, bls.G1.InSubgroup, func(p bls.G1) bls.G1 { return p.Add(bls.G1Generator()) })
}

func outsideG2(t testing.TB) []bls.G2 {
	return outside(t, bls.G2Size, bls.DecodeG2Unchecked, bls.G2.InSubgroup, func(p bls.G2) bls.G2 { return p.Add(bls.G2Generator()) })
}

func outside[P any](t testing.TB, size int, decode func([]byte) (P, error), in func(P) bool, shift func(P) P) []P {
	t.Helper()
	var out []P
	for x := byte(0); len(out) < 6; x++ {
		b := make([]byte, size)
		b[0], b[size-1] = 0x80, x
		if p, err := decode(b); err == nil && !in(p) {
			out = append(out, p, shift(p))
		}
	}
	return out
}

func TestFastSubgroupChecksAgreeWithTheGroupOrder(t *testing.T) {
	for i, p := range append(outsideG1(t), bls.G1Generator(), bls.G1{}, bls.HashToG1([]byte("a"), []byte("b"))) {
		if got, want := p.InSubgroup(), inSubgroupG1(p); got != want {
			t.Errorf("G1 point %d: %v, want %v", i, got, want)
		}
	}
	for i, p := range append(outsideG2(t), bls.G2Generator(), bls.G2{}, bls.HashToG2([]byte("a"), []byte("b"))) {
		if got, want := p.InSubgroup(), inSubgroupG2(p); got != want {
			t.Errorf("G2 point %d: %v, want %v", i, got, want)
		}
	}
}

func TestDecodersRefusePointsOutsideTheSubgroup(t *testing.T) {
	for _, p := range outsideG1(t) {
		b := p.Bytes()
		if got, err := bls.DecodeG1Unchecked(b[:]); err != nil || !got.Equal(p) {
			t.Errorf("DecodeG1Unchecked(%x): %v", b, err)
		}
		_, err := bls.DecodeG1(b[:])
		wantInvalid(t, err, "G1 point is not in the subgroup")
	}
	for _, p := range outsideG2(t) {
		b := p.Bytes()
		if got, err := bls.DecodeG2Unchecked(b[:]); err != nil || !got.Equal(p) {
			t.Errorf("DecodeG2Unchecked(%x): %v", b, err)
		}
		_, err := bls.DecodeG2(b[:])
		wantInvalid(t, err, "G2 point is not in the subgroup")
	}
}

// An opener pairs what DecodeG1Unchecked gave it before it knows the subgroup.
func TestPairingOverLinesTakesPointsOutsideTheSubgroup(t *testing.T) {
	q := bls.HashToG2([]byte("a"), []byte("b"))
	for i, p := range outsideG1(t) {
		if !bls.Prepare(q).Pair(p).Equal(bls.Pair(p, q)) {
			t.Errorf("point %d: pairing over stored lines differs", i)
		}
	}
}

func wantInvalid(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, bls.ErrInvalid) || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want one of class ErrInvalid with %q", err, text)
	}
}

// hostile gives encodings that every decoder of points of this size refuses,
// from a good one with a small x: its high half of 48 bytes must leave room for
// the modulus.
func hostile(good []byte) map[string][]byte {
	edit := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(good)) }
	identity := make([]byte, len(good))
	identity[0] = 0xc0
	cases := map[string][]byte{
		"nothing":                      nil,
		"empty":                        {},
		"one byte short":               good[:len(good)-1],
		"one byte long":                append(bytes.Clone(good), 0),
		"twice":                        append(bytes.Clone(good), good...),
		"zeros":                        make([]byte, len(good)),
		"ones":                         bytes.Repeat([]byte{0xff}, len(good)),
		"compression flag off":         edit(func(b []byte) []byte { b[0] &^= 0x80; return b }),
		"infinity flag on a point":     edit(func(b []byte) []byte { b[0] |= 0x40; return b }),
		"identity":                     identity,
		"identity with the sign flag":  append([]byte{0xe0}, identity[1:]...),
		"identity, uncompressed form":  append([]byte{0x40}, identity[1:]...),
		"identity with a trailing one": append(append([]byte{}, identity[:len(good)-1]...), 1),
		"x plus the modulus":           edit(func(b []byte) []byte { return addModulus(b, 0) }),
	}
	if len(good) == bls.G2Size {
		cases["second half of x plus the modulus"] = edit(func(b []byte) []byte { return addModulus(b, 48) })
	}
	return cases
}

// addModulus adds p to the 48 bytes at offset i, the three flag bits kept.
func addModulus(b []byte, i int) []byte {
	flags := byte(0)
	if i == 0 {
		flags = b[0] & 0xe0
		b[0] &= 0x1f
	}
	sum := new(big.Int).SetBytes(b[i : i+48])
	sum.Add(sum, fieldModulus).FillBytes(b[i : i+48])
	b[0] |= flags
	return b
}

// smallX returns multiples of the generators whose x has room for the modulus in
// 381 bits.
func smallX() (p bls.G1, q bls.G2) {
	for p = bls.G1Generator(); p.Bytes()[0]&0x1f >= 5; p = p.Add(bls.G1Generator()) {
	}
	for q = bls.G2Generator(); q.Bytes()[0]&0x1f >= 5; q = q.Add(bls.G2Generator()) {
	}
	return p, q
}

func TestDecodersRefuseEverySecondEncoding(t *testing.T) {
	p, q := smallX()
	goodP, goodQ := p.Bytes(), q.Bytes()
	for name, b := range hostile(goodP[:]) {
		t.Run("G1: "+name, func(t *testing.T) {
			_, err := bls.DecodeG1(b)
			wantInvalid(t, err, "G1")
			_, err = bls.DecodeG1Unchecked(b)
			wantInvalid(t, err, "G1")
		})
	}
	for name, b := range hostile(goodQ[:]) {
		t.Run("G2: "+name, func(t *testing.T) {
			_, err := bls.DecodeG2(b)
			wantInvalid(t, err, "G2")
			_, err = bls.DecodeG2Unchecked(b)
			wantInvalid(t, err, "G2")
		})
	}
}

func TestDecodersGiveBackWhatWasEncoded(t *testing.T) {
	for range 20 {
		s := random(t)
		p, q := bls.MulG1Secret(s), bls.G2Generator().Mul(s)
		for _, p := range []bls.G1{p, p.Neg()} {
			b := p.Bytes()
			if got, err := bls.DecodeG1(b[:]); err != nil || !got.Equal(p) {
				t.Errorf("DecodeG1(%x): %v", b, err)
			}
		}
		for _, q := range []bls.G2{q, q.Neg()} {
			b := q.Bytes()
			if got, err := bls.DecodeG2(b[:]); err != nil || !got.Equal(q) {
				t.Errorf("DecodeG2(%x): %v", b, err)
			}
		}
	}
}

func TestIdentityEncodesButDoesNotDecode(t *testing.T) {
	b1, b2 := bls.G1{}.Bytes(), bls.G2{}.Bytes()
	if b1 != [48]byte{0xc0} || b2 != [96]byte{0xc0} {
		t.Errorf("identities encode as %x and %x", b1, b2)
	}
}

func TestScalarDecoderTakesExactlyTheReducedIntegers(t *testing.T) {
	order, _ := new(big.Int).SetString(groupOrder, 16)
	for name, c := range map[string]struct {
		value *big.Int
		ok    bool
	}{
		"zero":                {big.NewInt(0), true},
		"one":                 {big.NewInt(1), true},
		"order minus one":     {new(big.Int).Sub(order, big.NewInt(1)), true},
		"order":               {order, false},
		"order plus one":      {new(big.Int).Add(order, big.NewInt(1)), false},
		"twice the order":     {new(big.Int).Lsh(order, 1), false},
		"largest of 256 bits": {new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.value.FillBytes(make([]byte, 32))
			s, err := bls.ScalarFromBytes(b)
			if !c.ok {
				wantInvalid(t, err, "not below the group order")
				return
			}
			if got := s.Bytes(); err != nil || !bytes.Equal(got[:], b) {
				t.Errorf("got %x, %v", got, err)
			}
		})
	}
	for _, n := range []int{0, 1, 31, 33, 64} {
		_, err := bls.ScalarFromBytes(make([]byte, n))
		wantInvalid(t, err, "want 32")
	}
}

func FuzzDecodeG1(f *testing.F) {
	p, _ := smallX()
	good := p.Bytes()
	f.Add(good[:])
	for _, b := range hostile(good[:]) {
		f.Add(b)
	}
	for _, p := range outsideG1(f) {
		b := p.Bytes()
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		loose, looseErr := bls.DecodeG1Unchecked(b)
		if got := loose.Bytes(); looseErr == nil && !bytes.Equal(got[:], b) {
			t.Errorf("DecodeG1Unchecked accepts %x, which encodes as %x", b, got)
		}
		p, err := bls.DecodeG1(b)
		if want := looseErr == nil && inSubgroupG1(loose); (err == nil) != want {
			t.Errorf("DecodeG1: %v, accepting is %v", err, want)
		}
		if err == nil && (!p.Equal(loose) || p.IsInfinity()) || err != nil && !p.IsInfinity() {
			t.Error("DecodeG1 gives another point")
		}
	})
}

func FuzzDecodeG2(f *testing.F) {
	_, q := smallX()
	good := q.Bytes()
	f.Add(good[:])
	for _, b := range hostile(good[:]) {
		f.Add(b)
	}
	for _, p := range outsideG2(f) {
		b := p.Bytes()
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		loose, looseErr := bls.DecodeG2Unchecked(b)
		if got := loose.Bytes(); looseErr == nil && !bytes.Equal(got[:], b) {
			t.Errorf("DecodeG2Unchecked accepts %x, which encodes as %x", b, got)
		}
		p, err := bls.DecodeG2(b)
		if want := looseErr == nil && inSubgroupG2(loose); (err == nil) != want {
			t.Errorf("DecodeG2: %v, accepting is %v", err, want)
		}
		if err == nil && (!p.Equal(loose) || p.IsInfinity()) || err != nil && !p.IsInfinity() {
			t.Error("DecodeG2 gives another point")
		}
	})
}

func FuzzScalarFromBytes(f *testing.F) {
	order, _ := new(big.Int).SetString(groupOrder, 16)
	f.Add(order.Bytes())
	f.Add(make([]byte, 32))
	f.Add(make([]byte, 64))
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		value := new(big.Int).SetBytes(b)
		s, err := bls.ScalarFromBytes(b)
		if want := len(b) == 32 && value.Cmp(order) < 0; (err == nil) != want {
			t.Errorf("ScalarFromBytes(%x): %v, accepting is %v", b, err, want)
		}
		if got := s.Bytes(); err == nil && !bytes.Equal(got[:], b) {
			t.Errorf("%x encodes as %x", b, got)
		}
		if len(b) <= 64 {
			got, want := bls.ScalarFromWide(b).Bytes(), value.Mod(value, order).FillBytes(make([]byte, 32))
			if !bytes.Equal(got[:], want) {
				t.Errorf("ScalarFromWide(%x) is %x, want %x", b, got, want)
			}
		}
	})
}
