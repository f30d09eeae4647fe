package scheduler_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// model is pipeline steps 4 to 8 once more, in the plainest way the ledger can be read: lists searched from the front, no heaps, no
// limits on scanning. It sees the entries before the block.
type model struct {
	policy  scheduler.Policy
	env     scheduler.Env
	entries map[uint64]scheduler.Entry
	queues  map[uint64][]uint64
	cursors [2]uint64       // slot, height
	known   map[uint64]bool // sealed entries whose key is on chain
	fires   map[uint64]bool // watchers that fire
}

func (m *model) byHeight(id uint64) bool { return m.entries[id].Key&scheduler.HeightKey != 0 }

// settled is the ledger's predicate, with the cursors of the last block.
func (m *model) settled(id uint64) bool {
	e := m.entries[id]
	if e.Status != scheduler.Scheduled || e.Flags&scheduler.FlagDetached != 0 {
		return true
	}
	if m.byHeight(id) {
		return e.Key&^scheduler.HeightKey < m.cursors[1]
	}
	return e.Key < m.cursors[0]
}

func (m *model) dead(e scheduler.Entry) bool {
	if e.Key&scheduler.HeightKey != 0 || e.Key == scheduler.WatchKey {
		return false
	}
	return e.Flags&scheduler.FlagLateExecute == 0 && m.env.Time > e.DeadlineSlot ||
		e.Flags&scheduler.FlagSealed != 0 && m.env.Time > e.Key+31
}

// ranked compares by a list of keys, the smallest first.
func ranked(keys func(id uint64) []uint64) func(a, b uint64) int {
	return func(a, b uint64) int { return slices.Compare(keys(a), keys(b)) }
}

func (m *model) kind(id uint64) uint64 {
	if m.byHeight(id) {
		return 0
	}
	return 1
}

func (m *model) class(id uint64) uint64 {
	return uint64(m.entries[id].Flags & scheduler.FlagBestEffort)
}

// predicted is what the block must do.
type predicted struct {
	runs    []uint64
	keys    map[uint64]uint64 // of every Scheduled entry, after the block began
	cursors [2]uint64
}

func (m *model) predict() predicted {
	var candidates []uint64
	held := map[uint64]bool{} // keys
	for key, queue := range m.queues {
		if key&scheduler.HeightKey != 0 && key&^scheduler.HeightKey > m.env.Height || key&scheduler.HeightKey == 0 && key > m.env.Time {
			continue
		}
		for _, id := range queue {
			e := m.entries[id]
			switch {
			case m.dead(e):
			case e.Flags&scheduler.FlagSealed != 0 && !m.known[id]:
				held[key] = true
			default:
				candidates = append(candidates, id)
			}
		}
	}
	chosen, waiting := m.choose(slices.Clone(candidates))
	out := predicted{runs: m.order(chosen), keys: map[uint64]uint64{}}
	for id, e := range m.entries {
		out.keys[id] = e.Key
	}
	for id := range m.fires { // any order: they are sorted
		candidates = append(candidates, id)
	}
	slices.Sort(candidates)
	for _, id := range candidates {
		e := m.entries[id]
		if m.fires[id] {
			m.move(id, out.keys)
			continue
		}
		guaranteedWaits := slices.Contains(waiting, id) && m.class(id) == 0
		if slices.Contains(chosen, id) {
			continue
		}
		if guaranteedWaits || !m.move(id, out.keys) {
			held[e.Key] = true
		}
	}
	out.cursors = [2]uint64{max(m.cursors[0], m.env.Time+1), max(m.cursors[1], m.env.Height+1)}
	for key := range held {
		if key&scheduler.HeightKey != 0 {
			out.cursors[1] = min(out.cursors[1], key&^scheduler.HeightKey)
		} else {
			out.cursors[0] = min(out.cursors[0], key)
		}
	}
	return out
}

// choose is S-SEL-08: take the best-ranked candidate that is ready, again and again.
func (m *model) choose(left []uint64) (chosen, waiting []uint64) {
	gas := m.policy.GasPerBlock
	ready := func(id uint64) bool {
		for _, d := range m.entries[id].DependsOn {
			terminal := slices.Contains(chosen, d) && m.entries[d].Attempts >= m.entries[d].MaxRetries
			if !m.settled(d) && !terminal {
				return false
			}
		}
		return true
	}
	slices.SortFunc(left, ranked(func(id uint64) []uint64 {
		e := m.entries[id]
		price := uint64(0)
		if m.class(id) != 0 {
			price = ^e.GasPrice
		}
		return []uint64{m.class(id), price, m.kind(id), e.Key, id}
	}))
	for {
		i := slices.IndexFunc(left, ready)
		if i < 0 {
			return chosen, waiting
		}
		id := left[i]
		left = slices.Delete(left, i, i+1)
		cost := costOf(m.entries[id])
		if cost > gas || m.class(id) != 0 && len(chosen) >= int(m.policy.MaxEntriesPerBlock) {
			waiting = append(waiting, id)
			continue
		}
		gas -= cost
		chosen = append(chosen, id)
	}
}

// order is S-SEL-13: emit the first entry of the list whose chosen dependencies are emitted.
func (m *model) order(chosen []uint64) (emitted []uint64) {
	left := slices.Clone(chosen)
	slices.SortFunc(left, ranked(func(id uint64) []uint64 { return []uint64{m.kind(id), m.entries[id].Key, m.class(id), id} }))
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(id uint64) bool {
			return !slices.ContainsFunc(m.entries[id].DependsOn, func(d uint64) bool { return slices.Contains(left, d) })
		})
		emitted = append(emitted, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return emitted
}

// move is S-SEL-09 for one entry; keys holds where everything stands by now.
func (m *model) move(id uint64, keys map[uint64]uint64) bool {
	from := m.env.Time
	if m.byHeight(id) {
		from = scheduler.HeightKey | m.env.Height
	}
	for to := from + 1; to <= from+8; to++ {
		count := 0
		for other, key := range keys {
			if key == to && m.entries[other].Status == scheduler.Scheduled && m.entries[other].Flags&scheduler.FlagDetached == 0 {
				count++
			}
		}
		if count < int(m.policy.MaxEntriesPerBlock) {
			keys[id] = to
			return true
		}
	}
	return false
}

// newModel reads everything from w's state, for the block env with the keys its update carries.
func newModel(w *world, b recorded) *model {
	m := &model{
		policy: w.Machine().Policy(), env: b.env, entries: map[uint64]scheduler.Entry{}, queues: map[uint64][]uint64{},
		cursors: [2]uint64{w.view().CursorSlot(), w.view().CursorHeight()},
		known:   map[uint64]bool{}, fires: map[uint64]bool{},
	}
	for id := uint64(1); id < w.view().NextID(); id++ {
		e := w.view().Entry(id)
		m.entries[id] = e
		if e.Status == scheduler.Scheduled {
			m.queues[e.Key] = w.view().QueueAt(e.Key)
			m.known[id] = w.keyIsKnown(e, b.update)
			if w.firesNow(e) {
				m.fires[id] = true
			}
		}
	}
	return m
}

// keyIsKnown says whether the key of a sealed entry is on chain or comes with the update.
func (w *world) keyIsKnown(e scheduler.Entry, u scheduler.Update) bool {
	if e.WhenKind == 0 {
		return len(w.Beacon().KeyAt(e.DueSlot)) > 0 || slices.ContainsFunc(u.Slots, func(k scheduler.SlotKey) bool { return k.Slot == e.DueSlot })
	}
	condition := w.conditionOfEntry(e)
	return len(w.Beacon().ConditionKey(condition)) > 0 ||
		slices.ContainsFunc(u.Conditions, func(k scheduler.ConditionKey) bool { return k.Condition == condition })
}

// firesNow says whether the next block finds that a watcher fires; streams do not reach the limit of evaluations.
func (w *world) firesNow(e scheduler.Entry) bool {
	it, listed := w.Item(e.WhenItem)
	if e.Key != scheduler.WatchKey || !listed || it.Height <= w.view().WatchedHeight(e.WhenItem) || it.Time < e.DueSlot || it.Halted {
		return false
	}
	switch c := bytes.Compare(it.Value[:], e.WhenOperand[:]); e.WhenKind {
	case 1:
		return c >= 0 && !it.Disputed
	case 2:
		return c <= 0 && !it.Disputed
	default:
		return true
	}
}

// compareWithModel makes the block begin and compares it with the model's prediction.
func compareWithModel(w *world, b recorded) {
	w.Helper()
	want := newModel(w, b).predict()
	w.update, w.proposer = b.update, b.env.Proposer
	w.begin(b.env.Height, b.env.Time)
	w.assert(slices.Equal(w.ran(), want.runs), "block %d: runs %v, the model %v", b.env.Time, w.ran(), want.runs)
	for id, key := range want.keys {
		got := w.view().Entry(id).Key
		w.assert(got == key, "block %d: entry %d stands at %d, the model has it at %d", b.env.Time, id, got, key)
	}
	got := [2]uint64{w.view().CursorSlot(), w.view().CursorHeight()}
	w.assert(got == want.cursors, "block %d: cursors %v, the model %v", b.env.Time, got, want.cursors)
}

func TestSelectionMatchesThePlainModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newStreamWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e12)
			n := rapid.IntRange(1, 40).Draw(t, "entries")
			for range n {
				last := w.view().NextID() - 1
				p := with(entryOf(262_000+rapid.Uint64Range(0, 500_000).Draw(t, "gas"), 101+rapid.Uint64Range(0, 7).Draw(t, "slot")),
					price(10+rapid.Uint64Range(0, 3).Draw(t, "price")), retries(rapid.Uint8Range(0, 1).Draw(t, "retries")))
				p.Class = rapid.Uint8Range(0, 1).Draw(t, "class")
				if rapid.IntRange(0, 3).Draw(t, "trigger") == 0 {
					p.Slot, p.Height = 0, p.Slot-99
				}
				if rapid.IntRange(0, 3).Draw(t, "target") == 0 {
					p.Calls[0].Target = revertTarget
				}
				for range rapid.IntRange(0, 3).Draw(t, "dependencies") {
					if last > 0 {
						p.DependsOn = append(p.DependsOn, scheduler.Dependency{ID: rapid.Uint64Range(1, last).Draw(t, "dependency"), Finished: true})
					}
				}
				if _, err := w.trySchedule(alice, p); err != nil { // the slot may be full
					expect(w, "nextId", w.view().NextID(), last+1)
				}
			}
		})
		time := 100 + rapid.Uint64Range(1, 10).Draw(t, "first block")
		for ; time < 116; time++ {
			compareWithModel(w, recorded{env: scheduler.Env{Height: time - 99, Time: time, Proposer: proposer}})
			w.executeRuns()
			w.EndBlock(nil)
		}
	})
}

// TestStreamsMatchThePlainModel compares every block of random streams, sealed entries and failing proposers included.
func TestStreamsMatchThePlainModel(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			w := newStreamWorld(t)
			s := &stream{data: randomBytes(seed+100, 6_000), sealed: 60}
			for range 120 {
				compareWithModel(w, s.nextBlock(w))
				w.executeRuns()
				for range s.pick(7) {
					tx := s.nextTx(w)
					w.apply(tx)
				}
				w.EndBlock(w.runner)
			}
		})
	}
}
