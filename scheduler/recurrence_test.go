package scheduler_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// every makes a series: a period of so many slots, and so many periods after the first.
func every(period uint64, remaining uint32) func(*scheduler.Params) {
	return func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = period, remaining }
}

const (
	seriesFee = 6_147_000 // of a period of series: 614,700 gas at 10
	bigEscrow = 1_000_000_000
)

// series is the ledger's series: C(300,000) at a slot, every 10 slots.
func series(slot uint64, remaining uint32, change ...func(*scheduler.Params)) scheduler.Params {
	return with(with(entryOf(300_000, slot), every(10, remaining)), change...)
}

// newSeries is a world in which alice has scheduled p in block 100, with plenty of escrow.
func newSeries(t *testing.T, p scheduler.Params) *world {
	t.Helper()
	w := newWorld(t)
	w.block(100, func() {
		w.deposit(alice, bigEscrow)
		expect(t, "id", w.schedule(p), 1)
	})
	return w
}

// expectPeriod checks where a period stands.
func (w *world) expectPeriod(id, key, due uint64, remaining uint32) {
	w.Helper()
	e := w.view().Entry(id)
	got := fmt.Sprintf("status %d key %d due %d deadline %d remaining %d attempts %d", e.Status, e.Key, e.DueSlot, e.DeadlineSlot, e.Remaining, e.Attempts)
	expect(w, fmt.Sprintf("period %d", id), got,
		fmt.Sprintf("status 1 key %d due %d deadline %d remaining %d attempts 0", key, due, key+w.Machine().Policy().MaxLateSlots, remaining))
}

// fillBy lets bob fill a slot's queue.
func (w *world) fillBy(slot uint64) {
	w.Helper()
	for range int(w.Machine().Policy().MaxEntriesPerBlock) - len(w.view().QueueAt(slot)) {
		_, err := w.trySchedule(bob, entryOf(300_000, slot))
		must(w, err)
	}
}

func TestRecurrence(t *testing.T) {
	t.Run("S-REC-04 S-REC-05 remaining 2 runs three times, each under a new id", func(t *testing.T) {
		w := newSeries(t, series(110, 2))
		w.block(110)
		expectList(t, "events at 110", w.events, "Executed(1,0)", "Recurred(1,2,120)")
		w.expectPeriod(2, 120, 120, 1)
		w.block(120)
		expectList(t, "events at 120", w.events, "Executed(2,0)", "Recurred(2,3,130)")
		w.expectPeriod(3, 130, 130, 0)
		w.block(130)
		expectList(t, "events at 130", w.events, "Executed(3,0)")
		expect(t, "paid", w.tokens(proposer), 3*seriesFee)
		expect(t, "available", w.available(alice), bigEscrow-3*seriesFee)
		expect(t, "locked", w.locked(alice), 0)
		expect(t, "nextId", w.view().NextID(), 4)
		for id := uint64(1); id <= 3; id++ {
			want := scheduler.Entry{Payer: alice, Key: 100 + 10*id, Status: scheduler.Executed, Flags: scheduler.FlagBestEffort | scheduler.FlagDetached}
			expect(t, "finished period", gethText(w.view().Entry(id)), gethText(want))
		}
		w.blocks(131, 160)
		expect(t, "runs after the last", w.tokens(proposer), 3*seriesFee)
	})

	t.Run("S-REC-05 a period has all terms of the one before", func(t *testing.T) {
		p := with(series(110, 7, late, retries(3), backoff(5), price(13)), func(p *scheduler.Params) {
			p.Class, p.PauseOnFail = scheduler.Guaranteed, true
			p.GasLimit = 300_000
			p.Calls = []scheduler.Call{{Target: okTarget, GasLimit: 30_000, Data: []byte("one")}, {Target: bob, GasLimit: 30_000}}
			p.Calls[1].Data = []byte("two")
		})
		config := testPolicy()
		config.GasPerBlock, config.GuaranteedGasPerSlot = 4_000_000, 2_000_000
		w := newWorldWith(t, config)
		w.giveReserve(1_000, 1_000)
		reserve(mip20, 7)(&p)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			w.schedule(p)
		})
		want := w.view().Entry(1)
		w.block(110)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,2,120)")
		want.Key, want.DueSlot, want.DeadlineSlot, want.Remaining = 120, 120, 180, 6
		expect(t, "next period", gethText(w.view().Entry(2)), gethText(want))
	})

	t.Run("S-REC-01 S-REC-03 next due from the due slot, also after a spill", func(t *testing.T) {
		w := newSeries(t, series(110, 2))
		w.block(101, func() {
			w.deposit(bob, bigEscrow)
			w.fillBy(120)
			w.fillBy(121)
		})
		w.block(110)
		expectList(t, "events", w.events, "Executed(1,0)", fmt.Sprintf("Recurred(1,%d,122)", 10))
		w.expectPeriod(10, 122, 120, 1)
		w.blocks(111, 122)
		expectList(t, "events at 122", w.events, "Executed(10,0)", "Recurred(10,11,130)")
		w.expectPeriod(11, 130, 130, 0)
	})

	t.Run("S-REC-01 next due from the due slot, also when the period ran late", func(t *testing.T) {
		w := newSeries(t, series(110, 2))
		w.block(117)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,2,120)")
	})

	t.Run("S-REC-01 a period that finally fails is followed too", func(t *testing.T) {
		w := newSeries(t, series(110, 1, to(revertTarget), retries(1)))
		w.block(110)
		expectList(t, "first attempt", w.events, "ExecutionFailed(1,0,true)")
		w.block(111)
		expectList(t, "last attempt", w.events, "ExecutionFailed(1,1,false)", "Recurred(1,2,120)")
		w.expectStatus(1, scheduler.Failed)
		w.expectPeriod(2, 120, 120, 0)
		w.block(120)
		w.block(121)
		expectList(t, "end", w.events, "ExecutionFailed(2,1,false)")
		w.expectStatus(2, scheduler.Failed)
	})

	t.Run("S-REC-02 whole periods that a halt left behind are skipped and not used up", func(t *testing.T) {
		w := newSeries(t, series(110, 2, late))
		w.block(145)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,2,150)")
		w.expectPeriod(2, 150, 150, 1)
	})

	t.Run("S-REC-02 a halt of 2^59 seconds costs no time", func(t *testing.T) {
		w := newSeries(t, with(series(110, 2, late), every(1, 1)))
		w.blockAt(2, 1<<59)
		expectList(t, "events", w.events, "Executed(1,0)", fmt.Sprintf("Recurred(1,2,%d)", 1<<59+1))
	})

	t.Run("S-REC-03 eight full slots starve the series, the last free one does not", func(t *testing.T) {
		for _, last := range []uint64{126, 127} {
			w := newSeries(t, series(110, 2))
			w.block(101, func() {
				w.deposit(bob, bigEscrow)
				for slot := uint64(120); slot <= last; slot++ {
					w.fillBy(slot)
				}
			})
			before := w.available(alice)
			w.block(110)
			if last == 127 {
				expectList(t, "events", w.events, "Executed(1,0)", "RecurrenceStarved(1)")
				w.expectStatus(1, scheduler.Executed)
				expect(t, "available", w.available(alice), before)
				expect(t, "locked", w.locked(alice), 0)
				continue
			}
			expect(t, "key", w.view().Entry(w.view().NextID()-1).Key, 127)
		}
	})

	t.Run("S-REC-03 the eight slots start at the due slot, however late the period runs", func(t *testing.T) {
		w := newSeries(t, series(110, 2))
		w.block(101, func() {
			w.deposit(bob, bigEscrow)
			for slot := uint64(120); slot <= 127; slot++ {
				w.fillBy(slot)
			}
		})
		w.block(119)
		expectList(t, "events", w.events, "Executed(1,0)", "RecurrenceStarved(1)")
	})

	t.Run("S-REC-06 without its fee a series starves, and nothing of the next period is left", func(t *testing.T) {
		for _, spare := range []uint64{0, 1_000, seriesFee - 1} {
			w := newWorld(t)
			w.block(100, func() {
				w.deposit(alice, seriesFee+spare)
				w.schedule(series(110, 2))
			})
			w.block(110)
			expectList(t, "events", w.events, "Executed(1,0)", "RecurrenceStarved(1)")
			w.expectStatus(1, scheduler.Executed)
			expect(t, "available", w.available(alice), spare)
			expect(t, "locked", w.locked(alice), 0)
			expect(t, "nextId", w.view().NextID(), 2)
			expect(t, "queue", len(w.view().QueueAt(120)), 0)
		}
	})

	t.Run("S-REC-06 a failed period that starves stays Failed", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, seriesFee)
			w.schedule(series(110, 2, to(revertTarget)))
		})
		w.block(110)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)", "RecurrenceStarved(1)")
		w.expectStatus(1, scheduler.Failed)
	})

	t.Run("S-REC-06 the exact fee is enough", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 2*seriesFee)
			w.schedule(series(110, 2))
		})
		w.block(110)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,2,120)")
		expect(t, "available", w.available(alice), 0)
		expect(t, "locked", w.locked(alice), seriesFee)
	})

	t.Run("S-REC-07 S-CAP-05 a period without Guaranteed capacity is BestEffort, the next one tries again", func(t *testing.T) {
		w := newSeries(t, series(110, 2, guaranteed))
		w.block(101, func() {
			w.deposit(bob, bigEscrow)
			_, err := w.trySchedule(bob, with(entryOf(300_000, 120), guaranteed))
			must(t, err)
		})
		w.block(110)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,3,120)")
		expect(t, "reservedGas(120)", w.view().ReservedGas(120), 300_000)
		expect(t, "flags", w.view().Entry(3).Flags, scheduler.FlagBestEffort|scheduler.FlagGuaranteed)
		w.block(120)
		expect(t, "reservedGas(130)", w.view().ReservedGas(130), 614_700)
		expect(t, "flags", w.view().Entry(4).Flags, scheduler.FlagGuaranteed)
	})

	t.Run("S-CAP-05 capacity to the unit", func(t *testing.T) {
		for limit, flags := range map[uint64]uint8{876_700: scheduler.FlagGuaranteed, 876_699: scheduler.FlagGuaranteed | scheduler.FlagBestEffort} {
			p := testPolicy()
			p.GuaranteedGasPerSlot = limit
			w := newWorldWith(t, p)
			w.block(100, func() {
				w.deposit(alice, bigEscrow)
				w.schedule(series(110, 2, guaranteed))
				w.schedule(with(entryOf(262_000, 120), guaranteed))
			})
			w.block(110)
			expect(t, "flags", w.view().Entry(3).Flags, flags)
		}
	})

	t.Run("S-CAP-05 the slot is found by room, then the class", func(t *testing.T) {
		w := newSeries(t, series(110, 2, guaranteed))
		w.block(101, func() {
			w.deposit(bob, bigEscrow)
			w.fillBy(120)
			_, err := w.trySchedule(bob, with(entryOf(300_000, 121), guaranteed))
			must(t, err)
		})
		w.block(110)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,7,121)")
		expect(t, "flags", w.view().Entry(7).Flags, scheduler.FlagBestEffort|scheduler.FlagGuaranteed)
		expect(t, "reservedGas(122)", w.view().ReservedGas(122), 0)
	})

	t.Run("S-CAP-05 S-CAP-06 a retry is BestEffort, the next period Guaranteed again", func(t *testing.T) {
		w := newSeries(t, series(110, 1, guaranteed, to(revertTarget), retries(1)))
		expect(t, "reservedGas(110)", w.view().ReservedGas(110), 614_700)
		w.block(110)
		expectList(t, "events at 110", w.events, "ExecutionFailed(1,0,true)")
		expect(t, "reservedGas(111)", w.view().ReservedGas(111), 0)
		w.block(111)
		expectList(t, "events at 111", w.events, "ExecutionFailed(1,1,false)", "Recurred(1,2,120)")
		expect(t, "reservedGas(120)", w.view().ReservedGas(120), 614_700)
		expect(t, "flags", w.view().Entry(2).Flags, scheduler.FlagGuaranteed)
		expect(t, "paid", w.tokens(proposer), 2*seriesFee)
	})

	t.Run("S-REC-08 a period that expires is the last", func(t *testing.T) {
		w := newSeries(t, series(110, 2))
		w.block(171, func() {
			must(t, w.expire(1))
		})
		expect(t, "runs", len(w.runs), 0)
		w.expectStatus(1, scheduler.Expired)
		expect(t, "nextId", w.view().NextID(), 2)
		expect(t, "available", w.available(alice), bigEscrow)
	})

	t.Run("S-REC-08 a period that is canceled is the last", func(t *testing.T) {
		w := newSeries(t, series(110, 2))
		w.block(110)
		w.block(111, func() { must(t, w.cancel(alice, 2)) })
		w.blocks(112, 140)
		w.expectStatus(2, scheduler.Cancelled)
		expect(t, "nextId", w.view().NextID(), 3)
		expect(t, "available", w.available(alice), bigEscrow-seriesFee-seriesFee/5)
	})

	t.Run("S-REC-08 a period whose execution reverts or is skipped is the last", func(t *testing.T) {
		for name, spoil := range map[string]func(*world){
			"reverted": func(w *world) { w.proposer = bad },
			"skipped":  func(w *world) { w.Seize(scheduler.Address, amount(1e15)) },
		} {
			w := newSeries(t, series(110, 2))
			spoil(w)
			w.block(110)
			expect(t, name+": events", len(w.events), 0)
			w.block(111, func() { must(t, w.expire(1)) })
			w.expectStatus(1, scheduler.Expired)
			expect(t, name+": nextId", w.view().NextID(), 2)
		}
	})

	t.Run("S-COST-04 S-REC-09 every period costs the same, the last included", func(t *testing.T) {
		w := newSeries(t, series(110, 1))
		for id, time := range []uint64{110, 120} {
			w.block(time)
			expect(t, "gas limit", w.runs[0].GasLimit, 614_700)
			expect(t, "paid", w.tokens(proposer), uint64(id+1)*seriesFee)
		}
	})

	t.Run("S-COST-04 cost of an entry by its flags", func(t *testing.T) {
		for want, change := range map[uint64][]func(*scheduler.Params){
			300_000: nil, 614_700: {every(10, 1)}, 512_000: {reserveOf(1)}, 826_700: {every(10, 1), reserveOf(1)},
		} {
			w := newWorld(t)
			w.giveReserve(10, 10)
			w.block(100, func() {
				w.deposit(alice, bigEscrow)
				w.schedule(with(entryOf(300_000, 110), change...))
			})
			expect(t, "locked", w.locked(alice), 10*want)
			w.block(110)
			expect(t, "gas limit", w.runs[0].GasLimit, want)
			expect(t, "paid", w.tokens(proposer), 10*want)
		}
	})

	t.Run("S-SCH-06 the longest period", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			_, err := w.trySchedule(alice, with(series(110, 1), every(34_560_001, 1)))
			expectErr(t, "one too long", err, scheduler.BeyondHorizon)
			w.schedule(with(series(110, 1), every(34_560_000, 1)))
		})
		w.block(110)
		w.expectPeriod(2, 34_560_110, 34_560_110, 0)
	})

	t.Run("S-REC-04 the most periods", func(t *testing.T) {
		w := newSeries(t, series(110, 1<<32-1))
		w.block(110)
		w.expectPeriod(2, 120, 120, 1<<32-2)
	})

	t.Run("S-SCH-05 the largest horizon and period keep all keys below bit 62", func(t *testing.T) {
		p := testPolicy()
		p.MaxHorizonSlots, p.MaxLateSlots = 1<<61-1, 1<<61-1
		w := newWorldWith(t, p)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			w.schedule(with(series(110, 1), every(1<<61-1, 1)))
		})
		w.blockAt(2, 1<<60-1)
		w.expectPeriod(2, 110+1<<61-1, 110+1<<61-1, 0)
	})

	t.Run("S-REC-01 a series with lateExecute after its deadline goes on", func(t *testing.T) {
		w := newSeries(t, series(110, 1, late))
		w.block(200)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,2,210)")
	})

	t.Run("S-DEP-07 S-DEP-09 a dependent of a period waits for that period only", func(t *testing.T) {
		w := newSeries(t, series(110, 2))
		w.block(101, func() { w.schedule(with(entryOf(300_000, 105), needs(1))) })
		w.blocks(102, 110)
		expectList(t, "ran", w.ran(), 1, 2)
		w.expectStatus(2, scheduler.Executed)
		w.expectPeriod(3, 120, 120, 1)
	})

	t.Run("a batch recurs with all its calls", func(t *testing.T) {
		p := series(110, 1, func(p *scheduler.Params) {
			p.Calls = append(p.Calls, scheduler.Call{Target: bob, GasLimit: 20_000, Data: []byte("second")})
		})
		w := newSeries(t, p)
		first := w.view().Entry(1).Calls
		w.block(110)
		expect(t, "calls", string(w.view().Entry(2).Calls), string(first))
		expect(t, "the first period's", len(w.view().Entry(1).Calls), 0)
		w.block(120)
		expectList(t, "events", w.events, "Executed(2,0)")
		expect(t, "logs of the second call", countCalled(w.receipts[0].Logs, bob), 1)
	})
}

func countCalled(logs []memory.Log, by scheduler.Addr) (n int) {
	for _, l := range logs {
		if l.Address == by && l.Topics[0] == memory.TopicCalled {
			n++
		}
	}
	return n
}

// TestRecurrenceFromInside lets the payer be a target that acts while its own series runs.
func TestRecurrenceFromInside(t *testing.T) {
	// inside schedules a series of scriptTarget's that runs act in its first period only.
	inside := func(t *testing.T, act func(w *world, f *memory.Frame)) *world {
		w := newWorld(t)
		must(t, w.Mint(scriptTarget, amount(bigEscrow)))
		w.Approve(scriptTarget, scheduler.Address, amount(bigEscrow))
		w.script = func(f *memory.Frame) ([]byte, error) {
			if w.Env().Time == 110 {
				act(w, f)
			}
			return nil, nil
		}
		w.block(100, func() {
			w.deposit(scriptTarget, 100_000_000)
			p := series(110, 2, to(scriptTarget), func(p *scheduler.Params) { p.Calls[0].GasLimit, p.GasLimit = 500_000, 510_000 })
			_, err := w.trySchedule(scriptTarget, p)
			must(t, err)
		})
		w.block(110)
		return w
	}

	t.Run("S-RUN-11 a series cannot be canceled from inside its own run, its next period can", func(t *testing.T) {
		w := inside(t, func(w *world, f *memory.Frame) {
			_, err := f.Call(scheduler.Address, 100_000, scheduler.CancelInput(1))
			expectErr(t, "own period", err, scheduler.NotScheduled)
			_, err = f.Call(scheduler.Address, 100_000, scheduler.CancelInput(2))
			expectErr(t, "next period, before there is one", err, scheduler.NotScheduled)
		})
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,2,120)")
		w.block(111, func() { must(t, w.cancel(scriptTarget, 2)) })
		w.expectStatus(2, scheduler.Cancelled)
	})

	t.Run("S-REC-05 a schedule inside the run takes the id before the next period", func(t *testing.T) {
		w := inside(t, func(w *world, f *memory.Frame) {
			_, err := f.Call(scheduler.Address, 400_000, scheduler.ScheduleInput(entryOf(300_000, 120)))
			must(t, err)
		})
		expectList(t, "events", w.events[1:], "Executed(1,0)", "Recurred(1,3,120)")
		expectList(t, "queueAt(120)", w.view().QueueAt(120), 2, 3)
	})

	t.Run("S-REC-03 entries scheduled inside the run take the room of the next period", func(t *testing.T) {
		w := inside(t, func(w *world, f *memory.Frame) {
			for range 4 {
				_, err := f.Call(scheduler.Address, 100_000, scheduler.ScheduleInput(entryOf(300_000, 120)))
				must(t, err)
			}
		})
		expect(t, "last event", w.events[len(w.events)-1], "Recurred(1,6,121)")
	})

	t.Run("S-REC-06 a withdrawal inside the run starves the series", func(t *testing.T) {
		w := inside(t, func(w *world, f *memory.Frame) {
			_, err := f.Call(scheduler.Address, 400_000, scheduler.WithdrawInput(w.view().Balance(scriptTarget)))
			must(t, err)
		})
		expect(t, "last event", w.events[len(w.events)-1], "RecurrenceStarved(1)")
		expect(t, "available", w.available(scriptTarget), 0)
	})
}

// TestNextDue compares the arithmetic with counting.
func TestNextDue(t *testing.T) {
	t.Run("S-REC-02 the least multiple of the period after now", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			due := rapid.Uint64Range(1, 50).Draw(t, "due")
			period := rapid.Uint64Range(1, 12).Draw(t, "period")
			now := rapid.Uint64Range(0, 200).Draw(t, "now")
			want := due + period
			for want <= now {
				want += period
			}
			if got := scheduler.NextDue(due, period, now); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
		})
	})
	t.Run("S-REC-02 at the bounds", func(t *testing.T) {
		const most = 1<<61 - 1
		for _, c := range [][4]uint64{ // due, period, now, want
			{110, 10, 110, 120}, {110, 10, 119, 120}, {110, 10, 120, 130}, {110, 10, 145, 150}, {110, 1, 1 << 59, 1<<59 + 1},
			{1, most, 1<<60 - 1, 1 + most}, {1<<60 - 1, most, 1<<60 - 1, 1<<60 - 1 + most}, {110, 10, 0, 120},
		} {
			expect(t, fmt.Sprint(c[:3]), scheduler.NextDue(c[0], c[1], c[2]), c[3])
		}
	})
}
