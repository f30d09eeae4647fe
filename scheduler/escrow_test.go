package scheduler_test

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func TestEscrow(t *testing.T) {
	t.Run("S-ESC-01 deposit pulls by allowance", func(t *testing.T) {
		w := newWorld(t)
		w.Approve(alice, scheduler.Address, amount(99))
		w.block(100, func() {
			before := w.StateHash()
			expectErr(t, "deposit", w.transact(alice, scheduler.DepositInput(amount(100))).Err, scheduler.TransferFailed)
			expect(t, "state", w.StateHash(), before)
			r := w.transact(alice, scheduler.DepositInput(amount(99)))
			expectList(t, "events", events(r.Logs), "Deposited(aa,99)")
			expect(t, "available", w.available(alice), 99)
			expect(t, "tokens", w.tokens(alice), 1e15-99)
			expect(t, "held", w.tokens(scheduler.Address), 99)
			expectErr(t, "allowance used up", w.transact(alice, scheduler.DepositInput(amount(1))).Err, scheduler.TransferFailed)
		})
	})

	t.Run("S-ESC-03 S-ESC-06 S-ESC-08 locked funds are neither read as balance nor withdrawn", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 10_000_000)
			w.schedule(entryOf(300_000, 110))
			expect(t, "available", w.available(alice), 7_000_000)
			expect(t, "locked", w.locked(alice), 3_000_000)
			expectErr(t, "withdraw", w.withdraw(alice, 7_000_001), scheduler.InsufficientEscrow)
			r := w.transact(alice, scheduler.WithdrawInput(amount(7_000_000)))
			expectList(t, "events", events(r.Logs), "Withdrawn(aa,7000000)")
			expect(t, "tokens", w.tokens(alice), 1e15-3_000_000)
		})
	})

	t.Run("S-ESC-04 the whole fee is paid whatever gas the calls use", func(t *testing.T) {
		w := newWorld(t)
		var burn bool
		w.script = func(f *memory.Frame) ([]byte, error) {
			if burn {
				return nil, f.Use(f.Gas)
			}
			return nil, nil
		}
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 110), to(scriptTarget)))
			w.schedule(with(entryOf(300_000, 111), to(scriptTarget)))
		})
		w.block(110)
		idle := w.receipts[0].GasUsed
		expect(t, "paid", w.tokens(proposer), 3_000_000)
		burn = true
		w.block(111)
		expect(t, "paid", w.tokens(proposer), 6_000_000)
		if busy := w.receipts[0].GasUsed; busy <= idle || busy > 300_000 {
			t.Errorf("gas used %d by a busy target, %d by an idle one; the cost is 300000", busy, idle)
		}
	})

	t.Run("S-ESC-05 a proposer that refuses is paid into quarantine", func(t *testing.T) {
		w := newWorld(t)
		for _, mode := range []memory.ReceiveMode{memory.Revert, memory.Quarantine} {
			w.SetMode(proposer, mode)
			before := w.tokens(memory.ReceivePolicy)
			slot := w.Env().Time + 11
			w.block(slot-10, func() {
				w.deposit(alice, 1e9)
				w.schedule(entryOf(300_000, slot))
			})
			w.block(slot)
			expect(t, "outcome", w.receipts[0].Outcome, scheduler.Success)
			expect(t, "quarantined", w.tokens(memory.ReceivePolicy)-before, 3_000_000)
			expect(t, "paid", w.tokens(proposer), 0)
		}
	})

	t.Run("S-ESC-07 withdraw respects the receive policy", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1_000)
			w.SetMode(alice, memory.Revert)
			expectErr(t, "withdraw", w.withdraw(alice, 10), scheduler.TransferFailed)
			expect(t, "available", w.available(alice), 1_000)
			w.SetMode(alice, memory.Quarantine)
			r := w.transact(alice, scheduler.WithdrawInput(amount(10)))
			expectList(t, "events", events(r.Logs), "Withdrawn(aa,10)")
			expect(t, "quarantined", w.tokens(memory.ReceivePolicy), 10)
			expect(t, "available", w.available(alice), 990)
		})
	})

	t.Run("S-ESC-09 zero amounts", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			before := w.StateHash()
			expectList(t, "events", events(w.transact(bob, scheduler.DepositInput(amount(0))).Logs), "Deposited(bb,0)")
			expectList(t, "events", events(w.transact(bob, scheduler.WithdrawInput(amount(0))).Logs), "Withdrawn(bb,0)")
			expect(t, "state", w.StateHash(), before)
		})
	})

	t.Run("S-ESC-10 a donation credits nobody", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 5)
			transfer := append([]byte{0xa9, 0x05, 0x9c, 0xbb}, make([]byte, 64)...)
			transfer[4+31], transfer[4+63] = 0xfe, 100
			must(t, w.Transact(bob, gasToken, 100_000, transfer).Err)
			expect(t, "held", w.tokens(scheduler.Address), 105)
			expect(t, "available", w.available(bob), 0)
			expect(t, "available", w.available(alice), 5)
		})
	})

	t.Run("S-ESC-01 a deposit within the pull of another is not lost", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			token := &purse{}
			h := &scheduler.Host{State: w.Space(scheduler.Address), Token: token}
			env := w.Env()
			env.Caller = alice
			deposit := func(v uint64) {
				_, err := w.Machine().Call(env, h, scheduler.DepositInput(amount(v)))
				must(t, err)
			}
			token.onPull = func() { deposit(5) } // a token that tells its holders lets them call
			deposit(7)
			expect(t, "available", w.available(alice), 12)
		})
	})

	t.Run("I-06 a deposit that would wrap the balance", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 5)
			most := amount(0)
			most.SubUint64(&most, 1) // 2^256-1
			w.Approve(alice, scheduler.Address, most)
			expectErr(t, "deposit", w.transact(alice, scheduler.DepositInput(most)).Err, scheduler.TransferFailed)
			expect(t, "available", w.available(alice), 5)
		})
	})
}

func TestCancelAndExpire(t *testing.T) {
	t.Run("S-CXL-01 S-CXL-08 only the payer cancels, and only once", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			id := w.schedule(entryOf(300_000, 110))
			expectErr(t, "by another", w.cancel(bob, id), scheduler.NotPayer)
			expectErr(t, "unknown id", w.cancel(alice, 9), scheduler.NotScheduled)
			expectErr(t, "id 0", w.cancel(alice, 0), scheduler.NotScheduled)
			r := w.transact(alice, scheduler.CancelInput(id))
			expectList(t, "events", events(r.Logs), "Cancelled(1,2400000)")
			w.expectStatus(id, scheduler.Cancelled)
			expectErr(t, "again", w.cancel(alice, id), scheduler.NotScheduled)
			expectErr(t, "again, by another", w.cancel(bob, id), scheduler.NotScheduled)
			expectErr(t, "expire", w.expire(id), scheduler.NotScheduled)
		})
	})

	t.Run("S-CXL-03 S-CAP-02 S-CAP-07 place and Guaranteed capacity are free again", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for range 2 {
				w.schedule(with(entryOf(400_000, 110), guaranteed))
			}
			w.schedule(entryOf(300_000, 110))
			must(t, w.cancel(alice, 1))
			expect(t, "reservedGas", w.view().ReservedGas(110), 400_000)
			expectList(t, "queueAt", w.view().QueueAt(110), 2, 3)
			must(t, w.cancel(alice, 3))
			must(t, w.cancel(alice, 2))
			expect(t, "reservedGas", w.view().ReservedGas(110), 0)
			expectList(t, "queueAt", w.view().QueueAt(110))
			expect(t, "nothing left in the queue's words", w.Space(scheduler.Address).Get(scheduler.Word{0: 6, 23: 110, 31: 1}), scheduler.Word{})
		})
	})

	t.Run("S-CXL-07 S-POL-05 past its deadline", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 110))
			w.schedule(with(entryOf(300_000, 110), late))
		})
		w.begin(71, 170)
		expectList(t, "S-POL-05 runs at slot+maxLateSlots", w.ran(), 1, 2)

		w = newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 110))
			w.schedule(with(entryOf(300_000, 110), late))
			w.schedule(entryOf(300_000, 171)) // to wait for
		})
		before := w.available(alice)
		w.block(171, func() {
			expectList(t, "ran", w.ran(), 2, 3)
			expectErr(t, "expire", w.expire(1), nil)
			expectErr(t, "expire what ran", w.expire(2), scheduler.NotScheduled)
		})
		expect(t, "refund", w.available(alice)-before, 3_000_000)
		expect(t, "I-05 treasury", w.available(treasury), 0)
	})

	// Each ground alone: what the other grounds ask is not met.
	t.Run("S-CXL-04 past its deadline, behind the cursor or detached, or without its key", func(t *testing.T) {
		p := testPolicy()
		p.MaxLateSlots = 5
		open := func(*world) scheduler.Params { return entryOf(300_000, 110) }
		lateOpen := func(*world) scheduler.Params { return with(entryOf(300_000, 110), late) }
		lateSealed := func(w *world) scheduler.Params { return with(w.sealedEntry(110), late) }
		for name, c := range map[string]struct {
			entry    func(w *world) scheduler.Params
			proposer scheduler.Addr
			blocks   []uint64
			can      bool
		}{
			"not due":                          {open, proposer, []uint64{109}, false},
			"(a) dead and not passed":          {open, proposer, []uint64{116}, true},
			"(a) not with lateExecute":         {lateOpen, proposer, []uint64{116}, false},
			"(b) detached by a run that fails": {lateOpen, bad, []uint64{110}, true},
			"(b) a height that was detached":   {func(*world) scheduler.Params { return with(entryOf(300_000, 0), height(11)) }, bad, []uint64{110}, true},
			"(d) its key in time":              {lateSealed, proposer, []uint64{136, 141}, false},
			"(d) its key missed":               {lateSealed, proposer, []uint64{136, 142}, true},
		} {
			w := newWorldWith(t, p)
			w.install(w.secret)
			w.block(100, func() {
				w.deposit(alice, 1e10)
				w.schedule(with(w.sealedEntry(105), late)) // holds the cursor at 105 up to 136
				w.schedule(c.entry(w))
				w.schedule(with(entryOf(2_000_000, 116), price(1_000))) // takes the whole block 116
			})
			w.proposer = c.proposer
			for _, time := range c.blocks {
				w.block(time)
			}
			if !c.can {
				expectErr(t, name, w.expire(2), scheduler.NotExpired)
				continue
			}
			before, fee := w.available(alice), feeOf(w.view().Entry(2))
			expectErr(t, name, w.expire(2), nil)
			expect(t, name+": refund", w.available(alice)-before, fee.Uint64())
			expect(t, name+": treasury", w.available(treasury), 0)
		}
	})

	t.Run("S-CXL-06 what anyone could expire never runs, though nobody does", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 110))
			w.schedule(with(w.sealedEntry(110), late))
			w.schedule(with(entryOf(300_000, 172), late))
			w.schedule(with(entryOf(300_000, 173), after(1)))
		})
		w.block(171) // 1 is past its deadline, 2 has missed its key
		w.proposer = bad
		w.block(172) // 3 is selected, and the token fails
		w.proposer = proposer
		for id := uint64(1); id <= 3; id++ {
			_, err := w.View(bob, scheduler.Address, scheduler.ExpireInput(id))
			must(t, err)
		}
		w.carry(110)
		w.block(173)
		expectList(t, "block 173", w.ran(), 4)
		w.blocks(174, 300)
		for id := uint64(1); id <= 3; id++ {
			w.expectStatus(id, scheduler.Scheduled)
			must(t, w.expire(id))
		}
	})

	t.Run("S-CXL-04 not while it can still run", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 110))
			expectErr(t, "not due", w.expire(1), scheduler.NotExpired)
		})
	})

	t.Run("S-CXL-09 I-40 the refund can be withdrawn", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 3_000_000)
			w.schedule(entryOf(300_000, 110))
		})
		w.block(171, func() {
			must(t, w.expire(1))
			must(t, w.withdraw(alice, 3_000_000))
		})
		expect(t, "tokens", w.tokens(alice), 1e15)
		expect(t, "held", w.tokens(scheduler.Address), 0)
	})

	t.Run("S-CAP-08 A-56 leaving a passed key does not touch what is queued there", func(t *testing.T) {
		w := newWorld(t)
		w.proposer = bad
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 110), guaranteed))
		})
		w.block(110)
		expect(t, "reservedGas", w.view().ReservedGas(110), 0)
		w.block(111, func() { must(t, w.expire(1)) })
		expect(t, "reservedGas", w.view().ReservedGas(110), 0)
		expectList(t, "queueAt", w.view().QueueAt(110))
	})

	t.Run("S-CAP-08 S-CUR-07 a key passed with a dead Guaranteed entry is empty and stays so", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 110), guaranteed))
			w.schedule(with(entryOf(400_000, 110), guaranteed))
		})
		w.block(171)
		w.expectCursor(172)
		passed := func(when string) {
			expectList(t, "queueAt "+when, w.view().QueueAt(110))
			expect(t, "reservedGas "+when, w.view().ReservedGas(110), 0)
		}
		passed("once passed")
		must(t, w.expire(1))
		passed("after expire")
		must(t, w.cancel(alice, 2))
		passed("after cancel")
	})

	t.Run("S-CXL-01 cancel of a detached entry refunds its share", func(t *testing.T) {
		w := newWorld(t)
		w.proposer = bad
		w.block(100, func() {
			w.deposit(alice, 3_000_000)
			w.schedule(entryOf(300_000, 110))
		})
		w.block(110, func() { must(t, w.cancel(alice, 1)) })
		expect(t, "available", w.available(alice), 2_400_000)
		expect(t, "locked", w.locked(alice), 0)
	})

	t.Run("S-CXL-08 a canceled or expired entry is its first word", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 110))
			w.schedule(with(entryOf(300_000, 110), needs(1)))
			must(t, w.cancel(alice, 2))
		})
		w.block(171, func() { must(t, w.expire(1)) })
		for id, status := range map[uint64]scheduler.Status{1: scheduler.Expired, 2: scheduler.Cancelled} {
			want := scheduler.Entry{Payer: alice, Key: 110, Status: status, Flags: scheduler.FlagBestEffort}
			expect(t, "entry", gethText(w.view().Entry(id)), gethText(want))
			expect(t, "calls", len(w.view().Entry(id).Calls), 0)
		}
	})

	t.Run("resume finds nothing paused", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			id := w.schedule(entryOf(300_000, 110))
			input := append([]byte{0x1c, 0xde, 0xfe, 0xcf}, scheduler.CancelInput(id)[4:]...)
			expectErr(t, "resume", w.transact(alice, input).Err, scheduler.NotPaused)
		})
	})
}
