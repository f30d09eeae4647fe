package scheduler_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// invariants watches a world and checks the ledger's invariants I-01 to I-36, as far as they do not concern conditions, after every
// block and transaction. It keeps its own books, from receipts and reads alone.
type invariants struct {
	deposits, withdrawals, paid uint256.Int
	ranOnce                     map[[2]uint64]bool // (id, attempt)
	expirable                   map[uint64]bool    // at some point
	due                         map[uint64]uint64  // dueSlot by id
	fee                         map[uint64]uint256.Int
	entries                     map[uint64]scheduler.Entry // as of the last look
	cursors                     [2]uint64
	nextID                      uint64
	block                       recorded
	before                      map[uint64]scheduler.Entry // before the block began
	fires                       map[uint64]bool            // watchers that the block must find to fire
	watchedHeights              map[scheduler.Word]uint64
	paused                      map[uint64]bool // at some point
	seen                        map[string]int  // what the stream met, by name
}

func newInvariants() *invariants {
	return &invariants{
		ranOnce: map[[2]uint64]bool{}, expirable: map[uint64]bool{}, due: map[uint64]uint64{}, fee: map[uint64]uint256.Int{},
		entries: map[uint64]scheduler.Entry{}, nextID: 1, paused: map[uint64]bool{}, seen: map[string]int{}, watchedHeights: map[scheduler.Word]uint64{},
	}
}

func (v *invariants) beforeBlock(w *world, b recorded) {
	if v == nil {
		return
	}
	v.block, v.before, v.fires = b, v.entries, map[uint64]bool{}
	for id, e := range v.entries {
		v.fires[id] = e.Status == scheduler.Scheduled && w.firesNow(e)
	}
}

// costOf is the entry's cost by the read function's formula.
func costOf(e scheduler.Entry) uint64 {
	c, _ := scheduler.Cost(e.GasLimit, uint64(e.DataLen), uint64(len(e.DependsOn)), e.PeriodSlots != 0, e.ReserveAmount != [12]byte{})
	return c
}

func feeOf(e scheduler.Entry) (f uint256.Int) {
	f.Mul(uint256.NewInt(costOf(e)), uint256.NewInt(e.GasPrice))
	return f
}

func isGuaranteed(e scheduler.Entry) bool { return e.Flags&scheduler.FlagBestEffort == 0 }
func isDetached(e scheduler.Entry) bool   { return e.Flags&scheduler.FlagDetached != 0 }
func isSealed(e scheduler.Entry) bool     { return e.Flags&scheduler.FlagSealed != 0 }

// afterBegin checks the block's selection.
func (v *invariants) afterBegin(w *world) {
	if v == nil {
		return
	}
	w.Helper()
	now := v.block.env
	var gas uint64
	best := 0
	position := map[uint64]int{}
	for i, r := range w.runs {
		e := v.before[r.ID]
		position[r.ID] = i
		gas += r.GasLimit
		if !isGuaranteed(e) {
			best++
		}
		w.assert(!v.expirable[r.ID], "I-19: entry %d was expirable and is selected", r.ID)
		attempt := [2]uint64{r.ID, uint64(r.Attempt)}
		w.assert(!v.ranOnce[attempt], "I-21: (%d, %d) is selected twice", r.ID, r.Attempt)
		v.ranOnce[attempt] = true
		due := e.Key <= now.Time
		if e.Key&scheduler.HeightKey != 0 {
			due = e.Key&^scheduler.HeightKey <= now.Height
		} else {
			w.assert(now.Time <= e.DeadlineSlot || e.Flags&scheduler.FlagLateExecute != 0, "I-22: entry %d is past its deadline", r.ID)
		}
		w.assert(due, "I-22: entry %d is not due", r.ID)
		if isSealed(e) {
			w.assert(w.keyIsKnown(e, scheduler.Update{}) && now.Time <= e.Key+31, "I-22: entry %d has no key in time", r.ID)
		}
		w.assert(!isSealed(w.view().Entry(r.ID)), "I-22: entry %d is selected and sealed", r.ID)
		w.assert(r.GasLimit == costOf(e), "I-36: entry %d costs %d, its transaction %d", r.ID, costOf(e), r.GasLimit)
		for _, d := range e.DependsOn {
			if at, chosen := position[d]; chosen {
				v.seen["selected with its dependency"]++
				w.assert(at < i, "I-15: entry %d runs before its dependency %d", r.ID, d)
				w.assert(v.before[d].Attempts >= v.before[d].MaxRetries, "I-17: dependency %d of %d may retry", d, r.ID)
			} else {
				was := v.before[d]
				w.assert(was.Status != scheduler.Scheduled || v.passed(was), "I-17: dependency %d of %d is unsettled", d, r.ID)
			}
		}
	}
	w.assert(gas <= w.Machine().Policy().GasPerBlock, "I-13: a block of %d gas", gas)
	w.assert(best <= int(w.Machine().Policy().MaxEntriesPerBlock), "I-14: %d BestEffort entries", best)
	v.checkMoves(w)
}

// passed uses the cursors as of the end of the last block.
func (v *invariants) passed(e scheduler.Entry) bool {
	if e.Key&scheduler.HeightKey != 0 {
		return isDetached(e) || e.Key&^scheduler.HeightKey < v.cursors[1]
	}
	return isDetached(e) || e.Key < v.cursors[0]
}

// checkMoves is I-16: of a pair that moved, the dependency stands no later.
func (v *invariants) checkMoves(w *world) {
	moved := map[uint64]uint64{}
	for id, was := range v.before {
		if now := w.view().Entry(id); was.Status == scheduler.Scheduled && now.Key != was.Key {
			moved[id] = now.Key
			w.assert(!isGuaranteed(now), "I-32: entry %d moved and is Guaranteed", id)
			if was.Key == scheduler.WatchKey {
				v.seen["fired"]++
				w.assert(v.fires[id], "I-28: entry %d fires on what its parent block left", id)
				w.assert(now.DeadlineSlot == now.Key+w.Machine().Policy().MaxLateSlots, "I-26: entry %d fired and has deadline %d", id, now.DeadlineSlot)
				continue
			}
			w.assert(now.DeadlineSlot == was.DeadlineSlot, "I-26: entry %d moved and has another deadline", id)
		}
	}
	v.seen["moved"] += len(moved)
	for id, key := range moved {
		for _, d := range v.before[id].DependsOn {
			at, both := moved[d]
			if both {
				v.seen["moved with its dependency"]++
			}
			if !both || at&scheduler.HeightKey != key&scheduler.HeightKey {
				continue
			}
			w.assert(at <= key, "I-16: %d moved to %d, its dependency %d to %d", id, key, d, at)
			if at == key {
				queue := w.view().QueueAt(key)
				w.assert(slices.Index(queue, d) < slices.Index(queue, id), "I-16: %d stands before its dependency %d", id, d)
			}
		}
	}
}

// afterRuns books the fees by the receipts.
func (v *invariants) afterRuns(w *world) {
	if v == nil {
		return
	}
	w.Helper()
	for i, r := range w.receipts {
		id := w.runs[i].ID
		v.seen[[]string{"", "success", "reverted", "skipped"}[r.Outcome]]++
		if isSealed(v.before[id]) {
			v.seen["opened and run"]++
			if v.before[id].WhenKind != 0 {
				v.seen["condition opened and run"]++
			}
		}
		if r.Outcome == scheduler.Success {
			fee := v.fee[id]
			v.paid.Add(&v.paid, &fee)
		}
		w.assert((r.GasUsed == 0) == (r.Outcome == scheduler.Skipped), "receipt of %d: outcome %d with %d gas", id, r.Outcome, r.GasUsed)
		w.assert(r.GasUsed <= w.runs[i].GasLimit, "S-RUN-16: run of %d used %d of %d", id, r.GasUsed, w.runs[i].GasLimit)
		if r.Outcome == scheduler.Reverted {
			w.assert(w.view().Status(id) == scheduler.Scheduled || w.view().Status(id) == scheduler.Cancelled, "S-RUN-08: status of %d is %d", id, w.view().Status(id))
		}
		v.bookEvents(w, r.Logs)
		v.checkCapture(w, id, r.Logs)
	}
	v.look(w)
}

func (v *invariants) afterTx(w *world, tx recordedTx, r memory.Receipt, before [32]byte) {
	if v == nil {
		return
	}
	w.Helper()
	var named scheduler.Error
	if errors.As(r.Err, &named) {
		v.seen[named.Name()]++
	}
	if !r.Success {
		w.assert(w.StateHash() == before, "I-34: a failed transaction changed the state: %v", r.Err)
	}
	v.bookEvents(w, r.Logs)
	v.look(w)
}

// bookEvents books deposits and withdrawals, and checks what cancel and expire gave back.
func (v *invariants) bookEvents(w *world, logs []memory.Log) {
	for _, l := range logs {
		ev, ok := scheduler.DecodeEvent(l.Topics, l.Data)
		if !ok || l.Address != scheduler.Address {
			continue
		}
		id, value := argOf(ev, 0).Uint64(), argOf(ev, len(ev.Args)-1)
		v.seen[ev.Name]++
		switch ev.Name {
		case "Scheduled":
			v.fee[id] = *value
		case "Recurred":
			v.checkPeriod(w, id, argOf(ev, 1).Uint64(), value.Uint64())
		case "Paused":
			v.paused[id] = true
		case "Deposited":
			v.deposits.Add(&v.deposits, value)
		case "Withdrawn":
			v.withdrawals.Add(&v.withdrawals, value)
		case "Cancelled", "Expired":
			want := v.fee[id]
			switch {
			case v.paused[id]:
				v.seen["canceled while paused"]++
				want.Clear() // nothing was locked
			case ev.Name == "Cancelled":
				want.Mul(&want, uint256.NewInt(8_000))
				want.Div(&want, uint256.NewInt(10_000))
			}
			w.assert(want.Eq(value), "I-05: %s(%d) gave back %s of %s", ev.Name, id, value, &want)
		}
	}
}

// look checks what must hold between any two transactions.
func (v *invariants) look(w *world) {
	w.Helper()
	view := w.view()
	accounts := append(slices.Clone(payers), treasury)
	lockedBy := map[scheduler.Addr]*uint256.Int{}
	for _, a := range accounts {
		lockedBy[a] = new(uint256.Int)
	}
	now := map[uint64]scheduler.Entry{}
	pending := map[uint64]uint64{}
	keys := map[uint64]bool{}
	fired := map[scheduler.Word][]uint64{}
	for id := uint64(1); id < view.NextID(); id++ {
		e := view.Entry(id)
		now[id] = e
		if e.Status != scheduler.Scheduled {
			continue
		}
		fee := feeOf(e)
		lockedBy[e.Payer].Add(lockedBy[e.Payer], &fee)
		keys[e.Key] = true
		switch {
		case isSealed(e) && e.WhenKind == 0:
			pending[e.DueSlot]++
		case isSealed(e) && e.Key != scheduler.WatchKey:
			condition := w.conditionOfEntry(e)
			fired[condition] = append(fired[condition], id)
		}
	}
	sum := new(uint256.Int)
	for _, a := range accounts {
		available, locked := view.Balance(a), view.Locked(a)
		sum.Add(sum, &available)
		sum.Add(sum, &locked)
		w.assert(locked.Eq(lockedBy[a]), "I-02: locked of %x is %s, its entries' fees %s", a[:1], &locked, lockedBy[a])
	}
	held := w.Balance(scheduler.Address)
	w.assert(held.Eq(sum), "I-01: the scheduler holds %s, escrow is %s", &held, sum)
	books := v.deposits
	books.Sub(&books, &v.withdrawals)
	books.Sub(&books, &v.paid)
	w.assert(books.Eq(sum), "I-03 I-04: deposits less withdrawals and fees are %s, escrow is %s", &books, sum)

	v.checkHolds(w, now)
	v.checkHistory(w, now)
	v.checkQueues(w, now, keys)
	for slot := range v.due {
		w.assert(view.SealedPending(v.due[slot]) == pending[v.due[slot]], "I-24: sealedPending(%d) is %d, counted %d", v.due[slot], view.SealedPending(v.due[slot]), pending[v.due[slot]])
	}
	for condition, ids := range fired {
		got := slices.Clone(view.FiredEntries(condition))
		slices.Sort(got)
		w.assert(slices.Equal(got, ids), "entries that wait for condition %x: %v, counted %v", condition, got, ids)
	}
	v.entries = now
}

// checkHistory compares each entry with the last look.
func (v *invariants) checkHistory(w *world, now map[uint64]scheduler.Entry) {
	next := w.view().NextID()
	w.assert(next >= v.nextID, "I-35: nextId fell from %d to %d", v.nextID, next)
	born := v.seen["Scheduled"] + v.seen["Recurred"]
	w.assert(next == uint64(born)+1, "I-35: nextId is %d after %d entries", next, born)
	v.nextID = next
	for id, e := range now {
		was, known := v.entries[id]
		if !known {
			v.due[id] = e.DueSlot
			continue
		}
		final := was.Status != scheduler.Scheduled && was.Status != scheduler.Paused && was.Status != scheduler.None
		w.assert(!final || was.Status == e.Status, "I-18: status of %d went from %d to %d", id, was.Status, e.Status)
		v.checkPaused(w, id, was, e)
		if e.Status != scheduler.Scheduled {
			continue
		}
		w.assert(e.DueSlot == v.due[id], "I-26: dueSlot of %d changed", id)
		w.assert(e.Attempts <= e.MaxRetries && e.Attempts >= was.Attempts, "I-20: attempts of %d: %d after %d, of %d", id, e.Attempts, was.Attempts, e.MaxRetries)
		w.assert(e.DeadlineSlot == was.DeadlineSlot || e.Attempts > was.Attempts || was.Key == scheduler.WatchKey, "I-26: deadline of %d changed", id)
		if isSealed(was) && !isSealed(e) && !isDetached(e) {
			v.seen["opened by the sweep"]++
			if e.WhenKind != 0 {
				v.seen["condition opened by the sweep"]++
			}
		}
		if e.Attempts > was.Attempts {
			v.seen["retry"]++
		}
		w.assert(isSealed(was) || !isSealed(e), "I-25: entry %d is sealed again", id)
		w.assert(isSealed(was) || string(was.Calls) == string(e.Calls), "I-25: calls of open entry %d changed", id)
		w.assert(!isGuaranteed(e) || e.Attempts == 0, "I-32: Guaranteed entry %d retried", id)
		fee := feeOf(e)
		w.assert(fee == v.fee[id], "I-36: fee of %d changed", id)
	}
}

// checkQueues checks every key at which an entry stands or has stood.
func (v *invariants) checkQueues(w *world, now map[uint64]scheduler.Entry, keys map[uint64]bool) {
	view := w.view()
	slot, height := view.CursorSlot(), view.CursorHeight()
	for _, e := range v.entries {
		keys[e.Key] = true
	}
	queued := map[uint64]int{}
	for key := range keys {
		queue := view.QueueAt(key)
		w.assert(len(queue) <= int(w.Machine().Policy().MaxEntriesPerBlock), "I-07: %d entries at %d", len(queue), key)
		behind := key < slot
		if key&scheduler.HeightKey != 0 {
			behind = key&^scheduler.HeightKey < height
		}
		w.assert(!behind || len(queue) == 0 && view.ReservedGas(key) == 0, "I-10: key %d is behind its cursor and holds %v", key, queue)
		var reserved uint64
		for _, id := range queue {
			queued[id]++
			e := now[id]
			w.assert(e.Status == scheduler.Scheduled && e.Key == key, "I-12: entry %d in queue %d has status %d and key %d", id, key, e.Status, e.Key)
			if isGuaranteed(e) {
				reserved += costOf(e)
			}
		}
		w.assert(view.ReservedGas(key) == reserved && reserved <= w.Machine().Policy().GuaranteedGasPerSlot, "I-08: reservedGas(%d) is %d, counted %d", key, view.ReservedGas(key), reserved)
	}
	v.checkWatchers(w, now, queued)
	for id, e := range now {
		if e.Status != scheduler.Scheduled {
			continue
		}
		behind := isDetached(e) || e.Key&scheduler.HeightKey == 0 && e.Key < slot || e.Key&scheduler.HeightKey != 0 && e.Key&^scheduler.HeightKey < height
		places := 1
		if behind {
			places = 0
		}
		w.assert(queued[id] == places, "I-11: entry %d stands in %d queues, passed: %v", id, queued[id], behind)
	}
}

// checkWatchers is I-27, and counts the watchers' places.
func (v *invariants) checkWatchers(w *world, now map[uint64]scheduler.Entry, places map[uint64]int) {
	for _, item := range streamItems {
		ids := w.view().WatchersOf(item)
		w.assert(len(ids) <= 256 && slices.IsSorted(ids), "I-27: watchers of an item: %v", ids)
		for _, id := range ids {
			places[id]++
			e := now[id]
			w.assert(e.Status == scheduler.Scheduled && e.Key == scheduler.WatchKey && e.WhenItem == item, "I-12 I-27: watcher %d: %+v", id, e)
		}
		height := w.view().WatchedHeight(item)
		it, _ := w.Item(item)
		w.assert(height >= v.watchedHeights[item] && height <= it.Height, "I-27: watchedHeight %d after %d, written at %d", height, v.watchedHeights[item], it.Height)
		v.watchedHeights[item] = height
	}
}

// afterBlock notes what can be expired, by trying it on a fork, and that the payer can have the refund (I-40).
func (v *invariants) afterBlock(w *world) {
	if v == nil {
		return
	}
	w.Helper()
	v.look(w)
	view, env := w.view(), w.Env()
	slot, height := view.CursorSlot(), view.CursorHeight()
	w.assert(slot >= v.cursors[0] && height >= v.cursors[1], "I-09: a cursor fell")
	w.assert(slot <= env.Time+1 && height <= env.Height+1, "I-09: a cursor is ahead of the block")
	v.cursors = [2]uint64{slot, height}
	f := w.Fork()
	for _, id := range sortedKeys(v.entries) {
		e := v.entries[id]
		if e.Status != scheduler.Scheduled {
			continue
		}
		if !f.Transact(treasury, scheduler.Address, 1_000_000, scheduler.ExpireInput(id)).Success {
			w.assert(!v.expirable[id], "entry %d was expirable and is not any more", id)
			continue
		}
		// An item that comes back into the catalog takes this ground of expiry away again (I-19).
		v.expirable[id] = e.Key != scheduler.WatchKey
		r := f.Transact(e.Payer, scheduler.Address, 1_000_000, scheduler.WithdrawInput(v.fee[id]))
		w.assert(r.Success, "I-40: the refund of %d cannot be withdrawn: %v", id, r.Err)
	}
}

func (w *world) assert(ok bool, format string, args ...any) {
	w.Helper()
	if !ok {
		w.Fatalf(format, args...)
	}
}

// runStream drives a machine with a stream under the eyes of the invariants, and lets it come to rest.
func runStream(t rapid.TB, data []byte, blocks int) (seen map[string]int) {
	w := newStreamWorld(t)
	watch := newInvariants()
	watch.cursors = [2]uint64{100, 1}
	s := &stream{data: data, sealed: 60}
	for range blocks {
		if !s.more() {
			break
		}
		s.record(w, watch)
	}
	w.drain(watch)
	return watch.seen
}

func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runStream(t, rapid.SliceOfN(rapid.Byte(), 100, 1_000).Draw(t, "stream"), 60)
	})
}

// TestInvariantsOfLongStreams makes long streams from seeds; a failure prints its seed.
func TestInvariantsOfLongStreams(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(8) {
		t.Logf("seed %d", seed)
		for what, n := range runStream(t, randomBytes(seed, 6_000), 150) {
			seen[what] += n
		}
	}
	t.Logf("met: %v", seen)
	for _, what := range []string{
		"success", "reverted", "skipped", "retry", "moved", "moved with its dependency", "selected with its dependency", "opened and run",
		"opened by the sweep", "Scheduled", "Executed", "ExecutionFailed", "Cancelled", "Expired", "Deposited", "Withdrawn", "Recurred",
		"RecurrenceStarved", "Paused", "resumed", "canceled while paused", "skipped periods", "captured", "captured into quarantine", "SlotFull",
		"fired", "condition opened by the sweep", "condition opened and run", "BadCondition",
		"SlotReserveFull", "InsufficientEscrow", "BadTarget", "BadDependency", "SlotNotInFuture", "NotExpired", "NotPayer", "NotScheduled", "GasLimitOutOfRange",
		"TransferFailed", "CannotRecur", "NotPaused",
	} {
		if seen[what] == 0 {
			t.Errorf("no stream met %q", what)
		}
	}
}

// randomBytes are the same n bytes for the same seed.
func randomBytes(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

func FuzzMachine(f *testing.F) {
	f.Add([]byte{})
	for _, n := range []int{50, 300, 1_000} {
		f.Add(randomBytes(uint64(n), n))
	}
	f.Fuzz(func(t *testing.T, data []byte) { runStream(t, data, 100) })
}
