package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func TestSealed(t *testing.T) {
	t.Run("S-SEA-07 S-SEA-20 an unrevealed entry shows the ciphertext and nothing of the calls", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			p := w.sealedEntry(110)
			w.schedule(p)
			e := w.view().Entry(1)
			expect(t, "flags", e.Flags, scheduler.FlagSealed|scheduler.FlagBestEffort)
			expect(t, "calls", string(e.Calls), string(p.Ciphertext))
			expect(t, "commitment", e.Commitment, p.Commitment)
		})
	})

	t.Run("S-SEA-08 I-24 sealedPending falls at reveal, cancel and expire", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for range 3 {
				w.schedule(w.sealedEntry(110))
			}
			expect(t, "sealedPending", w.view().SealedPending(110), 3)
			must(t, w.cancel(alice, 2))
			expect(t, "after cancel", w.view().SealedPending(110), 2)
		})
		w.block(142, func() {
			expect(t, "A-34 a missed entry counts", w.view().SealedPending(110), 2)
			must(t, w.expire(1))
			expect(t, "after expire", w.view().SealedPending(110), 1)
		})
	})

	t.Run("S-SEA-09 S-SEL-11 without its key it keeps its place and holds the cursor", func(t *testing.T) {
		w := newWorld(t)
		scheduleSealed(w)
		w.blocks(111, 120)
		expectList(t, "queueAt(110)", w.view().QueueAt(110), 1)
		w.expectCursor(110)
	})

	t.Run("S-SEA-15 S-SEA-16 a missed entry neither runs nor holds the cursor", func(t *testing.T) {
		w := newWorld(t)
		scheduleSealed(w, late)
		w.blocks(111, 141)
		w.expectCursor(110)
		w.carry(110)
		w.block(142)
		w.expectCursor(143)
		w.block(143)
		expectList(t, "ran", w.ran())
		expect(t, "still sealed", w.view().Entry(1).Flags&scheduler.FlagSealed, scheduler.FlagSealed)
	})

	t.Run("S-SEA-12 S-SEA-14 what does not open fails without retry, and its fee is paid", func(t *testing.T) {
		call := scheduler.Call{Target: okTarget, GasLimit: 50_000}
		for name, make := range map[string]func(w *world) scheduler.Params{
			"timelock part changed":  func(w *world) scheduler.Params { return flip(w.sealedEntry(110), 100) },
			"first byte changed":     func(w *world) scheduler.Params { return flip(w.sealedEntry(110), 0) },
			"encrypted part changed": func(w *world) scheduler.Params { return flip(w.sealedEntry(110), 200) },
			"tag changed":            func(w *world) scheduler.Params { return flip(w.sealedEntry(110), 427) },
			"commitment of another":  func(w *world) scheduler.Params { p := w.sealedEntry(110); p.Commitment[31]++; return p },
			"sealed to another slot": func(w *world) scheduler.Params { p := w.sealedEntry(111); p.Slot = 110; return p },
			"sealed for another payer": func(w *world) scheduler.Params {
				return w.sealedFor(bob, 110, tlock.EncodeCalls([]scheduler.Call{call}))
			},
			"calls that do not decode": func(w *world) scheduler.Params { return w.sealedBytes(110, []byte("not calls")) },
			"A-33 calls with a tail": func(w *world) scheduler.Params {
				return w.sealedBytes(110, append(tlock.EncodeCalls([]scheduler.Call{call}), 0))
			},
			"A-33 no calls": func(w *world) scheduler.Params { return w.sealedEntry(110, []scheduler.Call{}...) },
			"no bytes":      func(w *world) scheduler.Params { return w.sealedBytes(110, nil) },
			"nine calls": func(w *world) scheduler.Params {
				return w.sealedEntry(110, slices.Repeat([]scheduler.Call{call}, 9)...)
			},
			"target zero": func(w *world) scheduler.Params { return w.sealedEntry(110, scheduler.Call{}) },
			"target scheduler": func(w *world) scheduler.Params {
				return w.sealedEntry(110, call, scheduler.Call{Target: scheduler.Address})
			},
			"target gas token": func(w *world) scheduler.Params { return w.sealedEntry(110, scheduler.Call{Target: gasToken}) },
			"target MIP20":     func(w *world) scheduler.Params { return w.sealedEntry(110, scheduler.Call{Target: mip20}) },
			"sealed under another key": func(w *world) scheduler.Params {
				o := *w
				o.secret = bls.ScalarFromUint64(7)
				return o.sealedEntry(110)
			},
			"a length no payload has":   func(w *world) scheduler.Params { p := w.sealedEntry(110); p.Ciphertext = p.Ciphertext[:300]; return p },
			"the shortest accepted one": func(w *world) scheduler.Params { p := w.sealedEntry(110); p.Ciphertext = p.Ciphertext[:173]; return p },
		} {
			w := newWorld(t)
			w.install(w.secret)
			var p scheduler.Params
			w.block(100, func() {
				w.deposit(alice, 1e9)
				p = make(w)
				p.MaxRetries = 3
				w.schedule(p)
			})
			w.block(110)
			w.carry(110)
			w.block(111)
			expectList(t, name, w.events, "ExecutionFailed(1,0,false)")
			expect(t, name+": outcome", w.receipts[0].Outcome, scheduler.Success)
			expect(t, name+": paid", w.tokens(proposer), w.runs[0].GasLimit*10)
			expect(t, name+": target", w.runs[0].Target, scheduler.Address)
			expect(t, name+": input", len(w.runs[0].Input), 0)
		}
	})

	t.Run("S-SEA-11 the sweep reveals as empty what does not open", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(flip(w.sealedEntry(110), 200))
			w.schedule(with(entryOf(2_000_000, 111), price(50)))
		})
		w.block(110)
		w.carry(110)
		w.block(111)
		e := w.view().Entry(1)
		expect(t, "flags", e.Flags, scheduler.FlagBestEffort)
		expect(t, "calls", len(e.Calls), 0)
		w.block(112)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,false)")
	})

	t.Run("S-SEA-11 a Guaranteed entry that waits for budget is opened in its place", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(800_000, 108), guaranteed))
			w.schedule(with(entryOf(800_000, 109), guaranteed))
			w.schedule(with(w.sealedEntry(110), func(p *scheduler.Params) { p.Class, p.GasLimit = scheduler.Guaranteed, 500_000 }))
		})
		w.carry(110)
		w.block(111)
		expectList(t, "ran", w.ran(), 1, 2)
		e := w.view().Entry(3)
		expect(t, "key", e.Key, 110)
		expect(t, "flags", e.Flags, scheduler.FlagGuaranteed)
		w.block(112)
		expectList(t, "ran", w.ran(), 3)
	})

	t.Run("S-SEA-11 the sweep leaves a dead entry sealed, though its key came", func(t *testing.T) {
		p := testPolicy()
		p.MaxLateSlots = 5
		w := newWorldWith(t, p)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(w.sealedEntry(105), late)) // holds the cursor, so that the other keeps its place
			w.schedule(w.sealedEntry(110))
		})
		w.block(115)
		w.carry(110)
		w.block(116)
		w.expectCursor(105)
		expect(t, "sealed", isSealed(w.view().Entry(2)), true)
		expect(t, "sealedPending", w.view().SealedPending(110), 1)
		expectErr(t, "expire", w.expire(2), nil)
	})

	t.Run("A-35 A-08 a moved entry that the sweep has not reached is known by its slot's key", func(t *testing.T) {
		p := testPolicy()
		p.GasPerBlock, p.GuaranteedGasPerSlot, p.MaxEntriesPerBlock = 1_000_000, 500_000, 1
		w := newWorldWith(t, p)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(w.sealedEntry(112))
			for _, slot := range []uint64{108, 109} {
				w.schedule(with(entryOf(500_000, slot), guaranteed))
			}
			for _, slot := range []uint64{110, 111} {
				w.schedule(with(w.sealedEntry(slot), func(p *scheduler.Params) { p.Class, p.GasLimit = scheduler.Guaranteed, 256_000 }))
			}
		})
		w.carry(110, 111, 112)
		w.block(113)
		expectList(t, "block 113", w.ran(), 2, 3)
		expect(t, "moved", w.view().Entry(1).Key, 114)
		expect(t, "sealed", isSealed(w.view().Entry(1)), true)
		expect(t, "the oldest key is opened first", isSealed(w.view().Entry(4)), false)
		f := *w
		f.Host = w.Fork()
		must(t, f.cancel(alice, 1))
		expect(t, "sealedPending of its slot, once it is canceled", f.view().SealedPending(112), 0)
		w.block(114)
		expectList(t, "block 114", w.ran(), 4, 5)
		expect(t, "moved again", w.view().Entry(1).Key, 115)
		expect(t, "opened by the sweep", isSealed(w.view().Entry(1)), false)
	})

	t.Run("A-06 an entry that the sweep opened cannot miss its key any more", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(w.sealedEntry(110), late, after()))
			w.schedule(entryOf(300_000, 190))
			w.schedule(with(w.sealedEntry(110), needs(2), late))
		})
		w.carry(110)
		w.block(111)
		expectList(t, "ran", w.ran(), 1)
		expect(t, "opened", w.view().Entry(3).Flags&scheduler.FlagSealed, 0)
		w.blocks(112, 189)
		expectErr(t, "expire", w.expire(3), scheduler.NotExpired)
		w.block(190)
		expectList(t, "ran", w.ran(), 2, 3)
	})

	t.Run("A-08 the sweep opens at most maxEntriesPerBlock a block, by key and id", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for slot := uint64(110); slot <= 111; slot++ {
				for range 4 {
					w.schedule(w.sealedEntry(slot))
				}
			}
			w.schedule(with(entryOf(2_000_000, 112), price(50)))
			w.schedule(with(entryOf(2_000_000, 113), price(50)))
			w.schedule(with(entryOf(2_000_000, 114), price(50)))
		})
		sealed := func() (ids []uint64) {
			for id := uint64(1); id <= 8; id++ {
				if w.view().Entry(id).Flags&scheduler.FlagSealed != 0 {
					ids = append(ids, id)
				}
			}
			return ids
		}
		w.block(111)
		w.carry(110, 111)
		w.block(112)
		expectList(t, "ran", w.ran(), 9)
		expectList(t, "sealed after one block", sealed(), 5, 6, 7, 8) // 1, 2, 3 moved to 113 and 4 to 114
		w.block(113)
		expectList(t, "sealed after two blocks", sealed())
		expect(t, "pending", w.view().SealedPending(110)+w.view().SealedPending(111), 0)
		word := w.Space(scheduler.Address).Get(scheduler.Word{0: 8})
		expect(t, "the backlog is empty", word, scheduler.Word{})
	})

	t.Run("S-SEA-18 A-28 calls that declare more gas than the entry paid for", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(w.sealedEntry(110, scheduler.Call{Target: okTarget, GasLimit: 88_001}), retries(1)))
			w.schedule(with(w.sealedEntry(110, scheduler.Call{Target: okTarget, GasLimit: ^uint64(0)}), retries(1)))
			w.schedule(with(w.sealedEntry(110, scheduler.Call{Target: okTarget, GasLimit: 88_000})))
		})
		w.carry(110)
		w.block(111)
		expectList(t, "events", w.events, "ExecutionFailed(1,0,true)", "ExecutionFailed(2,0,true)", "Executed(3,0)")
	})

	t.Run("S-SEA-06 a sealed entry is Guaranteed, retries and depends as an open one does", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 112))
			w.schedule(with(w.sealedEntry(110, scheduler.Call{Target: revertTarget, GasLimit: 50_000}), guaranteed, retries(1), backoff(3)))
			w.schedule(with(w.sealedEntry(110), needs(1)))
			expect(t, "reservedGas", w.view().ReservedGas(110), 342_000)
		})
		w.carry(110)
		w.block(111)
		expectList(t, "events", w.events, "ExecutionFailed(2,0,true)")
		expect(t, "key of the retry", w.view().Entry(2).Key, 114)
		expect(t, "key of the dependent", w.view().Entry(3).Key, 112)
		w.block(112)
		expectList(t, "events", w.events, "Executed(1,0)", "Executed(3,0)")
		w.block(114)
		expectList(t, "events", w.events, "ExecutionFailed(2,1,false)")
		for name, change := range map[string]func(*scheduler.Params){
			"recurrence": func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = 5, 1 }, "reserve": reserve(mip20, 1), "height": height(50),
		} {
			_, err := w.trySchedule(alice, with(w.sealedEntry(150), change))
			expectErr(t, name, err, scheduler.BadSeal)
		}
	})

	t.Run("S-SEA-19 A-66 a failed dependency waits for the key", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(entryOf(300_000, 105), to(revertTarget)))
			w.schedule(with(w.sealedEntry(110), needs(1)))
		})
		w.block(105)
		w.blocks(106, 111)
		w.expectStatus(2, scheduler.Scheduled)
		w.carry(110)
		w.block(112)
		expectList(t, "events", w.events, "ExecutionFailed(2,0,false)")
	})

	t.Run("S-COST-02 the cost stays the ciphertext's after the reveal", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(with(w.sealedEntry(110, scheduler.Call{Target: revertTarget, GasLimit: 50_000}), retries(1)))
		})
		w.carry(110)
		w.block(111)
		expect(t, "cost sealed", w.runs[0].GasLimit, 342_000)
		w.block(112)
		expect(t, "cost open", w.runs[0].GasLimit, 342_000)
		expect(t, "paid", w.tokens(proposer), 2*3_420_000)
	})

	t.Run("S-SEA-21 anyone opens the ciphertext with what is on chain", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		want := tlock.EncodeCalls(entryOf(300_000, 0).Calls)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(w.sealedBytes(110, want))
		})
		e := w.view().Entry(1)
		w.carry(110)
		w.block(111)
		key, err := tlock.ParseKey(w.Beacon().KeyAt(110))
		must(t, err)
		got, err := tlock.OpenCalls(key, tlock.SlotSeal(110, e.Payer), e.Calls, e.Commitment)
		must(t, err)
		expect(t, "calls", string(got), string(want))
	})

	t.Run("a parallel runner decides nothing", func(t *testing.T) {
		var hashes []scheduler.Word
		var sealed []scheduler.Params
		for _, runner := range []scheduler.Runner{nil, parallelRunner} {
			p := testPolicy()
			p.GasPerBlock, p.MaxEntriesPerBlock = 30_000_000, 16
			w := newWorldWith(t, p)
			w.runner = runner
			w.install(w.secret)
			w.block(100, func() {
				w.deposit(alice, 1e9)
				for i := range 12 {
					if len(sealed) <= i {
						sealed = append(sealed, w.sealedEntry(110+uint64(i%3)))
					}
					w.schedule(sealed[i])
				}
			})
			w.carry(110, 111, 112)
			w.block(113)
			expect(t, "runs", len(w.runs), 12)
			hashes = append(hashes, w.StateHash())
		}
		expect(t, "state", hashes[1], hashes[0])
	})
}

// parallelRunner runs everything at once.
func parallelRunner(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func flip(p scheduler.Params, at int) scheduler.Params {
	p.Ciphertext[at] ^= 1
	return p
}

func (w *world) sealedFor(payer scheduler.Addr, slot uint64, encoded []byte) scheduler.Params {
	w.Helper()
	p := w.sealedBytes(slot, nil)
	ciphertext, commitment, err := tlock.SealCalls(w.Namespace(), groupKey(w, w.secret), tlock.SlotSeal(slot, payer), encoded)
	must(w, err)
	p.Ciphertext, p.Commitment = ciphertext, commitment
	return p
}

func TestBeaconUpdate(t *testing.T) {
	other := bls.ScalarFromUint64(99)
	flipKey := func(k scheduler.SlotKey) scheduler.SlotKey { k.Key[50] ^= 1; return k }
	infinity := scheduler.SlotKey{Slot: 108}
	infinity.Key[0] = 0xc0
	for _, c := range []struct {
		name   string
		update func(w *world) scheduler.Update
		valid  bool
	}{
		{"S-SEA-17 S-BEA-11 no keys", func(*world) scheduler.Update { return scheduler.Update{} }, true},
		{"S-BEA-02 a key that verifies", func(w *world) scheduler.Update { return slotKeys(w.slotKey(108)) }, true},
		{"S-BEA-02 a key with a bit flipped", func(w *world) scheduler.Update { return slotKeys(flipKey(w.slotKey(108))) }, false},
		{"S-BEA-02 another slot's key", func(w *world) scheduler.Update {
			return slotKeys(scheduler.SlotKey{Slot: 107, Key: w.slotKey(108).Key})
		}, false},
		{"S-BEA-02 another group's key", func(w *world) scheduler.Update { o := *w; o.secret = other; return slotKeys(o.slotKey(108)) }, false},
		{"S-BEA-02 one forged key among good ones", func(w *world) scheduler.Update {
			return slotKeys(w.slotKey(105), flipKey(w.slotKey(106)), w.slotKey(107))
		}, false},
		{"S-BEA-03 infinity", func(*world) scheduler.Update { return slotKeys(infinity) }, false},
		{"S-BEA-03 zeros", func(*world) scheduler.Update { return slotKeys(scheduler.SlotKey{Slot: 108}) }, false},
		{"S-BEA-03 ascending", func(w *world) scheduler.Update { return slotKeys(w.slotKey(107), w.slotKey(108)) }, true},
		{"S-BEA-03 descending", func(w *world) scheduler.Update { return slotKeys(w.slotKey(108), w.slotKey(107)) }, false},
		{"S-BEA-03 twice", func(w *world) scheduler.Update { return slotKeys(w.slotKey(108), w.slotKey(108)) }, false},
		{"S-BEA-03 on chain already", func(w *world) scheduler.Update { return slotKeys(w.slotKey(103)) }, false},
		{"S-BEA-03 of the slot that is just over", func(w *world) scheduler.Update { return slotKeys(w.slotKey(109)) }, true},
		{"S-BEA-03 of the slot under way", func(w *world) scheduler.Update { return slotKeys(w.slotKey(110)) }, false},
		{"S-BEA-03 of the last slot there is", func(w *world) scheduler.Update { return slotKeys(w.slotKey(^uint64(0))) }, false},
		{"S-BEA-03 64 slot keys", func(w *world) scheduler.Update { return manySlotKeys(w, 64) }, true},
		{"S-BEA-03 65 slot keys", func(w *world) scheduler.Update { return manySlotKeys(w, 65) }, false},
		{"S-BEA-03 S-SCO-05 32 condition keys", func(w *world) scheduler.Update { return conditionKeys(w, 32) }, true},
		{"S-BEA-03 S-SCO-05 33 condition keys", func(w *world) scheduler.Update { return conditionKeys(w, 33) }, false},
		{"S-BEA-03 condition keys descending", func(w *world) scheduler.Update {
			u := conditionKeys(w, 2)
			slices.Reverse(u.Conditions)
			return u
		}, false},
		{"S-BEA-03 a condition key twice", func(w *world) scheduler.Update {
			u := conditionKeys(w, 1)
			u.Conditions = append(u.Conditions, u.Conditions[0])
			return u
		}, false},
		{"S-BEA-03 a condition key that does not verify", func(w *world) scheduler.Update {
			u := conditionKeys(w, 2)
			u.Conditions[1].Key = u.Conditions[0].Key
			return u
		}, false},
		{"a group key that is no point", func(*world) scheduler.Update { return scheduler.Update{GroupKey: make([]byte, 48)} }, false},
		{"a group key of the wrong length", func(*world) scheduler.Update { return scheduler.Update{GroupKey: make([]byte, 47)} }, false},
		{"A-36 keys under a new group key", func(w *world) scheduler.Update {
			o := *w
			o.secret = other
			gk := groupKey(w, other).Bytes()
			return scheduler.Update{GroupKey: gk[:], Slots: []scheduler.SlotKey{o.slotKey(108)}}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.install(w.secret)
			w.block(100)
			w.carry(103)
			w.block(109)
			before := w.StateHash()
			u := c.update(w)
			_, err := w.BeginBlock(scheduler.Env{Height: 11, Time: 110, Proposer: proposer}, u, parallelRunner)
			if c.valid {
				must(t, err)
				for _, k := range u.Slots {
					expect(t, "keyAt", string(w.Beacon().KeyAt(k.Slot)), string(k.Key[:]))
				}
				for _, k := range u.Conditions {
					expect(t, "conditionKey", string(w.Beacon().ConditionKey(k.Condition)), string(k.Key[:]))
				}
				return
			}
			if !errors.Is(err, scheduler.ErrUpdate) {
				t.Errorf("got error %v, want one of class ErrUpdate", err)
			}
			expect(t, "state", w.StateHash(), before)
		})
	}

	t.Run("S-SCO-05 a condition key twice", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100)
		w.update = conditionKeys(w, 1)
		w.block(101)
		if _, err := w.BeginBlock(scheduler.Env{Height: 3, Time: 102}, conditionKeys(w, 1), nil); !errors.Is(err, scheduler.ErrUpdate) {
			t.Errorf("got error %v", err)
		}
	})

	t.Run("keys without a group key", func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.BeginBlock(scheduler.Env{Height: 11, Time: 110}, slotKeys(w.slotKey(108)), nil); !errors.Is(err, scheduler.ErrUpdate) {
			t.Errorf("got error %v", err)
		}
	})

	t.Run("the first fault in the update's order is named, whatever the runner does", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100)
		u := slotKeys(flipKey(w.slotKey(105)), flipKey(w.slotKey(106)), flipKey(w.slotKey(107)))
		backwards := func(n int, f func(int)) {
			for i := n - 1; i >= 0; i-- {
				f(i)
			}
		}
		var texts []string
		for _, run := range []scheduler.Runner{nil, parallelRunner, backwards} {
			_, err := w.BeginBlock(scheduler.Env{Height: 11, Time: 110}, u, run)
			texts = append(texts, fmt.Sprint(err))
		}
		expectList(t, "errors", texts, texts[0], texts[0], texts[0])
	})

	t.Run("S-BEA-04 the slots whose keys the next block should carry", func(t *testing.T) {
		w := newWorld(t)
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			for _, slot := range []uint64{101, 105, 110, 111, 112} {
				w.schedule(w.sealedEntry(slot))
			}
			w.schedule(entryOf(300_000, 107))
		})
		w.block(109)
		w.carry(105)
		w.block(110)
		wanted := func(time uint64) []uint64 { return w.view().WantedSlots(w.Beacon(), time) }
		expectList(t, "at 112", wanted(112), 101, 110, 111)
		expectList(t, "at 132, the last chance of slot 101", wanted(132), 101, 110, 111, 112)
		expectList(t, "at 133", wanted(133), 110, 111, 112)
		expectList(t, "at time 0", wanted(0))
	})
}

func slotKeys(keys ...scheduler.SlotKey) scheduler.Update { return scheduler.Update{Slots: keys} }

func manySlotKeys(w *world, n int) scheduler.Update {
	var u scheduler.Update
	for slot := range uint64(n) {
		u.Slots = append(u.Slots, w.slotKey(slot))
	}
	return u
}

func conditionKeys(w *world, n int) scheduler.Update {
	var u scheduler.Update
	for i := range n {
		c := scheduler.Word{0: byte(i + 1)}
		u.Conditions = append(u.Conditions, scheduler.ConditionKey{
			Condition: c, Key: w.Namespace().Point(tlock.ConditionIdentity(c)).Mul(w.secret).Bytes(),
		})
	}
	return u
}
