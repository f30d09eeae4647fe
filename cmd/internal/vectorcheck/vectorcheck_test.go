package vectorcheck_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/daybreak-beacon/daybreak/cmd/internal/vectorcheck"
	"github.com/daybreak-beacon/daybreak/vectors"
)

// run returns what Run writes, by line.
func run(t *testing.T, dir fs.FS) (lines []string, failed bool) {
	t.Helper()
	var out bytes.Buffer
	failed, err := vectorcheck.Run(dir, &out)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), failed
}

func TestPublishedVectorsPass(t *testing.T) {
	lines, failed := run(t, vectors.FS)
	if failed {
		t.Error("some case failed")
	}
	want := []string{
		"beacon.json: 111 passed, 0 failed",
		"ceremony.json: 16 passed, 0 failed",
		"condition.json: 31 passed, 0 failed",
		"drand-beacons.json: 27 passed, 0 failed, 1 skipped (bls-bn254-unchained-on-g1: another curve)",
		"drand-chain-info.json: 6 passed, 0 failed",
		"drand-tlock.json: 6 passed, 0 failed, 2 skipped (the round's signature is not published)",
		"envelope.json: 18 passed, 0 failed",
		"sealed.json: 150 passed, 0 failed",
		"systemtx.json: 45 passed, 0 failed",
		"timelock.json: 89 passed, 0 failed",
		"timer.json: 61 skipped (not built yet)",
		"tlockage.json: 52 passed, 0 failed",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := vectors.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAChangedByteFailsItsCaseByName(t *testing.T) {
	raw := readFile(t, "condition.json")
	good := []byte(`"payer": "0xe28ae70c`)
	if !bytes.Contains(raw, good) {
		t.Fatalf("condition.json has no %s", good)
	}
	bad := bytes.Replace(raw, good, []byte(`"payer": "0xe28ae70d`), 1)
	lines, failed := run(t, fstest.MapFS{"condition.json": {Data: bad}})
	if !failed || lines[0] != "condition.json: 30 passed, 1 failed" || !strings.HasPrefix(lines[1], "  condition-at-least: ") {
		t.Errorf("failed is %v and the lines are\n%s", failed, strings.Join(lines, "\n"))
	}
}

func TestBrokenFilesFail(t *testing.T) {
	raw := string(readFile(t, "condition.json"))
	for name, file := range map[string]string{
		"not JSON":               "hello",
		"cut short":              raw[:len(raw)/2],
		"empty object":           "{}",
		"no cases":               `{"cases": []}`,
		"something behind":       raw + "{}",
		"a case without name":    `{"cases": [{"type": "condition", "valid": false}]}`,
		"a case of unknown type": `{"cases": [{"name": "x", "type": "conditions", "valid": false}]}`,
		"a field nobody reads":   strings.Replace(raw, `"valid": true,`, `"valid": true, "extra": 1,`, 1),
		"hex in upper case":      strings.Replace(raw, `"0xe28ae70c`, `"0xE28ae70c`, 1),
	} {
		if _, failed := run(t, fstest.MapFS{"condition.json": {Data: []byte(file)}}); !failed {
			t.Errorf("%s: nothing failed", name)
		}
	}
}

func TestFoldersWithoutVectorsAreAnError(t *testing.T) {
	for name, dir := range map[string]fs.FS{
		"empty":        fstest.MapFS{},
		"foreign JSON": fstest.MapFS{"package.json": {Data: []byte("{}")}},
	} {
		if _, err := vectorcheck.Run(dir, &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	lines, failed := run(t, fstest.MapFS{"condition.json": {Data: readFile(t, "condition.json")}, "package.json": {Data: []byte("{}")}})
	if failed || len(lines) != 2 || !strings.Contains(lines[1], "package.json: skipped") {
		t.Errorf("a foreign file beside vectors: failed is %v, lines %q", failed, lines)
	}
}
