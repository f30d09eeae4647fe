package tlockage_test

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"github.com/daybreak-beacon/daybreak/tlock/tlockage"
)

// world is a network of one, with its secret.
type world struct {
	ns     tlock.Namespace
	gk     tlock.GroupKey
	secret bls.Scalar
}

func newWorld(t testing.TB, chain int64) world {
	t.Helper()
	ns, err := tlock.NewNamespace(big.NewInt(chain), [32]byte{0x11})
	if err != nil {
		t.Fatal(err)
	}
	secret := bls.ScalarFromUint64(987654321)
	gk, err := tlock.GroupKeyFromPoint(bls.MulG1Secret(secret))
	if err != nil {
		t.Fatal(err)
	}
	return world{ns, gk, secret}
}

func (w world) key(t testing.TB, id tlock.Identity) tlock.Key {
	t.Helper()
	k, err := tlock.KeyFromPoint(w.ns.Point(id).Mul(w.secret))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (w world) identity(t testing.TB, id tlock.Identity) *tlockage.Identity {
	return tlockage.NewIdentity(w.ns, id, w.key(t, id))
}

func (w world) recipient(t testing.TB, id tlock.Identity) *tlockage.Recipient {
	t.Helper()
	r, err := tlockage.NewRecipient(w.ns, w.gk, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func seal(t testing.TB, data []byte, to ...age.Recipient) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(file []byte, ids ...age.Identity) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(file), ids...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// wantClass demands an error of class, and of no other class of package tlock; incorrect tells whether age may try its
// other identities.
func wantClass(t *testing.T, name string, err, class error, incorrect bool) {
	t.Helper()
	for _, c := range []error{tlock.ErrMalformed, tlock.ErrWrongKey, tlock.ErrTampered} {
		if got := errors.Is(err, c); got != (c == class) {
			t.Errorf("%s: error %v is of class %v: %v", name, err, c, got)
		}
	}
	if got := errors.Is(err, age.ErrIncorrectIdentity); got != incorrect {
		t.Errorf("%s: error %v is age's incorrect identity: %v, want %v", name, err, got, incorrect)
	}
}

func TestFilesOfAnySizeRoundTrip(t *testing.T) {
	w := newWorld(t, 31337)
	for _, id := range []tlock.Identity{tlock.SlotIdentity(1800000000), tlock.ConditionIdentity([32]byte{7})} {
		for _, size := range []int{0, 1, 64 << 10, 200_000} { // age's chunks have 64 KiB
			data := bytes.Repeat([]byte{0xa5}, size)
			got, err := open(seal(t, data, w.recipient(t, id)), w.identity(t, id))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v, %d bytes: opened %d bytes, %v", id, size, len(got), err)
			}
		}
	}
}

func TestOtherKeysDoNotOpen(t *testing.T) {
	w, other := newWorld(t, 31337), newWorld(t, 1)
	id, later := tlock.SlotIdentity(1800000000), tlock.SlotIdentity(1800000001)
	file := seal(t, []byte("secret"), w.recipient(t, id))
	for name, c := range map[string]struct {
		id   *tlockage.Identity
		says string
	}{
		"another slot":            {w.identity(t, later), "slot 1800000000"},
		"another network":         {other.identity(t, id), "chain 31337"},
		"another key, same claim": {tlockage.NewIdentity(w.ns, id, w.key(t, later)), "does not open"},
		"no key":                  {tlockage.NewIdentity(w.ns, id, tlock.Key{}), "missing"},
	} {
		_, err := open(file, c.id)
		wantClass(t, name, err, tlock.ErrWrongKey, true)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %q does not mention %q", name, err, c.says)
		}
	}
	plain, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(seal(t, nil, plain.Recipient()), w.identity(t, id))
	wantClass(t, "a file without our stanza", err, tlock.ErrWrongKey, true)
}

func TestAnyOfSeveralIdentitiesOpens(t *testing.T) {
	w := newWorld(t, 31337)
	a, b, c := tlock.SlotIdentity(1), tlock.ConditionIdentity([32]byte{2}), tlock.SlotIdentity(3)
	file := seal(t, []byte("secret"), w.recipient(t, a), w.recipient(t, b))
	for _, ids := range [][]age.Identity{{w.identity(t, a)}, {w.identity(t, b)}, {w.identity(t, c), w.identity(t, b)}} {
		if got, err := open(file, ids...); err != nil || string(got) != "secret" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	_, err := open(file, w.identity(t, c))
	wantClass(t, "none of them", err, tlock.ErrWrongKey, true)
}

func stanzaOf(t testing.TB, w world, id tlock.Identity) *age.Stanza {
	t.Helper()
	stanzas, err := w.recipient(t, id).Wrap(make([]byte, 16))
	if err != nil || len(stanzas) != 1 {
		t.Fatalf("wrapping gave %d stanzas, %v", len(stanzas), err)
	}
	return stanzas[0]
}

func TestStanzaIsStrict(t *testing.T) {
	w := newWorld(t, 31337)
	id := tlock.SlotIdentity(1800000000)
	arg := func(i int, v string) func(*age.Stanza) { return func(s *age.Stanza) { s.Args[i] = v } }
	flip := func(i int) func(*age.Stanza) { return func(s *age.Stanza) { s.Body[i] ^= 1 } }
	genesis := "11" + strings.Repeat("00", 31)
	for name, c := range map[string]struct {
		change func(*age.Stanza)
		class  error
	}{
		"no arguments":             {func(s *age.Stanza) { s.Args = nil }, tlock.ErrMalformed},
		"an argument more":         {func(s *age.Stanza) { s.Args = append(s.Args, "x") }, tlock.ErrMalformed},
		"chain empty":              {arg(0, ""), tlock.ErrMalformed},
		"chain with leading zero":  {arg(0, "031337"), tlock.ErrMalformed},
		"chain with sign":          {arg(0, "+31337"), tlock.ErrMalformed},
		"chain negative":           {arg(0, "-1"), tlock.ErrMalformed},
		"chain above 256 bits":     {arg(0, new(big.Int).Lsh(big.NewInt(1), 256).String()), tlock.ErrMalformed},
		"chain very long":          {arg(0, strings.Repeat("1", 5000)), tlock.ErrMalformed},
		"genesis upper case":       {arg(1, strings.Repeat("AB", 32)), tlock.ErrMalformed},
		"genesis with 0x":          {arg(1, "0x"+genesis), tlock.ErrMalformed},
		"genesis short":            {arg(1, genesis[2:]), tlock.ErrMalformed},
		"kind unknown":             {arg(2, "Slot"), tlock.ErrMalformed},
		"slot above 64 bits":       {arg(3, "18446744073709551616"), tlock.ErrMalformed},
		"slot in hex":              {arg(3, "0x10"), tlock.ErrMalformed},
		"slot as condition":        {arg(2, "condition"), tlock.ErrMalformed},
		"body cut":                 {func(s *age.Stanza) { s.Body = s.Body[:143] }, tlock.ErrMalformed},
		"body longer":              {func(s *age.Stanza) { s.Body = append(s.Body, 0) }, tlock.ErrMalformed},
		"U no point":               {func(s *age.Stanza) { s.Body[0] = 0 }, tlock.ErrMalformed},
		"V changed":                {flip(60), tlock.ErrWrongKey},
		"W changed":                {flip(111), tlock.ErrWrongKey},
		"wrapped file key changed": {flip(112), tlock.ErrTampered},
		"tag changed":              {flip(143), tlock.ErrTampered},
		"chain of another network": {arg(0, "31338"), tlock.ErrWrongKey},
		"genesis of another":       {arg(1, strings.Repeat("00", 32)), tlock.ErrWrongKey},
		"slot is another":          {arg(3, "1800000001"), tlock.ErrWrongKey},
	} {
		s := stanzaOf(t, w, id)
		c.change(s)
		key, err := w.identity(t, id).Unwrap([]*age.Stanza{s})
		wantClass(t, name, err, c.class, c.class == tlock.ErrWrongKey)
		if key != nil {
			t.Errorf("%s: refused, yet a file key came back", name)
		}
	}
}

// A stanza whose slot was rewritten must not open for an identity made to match it, though the key opens its secret.
func TestArgumentsAreBoundToTheFileKey(t *testing.T) {
	w := newWorld(t, 31337)
	id, claimed := tlock.SlotIdentity(1800000000), tlock.SlotIdentity(1800000001)
	s := stanzaOf(t, w, id)
	s.Args[3] = "1800000001"
	_, err := tlockage.NewIdentity(w.ns, claimed, w.key(t, id)).Unwrap([]*age.Stanza{s})
	wantClass(t, "slot rewritten", err, tlock.ErrTampered, false)
}

func TestRecipientRefusesZeroValuesAndForeignFileKeys(t *testing.T) {
	w := newWorld(t, 31337)
	id := tlock.SlotIdentity(1)
	for name, f := range map[string]func() (*tlockage.Recipient, error){
		"namespace": func() (*tlockage.Recipient, error) { return tlockage.NewRecipient(tlock.Namespace{}, w.gk, id) },
		"group key": func() (*tlockage.Recipient, error) { return tlockage.NewRecipient(w.ns, tlock.GroupKey{}, id) },
		"identity":  func() (*tlockage.Recipient, error) { return tlockage.NewRecipient(w.ns, w.gk, tlock.Identity{}) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("a recipient without %s was made", name)
		}
	}
	if _, err := w.recipient(t, id).Wrap(make([]byte, 32)); err == nil {
		t.Error("a file key of 32 bytes was wrapped")
	}
}

func TestInspectTellsWhatAFileIsSealedTo(t *testing.T) {
	w := newWorld(t, 31337)
	plain, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []tlock.Identity{tlock.SlotIdentity(1800000000), tlock.ConditionIdentity([32]byte{9})} {
		file := seal(t, make([]byte, 100_000), w.recipient(t, id))
		got, err := tlockage.Inspect(file[:tlockage.MaxHeader])
		if err != nil || got.Namespace != w.ns || got.Identity != id {
			t.Errorf("got %+v, %v; want %v", got, err, id)
		}
	}
	good := seal(t, nil, w.recipient(t, tlock.SlotIdentity(5)))
	for name, head := range map[string][]byte{
		"empty":                 nil,
		"text":                  []byte("hello, world\n"),
		"armored":               []byte("-----BEGIN AGE ENCRYPTED FILE-----\n"),
		"age for another":       seal(t, nil, plain.Recipient()),
		"header cut short":      good[:120],
		"stanza badly formed":   bytes.Replace(good, []byte(" slot 5"), []byte(" slot 05"), 1),
		"not the age of a file": bytes.Replace(good, []byte("/v1\n"), []byte("/v9\n"), 1),
	} {
		got, err := tlockage.Inspect(head)
		if !errors.Is(err, tlock.ErrMalformed) || got != (tlockage.Stanza{}) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func FuzzUnwrap(f *testing.F) {
	w := newWorld(f, 31337)
	id := tlock.SlotIdentity(1800000000)
	identity := w.identity(f, id)
	s := stanzaOf(f, w, id)
	f.Add(s.Args[0], s.Args[1], s.Args[2], s.Args[3], s.Body)
	f.Add("0", strings.Repeat("0", 64), "condition", strings.Repeat("f", 64), make([]byte, 144))
	f.Fuzz(func(t *testing.T, chain, genesis, kind, value string, body []byte) {
		got, err := identity.Unwrap([]*age.Stanza{{Type: tlockage.StanzaType, Args: []string{chain, genesis, kind, value}, Body: body}})
		if err == nil && !bytes.Equal(got, make([]byte, 16)) { // what every seed wraps
			t.Fatalf("a stanza nobody sealed gave file key %x", got)
		}
	})
}

func FuzzInspect(f *testing.F) {
	w := newWorld(f, 31337)
	f.Add(seal(f, []byte("x"), w.recipient(f, tlock.SlotIdentity(5))))
	f.Add(seal(f, nil, w.recipient(f, tlock.ConditionIdentity([32]byte{1}))))
	f.Add([]byte("age-encryption.org/v1\n-> tlock-daybreak 1 2 slot 3\n\n--- \n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		got, err := tlockage.Inspect(head)
		if (err == nil) == (got.Identity.IsZero() || got.Namespace.IsZero()) {
			t.Fatalf("got %+v with error %v", got, err)
		}
	})
}
