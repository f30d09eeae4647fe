package scheduler_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

type testingTB = rapid.TB

func sortedWords(words []scheduler.Word) []scheduler.Word {
	words = slices.Clone(words)
	slices.SortFunc(words, func(a, b scheduler.Word) int { return bytes.Compare(a[:], b[:]) })
	return words
}

func TestConditionalScenarios(t *testing.T) {
	t.Run("scenario 38 S-CON-05 S-CON-07 S-ITF-11 a condition fires", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101)
		w.block(102, func() { w.schedule(watcher(106, 3000)) })
		w.block(103)
		w.block(104, func() { w.write(item, 3500) })
		w.block(105)
		expect(t, "a write before the not-before slot", w.view().Entry(1).Key, scheduler.WatchKey)
		expect(t, "it was seen", w.view().WatchedHeight(item), 5)
		w.block(106, func() { w.write(item, 3500) })
		expect(t, "nothing fires in the writing block", w.view().Entry(1).Key, scheduler.WatchKey)
		w.block(107)
		e := w.view().Entry(1)
		expect(t, "key", e.Key, 108)
		expect(t, "deadlineSlot", e.DeadlineSlot, 168)
		expect(t, "dueSlot", e.DueSlot, 106)
		expectList(t, "watchersOf", w.view().WatchersOf(item))
		w.block(108)
		expectList(t, "ran", w.ran(), 1)
		w.expectStatus(1, scheduler.Executed)
	})

	t.Run("scenario 39 S-CON-08 S-CAP-04 fires into full slots", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			for slot := uint64(109); slot <= 116; slot++ {
				for range 4 {
					w.schedule(entryOf(300_000, slot))
				}
			}
			w.schedule(with(entryOf(300_000, 106), when(item, scheduler.WhenValueAtMost, 2500)))
		})
		w.blocks(102, 106)
		w.block(107, func() { w.write(item, 2400) })
		w.block(108)
		expect(t, "no room", w.view().Entry(33).Key, scheduler.WatchKey)
		expectList(t, "watchersOf", w.view().WatchersOf(item), 33)
		expect(t, "watchedHeight", w.view().WatchedHeight(item), 8)
		w.blocks(109, 119)
		expect(t, "without a write nothing fires", w.view().Entry(33).Key, scheduler.WatchKey)
		w.block(120, func() { w.write(item, 2400) })
		w.block(121)
		expect(t, "key", w.view().Entry(33).Key, 122)
		expect(t, "deadlineSlot", w.view().Entry(33).DeadlineSlot, 182)
		w.block(122)
		expectList(t, "ran", w.ran(), 33)
	})

	t.Run("scenario 40 S-CON-12 S-CON-13 S-CON-14 S-SCH-19 watcher rotation", func(t *testing.T) {
		items := make([]scheduler.Word, 6)
		for i := range items {
			items[i] = scheduler.Word{0: byte(i + 1)}
		}
		w := newWatchWorld(t)
		writeAll := func(value func(i int) uint64) func() {
			return func() {
				for i, it := range items {
					w.write(it, value(i))
				}
			}
		}
		low := func(int) uint64 { return 0 }
		w.block(101, writeAll(low), func() {
			// Not in the order of the items, which is what the list has to make good.
			for _, i := range []int{3, 0, 5, 1, 4, 2} {
				for range 256 {
					w.schedule(with(entryOf(300_000, 102), when(items[i], scheduler.WhenValueAtLeast, 1000)))
				}
				_, err := w.trySchedule(alice, with(entryOf(300_000, 102), when(items[i], scheduler.WhenValueAtLeast, 1000)))
				expectErr(t, "the 257th watcher", err, scheduler.WatchFull)
			}
		})
		evaluated := func() (at []int) {
			for i, it := range items {
				if w.view().WatchedHeight(it) == w.Env().Height-1 {
					at = append(at, i)
				}
			}
			return at
		}
		w.block(102, writeAll(low)) // N=3
		w.block(103, func() { writeAll(func(i int) uint64 { return map[bool]uint64{i == 3: 5000}[true] })() })
		expectList(t, "N=4", evaluated(), 0, 1, 4, 5)
		w.block(104, writeAll(low))
		expectList(t, "N=5", evaluated(), 0, 1, 2, 5)
		w.block(105, writeAll(low))
		expectList(t, "N=6", evaluated(), 0, 1, 2, 3)
		w.block(106, writeAll(low))
		expectList(t, "N=7", evaluated(), 1, 2, 3, 4)
		expect(t, "a crossing that was reversed does not fire", len(w.view().WatchersOf(items[3])), 256)
	})

	t.Run("scenario 41 S-CON-10 WHEN_NOT_HALTED fires at the first write after a resume", func(t *testing.T) {
		w := newWatchWorld(t)
		no := false
		w.block(101, func() {
			w.Write(item, word(2000), true, false)
			w.schedule(with(entryOf(300_000, 105), when(item, scheduler.WhenNotHalted, 0)))
		})
		w.blocks(102, 109)
		w.block(110, func() { w.SetFlags(item, &no, nil) })
		w.blocks(111, 114)
		expect(t, "lifting the halt is no write", w.view().Entry(1).Key, scheduler.WatchKey)
		w.block(115, func() { w.write(item, 2000) })
		w.block(116)
		expect(t, "key", w.view().Entry(1).Key, 117)
	})

	t.Run("scenario 48 S-CXL-04 the item leaves the catalog", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() { w.schedule(watcher(106, 3000)); w.schedule(watcher(106, 3000)) })
		w.block(102, func() { expectErr(t, "listed", w.expire(1), scheduler.NotExpired) })
		w.block(103, func() {
			w.Delist(item)
			must(t, w.expire(1))
			w.expectStatus(1, scheduler.Expired)
			expect(t, "the fee is back", w.available(alice), 1e14-3_000_000)
			expectList(t, "watchersOf", w.view().WatchersOf(item), 2)
			w.write(item, 3500) // listed again
			expectErr(t, "listed again", w.expire(2), scheduler.NotExpired)
		})
		w.blocks(104, 105)
		w.block(106, func() { w.write(item, 3500) })
		w.block(107, func() {
			w.Delist(item)
			expectErr(t, "once fired only the ordinary rules apply", w.expire(2), scheduler.NotExpired)
		})
		w.block(108)
		expectList(t, "ran", w.ran(), 2)
	})
}

func TestSealedConditionalScenarios(t *testing.T) {
	start := func(t *testing.T, entries int) (*world, scheduler.Params) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() {
			for range entries {
				w.schedule(p)
			}
		})
		w.blocks(102, 105)
		return w, p
	}
	for _, c := range []struct {
		key   uint64 // time of the block that carries the key
		lives bool
	}{{107, true}, {108, true}, {109, true}, {139, true}, {140, false}} {
		t.Run(fmt.Sprintf("scenario 42 S-SCO-06 fired into 108, its key comes in block %d", c.key), func(t *testing.T) {
			w, p := start(t, 1)
			w.block(106, func() { w.write(item, 3000) })
			for time := uint64(107); time < c.key; time++ {
				w.block(time)
			}
			if c.key > 107 {
				w.expectCursor(108)
				expect(t, "key", w.view().Entry(1).Key, 108)
				expectList(t, "wanted", w.wantedConditions(min(c.key, 139)), w.identityOf(p))
				expectList(t, "fired", w.view().FiredEntries(w.identityOf(p)), 1)
			}
			w.carryConditions(w.identityOf(p))
			w.block(c.key)
			if !c.lives {
				expectList(t, "ran", w.ran())
				w.expectCursor(141)
				w.block(141, func() { must(t, w.expire(1)) })
				expect(t, "the whole fee is back", w.available(alice), 1e14)
			} else {
				if c.key <= 107 {
					expect(t, "opened in the block that fired it", w.view().Entry(1).Flags&scheduler.FlagSealed, 0)
					w.block(108)
				}
				expectList(t, "ran", w.ran(), 1)
				w.expectStatus(1, scheduler.Executed)
			}
			expectList(t, "fired", w.view().FiredEntries(w.identityOf(p)))
			expectList(t, "wanted", w.wantedConditions(c.key+1))
		})
	}

	t.Run("scenario 42b S-SCO-05 forty conditions, 32 keys a block", func(t *testing.T) {
		p := testPolicy()
		p.GasPerBlock, p.MaxEntriesPerBlock = 30_000_000, 128
		w := newWatchWorldWith(t, p)
		all := map[scheduler.Word]bool{}
		w.block(101, func() {
			for n := range uint64(40) {
				p := w.sealedWatcher(105, 3000+n)
				all[w.identityOf(p)] = true
				w.schedule(p)
			}
		})
		w.blocks(102, 105)
		w.block(106, func() { w.write(item, 4000) })
		w.blocks(107, 108)
		wanted := w.wantedConditions(109)
		expect(t, "wanted", len(wanted), 40)
		w.carryConditions(wanted[:33]...)
		_, err := w.BeginBlock(scheduler.Env{Height: 10, Time: 109, Proposer: proposer}, w.update, nil)
		expectErr(t, "33 keys", err, scheduler.ErrUpdate)
		w.update = scheduler.Update{}
		w.carryConditions(wanted[:32]...)
		w.block(109)
		expect(t, "runs", len(w.runs), 32)
		expect(t, "the lowest ids first", w.runs[31].ID, 32)
		w.expectCursor(108)
		rest := w.wantedConditions(110)
		expectList(t, "wanted", rest, wanted[32:]...)
		w.carryConditions(rest...)
		w.block(110)
		expect(t, "runs", len(w.runs), 8)
		w.expectCursor(111)
	})

	t.Run("scenario 42c S-SCO-07 one condition, one place", func(t *testing.T) {
		w, p := start(t, 2)
		condition := w.identityOf(p)
		w.block(106, func() {
			w.write(item, 3000)
			for range 3 {
				w.schedule(entryOf(300_000, 108))
			}
			for slot := uint64(109); slot <= 115; slot++ {
				for range 4 {
					w.schedule(entryOf(300_000, slot))
				}
			}
		})
		w.block(107)
		expect(t, "1 fires", w.view().Entry(1).Key, 108)
		expectList(t, "2 keeps watching", w.view().WatchersOf(item), 2)
		w.block(108)
		expectList(t, "fired", w.view().FiredEntries(condition), 1)
		w.carryConditions(condition)
		w.block(109)
		expect(t, "1 runs", slices.Contains(w.ran(), 1), true)
		expect(t, "2 stays sealed", w.view().Entry(2).Flags&scheduler.FlagSealed, scheduler.FlagSealed)
		expect(t, "2 watches", w.view().Entry(2).Key, scheduler.WatchKey)
		w.blocks(110, 119)
		w.block(120, func() { w.write(item, 3000) })
		w.block(121)
		expect(t, "2 fires", w.view().Entry(2).Key, 122)
		expect(t, "2 is opened at the end of that block", w.view().Entry(2).Flags&scheduler.FlagSealed, 0)
		expectList(t, "nothing is wanted", w.wantedConditions(122))
		w.block(122)
		expectList(t, "ran", w.ran(), 2)
		w.expectStatus(2, scheduler.Executed)
	})
}
