package devnet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// discard is a full log that nobody reads.
type discard struct{ bytes.Buffer }

func (*discard) Close() error { return nil }

func TestLinesAreMergedWholeAndKeptInFull(t *testing.T) {
	var merged bytes.Buffer
	var full discard
	w := newOutput(&merged, false).lines(0, "v1", &full)
	for _, part := range []string{"begin", "ning\nsecond\nthi", "rd"} {
		if _, err := fmt.Fprint(w, part); err != nil {
			t.Fatal(err)
		}
	}
	w.flush()
	if got, want := merged.String(), "v1 | beginning\nv1 | second\nv1 | third\n"; got != want {
		t.Errorf("merged %q, want %q", got, want)
	}
	if got, want := full.String(), "beginning\nsecond\nthird"; got != want {
		t.Errorf("in full %q, want %q", got, want)
	}
}

func TestALineWithoutEndIsCut(t *testing.T) {
	var merged bytes.Buffer
	w := newOutput(&merged, false).lines(0, "v1", &discard{})
	if _, err := w.Write(bytes.Repeat([]byte("x"), 3*maxLine)); err != nil {
		t.Fatal(err)
	}
	w.flush()
	if got := strings.Count(merged.String(), "\n"); got != 3 {
		t.Errorf("%d lines, want 3", got)
	}
}

func TestEachValidatorHasItsColour(t *testing.T) {
	var merged bytes.Buffer
	out := newOutput(&merged, true)
	for i := range 2 {
		if _, err := fmt.Fprintln(out.lines(i, fmt.Sprintf("v%d", i+1), &discard{}), "hello"); err != nil {
			t.Fatal(err)
		}
	}
	want := colours[0] + "v1 | hello" + colourOff + "\n" + colours[1] + "v2 | hello" + colourOff + "\n"
	if got := merged.String(); got != want {
		t.Errorf("merged %q, want %q", got, want)
	}
}

func TestWhatAllSayAlikeIsShownOnce(t *testing.T) {
	var merged bytes.Buffer
	out := newOutput(&merged, false)
	say := func(i int, line string) {
		if _, err := fmt.Fprintln(out.lines(i, fmt.Sprintf("v%d", i+1), &discard{}), line); err != nil {
			t.Fatal(err)
		}
	}
	say(0, "10:00:00.010 info  key recovered slot=7 ms=10 partials=3")
	say(1, "10:00:00.012 info  key recovered slot=7 ms=12 partials=4")
	say(1, "10:00:01.011 info  key recovered slot=8 ms=11 partials=3")
	say(0, "10:00:01.500 info  entry ran entry=1 height=5 slot=9 attempt=0")
	say(1, "10:00:01.501 info  entry ran entry=1 height=5 slot=9 attempt=0")
	say(1, "10:00:01.502 info  entry ran entry=2 height=5 slot=9 attempt=0")
	say(0, "10:00:02.000 warn  slot missed slot=9")
	say(1, "10:00:02.000 warn  slot missed slot=9")
	say(0, "10:00:03.000 info  stopping")
	say(1, "10:00:03.000 info  stopping")
	got := strings.Split(strings.TrimSpace(merged.String()), "\n")
	want := []string{"v1 key recovered slot=7", "v2 key recovered slot=8", "v1 entry ran entry=1", "v2 entry ran entry=2", "v1 slot missed", "v2 slot missed", "v1 stopping", "v2 stopping"}
	if len(got) != len(want) {
		t.Fatalf("shown:\n%s", merged.String())
	}
	for i, w := range want {
		who, what, _ := strings.Cut(w, " ")
		if !strings.HasPrefix(got[i], who+" | ") || !strings.Contains(got[i], what) {
			t.Errorf("line %d is %q, want %s saying %q", i, got[i], who, what)
		}
	}
	if len(out.told) != len(out.order) {
		t.Errorf("%d remembered, %d in order", len(out.told), len(out.order))
	}
}

func TestFreePortsAreDifferent(t *testing.T) {
	ports, err := freePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[int]bool)
	for _, p := range ports {
		if seen[p] {
			t.Fatalf("port %d twice in %v", p, ports)
		}
		seen[p] = true
	}
}
