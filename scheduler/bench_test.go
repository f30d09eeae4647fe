package scheduler_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
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
// thousand: the beginning, the runs, the end and the state's hash. Both begin with cold processor caches, as a block a second does, and
// the entries of the large state are other ones each time. Making the large state takes a minute.
func BenchmarkQueued(b *testing.B) {
	queuedWorlds(b)
	few, many := *fewQueued, *manyQueued
	height := uint64(0)
	ratio := medianRatio(b, func() func() {
		if height = height%rounds + 1; height == 1 {
			many.Host = manyQueued.Fork()
		}
		coolCaches()
		return func() { many.runDue(height + 1) }
	}, func() func() {
		few.Host = fewQueued.Fork()
		coolCaches()
		return func() { few.runDue(2) }
	})
	b.ReportMetric(ratio, "x-1000-queued")
}

var other = make([]byte, 64<<20)

// coolCaches does what other work between two blocks does: it fills the core's caches.
func coolCaches() {
	for i := 0; i < len(other); i += 64 {
		other[i]++
	}
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

// againstPairing reports a block's work in units of one pairing. f prepares it, unmeasured.
func againstPairing(b *testing.B, f func() func()) {
	p, q := bls.MulG1Public(bls.ScalarFromUint64(7)), newWorld(b).Namespace().Point(tlock.SlotIdentity(1))
	pairing := func() { gtSink = bls.Pair(p, q) }
	b.ReportMetric(medianRatio(b, f, func() func() { return pairing }), "x-pairing")
}

var gtSink bls.GT

// BenchmarkWatchers is the beginning of a block that evaluates 1,024 watchers of as many written items as it says.
func BenchmarkWatchers(b *testing.B) {
	low, high := uint64(0), uint64(1)
	for _, c := range []struct {
		name                  string
		items, watchers, idle int
		value                 uint64
	}{
		{"items=4/none-fires", 4, 256, 0, low},
		{"items=4/none-fires/200-idle-items", 4, 256, 200, low},
		{"items=1024/none-fires", 1024, 1, 0, low},
		{"items=4/all-fire-into-full-slots", 4, 256, 0, high},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := benchPolicy()
			p.MaxEntriesPerBlock = 16
			w := newWatchWorldWith(b, p)
			w.begin(2, 101)
			watch := func(kind byte, items, watchers int) (all []scheduler.Word) {
				for i := range items {
					item := scheduler.Word{kind, byte(i >> 8), byte(i)}
					all = append(all, item)
					w.write(item, low)
					for range watchers {
						w.schedule(with(entryOf(300_000, 102), when(item, scheduler.WhenValueAtLeast, high)))
					}
				}
				return all
			}
			written := watch(1, c.items, c.watchers)
			watch(2, c.idle, 20)
			for slot := uint64(104); slot < 112; slot++ {
				for range p.MaxEntriesPerBlock {
					w.schedule(entryOf(300_000, slot))
				}
			}
			w.EndBlock(nil)
			w.block(102, func() {
				for _, item := range written {
					w.write(item, c.value)
				}
			})
			base := w.Fork()
			againstPairing(b, func() func() {
				w.Host = base.Fork()
				return func() { w.begin(4, 103) }
			})
			expect(b, "watchedHeight", w.view().WatchedHeight(written[len(written)-1]), 3)
			expect(b, "still watching", len(w.view().WatchersOf(written[0])), c.watchers)
		})
	}
}

// BenchmarkSelection is a block with 1,024 due entries, each of which depends on the eight before it: reading and selecting them alone,
// and the whole beginning of the block, where all are chosen or, for want of gas, only the first and the others move.
func BenchmarkSelection(b *testing.B) {
	due := func(b *testing.B, chosen int) *world {
		p := benchPolicy()
		p.MaxEntriesPerBlock, p.GasPerBlock = 1024, uint64(chosen)*400_000
		w := newWorldWith(b, p)
		w.begin(1, 100)
		w.deposit(alice, 9e14)
		var ids []uint64
		for range 1024 {
			before := ids[max(0, len(ids)-scheduler.MaxDependencies):]
			ids = append(ids, w.schedule(with(entryOf(360_000, 101), needs(before...))))
		}
		w.EndBlock(nil)
		return w
	}
	b.Run("select", func(b *testing.B) {
		w := due(b, 1024)
		base, chosen := w.Fork(), 0
		againstPairing(b, func() func() {
			w.Host = base.Fork()
			w.Space(alice).Set(scheduler.Word{}, scheduler.Word{1}) // as in a block, where the host keeps what it has read
			h := &scheduler.Host{State: w.Space(scheduler.Address), Beacon: w.Beacon(), Oracle: w.Host}
			return func() { chosen = w.Machine().Select(scheduler.Env{Height: 2, Time: 101}, h) }
		})
		expect(b, "chosen", chosen, 1024)
	})
	for _, chosen := range []int{128, 1024} {
		b.Run(fmt.Sprintf("chosen=%d", chosen), func(b *testing.B) {
			w := due(b, chosen)
			base := w.Fork()
			againstPairing(b, func() func() {
				w.Host = base.Fork()
				return func() { w.begin(2, 101) }
			})
			expect(b, "runs", len(w.runs), chosen)
		})
	}
}

// BenchmarkOpening is a block that opens and runs 128 sealed entries on one core, in units of the same on two: its beginning, in which the
// slot's key is verified and the entries are opened, and all of it with the state's hash, of which the runs and the hash are serial.
func BenchmarkOpening(b *testing.B) {
	w := newWorldWith(b, benchPolicy())
	w.install(w.secret)
	w.block(100, func() {
		w.deposit(alice, 1e12)
		for range 128 {
			w.schedule(w.sealedEntry(110))
		}
	})
	w.blocks(101, 110)
	base, key := w.Fork(), w.slotKey(110)
	for _, whole := range []bool{false, true} {
		block := func(run scheduler.Runner) func() func() {
			return func() func() {
				w.Host, w.runner = base.Fork(), run
				w.update.Slots = []scheduler.SlotKey{key}
				return func() {
					w.begin(12, 111)
					if whole {
						w.executeRuns()
						w.EndBlock(run)
						w.StateHash()
					}
				}
			}
		}
		b.Run(map[bool]string{false: "beginning", true: "block"}[whole], func(b *testing.B) {
			w.TB = b
			b.ReportMetric(medianRatio(b, block(nil), block(twoCores)), "x-one-core")
			expect(b, "runs", len(w.runs), 128)
		})
	}
}

// twoCores shares the work out one by one.
func twoCores(n int, f func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
