package scheduler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

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
		t.Run("S-SCO-06 scenario 42: fired into 108, its key comes in block "+fmt.Sprint(c.key), func(t *testing.T) {
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

	t.Run("S-SCO-05 S-BEA-03 scenario 42b: forty conditions, 32 keys a block", func(t *testing.T) {
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

	t.Run("S-SCO-07 scenario 42c: one condition, one place", func(t *testing.T) {
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

	t.Run("S-SCO-07 S-SEA-11 its key is on chain, it finds no room again: it keeps watching, sealed", func(t *testing.T) {
		w, p := start(t, 2)
		w.block(106, func() {
			w.write(item, 3000)
			for range 3 {
				w.schedule(entryOf(300_000, 108))
			}
			fill(w, 109, 119)
		})
		w.blocks(107, 108)
		w.carryConditions(w.identityOf(p))
		w.block(109)
		expect(t, "1 runs", slices.Contains(w.ran(), 1), true)
		w.block(110, func() { w.write(item, 3000) })
		w.block(111)
		expect(t, "watchedHeight", w.view().WatchedHeight(item), 11)
		expectList(t, "2 keeps watching", w.view().WatchersOf(item), 2)
		expect(t, "2 stays sealed", isSealed(w.view().Entry(2)), true)
	})
}

// indexed lists the words of the contract's indexes: queues, pending seals, the sweep's backlog, watch lists, fired entries. A word
// that holds nothing but a watchedHeight, which stays, is left out.
func (w *world) indexed() (keys []string) {
	space := w.Space(scheduler.Address)
	for k := range w.Words(scheduler.Address) {
		v := space.Get(k)
		copy(v[16:24], make([]byte, 8))
		if tag := k[0]; tag >= 0x06 && tag <= 0x08 || tag == 0x0b || tag == 0x0c || tag == 0x0a && v != (scheduler.Word{}) {
			keys = append(keys, fmt.Sprintf("%x: %x", k, space.Get(k)))
		}
	}
	slices.Sort(keys)
	return keys
}

func isOpen(e scheduler.Entry) bool { return e.Flags&scheduler.FlagSealed == 0 }

func TestSealedConditional(t *testing.T) {
	t.Run("S-SCO-01 the condition an entry waits for is that of its payer, predicate and not-before slot", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() { w.schedule(p) })
		w.block(105, func() { w.write(item, 3000) })
		w.block(106)
		operand, slot := word(3000), word(105)
		preimage := slices.Concat([]byte("metal-condition-v1"), alice[:], item[:], []byte{1}, operand[:], slot[24:])
		expect(t, "bytes hashed", len(preimage), 111)
		expectList(t, "wanted", w.wantedConditions(107), scheduler.Word(crypto.Keccak256(preimage)))
	})

	t.Run("S-SCO-02 S-SEA-12 only what is sealed to the condition opens, the rest fails without retry", func(t *testing.T) {
		w := newWatchWorld(t)
		encoded := tlock.EncodeCalls(entryOf(300_000, 105).Calls)
		right := w.sealedWatcher(105, 3000)
		sealedTo := func(to tlock.SealedTo) scheduler.Params {
			p := right
			var err error
			p.Ciphertext, p.Commitment, err = tlock.SealCalls(w.Namespace(), groupKey(w, w.secret), to, encoded)
			must(t, err)
			p.MaxRetries = 3
			return p
		}
		other := conditionOf(right)
		other.Payer = bob
		bobs, err := tlock.ConditionSeal(other)
		must(t, err)
		other = conditionOf(right)
		other.NotBefore++
		later, err := tlock.ConditionSeal(other)
		must(t, err)
		var fees uint64
		w.block(101, func() {
			before := w.available(alice)
			w.schedule(right)
			for _, to := range []tlock.SealedTo{tlock.SlotSeal(105, alice), bobs, later} {
				w.schedule(sealedTo(to))
			}
			fees = before - w.available(alice)
		})
		w.block(105, func() { w.write(item, 3000) })
		w.block(106)
		w.carryConditions(w.identityOf(right))
		w.block(107)
		expectList(t, "events", w.events, "Executed(1,0)", "ExecutionFailed(2,0,false)", "ExecutionFailed(3,0,false)", "ExecutionFailed(4,0,false)")
		expect(t, "all fees are paid", w.tokens(proposer), fees)
		expect(t, "nothing is indexed", len(w.indexed()), 0)
	})

	t.Run("S-SCH-16 S-SCO-02 a sealed conditional entry needs a group key and takes no calls", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			p := w.sealedWatcher(105, 3000)
			p.Calls = entryOf(300_000, 105).Calls
			_, err := w.trySchedule(alice, p)
			expectErr(t, "calls", err, scheduler.BadSeal)
		})
		bare := newWorld(t)
		bare.write(item, 1)
		bare.block(100, func() {
			bare.deposit(alice, 1e9)
			_, err := bare.trySchedule(alice, w.sealedWatcher(105, 3000))
			expectErr(t, "no group key", err, scheduler.BadSeal)
		})
	})

	t.Run("S-SCO-05 A-38 conditions are wanted by fire slot and then id", func(t *testing.T) {
		w := newWatchWorld(t)
		ps := map[string]scheduler.Params{"a": w.sealedWatcher(105, 4000), "b": w.sealedWatcher(105, 3000), "c": w.sealedWatcher(105, 3500), "d": w.sealedWatcher(105, 3600)}
		w.block(101, func() {
			for _, name := range []string{"a", "b", "c", "d", "b"} {
				w.schedule(ps[name])
			}
			w.schedule(watcher(105, 3000))
			w.schedule(w.sealedEntry(106)) // waits for its slot's key, not for a condition's
		})
		id := func(name string) scheduler.Word { return w.identityOf(ps[name]) }
		w.block(105, func() { w.write(item, 3000) })
		w.block(106, func() { w.write(item, 4000) }) // b, b and the open one fire into 107
		expectList(t, "after the first write", w.wantedConditions(107), id("b"))
		w.block(107) // a, c and d fire into 108
		expectList(t, "after the second", w.wantedConditions(108), id("b"), id("a"), id("c"), id("d"))
		expectList(t, "fired for b", w.view().FiredEntries(id("b")), 2, 5)
		w.carryConditions(id("a"))
		w.block(108)
		key := w.conditionKey(id("a")).Key
		expectList(t, "conditionKey", w.Beacon().ConditionKey(id("a")), key[:]...)
		expectList(t, "after a's key", w.wantedConditions(109), id("b"), id("c"), id("d"))
		w.block(109, func() { must(t, w.cancel(alice, 3)) })
		expectList(t, "after the cancel of c", w.wantedConditions(110), id("b"), id("d"))
		expectList(t, "the last chance of b", w.wantedConditions(138), id("b"), id("d"))
		expectList(t, "the last chance of d", w.wantedConditions(139), id("d"))
		expectList(t, "too late", w.wantedConditions(140))
	})

	t.Run("S-SCO-05 A-38 within a slot the id counts, not when it fired", func(t *testing.T) {
		w := newWatchWorld(t)
		first, second := w.sealedWatcher(105, 4000), w.sealedWatcher(105, 3000)
		w.block(101, func() {
			w.schedule(first)
			w.schedule(second)
			for range 4 {
				w.schedule(entryOf(300_000, 107))
			}
		})
		w.block(105, func() { w.write(item, 3000) })
		w.block(106, func() { w.write(item, 4000) }) // 2 fires into 108, as 107 is full
		w.block(107)                                 // 1 fires into 108
		expectList(t, "queue", w.view().QueueAt(108), 2, 1)
		expectList(t, "wanted", w.wantedConditions(108), w.identityOf(first), w.identityOf(second))
	})

	t.Run("S-SCO-06 past its deadline its key is not wanted any more", func(t *testing.T) {
		policy := testPolicy()
		policy.MaxLateSlots = 5
		w := newWatchWorldWith(t, policy)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() { w.schedule(p) })
		w.block(105, func() { w.write(item, 3000) })
		w.block(106)
		expectList(t, "at its deadline", w.wantedConditions(112), w.identityOf(p))
		expectList(t, "after it", w.wantedConditions(113))
	})

	t.Run("S-SCO-06 a key that comes before the slot it fired into opens it, and it runs in its slot", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() {
			w.schedule(p)
			for slot := uint64(107); slot <= 112; slot++ {
				for range 4 {
					w.schedule(entryOf(300_000, slot))
				}
			}
		})
		w.block(105, func() { w.write(item, 3000) })
		w.block(106)
		expect(t, "key", w.view().Entry(1).Key, 113)
		expectList(t, "wanted before its slot", w.wantedConditions(107), w.identityOf(p))
		w.block(107)
		w.carryConditions(w.identityOf(p))
		w.block(108)
		expect(t, "open", isOpen(w.view().Entry(1)), true)
		expect(t, "in its place", w.view().Entry(1).Key, 113)
		expectList(t, "fired", w.view().FiredEntries(w.identityOf(p)))
		w.blocks(109, 113)
		expectList(t, "ran", w.ran(), 1)
	})

	t.Run("S-SCO-06 S-SEA-11 with its key but without budget it moves, open", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() {
			w.schedule(p)
			w.schedule(with(entryOf(2_000_000, 108), price(50)))
		})
		w.block(105, func() { w.write(item, 3000) })
		w.blocks(106, 107)
		w.carryConditions(w.identityOf(p))
		w.block(108)
		expectList(t, "ran", w.ran(), 2)
		e := w.view().Entry(1)
		expect(t, "key", e.Key, 109)
		expect(t, "deadlineSlot stays", e.DeadlineSlot, 167)
		expect(t, "open", isOpen(e), true)
		w.block(160) // long past the grace of its slot
		expectList(t, "ran", w.ran(), 1)
	})

	t.Run("S-SCO-06 S-CXL-04 S-SEA-15 missed at key+32, with lateExecute too", func(t *testing.T) {
		w := newWatchWorld(t)
		p := with(w.sealedWatcher(105, 3000), late)
		w.block(101, func() { w.schedule(p); w.schedule(p) })
		w.block(105, func() { w.write(item, 3000) })
		w.block(106)
		w.block(138, func() { expectErr(t, "at key+31", w.expire(1), scheduler.NotExpired) })
		w.block(139, func() {
			must(t, w.expire(1))
			expectList(t, "fired", w.view().FiredEntries(w.identityOf(p)), 2)
		})
		w.carryConditions(w.identityOf(p)) // a key that nobody waits for any more is no fault
		w.block(140)
		expectList(t, "ran", w.ran())
		expect(t, "dead and sealed", isOpen(w.view().Entry(2)), false)
		w.block(141, func() { must(t, w.expire(2)) })
		expect(t, "the whole fees are back", w.available(alice), 1e14)
		expect(t, "nothing is indexed", len(w.indexed()), 0)
	})

	t.Run("S-SCO-07 one key opens all of a payer's entries that share the condition, and no one else's", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		bobs := conditionOf(p)
		bobs.Payer = bob
		to, err := tlock.ConditionSeal(bobs)
		must(t, err)
		w.block(101, func() {
			w.deposit(bob, 1e9)
			for range 9 {
				w.schedule(p)
			}
			q := p
			q.Ciphertext, q.Commitment, err = tlock.SealCalls(w.Namespace(), groupKey(w, w.secret), to, tlock.EncodeCalls(entryOf(300_000, 105).Calls))
			must(t, err)
			_, err = w.trySchedule(bob, q)
			must(t, err)
		})
		w.block(105, func() { w.write(item, 3000) })
		w.block(106) // four into 107, four into 108, two into 109
		w.carryConditions(w.identityOf(p))
		w.block(107)
		expectList(t, "ran", w.ran(), 1, 2, 3, 4)
		expect(t, "A-08 the sweep opens maxEntriesPerBlock", isOpen(w.view().Entry(8)), true)
		expect(t, "by key and id", isOpen(w.view().Entry(9)), false)
		w.block(108)
		expectList(t, "ran", w.ran(), 5, 6, 7, 8)
		expect(t, "the backlog", isOpen(w.view().Entry(9)), true)
		w.block(109)
		expectList(t, "ran", w.ran(), 9)
		expect(t, "another payer's condition is another", isOpen(w.view().Entry(10)), false)
		w.expectCursor(109)
	})

	t.Run("S-SCO-07 a key that comes while all watch leaves them sealed until they fire", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() {
			for range 6 {
				w.schedule(p)
			}
		})
		w.carryConditions(w.identityOf(p))
		w.block(102)
		w.blocks(103, 104)
		for id := range uint64(6) {
			expect(t, "sealed", isOpen(w.view().Entry(id+1)), false)
		}
		w.block(105, func() { w.write(item, 3000) })
		w.block(106) // the sweep opens four of the six
		expect(t, "4, by the sweep of the block that fired it", isOpen(w.view().Entry(4)), true)
		expect(t, "5, beyond the sweep's bound", isOpen(w.view().Entry(5)), false)
		expectList(t, "wanted", w.wantedConditions(107))
		w.block(107)
		w.block(108)
		expectList(t, "ran", w.ran(), 5, 6)
		expectList(t, "events", w.events, "Executed(5,0)", "Executed(6,0)")
		expect(t, "nothing is indexed", len(w.indexed()), 0)
	})

	t.Run("S-SCO-07 opened by its own run when the sweep has not come to it", func(t *testing.T) {
		policy := testPolicy()
		policy.MaxEntriesPerBlock = 1
		w := newWatchWorldWith(t, policy)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() { w.schedule(p); w.schedule(w.sealedEntry(104)); w.schedule(p) })
		w.carryConditions(w.identityOf(p))
		w.block(102)
		w.block(105, func() { w.write(item, 3000) })
		w.carry(104)
		w.block(106) // runs 2; 1 fires into 107, 3 into 108; the sweep opens 1
		expectList(t, "ran", w.ran(), 2)
		expect(t, "1", isOpen(w.view().Entry(1)), true)
		expect(t, "3", isOpen(w.view().Entry(3)), false)
		w.block(108) // 1 runs; 3 waits and is opened by the sweep
		expectList(t, "ran", w.ran(), 1)
		w.block(109)
		expectList(t, "ran", w.ran(), 3)
	})

	t.Run("S-SCO-08 sealedPending counts slot-sealed entries only", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		pending := func(want uint64) {
			t.Helper()
			for slot := uint64(100); slot < 120; slot++ {
				if got := w.view().SealedPending(slot); slot != 105 && got != 0 || slot == 105 && got != want {
					t.Errorf("sealedPending(%d) is %d", slot, got)
				}
			}
		}
		w.block(101, func() { w.schedule(p); w.schedule(p); pending(0); w.schedule(w.sealedEntry(105)); pending(1) })
		w.block(105, func() { w.write(item, 3000) })
		w.carry(105)
		w.block(106)
		pending(0)
		expectList(t, "wanted slots", w.view().WantedSlots(w.Beacon(), 107))
		w.block(107, func() { must(t, w.cancel(alice, 2)); pending(0) })
		w.carryConditions(w.identityOf(p))
		w.block(108)
		pending(0)
		w.expectStatus(1, scheduler.Executed)
	})

	t.Run("S-SCO-06 S-SEA-17 a slot's key does not touch who waits for a condition's in that slot", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() { w.schedule(p); w.schedule(w.sealedEntry(107)) })
		w.block(105, func() { w.write(item, 3000) })
		w.blocks(106, 107)
		expectList(t, "queue", w.view().QueueAt(107), 2, 1)
		w.carry(107)
		w.block(108)
		expectList(t, "ran", w.ran(), 2)
		expect(t, "open", isOpen(w.view().Entry(1)), false)
		w.expectCursor(107)
		w.carryConditions(w.identityOf(p))
		w.block(109)
		expectList(t, "events", w.events, "Executed(1,0)")
	})

	t.Run("A-24 a fired entry opens and runs though its item has left the catalog", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() { w.schedule(p) })
		w.block(105, func() { w.write(item, 3000) })
		w.block(106, func() {
			w.Delist(item)
			expectErr(t, "expire", w.expire(1), scheduler.NotExpired)
		})
		w.carryConditions(w.identityOf(p))
		w.block(107)
		expectList(t, "ran", w.ran(), 1)
	})

	t.Run("A-08 the sweep goes by key and id over slots' and conditions' entries alike", func(t *testing.T) {
		w := newWatchWorld(t)
		p := w.sealedWatcher(105, 3000)
		big := with(entryOf(2_000_000, 107), price(50))
		w.block(101, func() {
			w.schedule(p) // fires into 107
			w.schedule(w.sealedEntry(106))
			w.schedule(p)
			w.schedule(w.sealedEntry(106))
			w.schedule(p)
			w.schedule(w.sealedEntry(106))
			w.schedule(big)
		})
		w.block(105, func() { w.write(item, 3000) })
		w.block(106)
		w.carryConditions(w.identityOf(p))
		w.carry(106)
		w.block(107) // 7 takes the budget; the others move, in id order: four to 108, two to 109
		expectList(t, "ran", w.ran(), 7)
		var open []uint64
		for id := uint64(1); id <= 6; id++ {
			if isOpen(w.view().Entry(id)) {
				open = append(open, id)
			}
		}
		expectList(t, "queue", w.view().QueueAt(108), 1, 2, 3, 4)
		expectList(t, "opened", open, 1, 2, 3, 4)
		w.block(108)
		expect(t, "5", isOpen(w.view().Entry(5)), true)
	})
}

// TestNoTraceIsLeft ends sealed and open conditional entries in each of their states: no index keeps a word of them.
func TestNoTraceIsLeft(t *testing.T) {
	type state struct {
		name  string
		until func(w *world, p scheduler.Params) // after block 101
		end   func(w *world) error
	}
	cancel := func(w *world) error { return w.cancel(alice, 1) }
	expire := func(w *world) error { return w.expire(1) }
	states := []state{
		{"S-CON-11 S-CXL-03 watching, canceled", func(w *world, p scheduler.Params) { w.block(102) }, cancel},
		{"S-CON-11 S-CXL-03 its item gone, expired", func(w *world, p scheduler.Params) { w.block(102, func() { w.Delist(item) }) }, expire},
		{"S-CON-11 S-CXL-03 fired, canceled in the same block", func(w *world, p scheduler.Params) {
			w.block(105, func() { w.write(item, 3000) })
		}, cancel},
		{"S-CON-11 S-CXL-03 fired and missed, expired", func(w *world, p scheduler.Params) {
			w.block(105, func() { w.write(item, 3000) })
			w.block(106)
			w.block(168)
		}, expire},
		{"S-CON-11 S-CXL-03 fired and missed, canceled", func(w *world, p scheduler.Params) {
			w.block(105, func() { w.write(item, 3000) })
			w.block(106)
			w.block(168)
		}, cancel},
	}
	for _, s := range states {
		for _, sealed := range []bool{false, true} {
			t.Run(s.name+fmt.Sprintf(", sealed %v", sealed), func(t *testing.T) {
				w := newWatchWorld(t)
				p := watcher(105, 3000)
				if sealed {
					p = w.sealedWatcher(105, 3000)
				}
				w.block(101, func() { w.schedule(p) })
				s.until(w, p)
				w.block(w.Env().Time+1, func() { must(t, s.end(w)) })
				expectList(t, "indexed", w.indexed())
				expect(t, "locked", w.locked(alice), 0)
				w.block(w.Env().Time + 1)
				expectList(t, "ran", w.ran())
			})
		}
	}

	t.Run("S-CXL-03 with its key, waiting for the sweep, canceled", func(t *testing.T) {
		policy := testPolicy()
		policy.MaxEntriesPerBlock = 1
		w := newWatchWorldWith(t, policy)
		p := w.sealedWatcher(105, 3000)
		w.block(101, func() { w.schedule(p); w.schedule(p) })
		w.block(105, func() { w.write(item, 3000) })
		w.carryConditions(w.identityOf(p))
		w.block(106)
		w.block(107, func() { must(t, w.cancel(alice, 2)) })
		w.block(108)
		expectList(t, "indexed", w.indexed())
	})
}
