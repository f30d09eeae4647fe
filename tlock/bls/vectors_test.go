package bls_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// timelockCases are the cases of the project's timelock vectors that concern
// this package: pairing bytes and hash to scalar.
type timelockCases struct {
	GT []gtCase
	H3 []h3Case
}

type gtCase struct {
	Name    string
	Valid   bool
	PScalar string `json:"p_scalar"`
	QScalar string `json:"q_scalar"`
	P, Q, G string
}

type h3Case struct{ Name, Sigma, Message, Uniform, R string }

func readTimelockCases(t *testing.T) timelockCases {
	t.Helper()
	raw, err := os.ReadFile("../../vectors/timelock.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []json.RawMessage }
	decode(t, raw, &file)
	var cases timelockCases
	for _, raw := range file.Cases {
		var kind struct{ Type string }
		decode(t, raw, &kind)
		switch kind.Type {
		case "gt":
			var c gtCase
			decode(t, raw, &c)
			cases.GT = append(cases.GT, c)
		case "h3":
			var c h3Case
			decode(t, raw, &c)
			cases.H3 = append(cases.H3, c)
		}
	}
	if len(cases.GT) < 10 || len(cases.H3) < 3 {
		t.Fatalf("only %d cases of type gt and %d of type h3", len(cases.GT), len(cases.H3))
	}
	return cases
}

func decode(t *testing.T, raw []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPairingBytesAreThoseOfTheVectors(t *testing.T) {
	for _, c := range readTimelockCases(t).GT {
		p, err := bls.DecodeG1(unhex(t, c.P))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		q, err := bls.DecodeG2(unhex(t, c.Q))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		want := unhex(t, c.G)
		direct, lines := bls.Pair(p, q).Bytes(), bls.Prepare(q).Pair(p).Bytes()
		if got := bytes.Equal(direct[:], want); got != c.Valid {
			t.Errorf("%s: Pair agrees with the recorded bytes: %v, want %v", c.Name, got, c.Valid)
		}
		if direct != lines {
			t.Errorf("%s: pairing over stored lines differs", c.Name)
		}
		if !c.Valid {
			continue
		}
		if s := scalar(t, c.PScalar); !bls.G1Generator().Mul(s).Equal(p) || !bls.MulG1Secret(s).Equal(p) || !bls.MulG1Public(s).Equal(p) {
			t.Errorf("%s: p is not p_scalar times the generator", c.Name)
		}
		if s := scalar(t, c.QScalar); !bls.G2Generator().Mul(s).Equal(q) {
			t.Errorf("%s: q is not q_scalar times the generator", c.Name)
		}
	}
}

func scalar(t testing.TB, s string) bls.Scalar {
	t.Helper()
	out, err := bls.ScalarFromBytes(unhex(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestHashToScalarIsH3(t *testing.T) {
	const dst = "TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_"
	for _, c := range readTimelockCases(t).H3 {
		msg := append(unhex(t, c.Sigma), unhex(t, c.Message)...)
		if got := bls.ExpandMessageXMD(msg, []byte(dst), 48); !bytes.Equal(got, unhex(t, c.Uniform)) {
			t.Errorf("%s: uniform %x, want %s", c.Name, got, c.Uniform)
		}
		if got := bls.HashToScalar(msg, []byte(dst)); !got.Equal(scalar(t, c.R)) {
			t.Errorf("%s: another r", c.Name)
		}
	}
}
