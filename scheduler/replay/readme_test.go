package replay_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var stateHash = regexp.MustCompile(`"state":"0x[0-9a-f]{64}"`)

// TestReadme holds README.md to the examples: each JSON it shows stands in a script, or in what a script puts out. Under the headline of
// an example it is that example's.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := exampleTexts(t)
	shown := map[string]int{}
	for _, section := range strings.Split(string(page), "\n## ") {
		var all []string
		for name, text := range texts {
			if strings.Contains(section, "examples/"+name+".jsonl)") {
				all = []string{text}
				shown[name]++
				break
			}
			all = append(all, text)
		}
		for _, snippet := range jsonLines(section) {
			found := false
			for _, text := range all {
				found = found || strings.Contains(text, snippet)
			}
			if !found {
				t.Errorf("no example reads or writes\n%s", snippet)
			}
		}
	}
	for name := range texts {
		if shown[name] != 1 {
			t.Errorf("README.md has %d walk-throughs of %s", shown[name], name)
		}
	}
}

// exampleTexts are the scripts of examples with their outputs, state hashes cut, by name.
func exampleTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("examples/*.jsonl")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	out := map[string]string{}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		output, err := play(string(script))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".jsonl")] = string(script) + stateHash.ReplaceAllString(output, `"state":"0x…"`)
	}
	return out
}

// jsonLines are the lines of the json blocks of a page.
func jsonLines(page string) (lines []string) {
	in := false
	for line := range strings.Lines(page) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "```"):
			in = line == "```json"
		case in && line != "":
			lines = append(lines, line)
		}
	}
	return lines
}
