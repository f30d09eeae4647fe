package vectors_test

import (
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/daybreak-beacon/daybreak/vectors"
)

// These files carry their cases under "cases"; the counts are what the README promises.
var promised = map[string]int{
	"beacon.json":    111,
	"timelock.json":  89,
	"condition.json": 31,
	"sealed.json":    150,
	"systemtx.json":  45,
	"timer.json":     61,
	"tlockage.json":  52,
	"envelope.json":  18,
}

func TestFilesHoldWhatTheReadmePromises(t *testing.T) {
	for name, want := range promised {
		raw, err := vectors.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Cases []struct {
				Name string `json:"name"`
			} `json:"cases"`
		}
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := len(file.Cases); got != want {
			t.Errorf("%s: got %d cases, want %d", name, got, want)
		}
		seen := make(map[string]bool, len(file.Cases))
		for _, c := range file.Cases {
			if c.Name == "" || seen[c.Name] {
				t.Errorf("%s: case name %q is empty or used twice", name, c.Name)
			}
			seen[c.Name] = true
		}
	}
}

func TestEveryEmbeddedFileIsJSON(t *testing.T) {
	names, err := fs.Glob(vectors.FS, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := vectors.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(raw) {
			t.Errorf("%s is not valid JSON", name)
		}
	}
}
