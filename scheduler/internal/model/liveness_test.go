package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLiveness appends to scripts blocks with nothing but keys. Machine and model agree on them, as TestScripts has it; here the
// model says whether anything still waits.
func TestLiveness(t *testing.T) {
	t.Parallel()
	t.Run("I-39 with keys and no new load every queued entry leaves or becomes expirable", func(t *testing.T) {
		scripts, settled := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			if scripts++; scripts > 60 {
				return
			}
			g := &generator{source: dice{rand.NewChaCha8(seeds.Draw(t, "seed"))}}
			g.begin()
			if l := g.s.Genesis.Limits; l != nil {
				// Height entries have no deadline. While what they depend on keeps watching, up to maxEntriesPerBlock of them move each
				// block and are read before all slots: with fewer reads than that, slots starve.
				l.Reads = 64
				g.m = newModel(g.s.Genesis)
			}
			for range 30 {
				g.next(g.block())
			}
			slots, heights := g.m.time+60, g.m.height+60
			g.keyRate = 100
			var out func(e *entry) bool // of reach: far ahead, watching, or waiting for such an entry
			out = func(e *entry) bool {
				if e.status != scheduled || g.m.passed(e) {
					return false
				}
				if e.key == watchKey || !e.isHeight() && e.key > slots || e.isHeight() && e.key-heightKey > heights {
					return true
				}
				return slices.ContainsFunc(e.deps, func(d dependency) bool { return out(g.m.entries[uint64(d.ID)]) })
			}
			waits := func() (left []uint64) {
				for _, e := range g.m.sorted() {
					if e.status == scheduled && !g.m.expirable(e) && !out(e) {
						left = append(left, e.id)
					}
				}
				return left
			}
			for n := 0; len(waits()) > 0 || n < 70; n++ {
				if n == 2_000 {
					t.Fatalf("entries %v still wait", waits())
				}
				b := block{Time: u64(g.m.time + 1), Proposer: proposers[0]}
				if g.m.groupSecret != nil {
					g.keys(&b)
				}
				g.next(b)
			}
			settled += len(g.m.entries)
			lines := append(g.lines, g.m.printFinal())
			if what := examine(story{g.s, lines, g.m.seen}, map[string]int{}, false); what != "" {
				t.Fatal(what)
			}
		})
		t.Logf("%d entries came to rest", settled)
	})
}
