package vectorcheck

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/daybreak-beacon/daybreak/vectors"
)

// The files come from whoever wrote them: whatever is in one, checking it ends with a verdict. Seeds are one case of each
// type of each file.
func FuzzCase(f *testing.F) {
	names := slices.Sorted(maps.Keys(files))
	for i, name := range names {
		raw, err := vectors.FS.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var file struct{ Cases []json.RawMessage }
		if err := json.Unmarshal(raw, &file); err != nil {
			f.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range file.Cases {
			var h head
			if err := json.Unmarshal(c, &h); err != nil {
				f.Fatal(err)
			}
			if shape := h.Type + h.Stage; !seen[shape] {
				seen[shape] = true
				f.Add(uint8(i), []byte(c))
			}
		}
	}
	f.Fuzz(func(t *testing.T, file uint8, one []byte) {
		name := names[int(file)%len(names)]
		raw, err := json.Marshal(map[string]any{"cases": []json.RawMessage{one}})
		if err != nil {
			return
		}
		cases, err := files[name](raw)
		if err != nil {
			return
		}
		for _, c := range cases {
			_ = c.run()
		}
	})
}
