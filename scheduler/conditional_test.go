package scheduler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func TestConditionalScenarios(t *testing.T) {
	t.Run("S-CON-05 S-CON-07 S-ITF-11 S-CAP-03 scenario 38: a condition fires", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101)
		w.block(102, func() { w.schedule(watcher(106, 3000)) })
		w.block(103)
		w.block(104, func() { w.write(item, 3500) })
		w.block(105)
		expect(t, "a write before the not-before slot", w.view().Entry(1).Key, scheduler.WatchKey)
		expect(t, "it was seen", w.view().WatchedHeight(item), 5)
		w.block(106, func() { w.write(item, 3500) })
		expect(t, "nothing fires in the writing block", w.view().Entry(1).Key, scheduler.WatchKey)
		w.block(107)
		e := w.view().Entry(1)
		expect(t, "key", e.Key, 108)
		expect(t, "deadlineSlot", e.DeadlineSlot, 168)
		expect(t, "dueSlot", e.DueSlot, 106)
		expectList(t, "watchersOf", w.view().WatchersOf(item))
		w.block(108)
		expectList(t, "ran", w.ran(), 1)
		w.expectStatus(1, scheduler.Executed)
	})

	t.Run("S-CON-08 S-CAP-04 scenario 39: fires into full slots", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			for slot := uint64(109); slot <= 116; slot++ {
				for range 4 {
					w.schedule(entryOf(300_000, slot))
				}
			}
			w.schedule(with(entryOf(300_000, 106), when(item, scheduler.WhenValueAtMost, 2500)))
		})
		w.blocks(102, 106)
		w.block(107, func() { w.write(item, 2400) })
		w.block(108)
		expect(t, "no room", w.view().Entry(33).Key, scheduler.WatchKey)
		expectList(t, "watchersOf", w.view().WatchersOf(item), 33)
		expect(t, "watchedHeight", w.view().WatchedHeight(item), 8)
		w.blocks(109, 119)
		expect(t, "without a write nothing fires", w.view().Entry(33).Key, scheduler.WatchKey)
		w.block(120, func() { w.write(item, 2400) })
		w.block(121)
		expect(t, "key", w.view().Entry(33).Key, 122)
		expect(t, "deadlineSlot", w.view().Entry(33).DeadlineSlot, 182)
		w.block(122)
		expectList(t, "ran", w.ran(), 33)
	})

	t.Run("S-CON-12 S-CON-13 S-CON-14 S-SCH-19 scenario 40: watcher rotation", func(t *testing.T) {
		items := make([]scheduler.Word, 6)
		for i := range items {
			items[i] = scheduler.Word{0: byte(i + 1)}
		}
		w := newWatchWorld(t)
		writeAll := func(value func(i int) uint64) func() {
			return func() {
				for i, it := range items {
					w.write(it, value(i))
				}
			}
		}
		low := func(int) uint64 { return 0 }
		w.block(101, writeAll(low), func() {
			// Not in the order of the items, which is what the list has to make good.
			for _, i := range []int{3, 0, 5, 1, 4, 2} {
				for range 256 {
					w.schedule(with(entryOf(300_000, 102), when(items[i], scheduler.WhenValueAtLeast, 1000)))
				}
				_, err := w.trySchedule(alice, with(entryOf(300_000, 102), when(items[i], scheduler.WhenValueAtLeast, 1000)))
				expectErr(t, "the 257th watcher", err, scheduler.WatchFull)
			}
		})
		evaluated := func() (at []int) {
			for i, it := range items {
				if w.view().WatchedHeight(it) == w.Env().Height-1 {
					at = append(at, i)
				}
			}
			return at
		}
		w.block(102, writeAll(low)) // N=3
		w.block(103, func() { writeAll(func(i int) uint64 { return map[bool]uint64{i == 3: 5000}[true] })() })
		expectList(t, "N=4", evaluated(), 0, 1, 4, 5)
		w.block(104, writeAll(low))
		expectList(t, "N=5", evaluated(), 0, 1, 2, 5)
		w.block(105, writeAll(low))
		expectList(t, "N=6", evaluated(), 0, 1, 2, 3)
		w.block(106, writeAll(low))
		expectList(t, "N=7", evaluated(), 1, 2, 3, 4)
		expect(t, "a crossing that was reversed does not fire", len(w.view().WatchersOf(items[3])), 256)
	})

	t.Run("S-CON-10 scenario 41: WHEN_NOT_HALTED fires at the first write after a resume", func(t *testing.T) {
		w := newWatchWorld(t)
		no := false
		w.block(101, func() {
			w.Write(item, word(2000), true, false)
			w.schedule(with(entryOf(300_000, 105), when(item, scheduler.WhenNotHalted, 0)))
		})
		w.blocks(102, 109)
		w.block(110, func() { w.SetFlags(item, &no, nil) })
		w.blocks(111, 114)
		expect(t, "lifting the halt is no write", w.view().Entry(1).Key, scheduler.WatchKey)
		w.block(115, func() { w.write(item, 2000) })
		w.block(116)
		expect(t, "key", w.view().Entry(1).Key, 117)
	})

	t.Run("S-CXL-04 S-CON-11 scenario 48: the item leaves the catalog", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() { w.schedule(watcher(106, 3000)); w.schedule(watcher(106, 3000)) })
		w.block(102, func() { expectErr(t, "listed", w.expire(1), scheduler.NotExpired) })
		w.block(103, func() {
			w.Delist(item)
			must(t, w.expire(1))
			w.expectStatus(1, scheduler.Expired)
			expect(t, "the fee is back", w.available(alice), 1e14-3_000_000)
			expectList(t, "watchersOf", w.view().WatchersOf(item), 2)
			w.write(item, 3500) // listed again
			expectErr(t, "listed again", w.expire(2), scheduler.NotExpired)
		})
		w.blocks(104, 105)
		w.block(106, func() { w.write(item, 3500) })
		w.block(107, func() {
			w.Delist(item)
			expectErr(t, "once fired only the ordinary rules apply", w.expire(2), scheduler.NotExpired)
		})
		w.block(108)
		expectList(t, "ran", w.ran(), 2)
	})
}

func TestScheduleConditional(t *testing.T) {
	unlisted, unwritten, delisted := scheduler.Word{1}, scheduler.Word{2}, scheduler.Word{3}
	for _, c := range []struct {
		name   string
		change func(*scheduler.Params)
		want   error
	}{
		{"S-SCH-17 value at least", when(item, 1, 3000), nil},
		{"S-SCH-17 value at most", when(item, 2, 3000), nil},
		{"S-SCH-17 A-25 not halted, with an operand that means nothing", when(item, 3, 3000), nil},
		{"S-SCH-17 an item nobody lists", when(unlisted, 1, 3000), scheduler.BadCondition},
		{"S-SCH-17 an item that was never written", when(unwritten, 1, 3000), scheduler.BadCondition},
		{"S-SCH-17 an item that left the catalog", when(delisted, 1, 3000), scheduler.BadCondition},
		{"S-SCH-17 A-25 kind 0 with an item", when(item, 0, 0), scheduler.BadCondition},
		{"S-SCH-17 A-25 kind 0 with an operand", when(scheduler.Word{}, 0, 1), scheduler.BadCondition},
		{"S-SCH-17 kind 4", when(item, 4, 3000), scheduler.BadCondition},
		{"S-SCH-17 kind 255", when(item, 255, 3000), scheduler.BadCondition},
		{"S-SCH-18 Guaranteed", func(p *scheduler.Params) { when(item, 1, 1)(p); p.Class = scheduler.Guaranteed }, scheduler.BadClass},
		{"S-SCH-18 with a height", func(p *scheduler.Params) { when(item, 1, 1)(p); p.Slot, p.Height = 0, 50 }, scheduler.BadTrigger},
		{"S-SCH-18 with a period", func(p *scheduler.Params) { when(item, 1, 1)(p); p.PeriodSlots, p.Remaining = 5, 1 }, scheduler.CannotRecur},
		{"A-63 the not-before slot is a slot like any other", func(p *scheduler.Params) { when(item, 1, 1)(p); p.Slot = 101 }, scheduler.SlotNotInFuture},
		{"A-63 nor beyond the horizon", func(p *scheduler.Params) { when(item, 1, 1)(p); p.Slot = 101 + 34_560_001 }, scheduler.BeyondHorizon},
		{"A-26 the condition before the price", func(p *scheduler.Params) { when(unlisted, 1, 1)(p); p.GasPrice = 0 }, scheduler.BadCondition},
		{"A-26 the shape before the condition", func(p *scheduler.Params) { when(unlisted, 1, 1)(p); p.Calls = nil }, scheduler.BadCalls},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWatchWorld(t)
			w.block(101, func() {
				w.List(unwritten)
				w.write(delisted, 1)
				w.Delist(delisted)
				before := w.StateHash()
				_, err := w.trySchedule(alice, with(entryOf(300_000, 106), c.change))
				expectErr(t, "schedule", err, c.want)
				expect(t, "state changed", w.StateHash() != before, c.want == nil)
			})
		})
	}

	t.Run("S-SCH-17 a host without a catalog lists nothing", func(t *testing.T) {
		w := newWatchWorld(t)
		h := &scheduler.Host{State: w.Space(scheduler.Address), Token: noMIP20{}, Beacon: w.Beacon()}
		_, err := w.Machine().Call(scheduler.Env{Height: 2, Time: 101, Caller: alice}, h, scheduler.ScheduleInput(watcher(106, 3000)))
		expectErr(t, "schedule", err, scheduler.BadCondition)
	})

	t.Run("S-SCH-19 the 257th watcher, and room again once one leaves", func(t *testing.T) {
		w := newWatchWorld(t)
		other := scheduler.Word{9}
		w.block(101, func() {
			w.write(other, 1)
			for range 256 {
				w.schedule(watcher(106, 3000))
			}
			before := w.StateHash()
			_, err := w.trySchedule(alice, watcher(106, 3000))
			expectErr(t, "257th", err, scheduler.WatchFull)
			_, err = w.trySchedule(bob, watcher(106, 3000))
			expectErr(t, "capacity before escrow", err, scheduler.WatchFull)
			expect(t, "state", w.StateHash(), before)
			w.schedule(with(entryOf(300_000, 106), when(other, 1, 1)))
			must(t, w.cancel(alice, 100))
			w.schedule(watcher(106, 3000))
			expect(t, "the new one is the last", w.view().WatchersOf(item)[255], 258)
			_, err = w.trySchedule(alice, watcher(106, 3000))
			expectErr(t, "full again", err, scheduler.WatchFull)
		})
	})

	t.Run("A-63 a full slot does not matter to an entry that watches", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			for range 4 {
				w.schedule(entryOf(300_000, 106))
			}
			w.schedule(watcher(106, 3000))
		})
	})

	t.Run("S-CON-01 S-CON-03 S-ITF-05 fields of an entry that watches", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			w.schedule(entryOf(300_000, 110))
			r := w.transact(alice, scheduler.ScheduleInput(watcher(106, 3000)))
			must(t, r.Err)
			expectList(t, "event", events(r.Logs), "Scheduled(2,aa,4611686018427387904,3000000)")
			w.schedule(watcher(107, 5000))
			e := w.view().Entry(2)
			expect(t, "key", e.Key, 1<<62)
			expect(t, "dueSlot", e.DueSlot, 106)
			expect(t, "deadlineSlot", e.DeadlineSlot, 0)
			expect(t, "whenItem", e.WhenItem, item)
			expect(t, "whenKind", e.WhenKind, scheduler.WhenValueAtLeast)
			expect(t, "whenOperand", e.WhenOperand, word(3000))
			expect(t, "flags", e.Flags, scheduler.FlagBestEffort)
			expectList(t, "watchersOf, oldest first", w.view().WatchersOf(item), 2, 3)
			expect(t, "queueAt(WATCH_KEY)", len(w.view().QueueAt(scheduler.WatchKey)), 0)
			expect(t, "queueAt(106)", len(w.view().QueueAt(106)), 0)
			expect(t, "locked", w.locked(alice), 9_000_000)
		})
	})

	t.Run("S-CON-03 S-ITF-01 watchersOf and watchedHeight by calldata", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() { w.write(item, 1); w.schedule(watcher(106, 3000)); w.schedule(watcher(106, 3000)) })
		call := func(method string, item scheduler.Word) []byte {
			input := append(crypto.Keccak256([]byte(method))[:4], item[:]...)
			ret, err := w.View(bob, scheduler.Address, input)
			must(t, err)
			_, err = w.View(bob, scheduler.Address, append(input, 0))
			expectErr(t, "a byte too many", err, scheduler.ErrCalldata)
			return ret
		}
		offset, two, one, second := word(32), word(2), word(1), word(2)
		expect(t, "watchersOf", string(call("watchersOf(bytes32)", item)), string(slices.Concat(offset[:], two[:], one[:], second[:])))
		height, zero := word(2), word(0)
		expect(t, "watchedHeight", string(call("watchedHeight(bytes32)", item)), string(height[:]))
		expect(t, "A-13 watchersOf of nothing", string(call("watchersOf(bytes32)", scheduler.Word{7})), string(slices.Concat(offset[:], zero[:])))
		expect(t, "A-13 watchedHeight of nothing", string(call("watchedHeight(bytes32)", scheduler.Word{7})), string(zero[:]))
	})
}

// noMIP20 is a Token for calls that ask it nothing but whether an account is a MIP20 token.
type noMIP20 struct{ scheduler.Token }

func (noMIP20) IsMIP20(scheduler.Addr) bool { return false }

func TestConditionFiresOn(t *testing.T) {
	const at, most, free = scheduler.WhenValueAtLeast, scheduler.WhenValueAtMost, scheduler.WhenNotHalted
	high := scheduler.Word{0: 0x80} // 2^255, which is negative to whoever reads it as signed
	top := scheduler.Word{}
	for i := range top {
		top[i] = 0xff
	}
	sound := func(v scheduler.Word) scheduler.Item { return scheduler.Item{Value: v, Written: true, Time: 106} }
	halted := func(it scheduler.Item) scheduler.Item { it.Halted = true; return it }
	disputed := func(it scheduler.Item) scheduler.Item { it.Disputed = true; return it }
	for _, c := range []struct {
		name    string
		kind    uint8
		operand scheduler.Word
		it      scheduler.Item
		want    bool
	}{
		{"S-CON-02 at least: above", at, word(3000), sound(word(3001)), true},
		{"S-CON-02 at least: equal", at, word(3000), sound(word(3000)), true},
		{"S-CON-02 at least: below", at, word(3000), sound(word(2999)), false},
		{"S-CON-02 at least: 2^255 is above 1", at, word(1), sound(high), true},
		{"S-CON-02 at least: 1 is below 2^255", at, high, sound(word(1)), false},
		{"S-CON-02 at least: 2^256-1 and itself", at, top, sound(top), true},
		{"S-CON-02 at least: the first byte decides", at, scheduler.Word{0: 1}, sound(scheduler.Word{1: 0xff, 31: 0xff}), false},
		{"S-CON-02 at least: halted", at, word(3000), halted(sound(word(3001))), false},
		{"S-CON-02 at least: disputed", at, word(3000), disputed(sound(word(3001))), false},
		{"S-CON-02 at most: below", most, word(3000), sound(word(2999)), true},
		{"S-CON-02 at most: equal", most, word(3000), sound(word(3000)), true},
		{"S-CON-02 at most: above", most, word(3000), sound(word(3001)), false},
		{"S-CON-02 at most: 2^255 is above 1", most, word(1), sound(high), false},
		{"S-CON-02 at most: 0 and 0", most, word(0), sound(word(0)), true},
		{"S-CON-02 at most: halted", most, word(3000), halted(sound(word(1))), false},
		{"S-CON-02 at most: disputed", most, word(3000), disputed(sound(word(1))), false},
		{"S-CON-02 not halted", free, word(0), sound(word(1)), true},
		{"S-CON-02 not halted: the operand has no meaning", free, top, sound(word(1)), true},
		{"S-CON-02 not halted: disputed all the same", free, word(0), disputed(sound(word(1))), true},
		{"S-CON-02 not halted: halted", free, word(0), halted(sound(word(1))), false},
		{"S-CON-02 not halted: halted and disputed", free, word(0), disputed(halted(sound(word(1)))), false},
		{"an unknown kind fires on nothing", 4, word(0), sound(word(1)), false},
		{"an item without a write fires nothing", free, word(0), scheduler.Item{Time: 106}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := scheduler.Condition{Item: item, Kind: c.kind, Operand: c.operand}
			expect(t, "fires", w.FiresOn(c.it, 106), c.want)
			expect(t, "S-CON-06 on a write older than the not-before slot", w.FiresOn(c.it, 107), false)
		})
	}
}

func TestWatching(t *testing.T) {
	t.Run("S-CON-02 each kind in the machine", func(t *testing.T) {
		for _, c := range []struct {
			kind             uint8
			value            uint64
			halted, disputed bool
			fires            bool
		}{
			{1, 3000, false, false, true}, {1, 2999, false, false, false}, {1, 3000, true, false, false}, {1, 3000, false, true, false},
			{2, 3000, false, false, true}, {2, 3001, false, false, false}, {2, 3000, true, false, false}, {2, 3000, false, true, false},
			{3, 0, false, false, true}, {3, 0, false, true, true}, {3, 0, true, false, false},
		} {
			w := newWatchWorld(t)
			w.block(101, func() { w.schedule(with(entryOf(300_000, 102), when(item, c.kind, 3000))) })
			w.block(102, func() { w.Write(item, word(c.value), c.halted, c.disputed) })
			w.block(103)
			expect(t, fmt.Sprintf("%+v", c), w.view().Entry(1).Key == 104, c.fires)
		}
	})

	t.Run("S-CON-04 an entry that watches is never due and does not expire", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			w.schedule(watcher(106, 3000))
			w.schedule(with(w.sealedWatcher(106, 3000), late))
			w.schedule(with(entryOf(300_000, 110), after(1)))
		})
		for _, time := range []uint64{106, 107, 137, 138, 166, 167, 168, 1_000, 8_000} {
			w.block(time, func() {
				expectErr(t, "expire", w.expire(1), scheduler.NotExpired)
				expectErr(t, "expire, sealed", w.expire(2), scheduler.NotExpired)
				expectErr(t, "execute", w.transact(scheduler.Address, scheduler.ExecuteInput(1)).Err, scheduler.NotDue)
			})
			expectList(t, "ran", w.ran())
		}
		w.blocks(8_001, 8_002) // the cursor catches up
		w.expectCursor(8_003)
		expectList(t, "watchersOf", w.view().WatchersOf(item), 1, 2)
	})

	t.Run("S-CON-05 A-23 several writes in a block count as the last", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() { w.schedule(watcher(102, 3000)) })
		w.block(102, func() { w.write(item, 3000); w.write(item, 2000) })
		w.block(103, func() { w.write(item, 2000); w.write(item, 3000) })
		expect(t, "crossed and back", w.view().Entry(1).Key, scheduler.WatchKey)
		w.block(104)
		expect(t, "and over it in the end", w.view().Entry(1).Key, 105)
	})

	t.Run("S-CON-05 the state is that which the parent left", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			w.schedule(watcher(102, 3000))
			w.schedule(with(entryOf(300_000, 103), to(scriptTarget)))
		})
		w.script = func(*memory.Frame) ([]byte, error) { w.write(item, 3000); return nil, nil }
		w.block(103)
		expectList(t, "ran", w.ran(), 2)
		expect(t, "the block whose own transaction writes", w.view().Entry(1).Key, scheduler.WatchKey)
		w.block(104)
		expect(t, "the next", w.view().Entry(1).Key, 105)
	})

	for _, c := range []struct{ write, key uint64 }{{105, scheduler.WatchKey}, {106, 108}, {107, 109}} {
		t.Run("S-CON-06 not before 106, written in block "+fmt.Sprint(c.write), func(t *testing.T) {
			w := newWatchWorld(t)
			w.block(101, func() { w.schedule(watcher(106, 3000)) })
			w.blocks(102, c.write-1)
			w.block(c.write, func() { w.write(item, 3000) })
			w.block(c.write + 1)
			expect(t, "key", w.view().Entry(1).Key, c.key)
			expect(t, "the write was seen", w.view().WatchedHeight(item), c.write-99)
		})
	}

	t.Run("S-CON-07 S-RTY-01 S-CXL-04 once fired it is a slot's entry: retries, deadline, dependencies", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			w.schedule(with(watcher(106, 3000), to(revertTarget), retries(1)))
			w.schedule(entryOf(300_000, 108))
			w.schedule(with(watcher(106, 3000), needs(2)))
			w.schedule(with(watcher(106, 3000), late))
			w.schedule(watcher(106, 3000))
		})
		w.block(106, func() { w.write(item, 3000) })
		w.block(107)
		for _, id := range []uint64{1, 3, 4, 5} {
			if e := w.view().Entry(id); e.Key > 109 || e.DeadlineSlot != e.Key+60 || e.DueSlot != 106 {
				t.Errorf("entry %d: key %d, deadlineSlot %d, dueSlot %d", id, e.Key, e.DeadlineSlot, e.DueSlot)
			}
		}
		w.block(108)
		expectList(t, "ran", w.ran(), 1, 2, 3, 4)
		expect(t, "the retry's key", w.view().Entry(1).Key, 109)
		expect(t, "the retry's deadlineSlot", w.view().Entry(1).DeadlineSlot, 169)
		w.block(170, func() {
			must(t, w.expire(5)) // it fired into 109, a halt kept it from running
			w.expectStatus(1, scheduler.Scheduled)
			must(t, w.expire(1))
		})
	})

	t.Run("S-CON-07 S-CON-11 S-RES-04 a reserve is held while it watches and waits", func(t *testing.T) {
		w := newWatchWorld(t)
		must(t, w.MintToken(mip20, alice, amount(1_000)))
		w.ApproveToken(mip20, alice, scheduler.Address, amount(1_000))
		p := with(watcher(106, 3000), func(p *scheduler.Params) {
			p.GasLimit, p.ReserveToken, p.ReserveAmount = 218_000, mip20, [12]byte{11: 100}
		})
		held := func() uint64 { return asUint64(w.Held(mip20, alice)) }
		w.block(101, func() {
			for range 3 {
				w.schedule(p)
			}
			expect(t, "held", held(), 300)
			must(t, w.cancel(alice, 1))
			expect(t, "held after a cancel", held(), 200)
			w.Delist(item)
			must(t, w.expire(2))
			expect(t, "held after an expire", held(), 100)
			w.List(item)
		})
		w.block(106, func() { w.write(item, 3000) })
		w.blocks(107, 108)
		expectList(t, "ran", w.ran(), 3)
		expect(t, "captured", asUint64(w.TokenBalance(mip20, okTarget)), 100)
		expect(t, "held in the end", held(), 0)
	})

	t.Run("S-DEP-08 S-CON-04 a dependency that watches is unsettled", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			w.schedule(watcher(106, 3000))
			w.schedule(with(entryOf(300_000, 110), after(1)))
		})
		for time := uint64(110); time <= 170; time++ {
			w.block(time)
			expect(t, "key", w.view().Entry(2).Key, time+1)
		}
		w.block(171, func() { must(t, w.expire(2)) })
		expectList(t, "ran", w.ran())
	})

	t.Run("S-CON-09 a predicate that is true already fires at the next qualifying write", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() { w.write(item, 5000); w.schedule(watcher(102, 3000)); w.write(item, 5000) })
		w.blocks(102, 105)
		expect(t, "key", w.view().Entry(1).Key, scheduler.WatchKey)
		w.block(106, func() { w.write(item, 5000) })
		w.block(107)
		expect(t, "key", w.view().Entry(1).Key, 108)
	})

	t.Run("S-CON-11 S-CXL-03 it leaves the watch list when it fires, is canceled or expires", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			for _, operand := range []uint64{5000, 3000, 5000, 3000, 5000} {
				w.schedule(watcher(102, operand))
			}
			must(t, w.cancel(alice, 3))
			expectErr(t, "another's", w.cancel(bob, 1), scheduler.NotPayer)
			expectList(t, "canceled", w.view().WatchersOf(item), 1, 2, 4, 5)
		})
		expect(t, "the refund", w.available(alice), 1e14-5*3_000_000+2_400_000)
		w.block(102, func() { w.write(item, 4000) })
		w.block(103)
		expectList(t, "fired", w.view().WatchersOf(item), 1, 5)
		w.block(104, func() {
			w.Delist(item)
			must(t, w.expire(5))
			must(t, w.expire(1))
			expectErr(t, "again", w.expire(1), scheduler.NotScheduled)
		})
		expectList(t, "expired", w.view().WatchersOf(item))
		expect(t, "I-27 watchedHeight stays", w.view().WatchedHeight(item), 3)
	})

	t.Run("S-CON-13 A-22 items are taken whole, and the first that does not fit ends the pass", func(t *testing.T) {
		a, b, c := scheduler.Word{1}, scheduler.Word{2}, scheduler.Word{3}
		w := newWatchWorldWith(t, testPolicy(), scheduler.Limits{Watchers: 5, WatchersPerItem: 4})
		writeAll := func() {
			for _, i := range []scheduler.Word{a, b, c} {
				w.write(i, 0)
			}
		}
		w.block(101, writeAll, func() {
			for i, n := range map[scheduler.Word]int{a: 2, b: 4, c: 1} {
				for range n {
					w.schedule(with(entryOf(300_000, 102), when(i, 1, 1)))
				}
			}
			_, err := w.trySchedule(alice, with(entryOf(300_000, 102), when(b, 1, 1)))
			expectErr(t, "fifth watcher of b", err, scheduler.WatchFull)
		})
		seen := func() (heights [3]uint64) {
			return [3]uint64{w.view().WatchedHeight(a), w.view().WatchedHeight(b), w.view().WatchedHeight(c)}
		}
		w.block(102, writeAll) // N=3
		w.block(103)           // N=4: b (4), c (1)
		expect(t, "N=4 begins with b", seen(), [3]uint64{2, 3, 3})
		w.block(104, writeAll) // N=5: only a is pending; c, b have seen it
		expect(t, "N=5", seen(), [3]uint64{3, 3, 3})
		w.block(105) // N=6: begins with a (2); b (4) does not fit and ends the pass, though c (1) would
		expect(t, "N=6 begins with a", seen(), [3]uint64{5, 3, 3})
		w.block(106) // N=7: b, c
		expect(t, "N=7 begins with b", seen(), [3]uint64{5, 5, 5})
	})

	t.Run("S-CON-13 S-CON-15 an item out of the catalog is in the rotation but not evaluated", func(t *testing.T) {
		a, b := scheduler.Word{1}, scheduler.Word{2}
		w := newWatchWorldWith(t, testPolicy(), scheduler.Limits{Watchers: 1, WatchersPerItem: 1})
		w.block(101, func() {
			w.write(a, 0)
			w.write(b, 0)
			w.schedule(with(entryOf(300_000, 102), when(a, 1, 1)))
			w.schedule(with(entryOf(300_000, 102), when(b, 1, 1)))
		})
		w.block(102, func() { w.write(a, 1); w.Delist(a) })
		w.blocks(103, 110)
		expect(t, "a, delisted with a write that nobody has seen", w.view().WatchedHeight(a), 2)
		w.block(111, func() { w.write(b, 0) })
		w.block(112) // N=13 begins with b, the second of two
		expect(t, "b", w.view().WatchedHeight(b), 12)
		w.block(113, func() { w.List(a) })
		w.block(114)
		expect(t, "a listed again is judged on its latest write", w.view().Entry(1).Key, 115)
		expect(t, "a", w.view().WatchedHeight(a), 3)
	})

	t.Run("S-CON-13 the order of the list is the items', whatever came and went", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			w := newWatchWorldWith(t, testPolicy(), scheduler.Limits{Watchers: 1, WatchersPerItem: 1})
			watched := map[scheduler.Word]uint64{}
			w.begin(2, 101)
			for range rapid.IntRange(1, 20).Draw(t, "steps") {
				i := scheduler.Word{0: rapid.Byte().Draw(t, "first"), 31: rapid.Uint8Range(0, 1).Draw(t, "last")}
				if id, ok := watched[i]; ok {
					must(t, w.cancel(alice, id))
					delete(watched, i)
					continue
				}
				w.write(i, 0)
				watched[i] = w.schedule(with(entryOf(300_000, 102), when(i, 1, 1)))
			}
			var items []scheduler.Word
			for i := range watched {
				w.Write(i, word(0), false, false)
				items = append(items, i)
			}
			items = sortedWords(items)
			w.EndBlock(nil)
			w.begin(3, 102)
			for _, i := range items {
				w.write(i, 0)
			}
			w.EndBlock(nil)
			for n := uint64(4); n < 12 && len(items) > 0; n++ {
				w.begin(n, n+99)
				w.EndBlock(nil)
				first := items[n%uint64(len(items))]
				expect(t, "watchedHeight of the item that block begins with", w.view().WatchedHeight(first), 3)
			}
		})
	})

	t.Run("S-CON-15 the first watcher has seen the item's last write", func(t *testing.T) {
		w := newWatchWorld(t)
		expect(t, "nobody watched", w.view().WatchedHeight(item), 0)
		w.block(105, func() { w.write(item, 1) })
		w.block(106, func() {
			w.schedule(watcher(110, 3000))
			expect(t, "watchedHeight", w.view().WatchedHeight(item), 6)
			must(t, w.cancel(alice, 1))
		})
		w.block(107, func() { w.write(item, 1); w.schedule(watcher(110, 3000)) })
		expect(t, "watchedHeight of the next first", w.view().WatchedHeight(item), 8)
	})

	t.Run("S-CON-16 S-CON-12 evaluation reads predicates, never calls, and nothing of items that were not written", func(t *testing.T) {
		w := newWatchWorld(t)
		const watchers, idle = 100, 50
		w.block(101, func() {
			for range watchers {
				w.schedule(watcher(102, 3000))
			}
			for i := range idle {
				other := scheduler.Word{1, byte(i)}
				w.write(other, 1)
				for range 3 {
					w.schedule(with(entryOf(300_000, 102), when(other, 1, 2)))
				}
			}
		})
		w.block(102, func() { w.write(item, 1) })
		begin := func(height, time uint64) *countedReads {
			read := &countedReads{State: w.Space(scheduler.Address)}
			h := &scheduler.Host{State: read, Beacon: w.Beacon(), Oracle: w.Host}
			_, err := w.Machine().BeginBlock(scheduler.Env{Height: height, Time: time}, h, scheduler.Update{}, nil)
			must(t, err)
			return read
		}
		before := begin(4, 103)
		expect(t, "blobs", before.blobs, 0)
		expect(t, "words of entries", before.entryWords, 3*watchers)
		quiet := begin(5, 104) // nothing was written
		expect(t, "words of entries in a quiet block", quiet.entryWords, 0)
		if limit := 3*(idle+1) + 20; quiet.words > limit {
			t.Errorf("a quiet block reads %d words, want at most %d: three for each watched item", quiet.words, limit)
		}
	})
}

// countedReads counts what is read of the scheduler's state.
type countedReads struct {
	scheduler.State
	words, entryWords, blobs int
}

func (c *countedReads) Get(k scheduler.Word) scheduler.Word {
	c.words++
	if k[0] == 0x04 {
		c.entryWords++
	}
	return c.State.Get(k)
}

func (c *countedReads) Blob(k scheduler.Word) []byte {
	c.blobs++
	return c.State.Blob(k)
}

func TestFiredEntriesJoinTheMovePass(t *testing.T) {
	t.Run("S-SEL-12 A-17 movers and fired entries are placed by ascending id", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			w.schedule(with(entryOf(2_000_000, 110), price(10)))
			w.schedule(with(watcher(102, 3000), needs(1))) // fires in the block in which 1 moves
			w.schedule(with(entryOf(300_000, 110), price(50)))
			w.schedule(watcher(102, 3000))
			w.schedule(entryOf(300_000, 111))
			w.schedule(entryOf(300_000, 111))
			w.schedule(entryOf(300_000, 111))
		})
		w.blocks(102, 108)
		w.block(109, func() { w.write(item, 3000) })
		w.block(110)
		expectList(t, "ran", w.ran(), 3)
		expectList(t, "the last place at 111 goes to the dependency", w.view().QueueAt(111), 5, 6, 7, 1)
		expectList(t, "the fired ones follow", w.view().QueueAt(112), 2, 4)
	})

	t.Run("S-SEL-12 a fired dependency comes before a moved dependent", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			w.schedule(watcher(102, 3000))
			w.schedule(with(entryOf(300_000, 110), needs(1)))
		})
		w.blocks(102, 108)
		w.block(109, func() { w.write(item, 3000) })
		w.block(110)
		expectList(t, "queue", w.view().QueueAt(111), 1, 2)
		w.block(111)
		expectList(t, "ran", w.ran(), 1, 2)
	})

	t.Run("S-CON-08 S-CAP-04 as many fire as there is room for, the oldest first", func(t *testing.T) {
		w := newWatchWorld(t)
		w.block(101, func() {
			for range 40 {
				w.schedule(watcher(102, 3000))
			}
		})
		w.block(102, func() { w.write(item, 3000) })
		w.block(103)
		for slot := uint64(104); slot <= 111; slot++ {
			expect(t, "queued", len(w.view().QueueAt(slot)), 4)
		}
		expectList(t, "keep watching", w.view().WatchersOf(item), 33, 34, 35, 36, 37, 38, 39, 40)
		w.blocks(104, 120)
		expect(t, "without a write", len(w.view().WatchersOf(item)), 8)
		w.block(121, func() { w.write(item, 3000) })
		w.block(122)
		expect(t, "with the next write", len(w.view().WatchersOf(item)), 0)
	})
}
