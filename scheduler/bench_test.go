package scheduler_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// The benchmarks alternate two operations in one process and report the median ratio of their times, so that the machine and most of
// its load fall out. `make bench` prints them beside their targets.

// medianRatio alternates two functions and returns the median of time(f) / time(g). Each is given leave to prepare, unmeasured.
func medianRatio(b *testing.B, f, g func() func()) float64 {
	var ratios []float64
	for b.Loop() {
		first := timed(f())
		ratios = append(ratios, first/timed(g()))
	}
	b.ReportMetric(0, "ns/op") // would count both
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func timed(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start))
}

const (
	dueEntries = 100 // in each block that is measured
	days       = 86_400
)

func benchPolicy() scheduler.Policy {
	p := testPolicy()
	p.GasPerBlock, p.MaxEntriesPerBlock = 60_000_000, 128
	return p
}

// queuedWorld is a chain with so many entries queued over 30 days, and rounds slots from 101 on with dueEntries each. Those were
// scheduled among the others, not one after the other.
func queuedWorld(b *testing.B, queued, rounds int) *world {
	w := newWorldWith(b, benchPolicy())
	w.begin(1, 100)
	must(b, w.Mint(alice, amount(9e18)))
	w.Approve(alice, scheduler.Address, amount(9e18))
	w.deposit(alice, 9e18)
	due := dueEntries * rounds
	for n := range queued {
		w.schedule(entryOf(300_000, 1_000_000+uint64(n)*30*days/uint64(queued)))
		for range due*(n+1)/queued - due*n/queued {
			w.schedule(entryOf(300_000, 101+uint64(due*n/queued%rounds)))
		}
		if n%10_000 == 0 {
			w.StateHash()
		}
	}
	w.EndBlock(nil)
	w.StateHash()
	return w
}

// runDue makes the block of height and the hash of its state.
func (w *world) runDue(height uint64) {
	w.blockAt(height, 99+height)
	w.StateHash()
	expect(w, "runs", len(w.runs), dueEntries)
}

const rounds = 50 // slots with due entries in the large state

// queuedWorlds are made once a process, and only forked.
var fewQueued, manyQueued *world

func queuedWorlds(b *testing.B) {
	if fewQueued != nil {
		fewQueued.TB, manyQueued.TB = b, b
		return
	}
	fewQueued = queuedWorld(b, 1_000, 1)
	before := liveHeap()
	manyQueued = queuedWorld(b, 1_000_000, rounds)
	b.Logf("%d bytes of heap for each queued entry", (liveHeap()-before)/1_000_000)
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkQueued is a block that runs 100 due entries among a million that are queued for later, in units of the same block among a
// thousand: the beginning, the runs, the end and the state's hash. The block's entries are other ones each time in the large state, and
// the same in the small one: processor caches are on the small one's side. Making the large state takes half a minute.
func BenchmarkQueued(b *testing.B) {
	queuedWorlds(b)
	few, many := *fewQueued, *manyQueued
	height := uint64(0)
	ratio := medianRatio(b, func() func() {
		if height = height%rounds + 1; height == 1 {
			many.Host = manyQueued.Fork()
		}
		return func() { many.runDue(height + 1) }
	}, func() func() {
		few.Host = fewQueued.Fork()
		return func() { few.runDue(2) }
	})
	b.ReportMetric(ratio, "x-1000-queued")
}

// BenchmarkBlock is a block that runs 100 due entries.
func BenchmarkBlock(b *testing.B) {
	for _, queued := range []int{1_000, 50_000} {
		b.Run(fmt.Sprintf("queued=%d", queued), func(b *testing.B) {
			w := queuedWorld(b, queued, 1)
			base := w.Fork()
			for b.Loop() {
				w.Host = base.Fork()
				w.runDue(2)
			}
		})
	}
}

// BenchmarkOpening is a block that opens and runs 64 sealed entries, with one goroutine and with many.
func BenchmarkOpening(b *testing.B) {
	for name, runner := range map[string]scheduler.Runner{"runner=serial": nil, "runner=parallel": parallelRunner} {
		b.Run(name, func(b *testing.B) {
			w := newWorldWith(b, benchPolicy())
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

// BenchmarkWatchers is a block that evaluates 1,024 watchers, of which none fires, while other items are watched and not written.
func BenchmarkWatchers(b *testing.B) {
	for _, idle := range []int{0, 200} {
		b.Run(fmt.Sprintf("idle=%d", idle), func(b *testing.B) {
			w := newWatchWorld(b)
			written := make([]scheduler.Word, 4)
			w.begin(2, 101)
			watch := func(item scheduler.Word, n int) {
				w.write(item, 0)
				for range n {
					w.schedule(with(entryOf(300_000, 102), when(item, scheduler.WhenValueAtLeast, 1)))
				}
			}
			for i := range written {
				written[i] = scheduler.Word{1, byte(i)}
				watch(written[i], 256)
			}
			for i := range idle {
				watch(scheduler.Word{2, byte(i)}, 20)
			}
			w.EndBlock(nil)
			w.block(102, func() {
				for _, i := range written {
					w.write(i, 0)
				}
			})
			base := w.Fork()
			for b.Loop() {
				w.Host = base.Fork()
				w.begin(4, 103)
				w.EndBlock(nil)
			}
			expect(b, "watchedHeight", w.view().WatchedHeight(written[3]), 3)
		})
	}
}
