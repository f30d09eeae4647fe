package partials_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// resum gives an edited file the checksum that fits it.
func resum(text string) []byte {
	body, _, _ := strings.Cut(text, "checksum ")
	sum := sha256.Sum256([]byte(body))
	return []byte(body + "checksum 0x" + hex.EncodeToString(sum[:]) + "\n")
}

type edit struct {
	name     string
	old, new string
}

// commonEdits break any of the two files for everybody.
var commonEdits = []edit{
	{"number with a leading zero", "epoch 1\n", "epoch 01\n"},
	{"number with a sign", "epoch 1\n", "epoch +1\n"},
	{"number beyond 64 bits", "epoch 1\n", "epoch 18446744073709551616\n"},
	{"no number", "epoch 1\n", "epoch one\n"},
	{"two spaces", "epoch 1\n", "epoch  1\n"},
	{"trailing space", "epoch 1\n", "epoch 1 \n"},
	{"carriage return", "epoch 1\n", "epoch 1\r\n"},
	{"line missing", "epoch 1\n", ""},
	{"line twice", "epoch 1\n", "epoch 1\nepoch 1\n"},
	{"line nobody knows", "epoch 1\n", "epoch 1\nage 7\n"},
	{"empty line", "epoch 1\n", "epoch 1\n\n"},
	{"genesis too short", "genesis 0x", "genesis 0x00\nx 0x"},
	{"genesis without 0x", "genesis 0x", "genesis "},
	{"another version", "-v1\n", "-v2\n"},
}

func TestGroupFile(t *testing.T) {
	c := newCluster(t, 4, 3)
	ns, file := c.group.Namespace(), c.group.Encode()
	g, err := partials.DecodeGroup(ns, file)
	if err != nil {
		t.Fatal(err)
	}
	if !g.Equal(c.group) || g.Epoch() != 1 || g.N() != 4 || g.Threshold() != 3 || g.Namespace() != ns || g.Key().Bytes() != c.group.Key().Bytes() {
		t.Error("the group changed on its way through the file")
	}
	if want := "daybreak-group-v1\nchain 4217\ngenesis 0x"; !strings.HasPrefix(string(file), want) {
		t.Errorf("file begins %.60q", file)
	}
	_, err = partials.DecodeGroup(testNamespace(t, 4218), file)
	if !errors.Is(err, partials.ErrForeign) || !strings.Contains(err.Error(), "4217") || !strings.Contains(err.Error(), "4218") {
		t.Errorf("file of another chain: got %v, want ErrForeign with both chain ids", err)
	}
	first := string(file[bytes.Index(file, []byte("commitment")):][:len("commitment 0x8")])
	for _, e := range append([]edit{
		{"threshold zero", "threshold 3\n", "threshold 0\n"},
		{"threshold above the commitments", "threshold 3\n", "threshold 4\n"},
		{"threshold below the commitments", "threshold 3\n", "threshold 2\n"},
		{"fewer members than the threshold", "members 4\n", "members 2\n"},
		{"too many members", "members 4\n", "members 1025\n"},
		{"commitment that is not compressed", first, "commitment 0x1"},
	}, commonEdits...) {
		refuses(t, e, file, func(b []byte) error { _, err := partials.DecodeGroup(ns, b); return err })
	}
	infinity := string(file[:bytes.Index(file, []byte("commitment"))]) + "commitment 0xc0" + strings.Repeat("00", 47) + "\n"
	infinity = strings.Replace(infinity, "threshold 3", "threshold 1", 1)
	if _, err := partials.DecodeGroup(ns, resum(infinity)); !errors.Is(err, partials.ErrInvalid) {
		t.Errorf("commitment that is the identity point: got %v, want ErrInvalid", err)
	}
	damage(t, file, func(b []byte) error { _, err := partials.DecodeGroup(ns, b); return err })
}

func TestShareFile(t *testing.T) {
	c := newCluster(t, 4, 3)
	g, share := c.group, c.shares[1]
	file, err := share.Encode(g)
	if err != nil {
		t.Fatal(err)
	}
	again, err := partials.DecodeShare(g, file)
	if err != nil {
		t.Fatal(err)
	}
	p := partials.PrepareConfirmation(g.Namespace(), [32]byte{})
	if again.Index() != 2 || again.Sign(p) != share.Sign(p) {
		t.Error("the share changed on its way through the file")
	}
	_, secretHex, _ := strings.Cut(string(file), "secret 0x")
	secretHex = secretHex[:64]
	decode := func(b []byte) error {
		_, err := partials.DecodeShare(g, b)
		if err != nil && strings.Contains(err.Error(), secretHex[:8]) {
			t.Errorf("the error shows the secret: %v", err)
		}
		return err
	}
	for _, e := range append([]edit{
		{"secret zero", "secret 0x" + secretHex, "secret 0x" + strings.Repeat("0", 64)},
		{"secret not reduced", "secret 0x" + secretHex, "secret 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"},
		{"secret in capitals", secretHex, strings.ToUpper(secretHex)},
		{"secret too long", secretHex, secretHex + "00"},
		{"index zero", "index 2\n", "index 0\n"},
	}, commonEdits...) {
		refuses(t, e, file, decode)
	}
	damage(t, file, decode)

	other := newCluster(t, 4, 2)
	for name, try := range map[string]func() error{
		"file of another epoch":   func() error { return decode(resum(strings.Replace(string(file), "epoch 1", "epoch 2", 1))) },
		"file of another member":  func() error { return decode(resum(strings.Replace(string(file), "index 2", "index 3", 1))) },
		"file of no member":       func() error { return decode(resum(strings.Replace(string(file), "index 2", "index 5", 1))) },
		"file of another chain":   func() error { return decode(resum(strings.Replace(string(file), "chain 4217", "chain 1", 1))) },
		"file of another group":   func() error { _, err := partials.DecodeShare(other.group, file); return err },
		"writing another group's": func() error { _, err := share.Encode(other.group); return err },
		"writing no share":        func() error { _, err := partials.Share{}.Encode(g); return err },
	} {
		if err := try(); !errors.Is(err, partials.ErrForeign) {
			t.Errorf("%s: got %v, want ErrForeign", name, err)
		}
	}
	if err := decode(g.Encode()); !errors.Is(err, partials.ErrInvalid) {
		t.Errorf("a group file as share file: got %v, want ErrInvalid", err)
	}
	if _, err := partials.DecodeGroup(g.Namespace(), file); !errors.Is(err, partials.ErrInvalid) || strings.Contains(err.Error(), secretHex[:8]) {
		t.Errorf("a share file as group file: got %v, want ErrInvalid without the secret", err)
	}
}

// refuses checks that an edited file, its checksum mended, is refused as invalid.
func refuses(t *testing.T, e edit, file []byte, decode func([]byte) error) {
	t.Helper()
	if !strings.Contains(string(file), e.old) {
		t.Fatalf("%s: nothing to edit", e.name)
	}
	if err := decode(resum(strings.Replace(string(file), e.old, e.new, 1))); !errors.Is(err, partials.ErrInvalid) {
		t.Errorf("%s: got %v, want ErrInvalid", e.name, err)
	}
}

// damage checks that a file that was cut, went on, or has any bit of a byte changed is refused.
func damage(t *testing.T, file []byte, decode func([]byte) error) {
	t.Helper()
	for i := range file {
		if err := decode(file[:i]); !errors.Is(err, partials.ErrInvalid) {
			t.Errorf("first %d bytes: got %v, want ErrInvalid", i, err)
		}
		b := bytes.Clone(file)
		b[i] ^= 1
		if err := decode(b); !errors.Is(err, partials.ErrInvalid) {
			t.Errorf("byte %d changed: got %v, want ErrInvalid", i, err)
		}
	}
	for _, more := range []string{"\n", " ", "x", string(file)} {
		if err := decode(append(bytes.Clone(file), more...)); !errors.Is(err, partials.ErrInvalid) {
			t.Errorf("%.10q after the end: got %v, want ErrInvalid", more, err)
		}
	}
	if err := decode(bytes.Repeat([]byte{'x'}, 1<<20)); !errors.Is(err, partials.ErrInvalid) {
		t.Errorf("a megabyte: got %v, want ErrInvalid", err)
	}
}

func TestShareNeverPrintsItsSecret(t *testing.T) {
	secret := bls.ScalarFromUint64(0xdeadbeefcafe)
	share, err := partials.NewShare(1, secret)
	if err != nil {
		t.Fatal(err)
	}
	type machine struct{ share partials.Share } // an unexported field: fmt calls no methods there
	type result struct{ Share partials.Share }
	var out strings.Builder
	for _, v := range []any{share, &share, machine{share}, &machine{share}, result{share}, []partials.Share{share}, map[string]partials.Share{"a": share}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "value", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "value", v)
	}
	b, err := json.Marshal(result{share})
	if err == nil {
		t.Errorf("a share went into JSON: %s", b)
	}
	raw := secret.Bytes()
	for _, leak := range []string{"deadbeef", "DEADBEEF", "222 173 190 239", fmt.Sprintf("%v", raw[26:]), fmt.Sprint(uint64(0xdeadbeefcafe))} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("printed %q", leak)
		}
	}
	if share.String() != "partials.Share(redacted)" {
		t.Errorf("prints as %q", share)
	}
}

func TestNewGroupRefusesWhatIsNoGroup(t *testing.T) {
	c := newCluster(t, 4, 3)
	ns, good := c.group.Namespace(), c.group.Commitments()
	for name, try := range map[string]func() (*partials.Group, error){
		"no commitments":         func() (*partials.Group, error) { return partials.NewGroup(ns, 1, 4, nil) },
		"no members":             func() (*partials.Group, error) { return partials.NewGroup(ns, 1, 0, nil) },
		"too many members":       func() (*partials.Group, error) { return partials.NewGroup(ns, 1, partials.MaxMembers+1, good) },
		"threshold above n":      func() (*partials.Group, error) { return partials.NewGroup(ns, 1, 2, good) },
		"degree below threshold": func() (*partials.Group, error) { return partials.NewGroup(ns, 1, 4, append(good[:2:2], bls.G1{})) },
		"group key is infinity": func() (*partials.Group, error) {
			return partials.NewGroup(ns, 1, 4, append([]bls.G1{{}}, good[1:]...))
		},
		"a public share is infinity": func() (*partials.Group, error) { // 2 - x at x = 2
			return partials.NewGroup(ns, 1, 4, []bls.G1{bls.G1Generator().MulUint64(2), bls.G1Generator().Neg()})
		},
	} {
		if g, err := try(); g != nil || !errors.Is(err, partials.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

func TestThreshold(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 6: 5, 7: 5, 10: 7, 16: 11, 31: 21, 100: 67} {
		if got := partials.Threshold(n); got != want {
			t.Errorf("%d members: %d, want %d", n, got, want)
		}
	}
}
