package tidy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var prompt = regexp.MustCompile(`(?m)^\$ (.+)$`)

// TestReadmeCommandsExist looks at each line after a "$ " prompt: make targets stand in the Makefile, and every verb of
// our two commands answers to --help and knows the flags the README gives it.
func TestReadmeCommandsExist(t *testing.T) {
	readme := read(t, "README.md")
	makefile := read(t, "Makefile")
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/beacond", "./cmd/tlock")
	build.Dir = root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	seen := 0
	for _, m := range prompt.FindAllStringSubmatch(readme, -1) {
		for _, command := range regexp.MustCompile(`[|&;]+`).Split(m[1], -1) {
			fields := strings.Fields(command)
			if len(fields) < 2 {
				continue
			}
			switch filepath.Base(fields[0]) {
			case "make":
				seen++
				if !strings.Contains(makefile, "\n"+fields[1]+":") {
					t.Errorf("README says %q; the Makefile has no target %s", m[1], fields[1])
				}
			case "beacond", "tlock":
				seen++
				checkVerb(t, filepath.Join(bin, filepath.Base(fields[0])), fields[1:])
			}
		}
	}
	if seen < 5 {
		t.Fatalf("only %d commands found in README.md: the check looks for lines that begin with \"$ \"", seen)
	}
}

func checkVerb(t *testing.T, binary string, args []string) {
	t.Helper()
	var verbs, flags []string
	for _, a := range args {
		if strings.HasPrefix(a, "--") {
			flags = append(flags, strings.SplitN(a, "=", 2)[0])
		} else if len(flags) == 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(a) && len(verbs) < 1 {
			verbs = append(verbs, a)
		}
	}
	help, err := exec.Command(binary, append(verbs, "--help")...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s --help: %v\n%s", filepath.Base(binary), strings.Join(verbs, " "), err, help)
		return
	}
	for _, f := range flags {
		if !strings.Contains(string(help), f) {
			t.Errorf("%s %s does not know %s, which README.md uses", filepath.Base(binary), strings.Join(verbs, " "), f)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
