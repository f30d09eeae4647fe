package vectorcheck

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// checks maps the type of a case to its check. A check gets the case's JSON and decodes it strictly, so that a field
// nobody compares cannot hide in a file.
type checks map[string]func(raw json.RawMessage) error

// head is what every case carries. Reason, stage and basis explain the case to people and are not compared.
type head struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Valid  bool   `json:"valid"`
	Reason string `json:"reason"`
	Stage  string `json:"stage"`
	Basis  string `json:"basis"`
}

// expect turns the outcome of a check into that of the case: nil where valid, some error where not.
func (h head) expect(err error) error {
	switch {
	case h.Valid:
		return err
	case err == nil:
		return fmt.Errorf("accepted, must be refused: %s", h.Reason)
	}
	return nil
}

// caseFile reads a file of the form {"cases": […]}.
func caseFile(raw []byte, by checks) ([]testCase, error) {
	cases, err := rawCases(raw)
	if err != nil {
		return nil, err
	}
	var out []testCase
	for i, c := range cases {
		var h head
		if err := json.Unmarshal(c, &h); err != nil || h.Name == "" {
			return nil, fmt.Errorf("case %d has no name or is not an object", i)
		}
		check := by[h.Type]
		if check == nil {
			check = func(json.RawMessage) error { return fmt.Errorf("case of unknown type %q", h.Type) }
		}
		out = append(out, testCase{h.Name, func() error { return check(c) }})
	}
	return out, nil
}

func rawCases(raw []byte) ([]json.RawMessage, error) {
	var file struct {
		Description string            `json:"description"`
		Source      string            `json:"source"`
		Cases       []json.RawMessage `json:"cases"`
	}
	if err := strict(raw, &file); err != nil {
		return nil, err
	}
	if len(file.Cases) == 0 {
		return nil, fmt.Errorf("no cases")
	}
	return file.Cases, nil
}

// notBuiltYet reads a file whose subject this build does not have.
func notBuiltYet(raw []byte) ([]testCase, error) {
	cases, err := rawCases(raw)
	if err != nil {
		return nil, err
	}
	out := make([]testCase, len(cases))
	for i := range out {
		out[i].run = func() error { return &skip{"not built yet"} }
	}
	return out, nil
}

// strict decodes one JSON value and refuses unknown fields and anything behind it.
func strict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("not a vector: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("not a vector: something follows it")
	}
	return nil
}

// hexBytes is "0x" and lower-case hex.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	digits, ok := strings.CutPrefix(s, "0x")
	v, err := hex.DecodeString(digits)
	if !ok || err != nil || hex.EncodeToString(v) != digits {
		return fmt.Errorf("%q is not 0x and lower-case hex", s)
	}
	*h = v
	return nil
}

// array demands the length that our type has.
func array[A [12]byte | [20]byte | [32]byte](name string, b hexBytes) (a A, err error) {
	if len(b) != len(a) {
		return a, fmt.Errorf("%s has %d bytes, want %d", name, len(b), len(a))
	}
	for i := range b {
		a[i] = b[i]
	}
	return a, nil
}

// decimal is an integer as a decimal string.
type decimal string

func (d decimal) big() (*big.Int, error) {
	n, ok := new(big.Int).SetString(string(d), 10)
	if !ok || n.String() != string(d) {
		return nil, fmt.Errorf("%q is not a decimal number", string(d))
	}
	return n, nil
}

func (d decimal) uint64() (uint64, error) {
	n, err := strconv.ParseUint(string(d), 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != string(d) {
		return 0, fmt.Errorf("%q is not a decimal number of 64 bits", string(d))
	}
	return n, nil
}

// same compares a recorded value with ours.
func same(name string, got, recorded []byte) error {
	if !bytes.Equal(got, recorded) {
		return fmt.Errorf("%s: got 0x%x, recorded 0x%x", name, got, recorded)
	}
	return nil
}

// all runs steps in order up to the first error.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// network is the namespace of a case.
type network struct {
	ChainID     decimal  `json:"chain_id"`
	GenesisHash hexBytes `json:"genesis_hash"`
}

func (n network) namespace() (tlock.Namespace, error) {
	id, err := n.ChainID.big()
	if err != nil {
		return tlock.Namespace{}, err
	}
	genesis, err := array[[32]byte]("genesis_hash", n.GenesisHash)
	if err != nil {
		return tlock.Namespace{}, err
	}
	return tlock.NewNamespace(id, genesis)
}

// target is the identity of a case, in its three spellings, and its point.
type target struct {
	network
	IdentityKind string   `json:"identity_kind"`
	Slot         decimal  `json:"slot"`
	Identity     hexBytes `json:"identity"`
	Q            hexBytes `json:"q"`
}

// resolve returns namespace and identity and checks that kind, slot and bytes agree.
func (t target) resolve() (ns tlock.Namespace, id tlock.Identity, err error) {
	if ns, err = t.namespace(); err != nil {
		return ns, id, err
	}
	switch t.IdentityKind {
	case "slot":
		slot, err := t.Slot.uint64()
		if err != nil {
			return ns, id, err
		}
		id = tlock.SlotIdentity(slot)
	case "condition":
		c, err := array[[32]byte]("identity", t.Identity)
		if err != nil {
			return ns, id, err
		}
		id = tlock.ConditionIdentity(c)
	default:
		return ns, id, fmt.Errorf("identity_kind %q", t.IdentityKind)
	}
	return ns, id, same("identity", id.Bytes(), t.Identity)
}

// resolvePoint is resolve for cases whose q is an input: it must be the identity's point.
func (t target) resolvePoint() (ns tlock.Namespace, id tlock.Identity, err error) {
	if ns, id, err = t.resolve(); err == nil {
		q := ns.Point(id).Bytes()
		err = same("q", q[:], t.Q)
	}
	return ns, id, err
}

// secretKey is the group's whole secret, which only vectors know.
type secretKey struct {
	SecretKey hexBytes `json:"secret_key"`
}

// check compares group key and key with the secret's.
func (s secretKey) check(ns tlock.Namespace, id tlock.Identity, groupKey, key hexBytes) error {
	x, err := bls.ScalarFromBytes(s.SecretKey)
	if err != nil {
		return fmt.Errorf("secret_key: %w", err)
	}
	pk := bls.MulG1Secret(x).Bytes()
	if err := same("group_key", pk[:], groupKey); err != nil || id.IsZero() {
		return err
	}
	k := ns.Point(id).Mul(x).Bytes()
	return same("key", k[:], key)
}

// verifiedKey parses a key and checks whose it is.
func verifiedKey(ns tlock.Namespace, id tlock.Identity, groupKey, key hexBytes) (tlock.GroupKey, tlock.Key, error) {
	gk, err := tlock.ParseGroupKey(groupKey)
	if err != nil {
		return gk, tlock.Key{}, err
	}
	k, err := tlock.ParseKey(key)
	if err != nil {
		return gk, k, err
	}
	return gk, k, gk.Verify(ns, id, k)
}

// anyNetwork returns a namespace and group key for cases that name none.
func anyNetwork() (tlock.Namespace, tlock.GroupKey, error) {
	ns, err := tlock.NewNamespace(big.NewInt(1), [32]byte{1})
	if err != nil {
		return ns, tlock.GroupKey{}, err
	}
	gk, err := tlock.GroupKeyFromPoint(bls.G1Generator())
	return ns, gk, err
}
