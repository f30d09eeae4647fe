package vectorcheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/daybreak-beacon/daybreak/vectors"
)

// Any value in place of any other ends with a verdict, never with a panic: whoever runs `tlock vectors` on a stranger's
// folder learns that a case fails, and which.
func TestHostileValuesGetAVerdict(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		raw, err := vectors.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := mutator{t: t, read: files[name], done: map[string]bool{}}
		if err := decodeNumbers(raw, &m.root); err != nil {
			t.Fatal(err)
		}
		for list, cases := range m.root {
			cases, _ := cases.([]any)
			for _, c := range cases {
				c := c.(map[string]any)
				if shape := fmt.Sprint(list, c["type"], c["valid"]); !m.done[shape] {
					m.done[shape] = true
					m.replaceAll(list, c, c)
				}
			}
		}
	}
}

var hostile = []any{"", "0x00", "-1", json.Number("-1"), json.Number("4294967295"), nil, []any{nil}}

// replaceAll puts every hostile value in place of every value of the case.
func (m *mutator) replaceAll(list string, c map[string]any, at any) {
	m.t.Helper()
	replace := func(old any, set func(any)) {
		for _, v := range hostile {
			set(v)
			_ = m.outcome(list, c)
		}
		set(old)
		m.replaceAll(list, c, old)
	}
	switch at := at.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(at)) {
			old := at[key]
			replace(old, func(v any) { at[key] = v })
			delete(at, key)
			_ = m.outcome(list, c)
			at[key] = old
		}
	case []any:
		for i := range at[:min(len(at), 2)] {
			replace(at[i], func(v any) { at[i] = v })
		}
	}
}
