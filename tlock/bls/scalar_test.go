package bls_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

var order, _ = new(big.Int).SetString(groupOrder, 16)

// drawScalar gives integers modulo r with edges more often than chance would.
func drawScalar(t *rapid.T, name string) (bls.Scalar, *big.Int) {
	b := rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, name)
	if rapid.Bool().Draw(t, name+" near zero") {
		b = b[:len(b)/16]
	}
	s, v := bls.ScalarFromWide(b), new(big.Int).SetBytes(b)
	if rapid.Bool().Draw(t, name+" negated") {
		s, v = s.Neg(), v.Neg(v)
	}
	return s, v.Mod(v, order)
}

func TestScalarArithmeticIsThatOfIntegersModuloTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, va := drawScalar(t, "a")
		b, vb := drawScalar(t, "b")
		check := func(name string, got bls.Scalar, want *big.Int) {
			enc := got.Bytes()
			if want = want.Mod(want, order); new(big.Int).SetBytes(enc[:]).Cmp(want) != 0 {
				t.Errorf("%s is %x, want %x", name, enc, want)
			}
		}
		check("a", a, new(big.Int).Set(va))
		check("a + b", a.Add(b), new(big.Int).Add(va, vb))
		check("a - b", a.Sub(b), new(big.Int).Sub(va, vb))
		check("a * b", a.Mul(b), new(big.Int).Mul(va, vb))
		check("-a", a.Neg(), new(big.Int).Neg(va))
		if a.IsZero() != (va.Sign() == 0) || a.Equal(b) != (va.Cmp(vb) == 0) {
			t.Error("IsZero or Equal is wrong")
		}
		inverse, err := a.Inverse()
		if va.Sign() == 0 {
			if err == nil {
				t.Error("zero has an inverse")
			}
			return
		}
		check("1 / a", inverse, new(big.Int).ModInverse(va, order))
	})
}

func TestScalarFromUint64(t *testing.T) {
	for _, x := range []uint64{0, 1, 255, 256, 1 << 32, 1<<64 - 1} {
		b := bls.ScalarFromUint64(x).Bytes()
		if got := new(big.Int).SetBytes(b[:]); !got.IsUint64() || got.Uint64() != x {
			t.Errorf("%d became %v", x, got)
		}
	}
}

func TestScalarFromWideRefusesMoreThan64Bytes(t *testing.T) {
	mustPanic(t, "bls: ScalarFromWide takes at most 64 bytes", func() { bls.ScalarFromWide(make([]byte, 65)) })
}

func TestRandomScalarsDiffer(t *testing.T) {
	a, b := random(t), random(t)
	if a.Equal(b) || a.IsZero() || b.IsZero() {
		t.Error("random scalars are equal or zero")
	}
}

func TestScalarsAreNeverPrinted(t *testing.T) {
	secret := bls.ScalarFromUint64(0xdeadbeefcafe)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret, "pointer", &secret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret, "pointer", &secret)
	asJSON, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	holder := struct{ Secret bls.Scalar }{secret}
	printed := []string{log.String(), string(asJSON), secret.String(), secret.GoString()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%d", "%q", "%b", "%o"} {
		printed = append(printed, fmt.Sprintf(verb, secret), fmt.Sprintf(verb, &secret), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, []bls.Scalar{secret}))
	}
	for _, s := range printed {
		for _, digits := range []string{"deadbeef", "DEADBEEF", "cafe", "254 202", "202 254", fmt.Sprint(0xdeadbeefcafe)} {
			if strings.Contains(s, digits) {
				t.Errorf("%q contains %q of the secret", s, digits)
			}
		}
	}
}
