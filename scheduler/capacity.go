package scheduler

import (
	"cmp"
	"slices"
)

// place takes the chosen entries out of their queues and moves those that wait, BestEffort or delayed by a dependency, and those that
// fired to the first of the next keys with room, in id order (S-SEL-09, S-SEL-12; pipeline steps 6 and 7).
func (c *call) place(s *scan) {
	type exit struct {
		ids     map[uint64]bool
		release uint64
	}
	exits := map[uint64]*exit{}
	leave := func(e *candidate) {
		x := exits[e.key]
		if x == nil {
			x = &exit{ids: map[uint64]bool{}}
			exits[e.key] = x
		}
		x.ids[e.id] = true
		x.release += e.reserved()
	}
	movers := slices.Clone(s.candidates)
	for _, f := range s.fired {
		movers = append(movers, f.entries...)
	}
	slices.SortFunc(movers, func(a, b *candidate) int { return cmp.Compare(a.id, b.id) })
	room := c.newRoom()
	for _, e := range movers {
		switch {
		case e.key == WatchKey:
			c.placeFired(e.entry, room)
		case e.chosen:
			leave(e)
			e.flags |= FlagDetached
			writeHead(c.State, e.id, e.head)
		case e.guaranteed() && e.waiting == 0:
			// Waits for budget in place: selectRuns holds its key.
		default:
			to, ok := room.after(c.now(e))
			if !ok {
				s.held[e.key] = true
				continue
			}
			leave(e)
			e.key = to
			e.flags |= FlagBestEffort // a delayed Guaranteed entry gives up its class (S-SEL-10)
			enqueue(c.State, to, e.id, 0)
			writeHead(c.State, e.id, e.head)
		}
	}
	for _, key := range s.queues {
		if x := exits[key]; x != nil {
			dequeue(c.State, key, x.release, func(id uint64) bool { return x.ids[id] })
		}
	}
	c.leaveWatchLists(s.fired)
}

// placeFired makes a conditional entry that fires a slot entry like any other, if there is room (S-CON-07, S-ITF-11).
func (c *call) placeFired(e *entry, room *room) {
	slot, ok := room.after(c.Time)
	if !ok {
		return // it keeps watching (S-CON-08)
	}
	e.key, e.deadlineSlot = slot, slot+c.policy.MaxLateSlots
	e.write(c.State)
	enqueue(c.State, slot, e.id, 0)
	if e.sealed() {
		c.countSealed(e)
	}
}

// guaranteedGasLeft is what is left of a key's Guaranteed budget; reservedGas never exceeds the policy's (I-08).
func (c *call) guaranteedGasLeft(key uint64) uint64 {
	return c.policy.GuaranteedGasPerSlot - readQueueHead(c.State, key).reserved
}

// now is the key of the present block among keys of e's kind.
func (c *call) now(e *candidate) uint64 {
	if e.byHeight() {
		return HeightKey | c.Height
	}
	return c.Time
}

// room finds places for entries that are put back into a queue.
type room struct {
	c     *call
	count map[uint64]uint64 // entries queued at a key, those placed through this room included
}

func (c *call) newRoom() *room { return &room{c, map[uint64]uint64{}} }

// after takes a place at the first of the spillKeys keys after key that has one (S-CAP-03).
func (r *room) after(key uint64) (at uint64, ok bool) {
	for at := key + 1; at <= key+spillKeys; at++ {
		n, known := r.count[at]
		if !known {
			n = readQueueHead(r.c.State, at).count
		}
		if n < uint64(r.c.policy.MaxEntriesPerBlock) {
			r.count[at] = n + 1
			return at, true
		}
		r.count[at] = n
	}
	return 0, false
}
