package main

import (
	"bytes"
	"go/format"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryMutantApplies keeps the list in step with the machine; make mutants plants them.
func TestEveryMutantApplies(t *testing.T) {
	t.Chdir("../../..")
	if len(mutants) < 60 {
		t.Errorf("%d mutants, want at least 60", len(mutants))
	}
	if len(taskMutants) < 20 {
		t.Errorf("%d mutants of the task runtime, want at least 20", len(taskMutants))
	}
	seen := map[string]bool{}
	for _, m := range append(slices.Clone(mutants), taskMutants...) {
		if seen[m.breaks] {
			t.Errorf("two mutants break %q", m.breaks)
		}
		seen[m.breaks] = true
		text, err := os.ReadFile(m.file)
		if err != nil {
			t.Fatal(err)
		}
		faulty, err := m.apply(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if bytes.Equal(faulty, text) {
			t.Errorf("%s: %s: it changes nothing", m.file, m.breaks)
		}
		if _, err := format.Source(faulty); err != nil {
			t.Errorf("%s: %s: %v", m.file, m.breaks, err)
		}
	}
}

func TestPlantingKeepsTheOriginal(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const text = `package scheduler

// add adds.
func (c *call) add(a, b int, more ...int) (sum int, err error) {
	return a + b + len(more), nil
}

func other() { println("x") }

const limit = 5
`
	if err := os.WriteFile("m.go", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	together, alone, err := sortOut([]mutant{
		{"m.go", "a + b", "a - b", "the sum"}, {"m.go", "len(more)", "0", "the rest"}, {"m.go", `println("x")`, "", "the output"}, {"m.go", "limit = 5", "limit = 6", "the limit"},
	})
	if err != nil || len(together) != 3 || len(alone) != 1 {
		t.Fatalf("%d together, %d alone, %v", len(together), len(alone), err)
	}
	s, err := readSource("m.go")
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.plant(together)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := format.Source(got); err != nil {
		t.Errorf("%v in\n%s", err, got)
	}
	for _, want := range []string{
		"func (c *call) add__(a, b int, more ...int) (sum int, err error) {\n\treturn a + b + len(more), nil\n}",
		"func (c *call) add__0(a, b int, more ...int) (sum int, err error) {\n\treturn a - b + len(more), nil\n}",
		"func (c *call) add__1(a, b int, more ...int) (sum int, err error) {\n\treturn a + b + 0, nil\n}",
		"func (self *call) add(p0 int, p1 int, p2 ...int) (sum int, err error) {\n\tswitch plantedMutant {\n\tcase 0:\n\t\treturn self.add__0(p0, p1, p2...)\n",
		"\tdefault:\n\t\treturn self.add__(p0, p1, p2...)\n", "func other__() { println(\"x\") }", "func other__2() {  }", "\tcase 2:\n\t\tother__2()\n", "const limit = 5",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if got, err := s.plant(alone); err != nil || string(got) != strings.Replace(text, "= 5", "= 6", 1) {
		t.Errorf("alone: %v\n%s", err, got)
	}
	if _, _, err := sortOut([]mutant{{"m.go", "a", "b", "too common"}, {"m.go", "nowhere", "b", "absent"}}); err == nil ||
		!strings.Contains(err.Error(), "too common") || !strings.Contains(err.Error(), "absent") {
		t.Errorf("got %v, want both mutants that do not apply", err)
	}
}

func TestFailuresAreNamed(t *testing.T) {
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/S-SEL-01_due (0.0s)\n        x.go:1: no\n--- FAIL: TestB (0s)\nFAIL\n": "; by TestA/S-SEL-01_due",
		"panic: scheduler: internal error: x\n\ngoroutine 1\n":                                                              "; by panic: scheduler: internal error: x",
		"--- FAIL: TestC (0s)\npanic: no\n":                                                                                 "; by TestC",
	} {
		if got := firstFailure([]byte(out)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
