package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func pausing(p *scheduler.Params) { p.PauseOnFail = true }

func (w *world) resume(from scheduler.Addr, id uint64) error {
	return w.transact(from, scheduler.ResumeInput(id)).Err
}

// newPaused is a world in which alice's series at 110, every 10 slots, with two periods to come, has failed and paused at 110.
func newPaused(t *testing.T, change ...func(*scheduler.Params)) *world {
	t.Helper()
	w := newSeries(t, series(110, 2, append([]func(*scheduler.Params){pausing, to(revertTarget)}, change...)...))
	w.block(110)
	expectList(t, "events", w.events, "ExecutionFailed(1,0,false)", "Paused(1)")
	w.expectStatus(1, scheduler.Paused)
	return w
}

func TestPause(t *testing.T) {
	t.Run("S-PAU-01 a final failure pauses, and nothing is locked", func(t *testing.T) {
		w := newPaused(t)
		expect(t, "locked", w.locked(alice), 0)
		expect(t, "available", w.available(alice), bigEscrow-seriesFee)
		expect(t, "nextId", w.view().NextID(), 2)
		w.blocks(111, 200)
		w.expectStatus(1, scheduler.Paused)
		expect(t, "paid", w.tokens(proposer), seriesFee)
	})

	t.Run("S-PAU-01 S-RTY-01 retries come before the pause", func(t *testing.T) {
		w := newSeries(t, series(110, 2, pausing, to(revertTarget), retries(1)))
		w.block(110)
		expectList(t, "first attempt", w.events, "ExecutionFailed(1,0,true)")
		w.block(111)
		expectList(t, "last attempt", w.events, "ExecutionFailed(1,1,false)", "Paused(1)")
	})

	t.Run("S-PAU-01 a success does not pause", func(t *testing.T) {
		w := newSeries(t, series(110, 2, pausing))
		w.block(110)
		expectList(t, "events", w.events, "Executed(1,0)", "Recurred(1,2,120)")
		expect(t, "flags", w.view().Entry(2).Flags, scheduler.FlagBestEffort|scheduler.FlagPauseOnFail)
	})

	t.Run("S-PAU-01 A-60 a paused entry keeps all its fields", func(t *testing.T) {
		w := newSeries(t, series(110, 2, pausing, to(revertTarget), retries(1), backoff(3)))
		want := w.view().Entry(1)
		w.block(110)
		w.block(113)
		want.Status, want.Attempts, want.Key, want.DeadlineSlot = scheduler.Paused, 1, 113, 173
		want.Flags |= scheduler.FlagDetached
		expect(t, "entry", gethText(w.view().Entry(1)), gethText(want))
	})

	t.Run("S-PAU-02 the last period fails instead", func(t *testing.T) {
		w := newSeries(t, series(110, 1, pausing, to(scriptTarget)))
		failing := false
		w.script = func(*memory.Frame) ([]byte, error) {
			if failing {
				return nil, memory.ErrDepth
			}
			return nil, nil
		}
		w.block(110)
		expectList(t, "first", w.events, "Executed(1,0)", "Recurred(1,2,120)")
		failing = true
		w.block(120)
		expectList(t, "last", w.events, "ExecutionFailed(2,0,false)")
		w.expectStatus(2, scheduler.Failed)
		w.block(121, func() { expectErr(t, "resume", w.resume(alice, 2), scheduler.NotPaused) })
	})

	t.Run("S-PAU-01 a paused entry cannot be expired, and never runs again", func(t *testing.T) {
		w := newPaused(t)
		w.block(500, func() { expectErr(t, "expire", w.expire(1), scheduler.NotScheduled) })
	})
}

func TestResume(t *testing.T) {
	t.Run("S-PAU-03 S-PAU-05 the next period at the present time, the failed one is not run again", func(t *testing.T) {
		w := newPaused(t)
		w.block(147, func() {
			r := w.transact(alice, scheduler.ResumeInput(1))
			must(t, r.Err)
			expectList(t, "events", events(r.Logs), "Recurred(1,2,150)")
		})
		want := scheduler.Entry{Payer: alice, Key: 110, Status: scheduler.Failed, Flags: scheduler.FlagBestEffort | scheduler.FlagPauseOnFail | scheduler.FlagDetached}
		expect(t, "the paused entry", gethText(w.view().Entry(1)), gethText(want))
		w.expectPeriod(2, 150, 150, 1)
		expect(t, "locked", w.locked(alice), seriesFee)
		w.block(150)
		expectList(t, "ran", w.ran(), 2)
		expectList(t, "events", w.events, "ExecutionFailed(2,0,false)", "Paused(2)")
	})

	t.Run("S-PAU-03 at each time the least due slot ahead", func(t *testing.T) {
		for now, due := range map[uint64]uint64{110: 120, 111: 120, 119: 120, 120: 130, 121: 130, 1_000_000_000: 1_000_000_010} {
			w := newPaused(t)
			resume := func() { must(t, w.resume(alice, 1)) }
			if now > 110 {
				w.block(now, resume)
			} else {
				resume()
			}
			w.expectPeriod(2, due, due, 1)
		}
	})

	t.Run("S-PAU-03 only the payer, only what is paused", func(t *testing.T) {
		w := newPaused(t)
		w.block(111, func() {
			scheduled, err := w.trySchedule(alice, series(150, 2, pausing))
			must(t, err)
			expectErr(t, "another account", w.resume(bob, 1), scheduler.NotPayer)
			expectErr(t, "a scheduled entry", w.resume(alice, scheduled), scheduler.NotPaused)
			expectErr(t, "an unknown one", w.resume(alice, 99), scheduler.NotPaused)
			expectErr(t, "another account, not paused", w.resume(bob, scheduled), scheduler.NotPaused)
			must(t, w.resume(alice, 1))
			expectErr(t, "a second time", w.resume(alice, 1), scheduler.NotPaused)
		})
	})

	t.Run("S-PAU-04 room, fee and reserve, in this order, and the series stays paused", func(t *testing.T) {
		w := newWorld(t)
		w.giveReserve(100, 1_000)
		w.block(100, func() {
			w.deposit(alice, 8_147_000)
			w.schedule(with(reserved(110), every(10, 2), pausing, to(revertTarget)))
			w.deposit(bob, bigEscrow)
			for slot := uint64(120); slot <= 127; slot++ {
				w.fillBy(slot)
			}
		})
		w.block(110, func() {
			paused := w.view().Entry(1)
			try := func(want error) {
				t.Helper()
				before := w.StateHash()
				expectErr(t, "resume", w.resume(alice, 1), want)
				expect(t, "state", w.StateHash(), before)
			}
			expect(t, "status", paused.Status, scheduler.Paused)
			w.ApproveToken(mip20, alice, scheduler.Address, amount(99))
			try(scheduler.SlotFull) // no room, no fee, no reserve
			must(t, w.cancel(bob, w.view().QueueAt(127)[0]))
			try(scheduler.InsufficientEscrow)
			w.deposit(alice, 8_146_999)
			try(scheduler.InsufficientEscrow)
			w.deposit(alice, 1)
			try(scheduler.TransferFailed)
			w.ApproveToken(mip20, alice, scheduler.Address, amount(100))
			must(t, w.Transact(alice, mip20, 100_000, tokenTransfer(bob, 1)).Err)
			try(scheduler.TransferFailed) // allowance enough, balance one short
			must(t, w.MintToken(mip20, alice, amount(1)))
			must(t, w.resume(alice, 1))
			e := w.view().Entry(w.view().NextID() - 1)
			expect(t, "key and due slot", fmt.Sprint(e.Key, e.DueSlot), "127 120")
			w.expectReserve(0, 100, 0)
		})
	})

	t.Run("S-PAU-03 S-REC-07 a Guaranteed series is Guaranteed again if the slot has the gas", func(t *testing.T) {
		w := newPaused(t, guaranteed)
		expect(t, "reservedGas(110)", w.view().ReservedGas(110), 0)
		w.block(111, func() { must(t, w.resume(alice, 1)) })
		expect(t, "reservedGas(120)", w.view().ReservedGas(120), 614_700)
		expect(t, "flags", w.view().Entry(2).Flags, scheduler.FlagGuaranteed|scheduler.FlagPauseOnFail)
	})

	t.Run("S-RUN-17 resume inside a run", func(t *testing.T) {
		w := newWorld(t)
		must(t, w.Mint(scriptTarget, amount(bigEscrow)))
		w.Approve(scriptTarget, scheduler.Address, amount(bigEscrow))
		w.script = func(f *memory.Frame) ([]byte, error) {
			_, err := f.Call(scheduler.Address, 400_000, f.Input)
			return nil, err
		}
		w.block(100, func() {
			w.deposit(scriptTarget, 100_000_000)
			_, err := w.trySchedule(scriptTarget, series(110, 2, pausing, to(revertTarget)))
			must(t, err)
			p := entryOf(800_000, 115)
			p.Calls[0] = scheduler.Call{Target: scriptTarget, GasLimit: 500_000, Data: scheduler.ResumeInput(1)}
			_, err = w.trySchedule(scriptTarget, p)
			must(t, err)
		})
		w.block(110)
		w.expectStatus(1, scheduler.Paused)
		w.block(115)
		expectList(t, "events", w.events, "Recurred(1,3,120)", "Executed(2,0)")
		w.expectStatus(1, scheduler.Failed)
		w.expectPeriod(3, 120, 120, 1)
	})

	t.Run("S-RUN-11 a run cannot resume itself", func(t *testing.T) {
		w := newWorld(t)
		must(t, w.Mint(scriptTarget, amount(bigEscrow)))
		w.Approve(scriptTarget, scheduler.Address, amount(bigEscrow))
		w.script = func(f *memory.Frame) ([]byte, error) {
			_, err := f.Call(scheduler.Address, 400_000, scheduler.ResumeInput(1))
			expectErr(t, "resume", err, scheduler.NotPaused)
			return nil, err
		}
		w.block(100, func() {
			w.deposit(scriptTarget, 100_000_000)
			p := series(110, 2, pausing, to(scriptTarget), func(p *scheduler.Params) { p.Calls[0].GasLimit, p.GasLimit = 500_000, 510_000 })
			_, err := w.trySchedule(scriptTarget, p)
			must(t, err)
		})
		w.block(110)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)", "Paused(1)")
	})
}

func TestCancelPaused(t *testing.T) {
	t.Run("S-PAU-06 cancel ends the series without a refund", func(t *testing.T) {
		w := newPaused(t)
		before := w.available(alice)
		w.block(111, func() {
			expectErr(t, "another account", w.cancel(bob, 1), scheduler.NotPayer)
			r := w.transact(alice, scheduler.CancelInput(1))
			must(t, r.Err)
			expectList(t, "events", events(r.Logs), "Cancelled(1,0)")
			expectErr(t, "resume", w.resume(alice, 1), scheduler.NotPaused)
			expectErr(t, "cancel again", w.cancel(alice, 1), scheduler.NotScheduled)
		})
		expect(t, "available", w.available(alice), before)
		expect(t, "treasury", w.available(treasury), 0)
		want := scheduler.Entry{Payer: alice, Key: 110, Status: scheduler.Cancelled, Flags: scheduler.FlagBestEffort | scheduler.FlagPauseOnFail | scheduler.FlagDetached}
		expect(t, "entry", gethText(w.view().Entry(1)), gethText(want))
		expect(t, "calls", len(w.view().Entry(1).Calls), 0)
	})

	t.Run("S-PAU-06 also when resume finds no room", func(t *testing.T) {
		w := newPaused(t)
		w.block(111, func() {
			w.deposit(bob, bigEscrow)
			for slot := uint64(120); slot <= 127; slot++ {
				w.fillBy(slot)
			}
			expectErr(t, "resume", w.resume(alice, 1), scheduler.SlotFull)
			w.expectStatus(1, scheduler.Paused)
			must(t, w.cancel(alice, 1))
		})
		w.expectStatus(1, scheduler.Cancelled)
	})
}

func TestPausedDependency(t *testing.T) {
	t.Run("S-DEP-01 S-DEP-04 a paused series has ended, without success", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			w.schedule(series(105, 1, pausing, to(revertTarget)))
			w.schedule(with(entryOf(300_000, 106), after(1)))
			w.schedule(with(entryOf(300_000, 106), needs(1), retries(5)))
		})
		w.block(105)
		w.expectStatus(1, scheduler.Paused)
		w.block(106)
		expectList(t, "events", w.events, "Executed(2,0)", "ExecutionFailed(3,0,false)")
	})

	t.Run("A-19 what a resume does later changes nothing for a dependent", func(t *testing.T) {
		for name, end := range map[string]func(w *world) error{
			"resumed":  func(w *world) error { return w.resume(alice, 1) },
			"canceled": func(w *world) error { return w.cancel(alice, 1) },
		} {
			w := newPaused(t)
			w.block(111, func() {
				w.schedule(with(entryOf(300_000, 115), after(1)))
				w.schedule(with(entryOf(300_000, 115), needs(1)))
				must(t, end(w))
			})
			w.block(115)
			expectList(t, name, w.events, "Executed(2,0)", "ExecutionFailed(3,0,false)")
		}
	})
}
