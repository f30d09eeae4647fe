package model

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler/replay"
)

const blocksPerScript = 50

// dice makes what a seed decides.
type dice struct{ *rand.ChaCha8 }

func (d dice) intn(n int) int { return int(d.Uint64() % uint64(n)) }

// seeds are drawn by rapid, which prints its own seed. Shrinking is left to shrink, which knows what a script is.
var seeds = rapid.Custom(func(t *rapid.T) [32]byte {
	return sha256.Sum256(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
})

// story is a script with the model's lines.
type story struct {
	s     script
	lines []string
	seen  *counters
}

// machine plays a script on the scheduler, with whatever prepares the player.
func machine(s script, prepare func(*replay.Player)) (lines []string, err error) {
	parsed, err := replay.Parse(bytes.NewReader(s.encode()))
	if err != nil {
		return nil, err
	}
	p, err := replay.NewPlayer(parsed.Genesis)
	if err != nil {
		return nil, err
	}
	prepare(p)
	for _, b := range parsed.Blocks {
		line, err := p.Block(b)
		if err != nil {
			return lines, err
		}
		lines = append(lines, strings.TrimSuffix(string(line.Encode()), "\n"))
	}
	return append(lines, strings.TrimSuffix(string(p.Final().Encode()), "\n")), nil
}

// difference tells the first line in which machine and model differ, or "".
func difference(want, got []string, err error) string {
	for i, w := range want {
		if i >= len(got) {
			return fmt.Sprintf("the machine ends at line %d: %v", i+1, err)
		}
		if g := withoutHash(got[i]); g != w {
			return fmt.Sprintf("line %d\n%s", i+1, around(g, w))
		}
	}
	if len(got) != len(want) || err != nil {
		return fmt.Sprintf("%d lines instead of %d, %v", len(got), len(want), err)
	}
	return ""
}

// withoutHash leaves out the state hash, which the model does not know.
func withoutHash(line string) string {
	if before, _, found := strings.Cut(line, `"state":`); found {
		return before + `"state":`
	}
	return line
}

// examine plays a story on the machine under the eyes of the invariants, and compares what it prints.
func examine(o story, checked map[string]int, trials bool) (what string) {
	defer func() {
		if r := recover(); r != nil {
			b, ok := r.(broken)
			if !ok {
				panic(r)
			}
			what = b.text
		}
	}()
	got, err := machine(o.s, func(p *replay.Player) {
		w := newWatch(o.s, p, checked, trials)
		p.Observe(w.see)
	})
	return difference(o.lines, got, err)
}

// around shows where two lines part.
func around(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, i-200):min(len(s), i+200)] }
	return fmt.Sprintf("machine …%s…\nmodel   …%s…", cut(a), cut(b))
}

// TestMain leaves shrinking to shrink, which knows what a script is, and sets how many scripts are drawn: 20,000 blocks.
func TestMain(m *testing.M) {
	flag.Parse()
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	checks := "400"
	if testing.Short() {
		checks = "12"
	}
	for name, value := range map[string]string{"rapid.shrinktime": "0s", "rapid.nofailfile": "true", "rapid.checks": checks} {
		if !set[name] {
			if err := flag.Set(name, value); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}

// checkStories draws scripts and fails on the first for which fails tells something. Rapid prints its seed, and the script lies in a
// file, shrunk, that "beacond replay" takes.
func checkStories(t *testing.T, fails func(story) string) {
	var failed *story
	t.Cleanup(func() {
		if failed == nil {
			return
		}
		s := shrink(failed.s, func(s script) bool { return fails(retold(s)) != "" })
		file := filepath.Join(os.TempDir(), "daybreak-"+t.Name()+".jsonl")
		if err := os.WriteFile(file, s.encode(), 0o600); err != nil {
			t.Error(err)
		}
		t.Logf("shrunk to %d blocks: %s\n%s", len(s.Blocks), file, fails(retold(s)))
	})
	rapid.Check(t, func(t *rapid.T) {
		var one story
		one.s, one.lines, one.seen = generate(dice{rand.NewChaCha8(seeds.Draw(t, "seed"))}, blocksPerScript)
		if what := fails(one); what != "" {
			failed = &one
			t.Fatal(what)
		}
	})
}

// retold is a script with what the model prints for it.
func retold(s script) story {
	m := newModel(s.Genesis)
	var lines []string
	for _, b := range s.Blocks {
		lines = append(lines, m.print(m.block(b)))
	}
	return story{s, append(lines, m.printFinal()), m.seen}
}

// TestScripts draws scripts, plays them on the machine and on the model, compares the lines, and checks the invariants on the machine's
// state after every block and transaction.
func TestScripts(t *testing.T) {
	t.Parallel()
	total, checked, n := newCounters(), map[string]int{}, 0
	checkStories(t, func(o story) string {
		n++
		total.add(o.seen)
		return examine(o, checked, n%4 == 0)
	})
	t.Logf("%d scripts of %d blocks", n, blocksPerScript)
	total.log(t)
	if n < 400 {
		return // what they reached says little
	}
	total.check(t)
	for _, id := range slices.Sorted(maps.Keys(invariants)) {
		t.Run(id+" "+invariants[id], func(t *testing.T) {
			if t.Logf("checked %d times", checked[id]); checked[id] < 20 {
				t.Errorf("checked %d times only", checked[id])
			}
		})
	}
	for id := range checked {
		if invariants[id] == "" {
			t.Errorf("%s has no sentence", id)
		}
	}
}

func (c *counters) add(o *counters) {
	for part, got := range o.parts() {
		for name, n := range got {
			c.parts()[part][name] += n
		}
	}
}

// reached lists what the scripts are to reach. NotDue is not among it: the machine chooses what is due, and others get NotChain.
var reached = map[string]string{
	"errors": "NotChain NotPayer NotScheduled NotPaused NotExpired BadTarget BadCalls BadTrigger BadDependency SlotNotInFuture BeyondHorizon " +
		"GasLimitOutOfRange ZeroGasPrice GasPriceTooLow DataTooLarge BadClass SlotReserveFull SlotFull InsufficientEscrow TransferFailed BadReserve " +
		"ReserveIsGasToken CallFailed CannotRecur BadSeal BadCondition WatchFull Running",
	"events":   "Scheduled Executed ExecutionFailed Recurred RecurrenceStarved Paused Cancelled Expired Deposited Withdrawn",
	"outcomes": "success reverted skipped",
	"statuses": "Scheduled Executed Failed Cancelled Expired Paused",
}

func (c *counters) parts() map[string]map[string]int {
	return map[string]map[string]int{"errors": c.errors, "events": c.events, "outcomes": c.outcomes, "statuses": c.statuses}
}

// check demands that the scripts reached every error, event, outcome and status.
func (c *counters) check(t *testing.T) {
	for part, got := range c.parts() {
		for _, name := range strings.Fields(reached[part]) {
			if got[name] < 5 {
				t.Errorf("%s: %s was reached %d times", part, name, got[name])
			}
		}
	}
}

func (c *counters) log(t *testing.T) {
	for part, got := range c.parts() {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(got)) {
			all = append(all, fmt.Sprintf("%s %d", name, got[name]))
		}
		t.Logf("%s: %s", part, strings.Join(all, ", "))
	}
}

// TestKeptScripts plays the scripts of the worked scenarios and those that once showed a fault.
func TestKeptScripts(t *testing.T) {
	t.Parallel()
	n := 0
	for _, pattern := range []string{"*.jsonl", filepath.Join("regressions", "*.jsonl")} {
		files, err := filepath.Glob(filepath.Join("..", "..", "testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			n++
			t.Run(strings.TrimSuffix(filepath.Base(f), ".jsonl"), func(t *testing.T) {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				s, err := parse(b)
				if err != nil {
					t.Fatal(err)
				}
				o := retold(s.valid())
				if len(o.lines[len(o.lines)-1]) > 200_000 { // a look at so many entries after each transaction takes minutes
					got, err := machine(o.s, func(*replay.Player) {})
					if what := difference(o.lines, got, err); what != "" {
						t.Error(what)
					}
					return
				}
				if what := examine(o, map[string]int{}, true); what != "" {
					t.Error(what)
				}
			})
		}
	}
	if n == 0 {
		t.Error("no scripts are kept")
	}
}

// valid is the script up to its first block that the chain refuses, about which the model knows nothing.
func (s script) valid() script {
	lines, err := machine(s, func(*replay.Player) {})
	if err != nil {
		s.Blocks = s.Blocks[:len(lines)]
	}
	return s
}
