package scheduler

import (
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// Sealed conditional entries (document 002, the section of that name). Fired and not yet open, they stand in a list of their
// condition, under tagFired and the condition: word 0 holds the count, the following words four ids each. So a condition's key finds
// what it opens without a search. All were scheduled before the condition's slot and fire after it, and an item has at most
// 256 watchers: no list is longer than that.

// sealedTo is what a sealed entry's payload is bound to: its slot, or the condition with that slot as not-before. It is the same
// wherever the entry has moved.
func (c *call) sealedTo(e *entry) tlock.SealedTo { return sealedTo(c.State, e) }

func sealedTo(r Reader, e *entry) tlock.SealedTo {
	if e.whenKind == 0 {
		return tlock.SlotSeal(e.dueSlot, e.payer)
	}
	w := readWhen(r, e)
	to, err := tlock.ConditionSeal(tlock.Condition{Payer: e.payer, Item: w.Item, Kind: w.Kind, Operand: w.Operand, NotBefore: e.dueSlot})
	if err != nil {
		panic(internalError("a stored condition has no identity: " + err.Error()))
	}
	return to
}

// conditionOf is the condition that a sealed conditional entry waits for.
func conditionOf(r Reader, e *entry) Word {
	condition, _ := sealedTo(r, e).Identity().Condition()
	return condition
}

// keyFor is the key of an identity if it is on chain.
func keyFor(b Beacon, id tlock.Identity) []byte {
	if slot, ok := id.Slot(); ok {
		return b.KeyAt(slot)
	}
	condition, _ := id.Condition()
	return b.ConditionKey(condition)
}

func firedEntries(r Reader, condition Word) []uint64 {
	list := keyOfHash(tagFired, condition)
	return readIDs(r, list, r.Get(list).uint64())
}

func addFired(s State, condition Word, id uint64) {
	list := keyOfHash(tagFired, condition)
	n := s.Get(list).uint64()
	appendID(s, list, n, id)
	s.Set(list, wordOf(n+1))
}

func removeFired(s State, condition Word, id uint64) {
	list := keyOfHash(tagFired, condition)
	ids := firedEntries(s, condition)
	kept := slices.DeleteFunc(slices.Clone(ids), func(other uint64) bool { return other == id })
	writeIDs(s, list, uint64(len(ids)), kept)
	s.Set(list, wordOf(uint64(len(kept))))
}

// countSealed and uncountSealed keep what finds an entry when its key comes: the count of its slot's, or the list of its condition's.
// A conditional entry that watches is in neither: it opens once it has fired (S-SCO-07, S-SCO-08).
func (c *call) countSealed(e *entry) {
	switch {
	case e.whenKind == 0:
		addSealedPending(c.State, e.dueSlot, 1)
	case e.key != WatchKey:
		addFired(c.State, conditionOf(c.State, e), e.id)
	}
}

func (c *call) uncountSealed(e *entry) {
	switch {
	case e.whenKind == 0:
		addSealedPending(c.State, e.dueSlot, -1)
	case e.key != WatchKey:
		removeFired(c.State, conditionOf(c.State, e), e.id)
	}
}

// firedAt lists the fired entries of conditions whose keys have just come.
func (c *call) firedAt(keys []ConditionKey) (ids []uint64) {
	for _, k := range keys {
		ids = append(ids, firedEntries(c.State, k.Condition)...)
	}
	return ids
}

// firedOpenable lists the sealed entries that have just fired and whose key is on chain already: they shared it with an entry that
// fired earlier (S-SCO-07).
func (c *call) firedOpenable(fired []firing) (ids []uint64) {
	for _, f := range fired {
		for _, e := range f.entries {
			if e.sealed() && e.key != WatchKey && len(c.Beacon.ConditionKey(conditionOf(c.State, e.entry))) > 0 {
				ids = append(ids, e.id)
			}
		}
	}
	return ids
}

// WantedConditions lists the conditions whose keys a block at time should carry, those of the oldest fire slot first and in it those
// of the lowest id: of fired entries that can still open, and without a key on chain (document 002, "Sealed conditional entries";
// An entry without its key stands where it fired, so that a few dozen queues are all there is to read. An update takes
// MaxConditionKeys of them, in ascending order of the conditions.
func (v View) WantedConditions(b Beacon, time uint64) (conditions []Word) {
	seen := map[Word]bool{}
	for slot := max(cursorSlot(v.Reader), time-min(time, missedAfterSlots)); slot < time+spillKeys; slot++ {
		ids := queueAt(v.Reader, slot)
		slices.Sort(ids)
		for _, id := range ids {
			e := readEntry(v.Reader, id)
			if !e.sealed() || e.whenKind == 0 || e.dead(time) {
				continue
			}
			condition := conditionOf(v.Reader, e)
			if !seen[condition] && len(b.ConditionKey(condition)) == 0 {
				conditions = append(conditions, condition)
			}
			seen[condition] = true
		}
	}
	return conditions
}
