package replay

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// value is one JSON value of a line and the name of the place it stands at. encoding/json splits the syntax; what a value may be is
// decided here, strictly: it would match names in any case, let the last of two equal ones win, and read 1e3 as a number.
type value struct {
	path string
	raw  json.RawMessage
}

func (v value) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if v.path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", v.path, err)
}

// fields are those of one object that is being read. The first fault stays in err; what nobody asked for is unknown.
type fields struct {
	value
	byName map[string]json.RawMessage
	names  []string // in the order of the line
	asked  map[string]bool
	err    error
}

// object splits an object into its fields, none of which may appear twice.
func (v value) object() (*fields, error) {
	dec := json.NewDecoder(bytes.NewReader(v.raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, v.errorf("must be an object")
	}
	f := &fields{value: v, byName: map[string]json.RawMessage{}, asked: map[string]bool{}}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, v.errorf("%w", err)
		}
		name, _ := t.(string)
		if _, twice := f.byName[name]; twice {
			return nil, v.errorf("field %q appears twice", name)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, v.errorf("field %q: %w", name, err)
		}
		f.byName[name] = raw
		f.names = append(f.names, name)
	}
	if _, err := dec.Token(); err != nil {
		return nil, v.errorf("the object does not end")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, v.errorf("something follows the object")
	}
	return f, nil
}

// record reads an object with the fields that fill asks for, and no others.
func record[T any](fill func(f *fields, out *T)) func(value) (T, error) {
	return func(v value) (out T, err error) {
		f, err := v.object()
		if err != nil {
			return out, err
		}
		fill(f, &out)
		for _, name := range f.names {
			if !f.asked[name] {
				return out, f.at(name).errorf("unknown field")
			}
		}
		return out, f.err
	}
}

func (f *fields) has(name string) bool {
	f.asked[name] = true
	return f.byName[name] != nil
}

// at is the field of that name.
func (f *fields) at(name string) value {
	path := name
	if f.path != "" {
		path = f.path + "." + name
	}
	return value{path, f.byName[name]}
}

func (f *fields) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// optional reads a field by its reader if it is there.
func optional[T any](f *fields, name string, out *T, reader func(value) (T, error)) {
	if !f.has(name) {
		return
	}
	v, err := reader(f.at(name))
	if err != nil {
		f.fail(err)
		return
	}
	*out = v
}

// required is optional for a field that must be there.
func required[T any](f *fields, name string, out *T, reader func(value) (T, error)) {
	if !f.has(name) {
		f.fail(f.at(name).errorf("the field is missing"))
	}
	optional(f, name, out, reader)
}

// pointer makes a reader one of a value that may be left out.
func pointer[T any](reader func(value) (T, error)) func(value) (*T, error) {
	return func(v value) (*T, error) {
		out, err := reader(v)
		return &out, err
	}
}

// list reads an array.
func list[T any](reader func(value) (T, error)) func(value) ([]T, error) {
	return func(v value) ([]T, error) {
		var raw []json.RawMessage
		if len(v.raw) == 0 || v.raw[0] != '[' || json.Unmarshal(v.raw, &raw) != nil {
			return nil, v.errorf("must be a list")
		}
		out := make([]T, 0, len(raw))
		for i, r := range raw {
			e, err := reader(value{fmt.Sprintf("%s[%d]", v.path, i), r})
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	}
}

// table reads an object whose names are keys.
func table[K comparable, V any](key func(value) (K, error), reader func(value) (V, error)) func(value) (map[K]V, error) {
	return func(v value) (map[K]V, error) {
		f, err := v.object()
		if err != nil {
			return nil, err
		}
		out := make(map[K]V, len(f.names))
		for _, name := range f.names {
			quoted, err := json.Marshal(name)
			if err != nil {
				return nil, f.at(name).errorf("%w", err)
			}
			k, err := key(value{f.at(name).path, quoted})
			if err != nil {
				return nil, err
			}
			if _, twice := out[k]; twice {
				return nil, f.at(name).errorf("appears twice")
			}
			if out[k], err = reader(f.at(name)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

func readString(v value) (string, error) {
	var s string
	if len(v.raw) == 0 || v.raw[0] != '"' || json.Unmarshal(v.raw, &s) != nil {
		return "", v.errorf("must be a string")
	}
	return s, nil
}

func readBool(v value) (bool, error) {
	switch string(v.raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, v.errorf("must be true or false")
}

// readSmall reads a JSON number of at most the given bits, no more than 32.
func readSmall[T uint8 | uint16 | uint32](bits int) func(value) (T, error) {
	return func(v value) (T, error) {
		s := string(v.raw)
		n, err := strconv.ParseUint(s, 10, bits)
		if err != nil || strconv.FormatUint(n, 10) != s {
			return 0, v.errorf("must be a whole number of at most %d bits", bits)
		}
		return T(n), nil
	}
}

func readAmount(v value) (a uint256.Int, err error) {
	s, err := readString(v)
	if err == nil {
		err = a.SetFromDecimal(s)
	}
	if err != nil || a.Dec() != s {
		return a, v.errorf("must be a decimal number of at most 256 bits in quotes")
	}
	return a, nil
}

func readUint64(v value) (uint64, error) {
	a, err := readAmount(v)
	if err != nil || !a.IsUint64() {
		return 0, v.errorf("must be a decimal number of at most 64 bits in quotes")
	}
	return a.Uint64(), nil
}

func readHex(v value) ([]byte, error) {
	s, err := readString(v)
	if err != nil {
		return nil, err
	}
	b, ok := parseHex(s)
	if !ok {
		return nil, v.errorf("must be hex that begins with 0x")
	}
	return b, nil
}

func parseHex(s string) ([]byte, bool) {
	digits, ok := strings.CutPrefix(s, "0x")
	b, err := hex.DecodeString(digits)
	return b, ok && err == nil
}

// readFixed reads hex of as many bytes as out has.
func readFixed(v value, out []byte) error {
	b, err := readHex(v)
	if err != nil || len(b) != len(out) {
		return v.errorf("must be 0x and %d bytes of hex", len(out))
	}
	copy(out, b)
	return nil
}

func readAddr(v value) (a scheduler.Addr, err error) {
	err = readFixed(v, a[:])
	return a, err
}

func readWord(v value) (w scheduler.Word, err error) {
	err = readFixed(v, w[:])
	return w, err
}

// readSecret reads a group's secret. Its errors do not repeat it.
func readSecret(v value) (bls.Scalar, error) {
	w, err := readWord(v)
	if err != nil {
		return bls.Scalar{}, err
	}
	s, err := bls.ScalarFromBytes(w[:])
	if err != nil || s.IsZero() {
		return bls.Scalar{}, v.errorf("must be a scalar from 1 to the group order less one")
	}
	return s, nil
}
