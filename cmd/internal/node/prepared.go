package node

import (
	"sync"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// keptPrepared bounds preparedSlots: 20 KB each.
const keptPrepared = 64

// preparedSlots keeps the slots hashed to the curve whose partials are coming in, so that n partials of a slot cost one
// hash. Any number of goroutines may use it.
type preparedSlots struct {
	ns    tlock.Namespace
	mu    sync.Mutex // guards slots and order
	slots map[uint64]*partials.Prepared
	order []uint64 // oldest first
}

func newPreparedSlots(ns tlock.Namespace) *preparedSlots {
	return &preparedSlots{ns: ns, slots: make(map[uint64]*partials.Prepared)}
}

func (c *preparedSlots) get(slot uint64) *partials.Prepared {
	c.mu.Lock()
	p := c.slots[slot]
	c.mu.Unlock()
	if p != nil {
		return p
	}
	p = partials.Prepare(c.ns, tlock.SlotIdentity(slot)) // outside of the lock: two may do it at the same time, no harm
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[slot] != nil {
		return c.slots[slot]
	}
	if len(c.order) == keptPrepared {
		delete(c.slots, c.order[0])
		c.order = append(c.order[:0], c.order[1:]...)
	}
	c.slots[slot] = p
	c.order = append(c.order, slot)
	return p
}
