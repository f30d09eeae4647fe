package scheduler_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// reserveOf gives an entry a reserve of mip20 and the gas to capture it; its cost grows by 212,000 at the most.
func reserveOf(units uint8) func(*scheduler.Params) {
	return func(p *scheduler.Params) {
		p.GasLimit = max(p.GasLimit, 230_000)
		reserve(mip20, units)(p)
	}
}

// giveReserve gives alice tokens to reserve and the scheduler an allowance to hold them.
func (w *world) giveReserve(balance, allowance uint64) {
	w.Helper()
	must(w, w.MintToken(mip20, alice, amount(balance)))
	w.ApproveToken(mip20, alice, scheduler.Address, amount(allowance))
}

// expectReserve checks alice's tokens.
func (w *world) expectReserve(spendable, held, allowance uint64) {
	w.Helper()
	got := fmt.Sprintf("spendable %d held %d allowance %d", asUint64(w.TokenBalance(mip20, alice)), asUint64(w.Held(mip20, alice)),
		asUint64(w.TokenAllowance(mip20, alice, scheduler.Address)))
	expect(w, "reserve token", got, fmt.Sprintf("spendable %d held %d allowance %d", spendable, held, allowance))
}

// reserved is the entry of scenario 47: cost 500,000 with a reserve of 100.
func reserved(slot uint64, change ...func(*scheduler.Params)) scheduler.Params {
	p := entryOf(300_000, slot)
	p.GasLimit = 218_000
	reserve(mip20, 100)(&p)
	return with(p, change...)
}

const reservedFee = 5_000_000

// newReserved is a world in which alice, with 1,000 tokens and an allowance of 600, has scheduled p in block 100.
func newReserved(t *testing.T, p scheduler.Params) *world {
	t.Helper()
	w := newWorld(t)
	w.giveReserve(1_000, 600)
	w.block(100, func() {
		w.deposit(alice, bigEscrow)
		w.schedule(p)
	})
	w.expectReserve(900, 100, 500)
	return w
}

// tokenTransfer is the calldata of transfer(to, units) of any token.
func tokenTransfer(to scheduler.Addr, units uint64) []byte {
	in := append([]byte{0xa9, 0x05, 0x9c, 0xbb}, make([]byte, 12)...)
	in = append(in, to[:]...)
	return binary.BigEndian.AppendUint64(append(in, make([]byte, 24)...), units)
}

// transfers lists the transfers of mip20 among logs, as from, to and units.
func transfers(logs []memory.Log) (out []string) {
	for _, l := range logs {
		if l.Address == mip20 {
			out = append(out, fmt.Sprintf("%x %x %d", l.Topics[1][31:], l.Topics[2][31:], binary.BigEndian.Uint64(l.Data[24:])))
		}
	}
	return out
}

func TestReserve(t *testing.T) {
	t.Run("S-RES-01 the hold leaves the spendable balance and the allowance", func(t *testing.T) {
		newReserved(t, reserved(110))
	})

	t.Run("S-SCH-26 what cannot be held undoes the whole call", func(t *testing.T) {
		for _, c := range []struct {
			balance, allowance uint64
			want               error
		}{
			{100, 100, nil}, {99, 100, scheduler.TransferFailed}, {100, 99, scheduler.TransferFailed}, {0, 0, scheduler.TransferFailed},
		} {
			w := newWorld(t)
			w.giveReserve(c.balance, c.allowance)
			w.block(100, func() {
				w.deposit(alice, bigEscrow)
				before := w.StateHash()
				_, err := w.trySchedule(alice, reserved(110))
				expectErr(t, fmt.Sprint(c), err, c.want)
				if c.want == nil {
					w.expectReserve(0, 100, 0)
				} else {
					expect(t, "state", w.StateHash(), before)
					expect(t, "nextId", w.view().NextID(), 1)
				}
			})
		}
	})

	t.Run("S-SCH-23 the largest amount", func(t *testing.T) {
		w := newWorld(t)
		most := amount(1)
		most.Lsh(&most, 96)
		must(t, w.MintToken(mip20, alice, most))
		w.ApproveToken(mip20, alice, scheduler.Address, most)
		most.SubUint64(&most, 1)
		p := reserved(110)
		for i := range p.ReserveAmount {
			p.ReserveAmount[i] = 0xff
		}
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			w.schedule(p)
		})
		w.expectReserve(1, 1<<64-1, 1) // the low 64 bits of the hold
		expect(t, "held", w.Held(mip20, alice), most)
		w.block(110)
		expect(t, "captured", w.TokenBalance(mip20, okTarget), most)
	})

	t.Run("S-RES-02 S-RUN-19 the capture comes before the first call, the events after the calls", func(t *testing.T) {
		p := reserved(110, every(10, 1), func(p *scheduler.Params) {
			p.GasLimit += 60_000
			p.Calls = append(p.Calls, scheduler.Call{Target: bob, GasLimit: 20_000})
		})
		w := newReserved(t, p)
		w.block(110)
		var order []string
		for _, l := range w.receipts[0].Logs {
			switch {
			case l.Address == gasToken:
				order = append(order, "fee")
			case l.Address == mip20:
				order = append(order, "capture")
			case l.Address == scheduler.Address:
				ev, _ := scheduler.DecodeEvent(l.Topics, l.Data)
				order = append(order, ev.Name)
			default:
				order = append(order, fmt.Sprintf("call %x", l.Address[:1]))
			}
		}
		expectList(t, "logs", order, "fee", "capture", "call 01", "call bb", "Executed", "Recurred")
		expectList(t, "transfer", transfers(w.receipts[0].Logs), "aa 01 100")
		expect(t, "first target", w.TokenBalance(mip20, okTarget), amount(100))
		expect(t, "second target", w.TokenBalance(mip20, bob), amount(0))
		w.expectReserve(800, 100, 400) // 100 captured, 100 held for the next period
	})

	t.Run("S-RES-02 the target has the tokens when it is called", func(t *testing.T) {
		var had uint64
		w := newReserved(t, reserved(110, to(scriptTarget)))
		w.script = func(*memory.Frame) ([]byte, error) {
			had = asUint64(w.TokenBalance(mip20, scriptTarget))
			return nil, nil
		}
		w.block(110)
		expect(t, "balance inside", had, 100)
	})

	t.Run("S-RES-03 S-RTY-07 a failed run keeps the hold, a final failure releases it", func(t *testing.T) {
		w := newReserved(t, reserved(110, to(revertTarget), retries(1)))
		w.block(110)
		expectList(t, "events at 110", w.events, "ExecutionFailed(1,0,true)")
		expect(t, "transfers", len(transfers(w.receipts[0].Logs)), 0)
		w.expectReserve(900, 100, 500)
		w.block(111)
		expectList(t, "events at 111", w.events, "ExecutionFailed(1,1,false)")
		w.expectReserve(1_000, 0, 500)
		expect(t, "paid", w.tokens(proposer), 2*reservedFee)
	})

	t.Run("S-RES-03 a retry that succeeds captures what was held", func(t *testing.T) {
		w := newReserved(t, reserved(110, to(scriptTarget), retries(1)))
		w.script = func(*memory.Frame) ([]byte, error) {
			if w.Env().Time == 110 {
				return nil, memory.ErrDepth
			}
			return nil, nil
		}
		w.block(110)
		w.block(111)
		expectList(t, "events", w.events, "Executed(1,1)")
		w.expectReserve(900, 0, 500)
		expect(t, "target", w.TokenBalance(mip20, scriptTarget), amount(100))
	})

	t.Run("S-RES-03 S-RES-04 a retry without a fee is a final failure", func(t *testing.T) {
		w := newWorld(t)
		w.giveReserve(1_000, 600)
		w.block(100, func() {
			w.deposit(alice, reservedFee)
			w.schedule(reserved(110, to(revertTarget), retries(1)))
		})
		w.block(110)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)")
		w.expectReserve(1_000, 0, 500)
	})

	t.Run("S-RES-04 S-CXL-03 cancel and expire release the hold", func(t *testing.T) {
		w := newReserved(t, reserved(110))
		w.block(101, func() { must(t, w.cancel(alice, 1)) })
		w.expectReserve(1_000, 0, 500)

		w = newReserved(t, reserved(110))
		w.block(171, func() { must(t, w.expire(1)) })
		w.expectReserve(1_000, 0, 500)
	})

	t.Run("S-RES-04 S-RUN-14 a failed dependency releases the hold", func(t *testing.T) {
		w := newReserved(t, reserved(110, to(revertTarget)))
		w.block(101, func() { w.schedule(reserved(111, needs(1))) })
		w.expectReserve(800, 200, 400)
		w.block(110)
		w.expectReserve(900, 100, 400)
		w.block(111)
		expectList(t, "events", w.events, "ExecutionFailed(2,0,false)")
		w.expectReserve(1_000, 0, 400)
	})

	t.Run("S-RES-04 a run that reverts or is skipped keeps the hold until expire", func(t *testing.T) {
		for name, spoil := range map[string]func(*world){
			"reverted": func(w *world) { w.proposer = bad },
			"skipped":  func(w *world) { w.Seize(scheduler.Address, amount(1e15)) },
		} {
			w := newReserved(t, reserved(110))
			spoil(w)
			w.block(110)
			expect(t, name+": success", w.receipts[0].Outcome == scheduler.Success, false)
			w.expectReserve(900, 100, 500)
			w.block(111, func() { must(t, w.expire(1)) })
			w.expectReserve(1_000, 0, 500)
		}
	})

	t.Run("S-RES-05 each period holds its own amount, and starves without it", func(t *testing.T) {
		w := newWorld(t)
		w.giveReserve(1_000, 250)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			w.schedule(reserved(110, every(10, 5)))
		})
		w.block(110)
		expectList(t, "events at 110", w.events, "Executed(1,0)", "Recurred(1,2,120)")
		w.expectReserve(800, 100, 50)
		w.block(120)
		expectList(t, "events at 120", w.events, "Executed(2,0)", "RecurrenceStarved(2)")
		w.expectStatus(2, scheduler.Executed)
		w.expectReserve(800, 0, 50)
		expect(t, "target", w.TokenBalance(mip20, okTarget), amount(200))
		expect(t, "paid", w.tokens(proposer), 16_294_000)
		expect(t, "available", w.available(alice), bigEscrow-16_294_000)
		expect(t, "locked", w.locked(alice), 0)
		expect(t, "queue", len(w.view().QueueAt(130)), 0)
		expect(t, "nextId", w.view().NextID(), 3)
	})

	t.Run("S-RES-05 the amount that a failed period releases can be held again", func(t *testing.T) {
		w := newWorld(t)
		w.giveReserve(100, 200)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			w.schedule(reserved(110, every(10, 2), to(revertTarget)))
		})
		w.block(110)
		expectList(t, "events at 110", w.events, "ExecutionFailed(1,0,false)", "Recurred(1,2,120)")
		w.expectReserve(0, 100, 0)
		w.block(120)
		expectList(t, "events at 120", w.events, "ExecutionFailed(2,0,false)", "RecurrenceStarved(2)")
		w.expectReserve(100, 0, 0)
	})

	t.Run("S-PAU-01 S-RES-04 a pause releases the hold, a cancel of it has nothing to release", func(t *testing.T) {
		w := newReserved(t, reserved(110, every(10, 2), pausing, to(revertTarget)))
		w.block(110)
		w.expectStatus(1, scheduler.Paused)
		w.expectReserve(1_000, 0, 500)
		w.block(111, func() { must(t, w.cancel(alice, 1)) })
		w.expectReserve(1_000, 0, 500)
	})

	for name, mode := range map[string]memory.ReceiveMode{"revert": memory.Revert, "quarantine": memory.Quarantine, "broken": memory.Broken} {
		t.Run("S-RES-06 a target that refuses: the amount goes to ReceivePolicy, the entry is Executed: "+name, func(t *testing.T) {
			w := newReserved(t, reserved(110))
			w.SetMode(okTarget, mode)
			w.block(110)
			expectList(t, "events", w.events, "Executed(1,0)")
			expectList(t, "transfer", transfers(w.receipts[0].Logs), "aa fc 100")
			expect(t, "quarantine", w.TokenBalance(mip20, memory.ReceivePolicy), amount(100))
			w.expectReserve(900, 0, 500)
		})

		t.Run("S-RES-07 S-RUN-12 a later revert undoes capture and quarantine: "+name, func(t *testing.T) {
			w := newReserved(t, reserved(110, retries(1), func(p *scheduler.Params) {
				p.GasLimit += 60_000
				p.Calls = append(p.Calls, scheduler.Call{Target: revertTarget, GasLimit: 20_000})
			}))
			w.SetMode(okTarget, mode)
			w.block(110)
			expectList(t, "events", w.events, "ExecutionFailed(1,0,true)")
			expect(t, "transfers", len(transfers(w.receipts[0].Logs)), 0)
			expect(t, "quarantine", w.TokenBalance(mip20, memory.ReceivePolicy), amount(0))
			w.expectReserve(900, 100, 500)
		})
	}

	t.Run("S-RES-08 S-SCH-23 never the gas token, though it were a MIP20 token", func(t *testing.T) {
		w := newWorld(t)
		w.RegisterMIP20(gasToken)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			p := reserved(110)
			p.ReserveToken = gasToken
			_, err := w.trySchedule(alice, p)
			expectErr(t, "schedule", err, scheduler.ReserveIsGasToken)
		})
	})

	t.Run("S-CXL-01 the holder may refuse credits and still gets its hold back", func(t *testing.T) {
		w := newReserved(t, reserved(110))
		w.SetMode(alice, memory.Revert)
		w.block(101, func() { must(t, w.cancel(alice, 1)) })
		w.expectReserve(1_000, 0, 500)
	})

	t.Run("S-RES-02 the payer may be the first target", func(t *testing.T) {
		w := newReserved(t, reserved(110, to(alice)))
		w.block(110)
		expectList(t, "events", w.events, "Executed(1,0)")
		expectList(t, "transfer", transfers(w.receipts[0].Logs), "aa aa 100")
		w.expectReserve(1_000, 0, 500)
	})

	t.Run("S-RUN-13 S-RES-03 a first target that has become a MIP20 token gets nothing", func(t *testing.T) {
		w := newReserved(t, reserved(110, to(bob)))
		w.block(109, func() { w.RegisterMIP20(bob) })
		w.block(110)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)")
		expect(t, "target", w.TokenBalance(mip20, bob), amount(0))
		w.expectReserve(1_000, 0, 500)
	})

	t.Run("S-RES-04 S-CXL-03 a watching entry holds its reserve until it runs, is canceled or expires", func(t *testing.T) {
		for name, end := range map[string]func(w *world){
			"canceled": func(w *world) { w.block(102, func() { must(t, w.cancel(alice, 1)) }) },
			"expired": func(w *world) {
				w.block(102, func() { w.Delist(item) })
				w.block(103, func() { must(t, w.expire(1)) })
			},
			"run": func(w *world) {
				w.block(106, func() { w.write(item, 3_000) })
				w.blocks(107, 108)
			},
		} {
			w := newWatchWorld(t)
			w.giveReserve(1_000, 600)
			w.block(101, func() { w.schedule(with(reserved(105), when(item, scheduler.WhenValueAtLeast, 3_000))) })
			w.expectReserve(900, 100, 500)
			end(w)
			if name == "run" {
				w.expectStatus(1, scheduler.Executed)
				expect(t, "captured", w.TokenBalance(mip20, okTarget), amount(100))
				w.expectReserve(900, 0, 500)
				continue
			}
			expect(t, name+": watchers", len(w.view().WatchersOf(item)), 0)
			w.expectReserve(1_000, 0, 500)
		}
	})

	t.Run("S-RES-01 S-RES-02 S-RES-04 the largest reserve is held, released and captured whole", func(t *testing.T) {
		w := newWorld(t)
		all := *new(uint256.Int).SubUint64(new(uint256.Int).Lsh(uint256.NewInt(1), 96), 1) // uint96
		must(t, w.MintToken(mip20, alice, all))
		w.ApproveToken(mip20, alice, scheduler.Address, *new(uint256.Int).Lsh(&all, 1))
		p := reserved(110, func(p *scheduler.Params) { p.ReserveAmount = [12]byte(bytes.Repeat([]byte{0xff}, 12)) })
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			id := w.schedule(p)
			expect(t, "held", w.Held(mip20, alice), all)
			must(t, w.cancel(alice, id))
			expect(t, "spendable", w.TokenBalance(mip20, alice), all)
			w.schedule(p)
		})
		w.block(110)
		expect(t, "captured", w.TokenBalance(mip20, okTarget), all)
	})

	t.Run("S-RUN-16 a capture is part of the gas that a run uses", func(t *testing.T) {
		w := newReserved(t, reserved(110))
		w.block(110)
		with := w.receipts[0].GasUsed
		plain := newWorld(t)
		plain.block(100, func() {
			plain.deposit(alice, bigEscrow)
			plain.schedule(entryOf(300_000, 110))
		})
		plain.block(110)
		expect(t, "difference", with-plain.receipts[0].GasUsed, 150_000)
	})
}

// TestFaultyReserveToken takes the hold out from under the scheduler, which a token that keeps what it holds never does.
func TestFaultyReserveToken(t *testing.T) {
	lost := func(t *testing.T) *world {
		w := newReserved(t, reserved(110))
		w.block(101, func() { w.Space(mip20).Set(holdOf(alice), scheduler.Word{}) })
		return w
	}

	t.Run("S-RES-04 cancel and expire fail with TransferFailed and change nothing, until the token has the hold", func(t *testing.T) {
		for name, end := range map[string]func(w *world) error{
			"cancel": func(w *world) error { return w.cancel(alice, 1) },
			"expire": func(w *world) error { return w.expire(1) },
		} {
			w := lost(t)
			w.block(171, func() {
				before := w.StateHash()
				expectErr(t, name, end(w), scheduler.TransferFailed)
				expect(t, "state", w.StateHash(), before)
				w.Space(mip20).Set(holdOf(alice), scheduler.Word{31: 100})
				must(t, end(w))
			})
			w.expectReserve(1_000, 0, 500)
		}
	})

	t.Run("S-RUN-08 a failed capture is a failed call, a failed release reverts the run", func(t *testing.T) {
		w := lost(t)
		w.block(110)
		expect(t, "outcome", w.receipts[0].Outcome, scheduler.Reverted)
		expect(t, "logs", len(w.receipts[0].Logs), 0)
		expect(t, "locked", w.locked(alice), reservedFee)
		w.expectStatus(1, scheduler.Scheduled)
		w.block(111, func() {
			w.Space(mip20).Set(holdOf(alice), scheduler.Word{31: 100})
			must(t, w.expire(1))
		})
		w.expectReserve(1_000, 0, 500)
		expect(t, "available", w.available(alice), bigEscrow)
	})

	t.Run("S-RTY-05 a failed capture may be tried again", func(t *testing.T) {
		w := newReserved(t, reserved(110, retries(1)))
		w.block(109, func() { w.Space(mip20).Set(holdOf(alice), scheduler.Word{}) })
		w.block(110, func() { w.Space(mip20).Set(holdOf(alice), scheduler.Word{31: 100}) })
		expectList(t, "first attempt", w.events, "ExecutionFailed(1,0,true)")
		w.block(111)
		expectList(t, "second attempt", w.events, "Executed(1,1)")
	})
}

// holdOf is the word of mip20 that says what the scheduler holds of an account's.
func holdOf(a scheduler.Addr) (key scheduler.Word) {
	key[0] = 0x03
	copy(key[12:], a[:])
	return key
}
