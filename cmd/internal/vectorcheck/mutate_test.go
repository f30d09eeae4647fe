package vectorcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/vectors"
)

// notCompared are the fields that explain a case to people.
var notCompared = []string{
	"name", "reason", "stage", "basis", "entry_reason", "entry_basis", "entry_if_not_enforced",
	"source", "Source", "Note", "Name", "Chain", "Verified", "DecryptedLocally",
}

// notDetermined are fields of one type of case that nothing else in it determines.
var notDetermined = map[string][]string{
	"partial": {"index"}, // the case gives the index's public share but not the polynomial behind it
}

// Each recorded value of a valid case, changed alone, must make its case fail: nothing recorded goes unread. One case of
// each shape (type and set of fields) is changed so. Of the invalid cases only the verdict can be changed to that effect.
func TestEveryRecordedValueIsCompared(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			raw, err := vectors.FS.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if skippedWhole(t, name, raw) {
				return // not built yet: TestPublishedVectorsPass says which files those are
			}
			m := mutator{t: t, read: files[name], done: map[string]bool{}}
			if err := decodeNumbers(raw, &m.root); err != nil {
				t.Fatal(err)
			}
			for field, list := range m.root {
				if list, ok := list.([]any); ok {
					for _, c := range list {
						m.mutateCase(field, c.(map[string]any))
					}
				}
			}
			if m.tried == 0 {
				t.Error("no value was changed")
			}
		})
	}
}

// skippedWhole tells whether this build checks nothing of a file.
func skippedWhole(t *testing.T, name string, raw []byte) bool {
	t.Helper()
	cases, err := files[name](raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		var s *skip
		if !errors.As(c.run(), &s) {
			return false
		}
	}
	return true
}

func decodeNumbers(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(into)
}

type mutator struct {
	t     *testing.T
	read  func([]byte) ([]testCase, error)
	root  map[string]any
	done  map[string]bool // shapes
	tried int
}

// mutateCase changes every leaf of the case in turn.
func (m *mutator) mutateCase(list string, c map[string]any) {
	m.t.Helper()
	valid, isCase := c["valid"].(bool)
	if !isCase {
		valid, isCase = c["Valid"].(bool)
	}
	if isCase && !valid {
		for _, field := range []string{"valid", "Valid"} {
			if _, ok := c[field]; ok {
				c[field] = true
				m.mustFail(list, c, field)
				c[field] = false
			}
		}
		return
	}
	if list == "ibe_obsolete" || c["Plaintext"] == "" {
		return // invalid, in files that have no flag for it
	}
	kind, _ := c["type"].(string)
	shape := fmt.Sprint(list, kind, slices.Sorted(maps.Keys(c)))
	if m.done[shape] || m.outcome(list, c) != nil {
		return // or skipped; that no valid case fails is another test's
	}
	m.done[shape] = true
	exempt := append(slices.Clone(notCompared), notDetermined[kind]...)
	m.walk(list, c, c, "", exempt)
}

func (m *mutator) walk(list string, c map[string]any, at any, path string, exempt []string) {
	m.t.Helper()
	change := func(key string, value any, set func(any)) {
		if mutated, ok := mutate(value); ok {
			set(mutated)
			m.mustFail(list, c, path+"."+key)
			set(value)
			return
		}
		m.walk(list, c, value, path+"."+key, exempt)
	}
	switch at := at.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(at)) {
			if !slices.Contains(exempt, key) && !(key == "partial" && isBad(c, at)) {
				change(key, at[key], func(v any) { at[key] = v })
			}
		}
	case []any:
		for i := range at {
			change(fmt.Sprint(i), at[i], func(v any) { at[i] = v })
		}
	}
}

// isBad tells whether a case says of one of its partials that it does not verify: changed, it still does not.
func isBad(c, partial map[string]any) bool {
	bad, _ := c["bad_indices"].([]any)
	return slices.Contains(bad, partial["index"])
}

var (
	hexLeaf     = regexp.MustCompile(`^(0x)?[0-9a-f]*$`)
	decimalLeaf = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)
)

// mutate returns another value of the same form, if v is a leaf.
func mutate(v any) (any, bool) {
	switch v := v.(type) {
	case bool:
		return !v, true
	case json.Number:
		return json.Number("1" + v.String()), true
	case string:
		switch {
		case decimalLeaf.MatchString(v):
			return v[:len(v)-1] + string('0'+(v[len(v)-1]-'0'+1)%10), true
		case v == "0x":
			return "0x00", true
		case hexLeaf.MatchString(v) && v != "":
			at := len(v) - 1 - (len(v)-1)/3
			flipped := map[bool]string{true: "1", false: "0"}[v[at] == '0']
			return v[:at] + flipped + v[at+1:], true
		}
		return v + "x", true
	}
	return nil, false
}

func (m *mutator) mustFail(list string, c map[string]any, path string) {
	m.t.Helper()
	m.tried++
	err := m.outcome(list, c)
	var s *skip
	if err == nil || errors.As(err, &s) {
		m.t.Errorf("%v: %s changed and the case still passes (%v)", c["name"], strings.TrimPrefix(path, "."), err)
	}
}

// outcome runs the one case c, in a file with the cases that it may lean on.
func (m *mutator) outcome(list string, c map[string]any) error {
	m.t.Helper()
	file := maps.Clone(m.root)
	for field, v := range file {
		if _, ok := v.([]any); ok {
			file[field] = []any{}
		}
	}
	cases := []any{c}
	for _, other := range m.root[list].([]any) {
		if o := other.(map[string]any); o["type"] == "threshold" && c["type"] != "threshold" {
			cases = append(cases, o)
		}
	}
	file[list] = cases
	raw, err := json.Marshal(file)
	if err != nil {
		m.t.Fatal(err)
	}
	read, err := m.read(raw)
	if err != nil {
		return err
	}
	return read[0].run()
}
