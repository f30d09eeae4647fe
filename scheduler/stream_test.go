package scheduler_test

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// A stream is a byte string read as operations: blocks with their times, proposers, keys and transactions. Any bytes are a stream,
// so rapid, fuzzing and a seeded generator drive the same machine with it.
type stream struct {
	data   []byte
	at     int
	sealed int // in 256 entries that could be; sealing is what takes the time
}

func (s *stream) more() bool { return s.at < len(s.data) }

func (s *stream) byte() byte {
	if !s.more() {
		return 0
	}
	s.at++
	return s.data[s.at-1]
}

// pick is a number below n.
func (s *stream) pick(n int) int { return int(s.byte()) % n }

// chance is true in n of 256 cases.
func (s *stream) chance(n int) bool { return int(s.byte()) >= 256-n }

// recorded is one block with everything in it that is not derived from the state, so that a replica can replay it.
type recorded struct {
	env    scheduler.Env
	update scheduler.Update
	txs    []recordedTx
}

// recordedTx is a transaction or, with an item, what a feed or governance does to the oracle catalog.
type recordedTx struct {
	from  scheduler.Addr
	input []byte

	item             scheduler.Word
	change           catalogChange
	value            uint64
	halted, disputed bool
}

type catalogChange int

const (
	writeItem catalogChange = iota
	flagItem
	delistItem
	listItem
)

// apply makes the transaction or the change.
func (w *world) apply(tx recordedTx) (r memory.Receipt) {
	switch {
	case tx.item == scheduler.Word{}:
		return w.transact(tx.from, tx.input)
	case tx.change == writeItem:
		w.Write(tx.item, word(tx.value), tx.halted, tx.disputed)
	case tx.change == flagItem:
		w.SetFlags(tx.item, &tx.halted, &tx.disputed)
	case tx.change == delistItem:
		w.Delist(tx.item)
	default:
		w.List(tx.item)
	}
	return memory.Receipt{Success: true}
}

// streamItems are the items of the streams' catalog.
var streamItems = []scheduler.Word{{0: 0x30}, {0: 0x10}, {0: 0x20}}

// streamPolicy is tight, so that a short stream meets every limit.
func streamPolicy() scheduler.Policy {
	p := testPolicy()
	p.GasPerBlock, p.GuaranteedGasPerSlot, p.MaxHorizonSlots, p.MaxLateSlots, p.MaxEntriesPerBlock = 1_300_000, 700_000, 40, 9, 3
	return p
}

// newStreamWorld is a world whose script target calls the scheduler back with its input, less the last byte: if that is odd an error is
// swallowed. With one byte alone it cancels the last entry that its block selected.
func newStreamWorld(t rapid.TB) *world {
	w := newWorldWith(t, streamPolicy())
	w.script = func(f *memory.Frame) ([]byte, error) {
		n := len(f.Input) - 1
		input := f.Input[:n]
		if n == 0 {
			input = scheduler.CancelInput(w.runs[len(w.runs)-1].ID)
		}
		_, err := f.Call(scheduler.Address, f.Gas, input)
		if f.Input[n]&1 == 1 {
			return nil, nil
		}
		return nil, err
	}
	must(t, w.Mint(scriptTarget, amount(1e12)))
	w.Approve(scriptTarget, scheduler.Address, amount(1e12))
	w.install(w.secret)
	for _, i := range streamItems {
		w.write(i, 2)
	}
	for i, a := range payers { // the first can always hold, the others run out of allowance or balance
		must(t, w.MintToken(mip20, a, amount([]uint64{streamReserves, streamReserves, 150}[i])))
		w.ApproveToken(mip20, a, scheduler.Address, amount([]uint64{streamReserves, 150, 300}[i]))
	}
	w.SetMode(refusingTarget, memory.Revert)
	return w
}

// streamReserves are more tokens than a stream can reserve.
const streamReserves = 1_000_000

// refusingTarget takes every call and no tokens.
var refusingTarget = addr(0x05)

// nextBlock reads the head of a block: how far time goes on, who proposes, which of the pending keys it carries.
func (s *stream) nextBlock(w *world) recorded {
	env := w.Env()
	b := recorded{env: scheduler.Env{Height: env.Height + 1, Time: env.Time + 1, Proposer: proposer}, update: w.update}
	switch s.pick(16) {
	case 0:
		b.env.Time += uint64(s.pick(50))
	case 1:
		b.env.Proposer = bad
	}
	for _, slot := range w.view().WantedSlots(w.Beacon(), b.env.Time) {
		if s.chance(150) {
			b.update.Slots = append(b.update.Slots, w.slotKey(slot))
		}
	}
	var conditions []scheduler.Word
	for _, c := range w.wantedConditions(b.env.Time) {
		if len(conditions) < scheduler.MaxConditionKeys && s.chance(120) {
			conditions = append(conditions, c)
		}
	}
	for _, c := range sortedWords(conditions) {
		b.update.Conditions = append(b.update.Conditions, w.conditionKey(c))
	}
	return b
}

var payers = []scheduler.Addr{alice, bob, scriptTarget}

// id is mostly one of the last ids given out.
func (s *stream) id(w *world) uint64 {
	next := w.view().NextID()
	return next - min(next, uint64(s.pick(10)))
}

// lastPaused is the last entry that is paused, or 0.
func lastPaused(w *world) uint64 {
	for id := w.view().NextID() - 1; id > 0; id-- {
		if w.view().Status(id) == scheduler.Paused {
			return id
		}
	}
	return 0
}

// nextTx reads a transaction.
func (s *stream) nextTx(w *world) recordedTx {
	tx := recordedTx{from: scriptTarget}
	if s.chance(128) {
		tx.from = payers[s.pick(len(payers))]
	}
	id := s.id(w)
	switch s.pick(16) {
	case 13, 14, 15:
		return s.nextChange()
	case 0:
		tx.input = scheduler.DepositInput(amount(uint64(s.byte()) * 1_000_000))
	case 1:
		tx.input = scheduler.WithdrawInput(amount(uint64(s.byte()) * 500_000))
	case 2:
		tx.input = scheduler.CancelInput(id)
	case 3, 4:
		tx.input = scheduler.ExpireInput(id)
	case 5:
		if paused := lastPaused(w); paused != 0 && s.chance(200) {
			id, tx.from = paused, w.view().Entry(paused).Payer
		}
		tx.input = scheduler.ResumeInput(id)
		if s.chance(80) {
			tx.input = scheduler.CancelInput(id)
		}
	default:
		tx.input = scheduler.ScheduleInput(s.params(w, tx.from))
	}
	return tx
}

// nextChange is mostly a write.
func (s *stream) nextChange() recordedTx {
	return recordedTx{
		item: streamItems[s.pick(len(streamItems))], change: catalogChange(max(0, s.pick(9)-5)), value: uint64(s.pick(4)), halted: s.chance(40), disputed: s.chance(40),
	}
}

func (s *stream) params(w *world, payer scheduler.Addr) scheduler.Params {
	now := w.Env()
	p := scheduler.Params{
		Slot: now.Time + uint64(s.pick(6)), GasPrice: 10 + uint64(s.pick(4)), Class: uint8(s.pick(2)), LateExecute: s.chance(60),
		MaxRetries: uint8(s.pick(3)), BackoffSlots: uint32(s.pick(4)), GasLimit: 70_000 + uint64(s.byte())*2_000,
	}
	if s.chance(60) {
		p.Slot, p.Height = 0, now.Height+uint64(s.pick(6))
	}
	for s.chance(110) {
		p.DependsOn = append(p.DependsOn, scheduler.Dependency{ID: s.id(w), Finished: s.chance(128)})
	}
	targets := []scheduler.Addr{okTarget, okTarget, refusingTarget, revertTarget, scriptTarget, scriptTarget, panicTarget}
	if s.chance(10) {
		targets = []scheduler.Addr{mip20, gasToken, scheduler.Address}
	}
	for range 1 + s.pick(2) {
		call := scheduler.Call{Target: targets[s.pick(len(targets))], GasLimit: 20_000}
		if call.Target == scriptTarget {
			call.GasLimit = 50_000
			var inner []byte
			switch s.pick(6) {
			case 4:
				inner = scheduler.ResumeInput(s.id(w))
			case 0:
				inner = scheduler.ExpireInput(s.id(w))
			case 1:
				inner = scheduler.ScheduleInput(with(entryOf(262_000, now.Time+uint64(s.pick(20))), price(10)))
			case 2:
				inner = scheduler.WithdrawInput(amount(uint64(s.byte())))
			case 3:
				inner = scheduler.CancelInput(w.view().NextID() + uint64(s.pick(4)))
			}
			call.Data = append(inner, s.byte())
		}
		p.Calls = append(p.Calls, call)
	}
	if p.Slot != 0 && s.chance(70) {
		p.Class = scheduler.BestEffort
		p.When = scheduler.Condition{Item: streamItems[s.pick(len(streamItems))], Kind: 1 + uint8(s.pick(3)), Operand: word(uint64(s.pick(4)))}
	}
	if p.Slot != 0 && s.chance(s.sealed) {
		s.sealParams(w, payer, &p)
		return p
	}
	if s.chance(70) {
		s.series(&p)
	}
	if s.chance(60) {
		p.GasLimit += 150_000
		reserve(mip20, 1+uint8(s.pick(60)))(&p)
	}
	return p
}

// series makes p recur, mostly in a way that schedule accepts.
func (s *stream) series(p *scheduler.Params) {
	p.PeriodSlots, p.Remaining, p.PauseOnFail = 1+uint64(s.pick(8)), 1+uint32(s.pick(3)), s.chance(128)
	if s.chance(230) {
		p.DependsOn, p.When = nil, scheduler.Condition{}
	}
}

func (s *stream) sealParams(w *world, payer scheduler.Addr, p *scheduler.Params) {
	to, err := tlock.SlotSeal(p.Slot, payer), error(nil)
	if p.When != (scheduler.Condition{}) {
		c := conditionOf(*p)
		c.Payer = payer
		to, err = tlock.ConditionSeal(c)
		must(w, err)
	}
	p.Ciphertext, p.Commitment, err = tlock.SealCalls(w.Namespace(), groupKey(w, w.secret), to, tlock.EncodeCalls(p.Calls))
	must(w, err)
	p.Calls = nil
	if s.chance(40) {
		p.Ciphertext[int(s.byte())%len(p.Ciphertext)] ^= 1
	}
}

// replay makes a recorded block on another replica.
func (w *world) replay(b recorded) {
	w.Helper()
	w.update, w.proposer = b.update, b.env.Proposer
	txs := make([]func(), len(b.txs))
	for i, tx := range b.txs {
		txs[i] = func() { w.apply(tx) }
	}
	w.blockAt(b.env.Height, b.env.Time, txs...)
}

// record makes the stream's next block on w and returns it. The observer, which may be nil, looks at the world at each stage.
func (s *stream) record(w *world, watch *invariants) recorded {
	w.Helper()
	b := s.nextBlock(w)
	w.update, w.proposer = b.update, b.env.Proposer
	watch.beforeBlock(w, b)
	w.begin(b.env.Height, b.env.Time)
	watch.afterBegin(w)
	w.executeRuns()
	watch.afterRuns(w)
	for range s.pick(7) {
		tx := s.nextTx(w)
		b.txs = append(b.txs, tx)
		before := w.StateHash()
		r := w.apply(tx)
		watch.afterTx(w, tx, r, before)
	}
	w.EndBlock(w.runner)
	watch.afterBlock(w)
	return b
}

// drain supplies every key and no load, until nothing can happen any more (I-39).
func (w *world) drain(watch *invariants) {
	w.Helper()
	for range 400 {
		left := false
		for id := uint64(1); id < w.view().NextID(); id++ {
			e := w.view().Entry(id)
			left = left || e.Status == scheduler.Scheduled && !watch.expirable[id]
		}
		if !left {
			return
		}
		env := w.Env()
		b := recorded{env: scheduler.Env{Height: env.Height + 1, Time: env.Time + 1, Proposer: proposer}}
		w.proposer = proposer
		for _, slot := range w.view().WantedSlots(w.Beacon(), b.env.Time) {
			w.carry(slot)
		}
		wanted := w.wantedConditions(b.env.Time)
		w.carryConditions(wanted[:min(len(wanted), scheduler.MaxConditionKeys)]...)
		b.update = w.update
		watch.beforeBlock(w, b)
		w.begin(b.env.Height, b.env.Time)
		watch.afterBegin(w)
		w.executeRuns()
		watch.afterRuns(w)
		w.endWatching(watch)
		w.EndBlock(w.runner)
		watch.afterBlock(w)
	}
	w.Errorf("I-39: after 400 quiet blocks an entry is neither finished nor expirable")
}

// endWatching takes all items out of the catalog and expires who watches them: an entry may depend on one for ever.
func (w *world) endWatching(watch *invariants) {
	w.Helper()
	for _, item := range streamItems {
		w.Delist(item)
		for _, id := range w.view().WatchersOf(item) {
			tx := recordedTx{from: treasury, input: scheduler.ExpireInput(id)}
			before := w.StateHash()
			r := w.apply(tx)
			must(w, r.Err)
			watch.afterTx(w, tx, r, before)
		}
	}
}

func sortedKeys[V any](m map[uint64]V) []uint64 {
	var keys []uint64
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
