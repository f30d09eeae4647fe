package scheduler

import (
	"bytes"
	"encoding/binary"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// The kinds of Condition (document 002, "Conditional entries").
const (
	WhenValueAtLeast = tlock.WhenValueAtLeast
	WhenValueAtMost  = tlock.WhenValueAtMost
	WhenNotHalted    = tlock.WhenNotHalted
)

// FiresOn says whether the item's latest write triggers the condition: the predicate holds on the item's state, and the write is no
// older than the not-before slot (document 002, "Conditional entries"; S-CON-02, S-CON-06). Values are unsigned.
func (w Condition) FiresOn(it Item, notBefore uint64) bool {
	sound := !it.Halted && !it.Disputed
	var holds bool
	switch w.Kind {
	case WhenValueAtLeast:
		holds = sound && bytes.Compare(it.Value[:], w.Operand[:]) >= 0
	case WhenValueAtMost:
		holds = sound && bytes.Compare(it.Value[:], w.Operand[:]) <= 0
	case WhenNotHalted:
		holds = !it.Halted
	}
	return holds && it.Written && it.Time >= notBefore
}

// checkCondition is S-SCH-17: a known kind, and an item that the catalog lists and that has been written.
func (c *call) checkCondition(p Params) error {
	if !p.conditional() {
		return nil
	}
	if p.When.Kind < WhenValueAtLeast || p.When.Kind > WhenNotHalted {
		return BadCondition
	}
	if c.Oracle == nil {
		return BadCondition
	}
	if it, listed := c.Oracle.Item(p.When.Item); !listed || !it.Written {
		return BadCondition
	}
	return nil
}

// firing is the watchers of one item that a block found to fire.
type firing struct {
	item    Word
	entries []*candidate // WatchKey until place finds them a slot
}

// evaluateWatchers evaluates the watchers of every item written since they were last evaluated, on the state that the parent block
// left (document 002, "Conditional entries"; pipeline step 3). Items are taken whole, in ascending order from one that rotates with the
// height, and the first that exceeds what is left of the block's evaluations ends the pass: it is judged by a later block, on its
// latest write then (S-CON-12 to S-CON-14).
//
// The cost is three reads for each watched item, and for each watcher of a written item the words of its predicate. The catalog is
// governed, so that the first is bounded; the second is by the limit of evaluations.
func (c *call) evaluateWatchers() (fired []firing) {
	items := watchedItems(c.State)
	left := c.limits.Watchers
	for i := range items {
		item := items[(c.Height+uint64(i))%uint64(len(items))]
		it, listed := c.Oracle.Item(item)
		h := readWatchList(c.State, item)
		if !listed || it.Height <= h.height {
			continue
		}
		if h.count > left {
			break
		}
		left -= h.count
		if f := c.evaluate(item, it, h.ids(c.State)); len(f.entries) > 0 {
			fired = append(fired, f)
		}
		h.height = it.Height
		h.writeHead(c.State)
	}
	return fired
}

// evaluate judges the watchers of one item by their predicates; no other word of an entry that does not fire is read (S-CON-16).
func (c *call) evaluate(item Word, it Item, watchers []uint64) firing {
	f := firing{item: item}
	for _, id := range watchers {
		terms, shape := c.State.Get(keyOf(tagEntry, id, wordTerms)), c.State.Get(keyOf(tagEntry, id, wordShape))
		when := Condition{item, shape[6], c.State.Get(keyOf(tagEntry, id, wordOperand))}
		if when.FiresOn(it, binary.BigEndian.Uint64(terms[24:])) {
			f.entries = append(f.entries, &candidate{entry: readEntry(c.State, id)})
		}
	}
	return f
}

// leaveWatchLists takes the fired entries that found a slot off the watch lists. The others keep watching for the item's next write
// (S-CON-08).
func (c *call) leaveWatchLists(fired []firing) {
	for _, f := range fired {
		placed := map[uint64]bool{}
		for _, e := range f.entries {
			if e.key != WatchKey {
				placed[e.id] = true
			}
		}
		if len(placed) > 0 {
			c.unwatch(f.item, func(id uint64) bool { return placed[id] })
		}
	}
}

// readWhen is the condition of a conditional entry.
func readWhen(r Reader, e *entry) Condition {
	return Condition{r.Get(keyOf(tagEntry, e.id, wordItem)), e.whenKind, r.Get(keyOf(tagEntry, e.id, wordOperand))}
}
