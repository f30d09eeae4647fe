package scheduler_test

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// TestScenarios replays the worked scenarios of the ledger, with its numbers.
func TestScenarios(t *testing.T) {
	for name, scenario := range map[string]func(w *world){
		"S-ESC-02 S-SEL-01 scenario 01: plain run":                           plainRun,
		"S-SCH-03 S-SCH-04 S-SCH-05 scenario 02: trigger limits":             triggerLimits,
		"S-CXL-02 S-POL-06 scenario 03: cancel arithmetic":                   cancelArithmetic,
		"S-CAP-01 S-SCH-24 scenario 04: a full slot, and freeing it":         slotFull,
		"S-ESC-02 scenario 05: escrow edge":                                  escrowEdge,
		"S-SCH-25 S-CAP-02 scenario 06: Guaranteed reserve":                  guaranteedReserve,
		"S-SEL-05 S-CAP-03 scenario 07: price order and spill":               priceOrder,
		"S-SEL-06 scenario 08: greedy skip":                                  greedySkip,
		"S-SEL-07 scenario 09: count limit after a gap":                      countLimit,
		"S-SEL-04 S-SEL-11 scenario 10: Guaranteed waiting holds the cursor": guaranteedWaits,
		"S-DEP-06 scenario 11: dependency in the same block":                 dependencyInBlock,
		"S-SEL-10 scenario 12: delayed Guaranteed dependent":                 delayedGuaranteed,
		"S-SEL-12 scenario 13: moves in id order":                            movesInOrder,
		"S-DEP-06 A-04 scenario 14: retryable dependency":                    retryableDependency,
		"S-DEP-04 S-RUN-14 scenario 15: failed required dependency":          failedDependency,
		"S-RTY-02 S-RTY-04 S-CAP-03 S-CAP-04 scenario 17: retry spill":       retrySpill,
		"S-RTY-03 scenario 18: retry without funds":                          retryWithoutFunds,
		"S-RTY-01 S-RUN-04 scenario 19: retry chain":                         retryChain,
		"S-CUR-04 scenario 27: halt and deadlines":                           haltAndDeadlines,
		"S-CUR-02 scenario 28: scan limit":                                   scanLimit,
		"S-CUR-03 scenario 29: read limit":                                   readLimit,
		"S-RUN-09 scenario 30: canceled by an earlier target":                canceledByTarget,
		"S-RUN-11 S-CXL-05 scenario 31: self-cancel and expire in a run":     selfCancel,
		"S-RUN-08 S-DEP-05 scenario 32: execute reverts":                     executeReverts,
		"A-05 scenario 32b: execute reverts while the cursor is held":        executeRevertsHeld,
		"S-RUN-09 A-30 scenario 33: escrow cannot cover":                     escrowCannotCover,
		"S-SEA-09 S-SEA-10 S-BEA-10 scenario 34: sealed, normal":             sealedNormal,
		"S-SEA-15 S-CXL-07 scenario 35: late key":                            lateKey,
		"S-SEA-12 S-RUN-03 scenario 36: bad payload":                         badPayload,
		"S-SEA-11 scenario 37: key but no budget":                            keyButNoBudget,
		"S-BEA-09 S-SEA-14 scenario 43: group key changed":                   groupKeyChanged,
		"S-SEL-08 S-SEL-13 scenario 44: diamond order":                       diamond,
		"S-SEL-08 scenario 44b: dependent that does not fit":                 diamondBudget,
		"S-RTY-01 A-58 scenario 49: height entry":                            heightEntry,
		"S-DEP-05 S-SEA-16 scenario 51: sealed dependency":                   sealedDependency,
		"S-CAP-04 S-CXL-06 scenario 52: no room holds the cursor":            noRoom,
		"S-SEL-09 scenario 53: deadline kept over moves":                     deadlineKept,
		"S-SCH-15 S-SCH-16 S-SEA-06 scenario 55: sealed shape":               sealedShape,
	} {
		t.Run(name, func(t *testing.T) { scenario(newWorld(t)) })
	}
}

func plainRun(w *world) {
	w.block(100, func() {
		w.deposit(alice, 10_000_000)
		w.schedule(entryOf(300_000, 105))
		expect(w, "available", w.available(alice), 7_000_000)
		expect(w, "locked", w.locked(alice), 3_000_000)
	})
	w.blocks(101, 104)
	expectList(w, "block 104", w.ran())
	w.expectCursor(105)
	w.block(105)
	expectList(w, "block 105", w.ran(), 1)
	expectList(w, "events", w.events, "Executed(1,0)")
	expect(w, "proposer", w.tokens(proposer), 3_000_000)
	w.expectCursor(106)
	w.expectStatus(1, scheduler.Executed)
	expectErr(w, "withdraw too much", w.withdraw(alice, 7_000_001), scheduler.InsufficientEscrow)
	expectErr(w, "withdraw", w.withdraw(alice, 7_000_000), nil)
}

func triggerLimits(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		for _, c := range []struct {
			slot, height uint64
			want         error
		}{
			{100, 0, scheduler.SlotNotInFuture},
			{101, 0, nil},
			{34_560_100, 0, nil},
			{34_560_101, 0, scheduler.BeyondHorizon},
			{0, 1, scheduler.SlotNotInFuture},
			{0, 2, nil},
			{0, 34_560_001, nil},
			{0, 34_560_002, scheduler.BeyondHorizon},
			{101, 2, scheduler.BadTrigger},
			{0, 0, scheduler.BadTrigger},
			{^uint64(0), 0, scheduler.BeyondHorizon},
			{0, ^uint64(0), scheduler.BeyondHorizon},
		} {
			p := entryOf(300_000, c.slot)
			p.Height = c.height
			_, err := w.trySchedule(alice, p)
			expectErr(w, "schedule", err, c.want)
		}
	})
}

func cancelArithmetic(w *world) {
	w.block(100, func() {
		w.deposit(alice, 3_000_000)
		id := w.schedule(entryOf(300_000, 110))
		expectErr(w, "cancel", w.cancel(alice, id), nil)
		expect(w, "refund", w.available(alice), 2_400_000)
		expect(w, "treasury", w.available(treasury), 600_000)
	})
	p := testPolicy()
	p.CancelRefundBps = 3_333
	w = newWorldWith(w.TB, p)
	w.block(100, func() {
		w.deposit(alice, 3_000_010)
		id := w.schedule(entryOf(300_001, 110))
		expectErr(w, "cancel", w.cancel(alice, id), nil)
		expect(w, "refund", w.available(alice), 999_903)
		expect(w, "treasury", w.available(treasury), 2_000_107)
	})
}

func slotFull(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		for range 4 {
			w.schedule(entryOf(300_000, 110))
		}
		_, err := w.trySchedule(alice, entryOf(300_000, 110))
		expectErr(w, "fifth", err, scheduler.SlotFull)
		expectErr(w, "cancel", w.cancel(alice, 2), nil)
		expect(w, "id", w.schedule(entryOf(300_000, 110)), 5)
		expectList(w, "queueAt(110)", w.view().QueueAt(110), 1, 3, 4, 5)
	})
}

func escrowEdge(w *world) {
	w.block(100, func() {
		w.deposit(alice, 2_999_999)
		_, err := w.trySchedule(alice, entryOf(300_000, 110))
		expectErr(w, "schedule", err, scheduler.InsufficientEscrow)
		expect(w, "nextId", w.view().NextID(), 1)
		w.deposit(alice, 1)
		w.schedule(entryOf(300_000, 110))
		expect(w, "available", w.available(alice), 0)
	})
}

func guaranteedReserve(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(500_000, 110), guaranteed))
		w.schedule(with(entryOf(300_000, 110), guaranteed))
		expect(w, "reservedGas", w.view().ReservedGas(110), 800_000)
		_, err := w.trySchedule(alice, with(entryOf(300_000, 110), guaranteed))
		expectErr(w, "third", err, scheduler.SlotReserveFull)
		w.schedule(entryOf(300_000, 110))
		expectErr(w, "cancel", w.cancel(alice, 2), nil)
		expect(w, "reservedGas", w.view().ReservedGas(110), 500_000)
		w.schedule(with(entryOf(300_000, 110), guaranteed))
		expect(w, "reservedGas", w.view().ReservedGas(110), 800_000)
	})
}

func priceOrder(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(1_000_000, 110))
		w.schedule(with(entryOf(600_000, 110), price(30)))
		w.schedule(with(entryOf(500_000, 110), price(20)))
		w.schedule(with(entryOf(400_000, 110), price(20)))
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 2, 3, 4)
	e := w.view().Entry(1)
	expect(w, "key", e.Key, 111)
	expect(w, "deadline", e.DeadlineSlot, 170)
	expect(w, "due", e.DueSlot, 110)
	w.block(111)
	expectList(w, "block 111", w.ran(), 1)
}

func greedySkip(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(1_500_000, 110), price(30)))
		w.schedule(with(entryOf(1_000_000, 110), price(20)))
		w.schedule(entryOf(300_000, 110))
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 1, 3)
	expectList(w, "queueAt(111)", w.view().QueueAt(111), 2)
}

func countLimit(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(300_000, 101), guaranteed))
		w.schedule(with(entryOf(300_000, 101), guaranteed))
		w.schedule(with(entryOf(300_000, 102), guaranteed))
		w.schedule(with(entryOf(300_000, 101), price(50)))
		w.schedule(with(entryOf(300_000, 102), price(40)))
		w.schedule(with(entryOf(300_000, 103), price(30)))
	})
	w.block(103)
	expectList(w, "block 103", w.ran(), 1, 2, 4, 3)
	expectList(w, "queueAt(104)", w.view().QueueAt(104), 5, 6)
	w.expectCursor(104)
}

func guaranteedWaits(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		for slot := uint64(101); slot <= 103; slot++ {
			w.schedule(with(entryOf(800_000, slot), guaranteed))
		}
		w.schedule(entryOf(300_000, 103))
	})
	w.block(103)
	expectList(w, "block 103", w.ran(), 1, 2, 4)
	w.expectCursor(103)
	expectList(w, "queueAt(103)", w.view().QueueAt(103), 3)
	expect(w, "reservedGas(103)", w.view().ReservedGas(103), 800_000)
	w.block(104)
	expectList(w, "block 104", w.ran(), 3)
	w.expectCursor(105)
}

func dependencyInBlock(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 110))
		w.schedule(with(entryOf(300_000, 110), price(50), needs(1)))
		expect(w, "fees", w.locked(alice), 3_000_000+15_250_000)
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 1, 2)
	expectList(w, "events", w.events, "Executed(1,0)", "Executed(2,0)")

	w = newWorld(w.TB)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 110))
		w.schedule(with(entryOf(300_000, 0), price(50), height(11), needs(1)))
	})
	w.blocks(101, 110)
	expectList(w, "block 110 with a height", w.ran(), 1, 2)
}

func delayedGuaranteed(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 115))
		w.schedule(with(entryOf(300_000, 110), guaranteed, needs(1)))
		expect(w, "reservedGas(110)", w.view().ReservedGas(110), 305_000)
	})
	w.blocks(101, 110)
	expectList(w, "queueAt(111)", w.view().QueueAt(111), 2)
	expect(w, "reservedGas(111)", w.view().ReservedGas(111), 0)
	expect(w, "flags", w.view().Entry(2).Flags, scheduler.FlagGuaranteed|scheduler.FlagBestEffort)
	w.blocks(111, 114)
	expect(w, "key", w.view().Entry(2).Key, 115)
	expect(w, "deadline", w.view().Entry(2).DeadlineSlot, 170)
	w.block(115)
	expectList(w, "block 115", w.ran(), 1, 2)
}

func movesInOrder(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(2_000_000, 110))
		w.schedule(with(entryOf(300_000, 110), needs(1)))
		w.schedule(with(entryOf(300_000, 110), price(50)))
		for range 3 {
			w.schedule(entryOf(300_000, 111))
		}
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 3)
	expectList(w, "queueAt(111)", w.view().QueueAt(111), 4, 5, 6, 1)
	expectList(w, "queueAt(112)", w.view().QueueAt(112), 2)
	w.block(111)
	expectList(w, "block 111", w.ran(), 1)
	expectList(w, "queueAt(112)", w.view().QueueAt(112), 2, 4, 5, 6)
	w.block(112)
	expectList(w, "block 112", w.ran(), 2, 4, 5, 6)
}

func retryableDependency(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1)))
		w.schedule(with(entryOf(300_000, 110), after(1)))
	})
	w.blocks(101, 110)
	expectList(w, "events at 110", w.events, "ExecutionFailed(1,0,true)")
	expectList(w, "queueAt(111)", w.view().QueueAt(111), 2, 1)
	w.block(111)
	expectList(w, "events at 111", w.events, "ExecutionFailed(1,1,false)", "Executed(2,0)")
	expect(w, "paid", w.tokens(proposer), 9_050_000)
}

func failedDependency(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(300_000, 110), to(revertTarget)))
		w.schedule(with(entryOf(300_000, 110), retries(5), needs(1)))
	})
	w.blocks(101, 110)
	expectList(w, "events", w.events, "ExecutionFailed(1,0,false)", "ExecutionFailed(2,0,false)")
	w.expectStatus(2, scheduler.Failed)
	expect(w, "paid", w.tokens(proposer), 3_000_000+3_050_000)
}

func fill(w *world, first, last uint64) {
	for slot := first; slot <= last; slot++ {
		for range 4 {
			w.schedule(entryOf(300_000, slot))
		}
	}
}

func retrySpill(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1), backoff(30)))
		fill(w, 140, 141)
	})
	w.blocks(101, 110)
	e := w.view().Entry(1)
	expect(w, "key", e.Key, 142)
	expect(w, "deadline", e.DeadlineSlot, 202)
	expect(w, "attempts", e.Attempts, 1)
	expect(w, "due", e.DueSlot, 110)

	w = newWorld(w.TB)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(1), backoff(30)))
		fill(w, 140, 147)
	})
	w.blocks(101, 110)
	expectList(w, "events", w.events, "ExecutionFailed(1,0,false)")
	w.expectStatus(1, scheduler.Failed)
	expect(w, "paid", w.tokens(proposer), 3_000_000)
}

func retryWithoutFunds(w *world) {
	w.block(100, func() {
		w.deposit(alice, 3_000_000)
		w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(3)))
	})
	w.blocks(101, 110)
	expectList(w, "events", w.events, "ExecutionFailed(1,0,false)")
	w.expectStatus(1, scheduler.Failed)
	expect(w, "available", w.available(alice), 0)
}

func retryChain(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(2)))
	})
	w.blocks(101, 109)
	hashes := map[scheduler.Word]bool{}
	for slot, want := range []string{"ExecutionFailed(1,0,true)", "ExecutionFailed(1,1,true)", "ExecutionFailed(1,2,false)"} {
		w.block(uint64(110 + slot))
		expectList(w, "events", w.events, want)
		run := w.runs[0]
		hashes[run.Hash(chainID)] = true
		expect(w, "attempt", int(run.Attempt), slot)
		run.Attempt = 0
		first := scheduler.Run{ID: 1, Payer: alice, Target: revertTarget, GasLimit: 300_000, GasPrice: 10}
		expect(w, "hash without the attempt", run.Hash(chainID), first.Hash(chainID))
	}
	expect(w, "different hashes", len(hashes), 3)
	expect(w, "paid", w.tokens(proposer), 9_000_000)
}

func haltAndDeadlines(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 110))
		w.schedule(with(entryOf(300_000, 110), late))
		w.schedule(entryOf(300_000, 140))
	})
	w.blocks(101, 109)
	w.block(200)
	expectList(w, "block 200", w.ran(), 2, 3)
	w.expectStatus(1, scheduler.Scheduled)
	w.expectCursor(201)
	before := w.available(alice)
	expectErr(w, "expire", w.expire(1), nil)
	expect(w, "refund", w.available(alice)-before, 3_000_000)
}

func scanLimit(w *world) {
	w.blocks(100, 109)
	w.expectCursor(110)
	for i, want := range []uint64{4_206, 8_302, 10_113} {
		w.block(uint64(10_110 + i))
		w.expectCursor(want)
	}

	w = newWorld(w.TB)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(300_000, 101+4096), late))
	})
	w.block(5_000)
	expectList(w, "the first key that one block does not scan", w.ran())
	w.expectCursor(101 + 4096)
	w.block(5_001)
	expectList(w, "it is next", w.ran(), 1)
}

func readLimit(w *world) {
	p := testPolicy()
	p.MaxEntriesPerBlock = 128
	w = newWorldWith(w.TB, p)
	w.block(100, func() {
		w.deposit(alice, 1e12)
		for slot := uint64(101); slot <= 109; slot++ {
			for range 128 {
				w.schedule(entryOf(300_000, slot))
			}
		}
	})
	w.block(109)
	expectList(w, "block 109", w.ran(), 1, 2, 3, 4, 5, 6)
	for slot := uint64(110); slot <= 116; slot++ {
		expect(w, "moved", len(w.view().QueueAt(slot)), 128)
	}
	expect(w, "queueAt(117)", len(w.view().QueueAt(117)), 122)
	w.expectCursor(109)
	w.block(110)
	expectList(w, "block 110", w.ran(), 1025, 1026, 1027, 1028, 1029, 1030)
	expect(w, "queueAt(109)", len(w.view().QueueAt(109)), 116)
	expect(w, "queueAt(117)", len(w.view().QueueAt(117)), 128)
	expect(w, "queueAt(118)", len(w.view().QueueAt(118)), 128)
	expect(w, "queueAt(110)", len(w.view().QueueAt(110)), 0)
	w.expectCursor(109)
}

func canceledByTarget(w *world) {
	w.script = func(f *memory.Frame) ([]byte, error) {
		return f.Call(scheduler.Address, f.Gas, scheduler.CancelInput(2))
	}
	w.block(100, func() {
		must(w, w.Mint(scriptTarget, amount(1e12)))
		w.Approve(scriptTarget, scheduler.Address, amount(1e12))
		w.deposit(alice, 1e9)
		w.deposit(scriptTarget, 1e9)
		w.schedule(with(entryOf(300_000, 110), to(scriptTarget)))
		id, err := w.trySchedule(scriptTarget, entryOf(300_000, 110))
		must(w, err)
		expect(w, "id", id, 2)
		w.schedule(with(entryOf(300_000, 110), after(2)))
		w.schedule(with(entryOf(300_000, 110), needs(2)))
	})
	available := w.available(scriptTarget)
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 1, 2, 3, 4)
	expectList(w, "events", w.events, "Cancelled(2,2400000)", "Executed(1,0)", "Executed(3,0)", "ExecutionFailed(4,0,false)")
	expect(w, "receipt 2", w.receipts[1].Receipt, scheduler.Receipt{Outcome: scheduler.Skipped})
	expect(w, "refund", w.available(scriptTarget)-available, 2_400_000)
	expect(w, "treasury", w.available(treasury), 600_000)
	expect(w, "paid", w.tokens(proposer), 9_100_000)
}

func selfCancel(w *world) {
	var swallow bool
	var cancelErr, expireErr error
	w.script = func(f *memory.Frame) ([]byte, error) {
		_, cancelErr = f.Call(scheduler.Address, f.Gas, scheduler.CancelInput(w.runs[0].ID))
		_, expireErr = f.Call(scheduler.Address, f.Gas, scheduler.ExpireInput(1))
		if swallow {
			return nil, nil
		}
		return nil, cancelErr
	}
	w.block(100, func() {
		must(w, w.Mint(scriptTarget, amount(1e12)))
		w.Approve(scriptTarget, scheduler.Address, amount(1e12))
		w.deposit(scriptTarget, 1e9)
		for _, slot := range []uint64{110, 111} {
			_, err := w.trySchedule(scriptTarget, with(entryOf(300_000, slot), to(scriptTarget)))
			must(w, err)
		}
	})
	available := w.available(scriptTarget)
	for i, want := range []string{"ExecutionFailed(1,0,false)", "Executed(2,0)"} {
		swallow = i == 1
		w.block(uint64(110 + i))
		expectErr(w, "cancel", cancelErr, scheduler.NotScheduled)
		expectErr(w, "expire", expireErr, scheduler.Running)
		expectList(w, "events", w.events, want)
		expect(w, "outcome", w.receipts[0].Outcome, scheduler.Success)
	}
	expect(w, "refund", w.available(scriptTarget), available)
}

func executeReverts(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 110))
		w.schedule(with(entryOf(300_000, 111), after(1)))
		w.schedule(with(entryOf(300_000, 111), needs(1)))
	})
	w.blocks(101, 109)
	w.proposer = bad
	locked := w.locked(alice)
	w.block(110)
	expect(w, "outcome", w.receipts[0].Outcome, scheduler.Reverted)
	expect(w, "used gas", w.receipts[0].GasUsed > 0, true)
	expect(w, "logs", len(w.receipts[0].Logs), 0)
	w.expectStatus(1, scheduler.Scheduled)
	expect(w, "locked", w.locked(alice), locked)
	w.expectCursor(111)
	w.proposer = proposer
	w.block(111)
	expectList(w, "events", w.events, "Executed(2,0)", "ExecutionFailed(3,0,false)")
	before := w.available(alice)
	expectErr(w, "expire", w.expire(1), nil)
	expect(w, "refund", w.available(alice)-before, 3_000_000)
}

func executeRevertsHeld(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(800_000, 103), guaranteed))
		w.schedule(entryOf(300_000, 103))
		w.schedule(with(entryOf(800_000, 101), guaranteed))
		w.schedule(with(entryOf(800_000, 102), guaranteed))
	})
	w.proposer = bad
	w.block(103)
	expectList(w, "block 103", w.ran(), 3, 4, 2)
	w.expectCursor(103)
	expectErr(w, "expire(1), which waits", w.expire(1), scheduler.NotExpired)
	expectErr(w, "expire(2), which was selected", w.expire(2), nil)
}

func escrowCannotCover(w *world) {
	w.block(100, func() {
		w.deposit(alice, 10_000_000)
		w.schedule(entryOf(300_000, 110))
	})
	w.blocks(101, 109)
	w.Seize(scheduler.Address, amount(10_000_000-1))
	w.block(110)
	expect(w, "receipt", w.receipts[0].Receipt, scheduler.Receipt{Outcome: scheduler.Skipped})
	w.expectStatus(1, scheduler.Scheduled)
	expect(w, "available", w.available(alice), 7_000_000)
	expect(w, "locked", w.locked(alice), 3_000_000)
	expectErr(w, "expire", w.expire(1), nil)
}

// scheduleSealed installs a group key and schedules one sealed entry at slot 110 in block 100, and makes the blocks up to 110.
func scheduleSealed(w *world, change ...func(*scheduler.Params)) {
	w.install(w.secret)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(w.sealedEntry(110), change...))
	})
	w.blocks(101, 110)
}

func sealedNormal(w *world) {
	w.install(w.secret)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		p := w.sealedEntry(110)
		expect(w, "ciphertext", len(p.Ciphertext), 428)
		w.schedule(p)
		expect(w, "fee", w.locked(alice), 3_420_000)
		expect(w, "sealedPending", w.view().SealedPending(110), 1)
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran())
	w.expectCursor(110)
	w.carry(110)
	w.block(111)
	expectList(w, "events", w.events, "Executed(1,0)")
	expect(w, "target", w.runs[0].Target, okTarget)
	expect(w, "cost", w.runs[0].GasLimit, 342_000)
	expect(w, "sealedPending", w.view().SealedPending(110), 0)
	w.expectCursor(112)
}

func lateKey(w *world) {
	scheduleSealed(w)
	w.blocks(111, 140)
	w.carry(110)
	w.block(141, func() { expectErr(w, "expire in time", w.expire(1), scheduler.NotScheduled) })
	expectList(w, "block 141", w.ran(), 1)

	w = newWorld(w.TB)
	scheduleSealed(w, late)
	w.blocks(111, 140)
	w.block(141, func() { expectErr(w, "expire at 141", w.expire(1), scheduler.NotExpired) })
	w.carry(110)
	before := w.available(alice)
	w.block(142, func() { expectErr(w, "expire at 142", w.expire(1), nil) })
	expectList(w, "block 142", w.ran())
	w.expectCursor(143)
	expect(w, "refund", w.available(alice)-before, 3_420_000)
	expect(w, "sealedPending", w.view().SealedPending(110), 0)
}

func badPayload(w *world) {
	scheduleSealed(w, retries(3), func(p *scheduler.Params) { p.Commitment[0] ^= 1 })
	w.carry(110)
	w.block(111)
	expectList(w, "events", w.events, "ExecutionFailed(1,0,false)")
	w.expectStatus(1, scheduler.Failed)
	expect(w, "paid", w.tokens(proposer), 3_420_000)
	expect(w, "target", w.runs[0].Target, scheduler.Address)
	expect(w, "input", len(w.runs[0].Input), 0)
}

func keyButNoBudget(w *world) {
	w.install(w.secret)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(w.sealedEntry(110, scheduler.Call{Target: okTarget, GasLimit: 50_000, Data: []byte("hello")}))
		w.schedule(with(entryOf(2_000_000, 111), price(50)))
	})
	w.blocks(101, 110)
	w.carry(110)
	w.block(111)
	expectList(w, "block 111", w.ran(), 2)
	e := w.view().Entry(1)
	expect(w, "key", e.Key, 112)
	expect(w, "due", e.DueSlot, 110)
	expect(w, "sealed", e.Flags&scheduler.FlagSealed, 0)
	expect(w, "sealedPending", w.view().SealedPending(110), 0)
	expect(w, "length of the calls", len(e.Calls), 256)
	expect(w, "dataLen stays the ciphertext's", e.DataLen, 684)
	w.block(112)
	expectList(w, "block 112", w.ran(), 1)
	expect(w, "target", w.runs[0].Target, okTarget)
	expect(w, "input", string(w.runs[0].Input), "hello")
}

func groupKeyChanged(w *world) {
	w.install(w.secret)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(w.sealedEntry(500))
		w.schedule(w.sealedEntry(480))
	})
	w.block(481)
	w.carry(480)
	w.block(482)
	expectList(w, "under the first key", w.events, "Executed(2,0)")
	w.install(bls.ScalarFromUint64(2))
	w.block(490)
	w.carry(500)
	w.block(501)
	expectList(w, "under the second key", w.events, "ExecutionFailed(1,0,false)")
	w.expectStatus(1, scheduler.Failed)
	expect(w, "keyAt(480) still readable", len(w.Beacon().KeyAt(480)), 96)
}

func diamond(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 110))
		w.schedule(with(entryOf(300_000, 110), guaranteed, needs(1)))
		w.schedule(with(entryOf(300_000, 0), height(11), needs(2), after(1)))
		w.schedule(with(entryOf(300_000, 110), guaranteed))
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 4, 1, 2, 3)
}

func diamondBudget(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(2_000_000, 110))
		w.schedule(with(entryOf(300_000, 110), price(90)))
		w.schedule(with(entryOf(300_000, 110), price(80), needs(1)))
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 2)
	w.block(111)
	expectList(w, "block 111", w.ran(), 1)
	w.block(112)
	expectList(w, "block 112", w.ran(), 3)
}

func heightEntry(w *world) {
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(with(entryOf(2_000_000, 0), height(11), to(revertTarget), retries(1)))
		w.schedule(with(entryOf(300_000, 110), price(50)))
	})
	w.blocks(101, 110)
	expectList(w, "block 110", w.ran(), 2)
	expect(w, "key", w.view().Entry(1).Key, scheduler.HeightKey|12)
	expect(w, "cursorHeight", w.view().CursorHeight(), 12)
	w.block(111)
	expectList(w, "events", w.events, "ExecutionFailed(1,0,true)")
	e := w.view().Entry(1)
	expect(w, "key", e.Key, 112)
	expect(w, "deadline", e.DeadlineSlot, 172)
	expect(w, "due", e.DueSlot, 0)
}

func sealedDependency(w *world) {
	open := func() *world {
		w := newWorld(w.TB)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(w.sealedEntry(110))
			w.schedule(with(entryOf(300_000, 110), needs(1)))
		})
		w.blocks(101, 110)
		return w
	}
	w = open()
	w.expectCursor(110)
	expect(w, "key of the dependent", w.view().Entry(2).Key, 111)
	w.carry(110)
	w.block(111)
	expectList(w, "block 111", w.ran(), 1, 2)

	w = open()
	w.blocks(111, 142)
	expect(w, "key of the dependent", w.view().Entry(2).Key, 143)
	w.block(143)
	expectList(w, "events", w.events, "ExecutionFailed(2,0,false)")
	expect(w, "paid", w.tokens(proposer), 3_050_000)
	expectErr(w, "expire", w.expire(1), nil)
}

func noRoom(w *world) {
	p := testPolicy()
	p.MaxLateSlots = 5
	w = newWorldWith(w.TB, p)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(2_000_000, 102))
		w.schedule(with(entryOf(2_000_000, 102), price(20)))
		for slot := uint64(103); slot <= 110; slot++ {
			for range 4 {
				w.schedule(with(entryOf(300_000, slot), price(30)))
			}
		}
	})
	w.blocks(101, 102)
	expectList(w, "block 102", w.ran(), 2)
	w.expectCursor(102)
	w.block(103)
	expect(w, "runs at 103", len(w.runs), 4)
	expect(w, "key", w.view().Entry(1).Key, 111)
	expect(w, "deadline", w.view().Entry(1).DeadlineSlot, 107)
	w.blocks(104, 107)
	expectErr(w, "expire at 107", w.expire(1), scheduler.NotExpired)
	w.block(108)
	expectErr(w, "expire at 108", w.expire(1), nil)
	w.blocks(109, 111)
	expectList(w, "block 111", w.ran())
}

func deadlineKept(w *world) {
	p := testPolicy()
	p.MaxLateSlots = 2
	w = newWorldWith(w.TB, p)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 106))
		w.schedule(with(entryOf(300_000, 103), needs(1)))
	})
	w.blocks(101, 105)
	expect(w, "key", w.view().Entry(2).Key, 106)
	w.block(106)
	expectList(w, "block 106", w.ran(), 1)
	before := w.available(alice)
	expectErr(w, "expire", w.expire(2), nil)
	expect(w, "refund", w.available(alice)-before, 3_050_000)
}

func sealedShape(w *world) {
	sealed := func(n int, change ...func(*scheduler.Params)) scheduler.Params {
		return with(scheduler.Params{
			Ciphertext: make([]byte, n), Commitment: scheduler.Word{1}, Slot: 110, GasLimit: 98_000, GasPrice: 10, Class: scheduler.BestEffort,
		}, change...)
	}
	w.block(100, func() {
		w.deposit(alice, 1e9)
		_, err := w.trySchedule(alice, sealed(428))
		expectErr(w, "without a group key", err, scheduler.BadSeal)
	})
	w.install(w.secret)
	w.block(101, func() {
		for _, c := range []struct {
			name string
			p    scheduler.Params
			want error
			cost uint64
		}{
			{"172 bytes", sealed(172), scheduler.BadSeal, 0},
			{"173 bytes", sealed(173), nil, 294_000},
			{"4268 bytes", sealed(4268), nil, 1_062_000},
			{"4269 bytes", sealed(4269), scheduler.DataTooLarge, 0},
			{"with calls", sealed(428, func(p *scheduler.Params) { p.Calls = entryOf(300_000, 0).Calls }), scheduler.BadSeal, 0},
			{"with a height", sealed(428, height(50)), scheduler.BadSeal, 0},
			{"with a recurrence", sealed(428, func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = 5, 1 }), scheduler.BadSeal, 0},
			{"with a reserve", sealed(428, func(p *scheduler.Params) { p.ReserveToken, p.ReserveAmount[11] = mip20, 1 }), scheduler.BadSeal, 0},
			{"without a commitment", sealed(428, func(p *scheduler.Params) { p.Commitment = scheduler.Word{} }), scheduler.BadSeal, 0},
			{"a commitment alone", with(entryOf(300_000, 110), func(p *scheduler.Params) { p.Commitment[0] = 1 }), scheduler.BadSeal, 0},
		} {
			locked := w.locked(alice)
			_, err := w.trySchedule(alice, c.p)
			expectErr(w, c.name, err, c.want)
			expect(w, "fee of "+c.name, w.locked(alice)-locked, c.cost*10)
		}
	})
	w.blocks(102, 110)
	w.carry(110)
	w.block(111)
	expectList(w, "events", w.events, "ExecutionFailed(1,0,false)", "ExecutionFailed(2,0,false)")
}
