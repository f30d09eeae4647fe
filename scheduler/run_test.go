package scheduler_test

import (
	"bytes"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestRun(t *testing.T) {
	// one schedules p for slot 110 with plenty of escrow and makes the block that runs it.
	one := func(t *testing.T, w *world, change ...func(*scheduler.Params)) {
		t.Helper()
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 110), change...))
		})
		w.block(110)
	}

	t.Run("S-RUN-05 only the system calls execute", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 101))
			expectErr(t, "execute", w.transact(alice, scheduler.ExecuteInput(1)).Err, scheduler.NotChain)
		})
	})

	t.Run("S-RUN-06 execute of what is not scheduled, not due, or not selected", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 105))
			system := func(id uint64) error {
				return w.Transact(scheduler.Address, scheduler.Address, 1_000_000, scheduler.ExecuteInput(id)).Err
			}
			expectErr(t, "unknown id", system(7), scheduler.NotScheduled)
			expectErr(t, "not due", system(1), scheduler.NotDue)
			w.schedule(with(entryOf(300_000, 105), needs(1)))
			w.detach(2, 100)
			expectErr(t, "due, with an unsettled dependency", system(2), scheduler.NotDue)
		})
	})

	t.Run("S-RUN-07 S-RUN-15 success with calls that worked or failed", func(t *testing.T) {
		w := newWorld(t)
		one(t, w)
		expect(t, "outcome", w.receipts[0].Outcome, scheduler.Success)
		expectList(t, "events", w.events, "Executed(1,0)")
		w = newWorld(t)
		one(t, w, to(revertTarget))
		expect(t, "outcome", w.receipts[0].Outcome, scheduler.Success)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)")
	})

	t.Run("S-RUN-10 S-RUN-03 the target sees the scheduler as its caller, and its data", func(t *testing.T) {
		w := newWorld(t)
		var caller scheduler.Addr
		var input []byte
		w.script = func(f *memory.Frame) ([]byte, error) {
			caller, input = f.Caller, bytes.Clone(f.Input)
			return nil, nil
		}
		one(t, w, to(scriptTarget), func(p *scheduler.Params) { p.Calls[0].Data = []byte{1, 2, 3} }) // 3 bytes are one word more
		expect(t, "caller", caller, scheduler.Address)
		expect(t, "input", string(input), "\x01\x02\x03")
		expect(t, "transaction's target", w.runs[0].Target, scriptTarget)
		expect(t, "transaction's input", string(w.runs[0].Input), "\x01\x02\x03")
	})

	t.Run("S-RUN-03 a batch shows the scheduler and the encoded calls", func(t *testing.T) {
		w := newWorld(t)
		one(t, w, calls(3))
		expect(t, "target", w.runs[0].Target, scheduler.Address)
		want := tlock.EncodeCalls(with(entryOf(300_000, 0), calls(3)).Calls)
		expect(t, "input", string(w.runs[0].Input), string(want))
	})

	t.Run("S-RUN-11 S-CUR-05 what a target sees of its own run", func(t *testing.T) {
		w := newWorld(t)
		var status scheduler.Status
		var cursor uint64
		var executeErr error
		w.script = func(f *memory.Frame) ([]byte, error) {
			status, cursor = w.view().Status(1), w.view().CursorSlot()
			_, executeErr = f.Call(scheduler.Address, f.Gas, scheduler.ExecuteInput(1))
			return nil, nil
		}
		one(t, w, to(scriptTarget))
		expect(t, "status", status, scheduler.Executed)
		expect(t, "cursorSlot", cursor, 111)
		expectErr(t, "execute", executeErr, scheduler.NotChain)
	})

	t.Run("S-RUN-12 if a call fails no call has happened, and the fee is paid", func(t *testing.T) {
		w := newWorld(t)
		mark := scheduler.Word{1}
		w.script = func(f *memory.Frame) ([]byte, error) {
			f.State().Set(mark, mark)
			f.State().Emit([]scheduler.Word{mark}, nil)
			return nil, nil
		}
		one(t, w, calls(3), func(p *scheduler.Params) {
			p.GasLimit = 300_000
			for i := range p.Calls {
				p.Calls[i] = scheduler.Call{Target: scriptTarget, GasLimit: 50_000}
			}
			p.Calls[2].Target = revertTarget
		})
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)")
		expect(t, "effects", w.Space(scriptTarget).Get(mark), scheduler.Word{})
		expect(t, "logs: the fee's transfer and ours", len(w.receipts[0].Logs), 2)
		expect(t, "paid", w.tokens(proposer), w.runs[0].GasLimit*10)
	})

	t.Run("S-RUN-12 a call without enough gas", func(t *testing.T) {
		w := newWorld(t)
		w.script = func(f *memory.Frame) ([]byte, error) { return nil, f.Use(50_000) }
		one(t, w, to(scriptTarget))
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)")
		if used := w.receipts[0].GasUsed; used > w.runs[0].GasLimit {
			t.Errorf("S-RUN-16: gas used %d is above the cost %d", used, w.runs[0].GasLimit)
		}
	})

	t.Run("S-RUN-16 gas used is what the run metered, and never above the cost", func(t *testing.T) {
		var used []uint64
		for _, burn := range []uint64{0, 10_000, 40_000, 1_000_000} {
			w := newWorld(t)
			w.script = func(f *memory.Frame) ([]byte, error) { return nil, f.Use(min(burn, f.Gas)) }
			one(t, w, to(scriptTarget))
			used = append(used, w.receipts[0].GasUsed)
		}
		expect(t, "10,000 more", used[1]-used[0], 10_000)
		expect(t, "40,000 more", used[2]-used[0], 40_000)
		expect(t, "a call cannot use more than its limit", used[3]-used[0], 50_000-2_600)
		if used[3] > 300_000 {
			t.Errorf("used %d of a cost of 300000", used[3])
		}
	})

	t.Run("S-RUN-16 a call uses no more than its limit, whatever the host says", func(t *testing.T) {
		var used []uint64
		for _, claim := range []uint64{50_000, 50_001, 1<<64 - 1} {
			w := newWorld(t)
			w.block(100, func() {
				w.deposit(alice, 1e9)
				w.schedule(with(entryOf(300_000, 110), calls(2), func(p *scheduler.Params) { p.GasLimit = 200_000 }))
			})
			w.begin(11, 110)
			h := &scheduler.Host{State: w.Space(scheduler.Address), Executor: claims(claim), Token: &purse{}}
			r := w.Machine().Execute(w.Env(), h, w.runs[0])
			expect(t, "outcome", r.Outcome, scheduler.Success)
			used = append(used, r.GasUsed)
		}
		expectList(t, "gas used", used[1:], used[0], used[0])
	})

	t.Run("S-RUN-13 a target that has become a MIP20 token is not called, and may be tried again", func(t *testing.T) {
		w := newWorld(t)
		approve := append([]byte{0x09, 0x5e, 0xa7, 0xb3}, make([]byte, 64)...) // the scheduler's tokens to bob, which a token would grant
		copy(approve[16:], bob[:])
		approve[67] = 1
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 110), retries(1), func(p *scheduler.Params) { p.Calls[0].Data = approve }))
		})
		w.RegisterMIP20(okTarget)
		w.block(110)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,true)")
		expect(t, "bob's allowance", w.TokenAllowance(okTarget, scheduler.Address, bob), amount(0))
	})

	t.Run("S-RUN-17 targets may deposit, schedule, cancel and withdraw, but not expire", func(t *testing.T) {
		w := newWorld(t)
		must(t, w.Mint(scriptTarget, amount(1e10)))
		w.Approve(scriptTarget, scheduler.Address, amount(1e10))
		w.script = func(f *memory.Frame) ([]byte, error) {
			for _, input := range [][]byte{
				scheduler.DepositInput(amount(9_000_000)),
				scheduler.ScheduleInput(entryOf(300_000, 111)),
				scheduler.ScheduleInput(entryOf(300_000, 112)),
				scheduler.CancelInput(3),
				scheduler.WithdrawInput(amount(2_000_000)),
			} {
				if _, err := f.Call(scheduler.Address, f.Gas, input); err != nil {
					return nil, err
				}
			}
			for _, id := range []uint64{1, 2, 3, 99} {
				_, err := f.Call(scheduler.Address, f.Gas, scheduler.ExpireInput(id))
				expectErr(t, "expire", err, scheduler.Running)
			}
			return nil, nil
		}
		one(t, w, to(scriptTarget), func(p *scheduler.Params) { p.GasLimit, p.Calls[0].GasLimit = 210_000, 200_000 })
		expectList(t, "events", w.events,
			"Deposited(04,9000000)", "Scheduled(2,04,111,3000000)", "Scheduled(3,04,112,3000000)", "Cancelled(3,2400000)", "Withdrawn(04,2000000)", "Executed(1,0)")
		w.block(111)
		expectList(t, "the nested entry", w.events, "Executed(2,0)")
	})

	t.Run("S-RUN-17 a failed nested call leaves no trace", func(t *testing.T) {
		w := newWorld(t)
		w.script = func(f *memory.Frame) ([]byte, error) {
			_, err := f.Call(scheduler.Address, f.Gas, scheduler.ScheduleInput(entryOf(300_000, 120)))
			expectErr(t, "schedule without escrow", err, scheduler.InsufficientEscrow)
			return nil, nil
		}
		one(t, w, to(scriptTarget))
		expect(t, "nextId", w.view().NextID(), 2)
		expectList(t, "events", w.events, "Executed(1,0)")
	})

	t.Run("S-RUN-18 S-ITF-04 a finished entry is its first word", func(t *testing.T) {
		for name, c := range map[string]struct {
			change func(*scheduler.Params)
			want   scheduler.Status
		}{"success": {retries(3), scheduler.Executed}, "failure": {to(revertTarget), scheduler.Failed}} {
			w := newWorld(t)
			one(t, w, c.change, late, after())
			e := w.view().Entry(1)
			expect(t, name+": status", e.Status, c.want)
			expect(t, "calls", len(e.Calls), 0)
			want := scheduler.Entry{Payer: alice, Key: 110, Status: c.want, MaxRetries: e.MaxRetries, Flags: 1 | 2 | 32}
			expect(t, "rest", gethText(e), gethText(want))
		}
	})

	t.Run("S-ITF-02 each status is reached", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 180))
			w.schedule(entryOf(300_000, 105))
			w.schedule(with(entryOf(300_000, 105), to(revertTarget)))
			w.schedule(entryOf(300_000, 190))
			w.schedule(entryOf(300_000, 110))
			w.schedule(with(entryOf(300_000, 106), to(revertTarget), func(p *scheduler.Params) { p.PeriodSlots, p.Remaining, p.PauseOnFail = 5, 1, true }))
			must(t, w.cancel(alice, 4))
		})
		w.blocks(105, 106)
		w.block(171, func() { must(t, w.expire(5)) })
		for id, want := range []uint8{0, 1, 2, 3, 4, 5, 6} {
			expect(t, "status", uint8(w.view().Status(uint64(id))), want)
		}
	})

	t.Run("S-RUN-19 order of the logs", func(t *testing.T) {
		w := newWorld(t)
		one(t, w)
		var from []scheduler.Addr
		for _, l := range w.receipts[0].Logs {
			from = append(from, l.Address)
		}
		expectList(t, "fee, call, outcome", from, gasToken, okTarget, scheduler.Address)
		caller, input, ok := memory.DecodeCalled(w.receipts[0].Logs[1].Data)
		expect(t, "echo", ok, true)
		expect(t, "echo's caller", caller, scheduler.Address)
		expect(t, "echo's input", len(input), 0)
	})

	t.Run("a target that panics is a call that failed, with no effect", func(t *testing.T) {
		w := newWorld(t)
		one(t, w, to(panicTarget), retries(1))
		expectList(t, "events", w.events, "ExecutionFailed(1,0,true)")
		expect(t, "effects", w.Space(panicTarget).Get(scheduler.Word{1}), scheduler.Word{})
		w.block(111, func() { w.schedule(entryOf(300_000, 113)) })
		expectList(t, "events", w.events, "ExecutionFailed(1,1,false)")
		w.block(112, func() { expectErr(t, "running is over", w.expire(2), scheduler.NotExpired) })
	})

	t.Run("S-RTY-06 attempts count the failed runs", func(t *testing.T) {
		w := newWorld(t)
		one(t, w, to(revertTarget), retries(2))
		expect(t, "attempts", w.view().Entry(1).Attempts, 1)
		w.blocks(111, 112)
		expect(t, "attempts", w.view().Entry(1).Attempts, 2)
		w.expectStatus(1, scheduler.Failed)
	})

	t.Run("S-RTY-01 S-CAP-06 a Guaranteed entry retries as BestEffort and reserves nothing", func(t *testing.T) {
		w := newWorld(t)
		one(t, w, to(revertTarget), retries(1), guaranteed)
		expect(t, "reservedGas(111)", w.view().ReservedGas(111), 0)
		expect(t, "flags", w.view().Entry(1).Flags, scheduler.FlagBestEffort|scheduler.FlagGuaranteed)
	})

	t.Run("S-RTY-03 a retry locks another fee", func(t *testing.T) {
		w := newWorld(t)
		one(t, w, to(revertTarget), retries(1))
		expect(t, "locked", w.locked(alice), 3_000_000)
		expect(t, "available", w.available(alice), 1e9-6_000_000)
	})

	t.Run("S-RTY-05 no retry after a failed dependency or a payload that does not open", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 110), to(revertTarget)))
			w.schedule(with(entryOf(300_000, 110), needs(1), retries(9)))
			bad := w.sealedEntry(110)
			bad.Ciphertext[200] ^= 1
			w.schedule(with(bad, retries(9)))
			w.schedule(with(w.sealedEntry(110, scheduler.Call{Target: okTarget, GasLimit: 1}), retries(9)))
		})
		w.carry(110)
		w.block(111)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)", "ExecutionFailed(2,0,false)", "ExecutionFailed(3,0,false)", "ExecutionFailed(4,0,true)")
	})
}

func gethText(e scheduler.Entry) string {
	e.Calls = nil
	if len(e.DependsOn) == 0 {
		e.DependsOn = nil
	}
	return string(mustJSON(e))
}

func TestDependencies(t *testing.T) {
	t.Run("S-DEP-01 S-DEP-04 each end against each kind of dependency", func(t *testing.T) {
		for _, end := range []scheduler.Status{scheduler.Executed, scheduler.Failed, scheduler.Cancelled, scheduler.Expired} {
			w := newWorld(t)
			w.block(100, func() {
				w.deposit(alice, 1e9)
				switch end {
				case scheduler.Executed, scheduler.Cancelled:
					w.schedule(entryOf(300_000, 105))
				case scheduler.Failed:
					w.schedule(with(entryOf(300_000, 105), to(revertTarget)))
				case scheduler.Expired:
					w.schedule(entryOf(300_000, 105))
				}
				w.schedule(with(entryOf(300_000, 190), needs(1), retries(3)))
				w.schedule(with(entryOf(300_000, 190), after(1)))
				if end == scheduler.Cancelled {
					must(t, w.cancel(alice, 1))
				}
			})
			if end == scheduler.Expired {
				w.block(170, func() { must(t, w.expire(1)) })
			} else {
				w.block(105)
			}
			w.blocks(171, 189)
			w.expectStatus(1, end)
			w.block(190)
			needed := "ExecutionFailed(2,0,false)"
			if end == scheduler.Executed {
				needed = "Executed(2,0)"
			}
			expectList(t, "events", w.events, needed, "Executed(3,0)")
		}
	})

	t.Run("S-SCH-11 S-ITF-09 a dependency that ended long ago, another payer's, twice", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 101))
		})
		w.block(101)
		w.block(102, func() {
			w.deposit(bob, 1e9)
			_, err := w.trySchedule(bob, with(entryOf(300_000, 103), needs(1, 1)))
			must(t, err)
		})
		w.block(103)
		expectList(t, "events", w.events, "Executed(2,0)")
	})

	t.Run("S-DEP-03 S-SEL-09 an unsettled dependency delays, without failing, keeping deadline and due slot", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 130))
			w.schedule(with(entryOf(300_000, 110), needs(1)))
			w.schedule(with(entryOf(300_000, 0), height(11), needs(1)))
		})
		w.blocks(101, 129)
		for id, key := range map[uint64]uint64{2: 130, 3: scheduler.HeightKey | 31} {
			e := w.view().Entry(id)
			expect(t, "key", e.Key, key)
			expect(t, "attempts", e.Attempts, 0)
		}
		expect(t, "deadline", w.view().Entry(2).DeadlineSlot, 170)
		expect(t, "due", w.view().Entry(2).DueSlot, 110)
		w.block(130)
		expectList(t, "ran", w.ran(), 1, 3, 2)
	})

	t.Run("S-DEP-06 a chain of dependencies runs in one block", func(t *testing.T) {
		p := testPolicy()
		p.MaxEntriesPerBlock = 16
		p.GasPerBlock = 20_000_000
		w := newWorldWith(t, p)
		w.block(100, func() {
			w.deposit(alice, 1e10)
			for id := uint64(1); id <= 10; id++ {
				change := price(10 * id) // the dependents pay best
				if id == 1 {
					w.schedule(entryOf(300_000, 110))
				} else {
					w.schedule(with(entryOf(300_000, 110), needs(id-1), change))
				}
			}
		})
		w.block(110)
		expectList(t, "ran", w.ran(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	})
}

func TestSelection(t *testing.T) {
	t.Run("S-SEL-01 due at its slot, not before", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 105))
			w.schedule(with(entryOf(300_000, 0), height(7)))
		})
		w.blockAt(5, 104)
		expectList(t, "at 104", w.ran())
		w.blockAt(6, 105)
		expectList(t, "at 105", w.ran(), 1)
		w.blockAt(7, 106)
		expectList(t, "at height 7", w.ran(), 2)
	})

	t.Run("S-SEL-04 S-SEL-14 Guaranteed get the budget first, oldest first, heights before slots", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 103), price(1_000)))
			w.schedule(with(entryOf(800_000, 102), guaranteed))
			w.schedule(with(entryOf(800_000, 101), guaranteed))
			w.schedule(with(entryOf(800_000, 0), height(3), guaranteed))
		})
		w.blockAt(4, 103)
		expectList(t, "ran", w.ran(), 4, 3, 1)
	})

	t.Run("S-SEL-05 equal prices: heights first, then key, then id", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(700_000, 102))
			w.schedule(entryOf(700_000, 102))
			w.schedule(entryOf(700_000, 101))
			w.schedule(with(entryOf(700_000, 0), height(3)))
		})
		w.blockAt(4, 103)
		expectList(t, "ran", w.ran(), 4, 3)
	})

	t.Run("S-SEL-06 S-POL-02 a cost that just fits, and one gas more", func(t *testing.T) {
		for cost, want := range map[uint64]int{1_000_000: 2, 1_000_001: 1} {
			w := newWorld(t)
			w.block(100, func() {
				w.deposit(alice, 1e9)
				w.schedule(entryOf(1_000_000, 110))
				w.schedule(entryOf(cost, 110))
			})
			w.block(110)
			expect(t, "runs", len(w.runs), want)
		}
	})

	t.Run("S-SEL-07 S-POL-07 the count never limits Guaranteed", func(t *testing.T) {
		p := testPolicy()
		p.MaxEntriesPerBlock = 2
		w := newWorldWith(t, p)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for slot := uint64(101); slot <= 102; slot++ {
				w.schedule(with(entryOf(300_000, slot), guaranteed))
				w.schedule(with(entryOf(300_000, slot), guaranteed))
			}
			w.schedule(entryOf(300_000, 103))
		})
		w.block(103)
		expectList(t, "ran", w.ran(), 1, 2, 3, 4)
	})

	t.Run("S-SEL-10 A-48 a delayed Guaranteed entry without room keeps place and class", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 150))
			w.schedule(with(entryOf(300_000, 110), guaranteed, needs(1)))
			fill(w, 111, 118)
		})
		w.block(110)
		expect(t, "key", w.view().Entry(2).Key, 110)
		expect(t, "flags", w.view().Entry(2).Flags, scheduler.FlagGuaranteed)
		expect(t, "reservedGas", w.view().ReservedGas(110), 305_000)
		w.expectCursor(110)
	})

	t.Run("S-SEL-15 Guaranteed does not jump a dependency", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 120))
			w.schedule(with(entryOf(300_000, 110), guaranteed, needs(1)))
		})
		w.block(110)
		expectList(t, "ran", w.ran())
	})

	t.Run("S-CUR-01 S-CUR-07 S-CAP-08 an empty block, and a passed key", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 105), guaranteed))
		})
		w.block(104)
		w.expectCursor(105)
		expect(t, "cursorHeight", w.view().CursorHeight(), 6)
		w.block(105)
		expectList(t, "queueAt", w.view().QueueAt(105))
		expect(t, "reservedGas", w.view().ReservedGas(105), 0)
	})

	t.Run("A-50 a block with its parent's time changes no cursor", func(t *testing.T) {
		w := newWorld(t)
		w.blockAt(1, 100)
		w.blockAt(2, 100)
		w.expectCursor(101)
		w.blockAt(2, 90)
		w.expectCursor(101)
		expect(t, "cursorHeight", w.view().CursorHeight(), 3)
	})

	t.Run("S-CUR-08 empty keys after the last read are passed", func(t *testing.T) {
		p := testPolicy()
		p.MaxEntriesPerBlock = 128
		w := newWorldWith(t, p)
		w.block(100, func() {
			w.deposit(alice, 1e12)
			for slot := uint64(101); slot <= 108; slot++ {
				for range 128 {
					w.schedule(with(entryOf(300_000, slot), price(10)))
				}
			}
			w.schedule(entryOf(300_000, 150))
		})
		w.block(149)
		w.expectCursor(150)
		expect(t, "runs", len(w.runs), 6)
		w.block(150)
		expect(t, "the 1025th is read in its turn", w.view().Entry(1025).Key > 150, true)
	})

	t.Run("S-CUR-03 heights are read before slots", func(t *testing.T) {
		limits := scheduler.DefaultLimits()
		limits.Reads = 4
		w := newWorldWith(t, testPolicy(), limits)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for range 4 {
				w.schedule(entryOf(300_000, 110))
			}
			for range 3 {
				w.schedule(with(entryOf(300_000, 0), height(11)))
			}
		})
		w.blocks(101, 109)
		w.block(110)
		expectList(t, "ran", w.ran(), 5, 6, 7, 1)
		w.expectCursor(110)
		expect(t, "cursorHeight", w.view().CursorHeight(), 12)
		w.block(111)
		expectList(t, "ran", w.ran(), 2, 3, 4)
	})

	t.Run("S-CUR-08 the entry that the reads do not cover holds the cursor", func(t *testing.T) {
		p := testPolicy()
		p.MaxEntriesPerBlock = 128
		p.MaxLateSlots = 5
		w := newWorldWith(t, p)
		w.block(100, func() {
			w.deposit(alice, 1e12)
			for slot := uint64(101); slot <= 108; slot++ {
				for range 128 {
					w.schedule(entryOf(300_000, slot))
				}
			}
			w.schedule(entryOf(300_000, 130))
		})
		w.block(130) // 1,024 dead entries are read, the live one is not
		expectList(t, "ran", w.ran())
		w.expectCursor(130)
		w.block(131)
		expectList(t, "ran", w.ran(), 1025)
	})

	t.Run("S-CUR-09 S-SEA-11 the block reads calls only of what it selects", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(2_000_000, 110), price(50)))
			w.schedule(entryOf(300_000, 110))
			w.schedule(entryOf(300_000, 111))
		})
		w.blocks(101, 109)
		read := &countingState{State: w.Space(scheduler.Address), blobs: map[scheduler.Word]int{}}
		h := &scheduler.Host{State: read, Beacon: w.Beacon()}
		plan, err := w.Machine().BeginBlock(scheduler.Env{Height: 11, Time: 110}, h, scheduler.Update{}, nil)
		must(t, err)
		expect(t, "runs", len(plan.Runs), 1)
		expect(t, "entries whose calls were read", len(read.blobs), 1)
	})

	t.Run("a block out of range is refused", func(t *testing.T) {
		w := newWorld(t)
		before := w.StateHash()
		for _, env := range []scheduler.Env{{Height: 1, Time: 1 << 60}, {Height: 1 << 60, Time: 100}} {
			if _, err := w.BeginBlock(env, scheduler.Update{}, nil); err == nil {
				t.Errorf("accepted block %+v", env)
			}
		}
		expect(t, "state", w.StateHash(), before)
	})
}

// countingState counts the blobs that are read.
type countingState struct {
	scheduler.State
	blobs map[scheduler.Word]int
}

func (s *countingState) Blob(k scheduler.Word) []byte {
	s.blobs[k]++
	return s.State.Blob(k)
}

// claims is an executor whose calls do nothing and claim to have used so much gas.
type claims uint64

func (c claims) Call(scheduler.Addr, uint64, []byte) ([]byte, uint64, error) {
	return nil, uint64(c), nil
}

// purse is a gas token of which there is always enough.
type purse struct {
	scheduler.Token
	onPull func()
}

func (*purse) IsMIP20(scheduler.Addr) bool              { return false }
func (*purse) Credit(scheduler.Addr, uint256.Int) error { return nil }
func (*purse) Held() uint256.Int                        { return amount(1 << 62) }

func (p *purse) Pull(scheduler.Addr, uint256.Int) error {
	if f := p.onPull; f != nil {
		p.onPull = nil
		f()
	}
	return nil
}
