package scheduler_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// TestScheduleErrors has one entry for each way to be refused, and what is refused leaves no trace (I-34).
func TestScheduleErrors(t *testing.T) {
	type change = func(*scheduler.Params)
	base := entryOf(300_000, 110)
	data := func(n int) change { return func(p *scheduler.Params) { p.Calls[0].Data = make([]byte, n) } }
	for _, c := range []struct {
		name   string
		change change
		want   error // nil: accepted
	}{
		{"S-SCH-02 class 2", func(p *scheduler.Params) { p.Class = 2 }, scheduler.BadClass},
		{"S-SCH-02 class 255", func(p *scheduler.Params) { p.Class = 255 }, scheduler.BadClass},
		{"S-SCH-03 neither slot nor height", func(p *scheduler.Params) { p.Slot = 0 }, scheduler.BadTrigger},
		{"S-SCH-03 slot and height", func(p *scheduler.Params) { p.Height = 50 }, scheduler.BadTrigger},
		{"S-SCH-04 slot of this block", func(p *scheduler.Params) { p.Slot = 100 }, scheduler.SlotNotInFuture},
		{"S-SCH-04 slot one ahead", func(p *scheduler.Params) { p.Slot = 101 }, nil},
		{"S-SCH-04 height of this block", height(1), scheduler.SlotNotInFuture},
		{"S-SCH-04 height one ahead", height(2), nil},
		{"S-SCH-05 S-POL-04 slot at the horizon", func(p *scheduler.Params) { p.Slot = 34_560_100 }, nil},
		{"S-SCH-05 S-POL-04 slot past the horizon", func(p *scheduler.Params) { p.Slot = 34_560_101 }, scheduler.BeyondHorizon},
		{"S-SCH-05 height past the horizon", height(34_560_002), scheduler.BeyondHorizon},
		{"S-SCH-05 slot with the height flag", func(p *scheduler.Params) { p.Slot = scheduler.HeightKey | 200 }, scheduler.BeyondHorizon},
		{"S-SCH-05 slot with the watch flag", func(p *scheduler.Params) { p.Slot = scheduler.WatchKey }, scheduler.BeyondHorizon},
		{"S-SCH-05 height with the height flag", height(scheduler.HeightKey | 50), scheduler.BeyondHorizon},
		{"S-SCH-06 period past the horizon", func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = 34_560_001, 1 }, scheduler.BeyondHorizon},
		{"S-SCH-07 backoff at the horizon", backoff(34_560_000), nil},
		{"S-SCH-07 backoff past the horizon", backoff(34_560_001), scheduler.BeyondHorizon},
		{"S-SCH-08 recurrence of a height", func(p *scheduler.Params) { p.Slot, p.Height, p.PeriodSlots, p.Remaining = 0, 50, 5, 1 }, scheduler.CannotRecur},
		{"S-SCH-08 recurrence with a dependency", func(p *scheduler.Params) {
			p.PeriodSlots, p.Remaining, p.DependsOn = 5, 1, []scheduler.Dependency{{ID: 1}}
		}, scheduler.CannotRecur},
		{"S-SCH-09 period alone", func(p *scheduler.Params) { p.PeriodSlots = 5 }, scheduler.CannotRecur},
		{"S-SCH-09 remaining alone", func(p *scheduler.Params) { p.Remaining = 5 }, scheduler.CannotRecur},
		{"S-SCH-09 pauseOnFail alone", func(p *scheduler.Params) { p.PauseOnFail = true }, scheduler.CannotRecur},
		{"S-SCH-10 eight dependencies", needs(1, 1, 1, 1, 1, 1, 1, 1), nil},
		{"S-SCH-10 nine dependencies", needs(1, 1, 1, 1, 1, 1, 1, 1, 1), scheduler.BadDependency},
		{"S-SCH-10 dependency on id 0", needs(0), scheduler.BadDependency},
		{"S-SCH-10 dependency on the next id", needs(7), scheduler.BadDependency},
		{"S-SCH-10 dependency on the last id there is", needs(^uint64(0)), scheduler.BadDependency},
		{"S-SCH-12 no calls", func(p *scheduler.Params) { p.Calls = nil }, scheduler.BadCalls},
		{"S-SCH-12 eight calls", calls(8), nil},
		{"S-SCH-12 nine calls", calls(9), scheduler.BadCalls},
		{"S-SCH-13 target zero", to(scheduler.Addr{}), scheduler.BadTarget},
		{"S-SCH-13 target scheduler", to(scheduler.Address), scheduler.BadTarget},
		{"S-SCH-13 target gas token", to(gasToken), scheduler.BadTarget},
		{"S-SCH-13 target MIP20", to(mip20), scheduler.BadTarget},
		{"S-SCH-13 target MIP20 in the last call", func(p *scheduler.Params) { calls(8)(p); p.Calls[7].Target = mip20 }, scheduler.BadTarget},
		{"S-SCH-14 3872 bytes of data", func(p *scheduler.Params) { data(3872)(p); p.GasLimit = 98_000 }, nil},
		{"S-SCH-14 3873 bytes of data", data(3873), scheduler.DataTooLarge},
		{"S-SCH-14 eight calls of 2752 bytes", func(p *scheduler.Params) { calls(8)(p); p.Calls[3].Data = make([]byte, 2752) }, nil},
		{"S-SCH-14 eight calls of 2753 bytes", func(p *scheduler.Params) { calls(8)(p); p.Calls[3].Data = make([]byte, 2753) }, scheduler.DataTooLarge},
		{"S-SCH-17 a condition on an item nobody lists", func(p *scheduler.Params) { p.When = scheduler.Condition{Item: scheduler.Word{1}, Kind: 1} }, scheduler.BadCondition},
		{"S-SCH-17 a condition of kind 4", func(p *scheduler.Params) { p.When = scheduler.Condition{Item: scheduler.Word{1}, Kind: 4} }, scheduler.BadCondition},
		{"S-SCH-17 an operand without a kind", func(p *scheduler.Params) { p.When.Operand[31] = 1 }, scheduler.BadCondition},
		{"S-SCH-18 a Guaranteed conditional entry", func(p *scheduler.Params) { p.Class, p.When.Kind = 0, 1 }, scheduler.BadClass},
		{"S-SCH-18 a conditional entry at a height", func(p *scheduler.Params) { p.Slot, p.Height, p.When.Kind = 0, 50, 1 }, scheduler.BadTrigger},
		{"S-SCH-18 a recurring conditional entry", func(p *scheduler.Params) { p.PeriodSlots, p.Remaining, p.When.Kind = 5, 1, 1 }, scheduler.CannotRecur},
		{"S-SCH-20 gas price zero", price(0), scheduler.ZeroGasPrice},
		{"S-SCH-20 S-POL-08 gas price below the least", price(9), scheduler.GasPriceTooLow},
		{"S-SCH-20 S-POL-08 least gas price", price(10), nil},
		{"S-SCH-21 gas limit that just covers the call", func(p *scheduler.Params) { p.GasLimit = 60_000 }, nil},
		{"S-SCH-21 gas limit one short", func(p *scheduler.Params) { p.GasLimit = 59_999 }, scheduler.GasLimitOutOfRange},
		{"S-SCH-21 call gas that wraps the sum", func(p *scheduler.Params) { calls(2)(p); p.Calls[1].GasLimit = ^uint64(0) }, scheduler.GasLimitOutOfRange},
		{"S-SCH-21 call overhead that wraps the sum", func(p *scheduler.Params) { p.Calls[0].GasLimit = ^uint64(0) - 5_000 }, scheduler.GasLimitOutOfRange},
		{"S-SCH-21 gas limit without the capture of the reserve", func(p *scheduler.Params) { p.GasLimit = 209_999; reserve(mip20, 1)(p) }, scheduler.GasLimitOutOfRange},
		{"S-SCH-22 cost of a whole block", func(p *scheduler.Params) { p.GasLimit = 2_000_000 - 202_000 }, nil},
		{"S-SCH-22 cost above a block", func(p *scheduler.Params) { p.GasLimit = 2_000_000 - 202_000 + 1 }, scheduler.GasLimitOutOfRange},
		{"S-SCH-22 cost that wraps", func(p *scheduler.Params) { p.GasLimit = ^uint64(0) }, scheduler.GasLimitOutOfRange},
		{"S-SCH-23 reserve without an amount", func(p *scheduler.Params) { p.GasLimit = 210_000; reserve(mip20, 0)(p) }, scheduler.BadReserve},
		{"S-SCH-23 reserve without a token", func(p *scheduler.Params) { p.GasLimit = 210_000; reserve(scheduler.Addr{}, 1)(p) }, scheduler.BadReserve},
		{"S-SCH-23 reserve of no MIP20 token", func(p *scheduler.Params) { p.GasLimit = 210_000; reserve(bob, 1)(p) }, scheduler.BadReserve},
		{"S-SCH-23 reserve of the gas token", func(p *scheduler.Params) { p.GasLimit = 210_000; reserve(gasToken, 1)(p) }, scheduler.ReserveIsGasToken},
		{"S-SCH-26 a reserve without an allowance", func(p *scheduler.Params) { p.GasLimit = 210_000; reserve(mip20, 1)(p) }, scheduler.TransferFailed},
		{"S-SCH-24 a full slot", func(p *scheduler.Params) { p.Slot = 120 }, scheduler.SlotFull},
		{"S-SCH-24 a full slot for Guaranteed", func(p *scheduler.Params) { p.Slot, p.Class = 120, 0 }, scheduler.SlotFull},
		{"S-SCH-25 more than the Guaranteed budget", func(p *scheduler.Params) { p.Slot, p.Class, p.GasLimit = 121, 0, 98_001 }, scheduler.SlotReserveFull},
		{"S-SCH-25 S-POL-03 the rest of the Guaranteed budget", func(p *scheduler.Params) { p.Slot, p.Class = 121, 0 }, nil},
		{"S-ESC-02 more than the available escrow", price(10_000_000), scheduler.InsufficientEscrow},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.begin(1, 100)
			w.deposit(alice, 1e9)
			w.schedule(base)
			for range 4 {
				w.schedule(entryOf(300_000, 120))
			}
			w.schedule(with(entryOf(500_000, 121), guaranteed))
			before, next := w.StateHash(), w.view().NextID()
			id, err := w.trySchedule(alice, with(base, c.change))
			switch {
			case c.want == nil:
				must(t, err)
				expect(t, "id", id, next)
			case !errors.Is(err, c.want):
				t.Errorf("got error %v, want %v", err, c.want)
			default:
				expect(t, "state", w.StateHash(), before)
			}
		})
	}
}

func calls(n int) func(*scheduler.Params) {
	return func(p *scheduler.Params) {
		p.Calls = nil
		for range n {
			p.Calls = append(p.Calls, scheduler.Call{Target: okTarget, GasLimit: 1_000})
		}
	}
}

func reserve(token scheduler.Addr, units byte) func(*scheduler.Params) {
	return func(p *scheduler.Params) { p.ReserveToken, p.ReserveAmount[11] = token, units }
}

// TestScheduleErrorOrder builds params that break every rule and mends them one by one, in the order of A-26.
func TestScheduleErrorOrder(t *testing.T) {
	w := newWorld(t)
	w.block(100, func() {
		p := scheduler.Params{Class: 2, Slot: 90, Height: 5, PeriodSlots: 1 << 40, BackoffSlots: 1 << 31, DependsOn: []scheduler.Dependency{{}}, GasLimit: 1}
		reserve(gasToken, 1)(&p)
		for _, step := range []struct {
			want error
			mend func()
		}{
			{scheduler.BadClass, func() { p.Class = 1 }},
			{scheduler.BadTrigger, func() { p.Height = 0 }},
			{scheduler.SlotNotInFuture, func() { p.Slot = 1 << 40 }},
			{scheduler.BeyondHorizon, func() { p.Slot = 110 }},
			{scheduler.BeyondHorizon, func() { p.PeriodSlots = 5 }},
			{scheduler.BeyondHorizon, func() { p.BackoffSlots = 0 }},
			{scheduler.CannotRecur, func() { p.PeriodSlots = 0 }},
			{scheduler.BadDependency, func() { p.DependsOn = nil }},
			{scheduler.BadCalls, func() { p.Ciphertext = make([]byte, 5000) }},
			{scheduler.DataTooLarge, func() { p.Ciphertext = make([]byte, 100) }},
			{scheduler.BadSeal, func() { p.Ciphertext = nil; p.Calls = []scheduler.Call{{Data: make([]byte, 5000), GasLimit: 50_000}} }},
			{scheduler.BadTarget, func() { p.Calls[0].Target = okTarget }},
			{scheduler.DataTooLarge, func() { p.Calls[0].Data = nil; p.When.Kind = 9 }},
			{scheduler.BadCondition, func() { p.When.Kind = 0 }},
			{scheduler.ZeroGasPrice, func() { p.GasPrice = 1 }},
			{scheduler.GasPriceTooLow, func() { p.GasPrice = 10 }},
			{scheduler.GasLimitOutOfRange, func() { p.GasLimit = 210_000 }},
			{scheduler.ReserveIsGasToken, func() { p.ReserveToken, p.ReserveAmount = scheduler.Addr{}, [12]byte{} }},
			{scheduler.InsufficientEscrow, func() { w.deposit(alice, 1e9) }},
		} {
			_, err := w.trySchedule(alice, p)
			expectErr(t, fmt.Sprintf("before %v is mended", step.want), err, step.want)
			step.mend()
		}
		expect(t, "S-SCH-01 id after only failures", w.schedule(p), 1)
	})
}

func TestScheduledEntry(t *testing.T) {
	t.Run("S-SCH-27 S-ITF-06 fields of a new entry", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			receipt := w.transact(alice, scheduler.ScheduleInput(entryOf(300_000, 105)))
			expectList(t, "events", events(receipt.Logs), "Scheduled(1,aa,105,3000000)")
			w.schedule(with(entryOf(300_000, 0), height(50), late, guaranteed))
			w.schedule(with(w.sealedEntry(110), late))
			w.schedule(with(entryOf(300_000, 110), after(1), needs(1, 2), retries(7), backoff(9)))
		})
		type fields struct {
			key, due, deadline uint64
			flags              uint8
		}
		for id, want := range map[uint64]fields{
			1: {105, 105, 165, 1},
			2: {scheduler.HeightKey | 50, 0, 0, 10},
			3: {110, 110, 170, 19},
			4: {110, 110, 170, 1},
		} {
			e := w.view().Entry(id)
			expect(t, fmt.Sprintf("entry %d", id), fields{e.Key, e.DueSlot, e.DeadlineSlot, e.Flags}, want)
			expect(t, "status", e.Status, scheduler.Scheduled)
			expect(t, "attempts", e.Attempts, 0)
			expect(t, "payer", e.Payer, alice)
		}
		e := w.view().Entry(4)
		expectList(t, "dependsOn", e.DependsOn, 1, 1, 2)
		expect(t, "S-DEP-02 dependsOnFinished", e.DependsOnFinished, 1)
		expect(t, "maxRetries", e.MaxRetries, 7)
		expect(t, "backoffSlots", e.BackoffSlots, 9)
		expect(t, "calls", string(e.Calls), string(tlock.EncodeCalls(entryOf(300_000, 0).Calls)))
		expectList(t, "S-ITF-05 queueAt of a height", w.view().QueueAt(scheduler.HeightKey|50), 2)
	})

	t.Run("S-SCH-01 the caller becomes payer and gets the next id, and a refused call takes none", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.deposit(bob, 1e9)
			expect(t, "nextId", w.view().NextID(), 1)
			expect(t, "first id", w.schedule(entryOf(300_000, 110)), 1)
			expect(t, "payer", w.view().Entry(1).Payer, alice)
			_, err := w.trySchedule(bob, entryOf(300_000, 100))
			expectErr(t, "in the past", err, scheduler.SlotNotInFuture)
			expect(t, "nextId after a refusal", w.view().NextID(), 2)
			id, err := w.trySchedule(bob, entryOf(300_000, 110))
			must(t, err)
			expect(t, "second id", id, 2)
			expect(t, "payer", w.view().Entry(2).Payer, bob)
			expect(t, "third id", w.schedule(entryOf(300_000, 110)), 3)
			expect(t, "nextId", w.view().NextID(), 4)
		})
	})

	t.Run("S-ITF-05 a height's queue key has bit 63", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 0), height(11)))
			w.schedule(entryOf(300_000, 111))
		})
		expect(t, "key of a height", w.view().Entry(1).Key, 1<<63|11)
		expect(t, "key of a slot", w.view().Entry(2).Key, 111)
		expectList(t, "queueAt of the height", w.view().QueueAt(1<<63|11), 1)
		expectList(t, "queueAt of the slot of that number", w.view().QueueAt(11))
		expectList(t, "queueAt of the slot", w.view().QueueAt(111), 2)
	})

	t.Run("S-DEP-02 the mask mirrors the flags", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for slot := range uint64(9) {
				w.schedule(entryOf(300_000, 200+slot))
			}
			id := w.schedule(with(entryOf(300_000, 110), needs(3), after(4, 9)))
			expect(t, "mask", w.view().Entry(id).DependsOnFinished, 6)
		})
	})

	t.Run("S-DEP-02 S-DEP-04 S-SCH-10 the last of eight dependencies counts as the first does", func(t *testing.T) {
		w := newWorld(t)
		mixed := []func(*scheduler.Params){needs(1, 3), after(2, 4), needs(5), after(6), needs(7), after(8)} // even ones fail
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for slot := uint64(105); slot < 113; slot++ {
				w.schedule(with(entryOf(300_000, slot), to([]scheduler.Addr{revertTarget, okTarget}[slot%2])))
			}
			w.schedule(with(entryOf(400_000, 120), mixed...))
			w.schedule(with(entryOf(400_000, 120), after(1, 2, 3, 4, 5, 6, 7), needs(8)))
			e := w.view().Entry(9)
			expectList(t, "dependsOn", e.DependsOn, 1, 3, 2, 4, 5, 6, 7, 8)
			expect(t, "mask", e.DependsOnFinished, 4+8+32+128)
		})
		w.blocks(101, 119)
		w.block(120)
		expectList(t, "events", w.events, "Executed(9,0)", "ExecutionFailed(10,0,false)")
	})

	t.Run("S-ITF-04 the first word", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 105), retries(5), late))
		})
		key := scheduler.Word{0: 4, 23: 1}
		word := w.Space(scheduler.Address).Get(key)
		var want scheduler.Word
		copy(want[:], alice[:])
		want[27], want[28], want[30], want[31] = 105, 1, 5, 3
		expect(t, "word", word, want)
	})
}
