package scheduler_test

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

func TestCapacity(t *testing.T) {
	t.Run("S-CAP-01 a key never holds more than maxEntriesPerBlock, whoever puts them there", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for range 4 { // all fail and come back at 111
				w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1)))
			}
			for range 3 {
				w.schedule(entryOf(300_000, 111))
			}
		})
		w.block(110)
		expectList(t, "queueAt(111)", w.view().QueueAt(111), 5, 6, 7, 1)
		expectList(t, "queueAt(112)", w.view().QueueAt(112), 2, 3, 4)
		w.block(111, func() {
			for range 4 {
				w.schedule(entryOf(300_000, 120))
			}
			_, err := w.trySchedule(bob, entryOf(300_000, 120))
			expectErr(t, "fifth", err, scheduler.SlotFull)
		})
	})

	t.Run("S-CAP-02 Guaranteed capacity comes back by run, move, cancel and expire", func(t *testing.T) {
		p := testPolicy()
		p.MaxLateSlots = 5
		for name, c := range map[string]struct {
			leave        func(w *world)
			cursor, left uint64
		}{
			"run":    {func(w *world) { w.block(110) }, 105, 0},
			"move":   {func(w *world) { w.block(110) }, 105, 0},
			"cancel": {func(w *world) { must(w, w.cancel(alice, 2)) }, 101, 400_000},
			"expire": {func(w *world) {
				w.block(117) // past the deadline, while the sealed entry still holds the cursor
				expect(w, "a dead entry keeps its capacity", w.view().ReservedGas(110), 700_000)
				must(w, w.expire(2))
			}, 105, 400_000},
		} {
			w := newWorldWith(t, p)
			w.install(w.secret)
			w.block(100, func() {
				w.deposit(alice, 1e9)
				w.schedule(with(w.sealedEntry(105), late))
				change := after()
				if name == "move" {
					change = needs(1)
				}
				w.schedule(with(entryOf(300_000, 110), guaranteed, change))
				w.schedule(with(entryOf(400_000, 110), guaranteed))
				expect(t, name+": before", w.view().ReservedGas(110), costOf(w.view().Entry(2))+400_000)
			})
			c.leave(w)
			w.expectCursor(c.cursor)
			expect(t, name+": after", w.view().ReservedGas(110), c.left)
			expect(t, name+": at the next slot", w.view().ReservedGas(111), 0)
		}
	})

	t.Run("S-CAP-03 the eight keys begin after the block, for a retry after its backoff", func(t *testing.T) {
		for _, c := range []struct {
			name     string
			full     [2]uint64 // first and last full slot
			schedule func(w *world)
			key      uint64 // of entry 1 after block 110
		}{
			{"moved", [2]uint64{111, 117}, func(w *world) { w.schedule(with(entryOf(300_000, 110), needs(1))) }, 118},
			{"retry at once", [2]uint64{111, 117}, func(w *world) { w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1))) }, 118},
			{"retry of backoff 1", [2]uint64{111, 117}, func(w *world) {
				w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1), backoff(1)))
			}, 118},
			{"retry of backoff 2", [2]uint64{112, 118}, func(w *world) {
				w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1), backoff(2)))
			}, 119},
		} {
			w := newWorld(t)
			w.block(100, func() {
				w.deposit(alice, 1e9)
				w.schedule(entryOf(300_000, 150)) // to depend on
				c.schedule(w)
				fill(w, c.full[0], c.full[1])
			})
			w.block(110)
			expect(t, c.name, w.view().Entry(2).Key, c.key)
		}
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 150))
			w.schedule(with(entryOf(300_000, 0), height(11), needs(1)))
			for n := uint64(12); n <= 18; n++ {
				for range 4 {
					w.schedule(with(entryOf(300_000, 0), height(n)))
				}
			}
		})
		w.block(110)
		expect(t, "moved among heights", w.view().Entry(2).Key, scheduler.HeightKey|19)
	})

	t.Run("S-CAP-04 no room in eight: a moved entry keeps its position, a retry fails", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 150))
			w.schedule(with(entryOf(300_000, 110), needs(1)))
			w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1)))
			fill(w, 111, 118)
		})
		w.block(110)
		expect(t, "moved", w.view().Entry(2).Key, 110)
		expectList(t, "queueAt(110)", w.view().QueueAt(110), 2)
		w.expectCursor(110)
		w.expectStatus(3, scheduler.Failed)
		expectList(t, "events", w.events, "ExecutionFailed(3,0,false)")
	})

	t.Run("S-CAP-06 a moved Guaranteed entry and a retry take nothing of the new key's budget", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 150))
			w.schedule(with(entryOf(300_000, 110), guaranteed, needs(1)))
			w.schedule(with(entryOf(300_000, 110), guaranteed, to(revertTarget), retries(1)))
			w.schedule(with(entryOf(400_000, 111), guaranteed))
		})
		w.block(110)
		expectList(t, "queueAt(111)", w.view().QueueAt(111), 4, 2, 3)
		expect(t, "reservedGas(111)", w.view().ReservedGas(111), 400_000)
		for _, id := range []uint64{2, 3} {
			expect(t, "flags", w.view().Entry(id).Flags, scheduler.FlagBestEffort|scheduler.FlagGuaranteed)
		}
	})

	t.Run("S-CAP-07 a cancel frees place and budget for the next schedule", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(800_000, 110), guaranteed))
			for range 3 {
				w.schedule(entryOf(300_000, 110))
			}
			_, err := w.trySchedule(alice, with(entryOf(300_000, 110), guaranteed))
			expectErr(t, "no place", err, scheduler.SlotFull)
			must(t, w.cancel(alice, 2))
			_, err = w.trySchedule(alice, with(entryOf(300_000, 110), guaranteed))
			expectErr(t, "a place, but no budget", err, scheduler.SlotReserveFull)
			must(t, w.cancel(alice, 1))
			w.schedule(with(entryOf(800_000, 110), guaranteed))
		})
		w.blocks(101, 109)
		expect(t, "kept until the run", w.view().ReservedGas(110), 800_000)
	})
}
