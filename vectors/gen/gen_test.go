package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/vectors"
)

func TestPublishedFilesAreWhatThisWrites(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := vectors.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: run go run ./vectors/gen and look at the difference", name)
		}
	}
}

// What the vectors are worth is that another implementation wrote them.
func TestGeneratorSharesNothingWithWhatItTests(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "gnark-crypto/ecc/bls12-381") {
		t.Fatalf("no curve among the dependencies, so this is not their list:\n%s", out)
	}
	for _, shared := range []string{"daybreak/tlock", "daybreak/partials", "supranational/blst", "filippo.io/age"} {
		if strings.Contains(string(out), shared) {
			t.Errorf("the generator uses %s", shared)
		}
	}
}
