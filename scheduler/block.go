package scheduler

import (
	"cmp"
	"fmt"
	"slices"
)

// Plan is what a block's beginning decided: its leading transactions, and what EndBlock has to open.
type Plan struct {
	Runs    []Run    // one 0x7e transaction each, in this order
	opening []uint64 // sealed entries whose key came with this block
}

// BeginBlock selects the entries that block (env.Height, env.Time) runs and makes them ready: pipeline steps 4 to 9. The block's
// beacon update must have been applied; fresh lists the slots whose keys it carried. Every node derives the same plan from its
// state and refuses a block whose leading transactions differ from it (S-SEL-02). Errors: a height or time out of range.
func (m *Machine) BeginBlock(env Env, h *Host, fresh []uint64, run Runner) (*Plan, error) {
	if env.Height >= maxBlockTime || env.Time >= maxBlockTime {
		return nil, fmt.Errorf("begin block: height %d or time %d is out of range", env.Height, env.Time)
	}
	c := &call{m, env, h}
	plan := &Plan{opening: c.sealedAt(fresh)}
	s := c.scanQueues()
	chosen := c.selectRuns(s)
	c.place(s)
	c.advance(s)
	c.reveal(sealedOf(chosen), run)
	for _, e := range chosen {
		plan.Runs = append(plan.Runs, c.runOf(e.entry))
	}
	return plan, nil
}

// selectRuns gives out the block's budget and returns the chosen entries in run order (document 002, "When an entry runs"). Chosen
// entries carry FlagDetached from here on.
func (c *call) selectRuns(s *scan) []*candidate {
	byID := map[uint64]*candidate{}
	for _, e := range s.candidates {
		byID[e.id] = e
	}
	waitFor(s.candidates, byID, func(id uint64) bool { return !readHead(c.State, id).settled(c.State) })
	left, maxCount := c.policy.GasPerBlock, int(c.policy.MaxEntriesPerBlock)
	var chosen []*candidate
	inOrder(s.candidates, budgetOrder, func(e *candidate) bool {
		// The count stops BestEffort only; the gas budget stops both, and what fits the rest may still go (S-SEL-06, S-SEL-07).
		if e.cost() > left || !e.guaranteed() && len(chosen) >= maxCount {
			if e.guaranteed() {
				s.held[e.key] = true // it waits in place (S-SEL-11)
			}
			return false
		}
		left -= e.cost()
		e.chosen = true
		chosen = append(chosen, e)
		// A dependent joins the block only if this run is the last of its dependency.
		return e.attempts >= e.maxRetries
	})
	return inRunOrder(chosen)
}

// inRunOrder sorts the chosen entries so that each follows the dependencies chosen with it (S-SEL-13).
func inRunOrder(chosen []*candidate) []*candidate {
	byID := map[uint64]*candidate{}
	for _, e := range chosen {
		byID[e.id] = e
	}
	waitFor(chosen, byID, func(uint64) bool { return false })
	sorted := make([]*candidate, 0, len(chosen))
	inOrder(chosen, runOrder, func(e *candidate) bool {
		sorted = append(sorted, e)
		return true
	})
	return sorted
}

// place takes the chosen entries out of their queues and moves those that wait, BestEffort or delayed by a dependency, to the first
// of the next keys with room, in id order (S-SEL-09, S-SEL-12; pipeline steps 6 and 7).
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
	room := c.newRoom()
	slices.SortFunc(s.candidates, func(a, b *candidate) int { return cmp.Compare(a.id, b.id) })
	for _, e := range s.candidates {
		switch {
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

// advance moves the cursors to the first key that still holds a waiting or unread entry and clears what they pass (document 002,
// "Halts and catch-up"; S-CUR-01, S-CUR-05, S-CUR-07).
func (c *call) advance(s *scan) {
	height, slot := s.nextHeight, s.nextSlot
	for _, key := range slices.Backward(s.queues) {
		switch {
		case !s.held[key]:
		case key&HeightKey != 0:
			height = key
		default:
			slot = key
		}
	}
	for _, key := range s.queues {
		if key < slot || key&HeightKey != 0 && key < height {
			clearQueue(c.State, key)
		}
	}
	setUint64(c.State, tagMeta, 0, metaCursorHeight, height&^HeightKey)
	setUint64(c.State, tagMeta, 0, metaCursorSlot, slot)
}
