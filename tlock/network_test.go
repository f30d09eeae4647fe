package tlock_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestNetworkFileRoundTrips(t *testing.T) {
	ns, gk, _ := network(t)
	for name, sigs := range map[string][]tlock.NetworkSignature{
		"unsigned": nil,
		"signed":   {{Index: 1, Signature: [64]byte{1}}, {Index: 4, Signature: [64]byte{2}}},
	} {
		b, err := tlock.Network{Namespace: ns, GroupKey: gk, Signatures: sigs}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		n, err := tlock.ParseNetwork(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n.Namespace != ns || !n.GroupKey.Equal(gk) || !reflect.DeepEqual(n.Signatures, sigs) {
			t.Errorf("%s: got another network back: %+v", name, n)
		}
		if again, err := n.Encode(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: encodes differently the second time", name)
		}
	}
	if _, err := (tlock.Network{}).Encode(); err == nil {
		t.Error("an empty network was encoded")
	}
}

func TestNetworkFileIsStrict(t *testing.T) {
	ns, gk, _ := network(t)
	good, err := tlock.Network{Namespace: ns, GroupKey: gk}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	replace := func(from, to string) string {
		out := strings.Replace(text, from, to, 1)
		if out == text {
			t.Fatalf("the file has no %q", from)
		}
		return out
	}
	sig := fmt.Sprintf(`{"index": 2, "signature": "0x%0128d"}`, 0)
	signed := func(list string) string { return replace("{\n", "{\n  \"signatures\": "+list+",\n") }
	if _, err := tlock.ParseNetwork([]byte(signed("[" + sig + "]"))); err != nil {
		t.Fatalf("a signed file: %v", err)
	}
	for name, c := range map[string]struct{ file, says string }{
		"empty":                   {"", "not a JSON object"},
		"a list":                  {"[]", "not a JSON object"},
		"cut short":               {text[:len(text)-4], ""},
		"something behind":        {text + "{}", "follows"},
		"unknown field":           {replace("{\n", "{\n  \"note\": 1,\n"), `"note"`},
		"field twice":             {replace("{\n", "{\n  \"chain_id\": \"1\",\n"), "twice"},
		"field in another case":   {replace("chain_id", "Chain_ID"), `"Chain_ID"`},
		"missing chain":           {replace(`"chain_id": "31337",`, ""), "chain_id"},
		"chain as number":         {replace(`"31337"`, "31337"), "string"},
		"chain null":              {replace(`"31337"`, "null"), "string"},
		"chain with leading zero": {replace(`"31337"`, `"031337"`), "decimal"},
		"chain in hex":            {replace(`"31337"`, `"0x7a69"`), "decimal"},
		"chain negative":          {replace(`"31337"`, `"-1"`), "negative"},
		"genesis short":           {replace(`"0x010203`, `"0x0102`), "genesis_hash"},
		"genesis without 0x":      {replace(`"0x010203`, `"010203`), "genesis_hash"},
		"group key not a point":   {replace(gk.String(), "0x"+strings.Repeat("11", 48)), "group key"},
		"group key infinity":      {replace(gk.String(), "0xc0"+strings.Repeat("00", 47)), "group key"},
		"another format":          {replace("network-v1", "network-v2"), "format"},
		"signatures no list":      {signed(`{}`), "list"},
		"signature twice":         {signed("[" + sig + "," + sig + "]"), "ascending"},
		"signature short":         {signed(`[{"index": 1, "signature": "0x00"}]`), "signature"},
		"signature of nobody":     {signed(`[{"signature": "0x00"}]`), "index"},
		"too large":               {strings.Repeat(" ", tlock.MaxNetworkFile) + text, "at most"},
	} {
		_, err := tlock.ParseNetwork([]byte(c.file))
		wantClass(t, name, err, tlock.ErrMalformed)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %q does not mention %q", name, err, c.says)
		}
	}
}

func FuzzParseNetwork(f *testing.F) {
	ns, gk, _ := network(f)
	for _, sigs := range [][]tlock.NetworkSignature{nil, {{Index: 1}}} {
		b, err := tlock.Network{Namespace: ns, GroupKey: gk, Signatures: sigs}.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"format": null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := tlock.ParseNetwork(b)
		if err != nil {
			return
		}
		out, err := n.Encode()
		if err != nil {
			t.Fatalf("accepted a file that does not encode: %v", err)
		}
		again, err := tlock.ParseNetwork(out)
		if err != nil || again.Namespace != n.Namespace || !again.GroupKey.Equal(n.GroupKey) || !reflect.DeepEqual(again.Signatures, n.Signatures) {
			t.Fatalf("%s does not round trip: %v", b, err)
		}
	})
}
