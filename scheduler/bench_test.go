package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// BenchmarkBlock is a block that runs 100 due entries while others are queued for later: its cost must not grow with those.
func BenchmarkBlock(b *testing.B) {
	for _, queued := range []int{1_000, 50_000} {
		b.Run(fmt.Sprintf("queued=%d", queued), func(b *testing.B) {
			p := testPolicy()
			p.GasPerBlock, p.MaxEntriesPerBlock = 60_000_000, 128
			w := newWorldWith(b, p)
			w.begin(1, 100)
			w.deposit(alice, 9e14)
			for n := range queued {
				w.schedule(entryOf(300_000, 1_000_000+uint64(n)))
			}
			for range 100 {
				w.schedule(entryOf(300_000, 101))
			}
			w.EndBlock(nil)
			base := w.Fork()
			for b.Loop() {
				w.Host = base.Fork()
				w.begin(2, 101)
				w.executeRuns()
				w.EndBlock(nil)
				w.StateHash()
			}
			expect(b, "runs", len(w.runs), 100)
		})
	}
}

// BenchmarkOpening is a block that opens and runs 64 sealed entries, with one goroutine and with many.
func BenchmarkOpening(b *testing.B) {
	for name, runner := range map[string]scheduler.Runner{"runner=serial": nil, "runner=parallel": parallelRunner} {
		b.Run(name, func(b *testing.B) {
			p := testPolicy()
			p.GasPerBlock, p.MaxEntriesPerBlock = 60_000_000, 128
			w := newWorldWith(b, p)
			w.runner = runner
			w.install(w.secret)
			w.block(100, func() {
				w.deposit(alice, 1e12)
				for range 64 {
					w.schedule(w.sealedEntry(110))
				}
			})
			w.blocks(101, 110)
			base, key := w.Fork(), w.slotKey(110)
			for b.Loop() {
				w.Host = base.Fork()
				w.update.Slots = []scheduler.SlotKey{key}
				w.block(111)
			}
			expect(b, "runs", len(w.runs), 64)
		})
	}
}
