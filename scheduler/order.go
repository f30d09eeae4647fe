package scheduler

import (
	"cmp"
	"container/heap"
)

// candidate is a due entry that may run in this block.
type candidate struct {
	*entry
	dependsOn []uint64
	chosen    bool
	waiting   int // dependencies in this block that must come first
	next      []*candidate
}

// oldestFirst is heights before slots, then key, then id.
func oldestFirst(a, b *candidate) int {
	return cmp.Or(compareKind(a, b), cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
}

// budgetOrder is the order in which the block's budget is given out: Guaranteed oldest first (S-SEL-04), then BestEffort by
// descending price, equal prices oldest first (S-SEL-05).
func budgetOrder(a, b *candidate) int {
	if c := compareClass(a, b); c != 0 || a.guaranteed() {
		return cmp.Or(c, oldestFirst(a, b))
	}
	return cmp.Or(cmp.Compare(b.gasPrice, a.gasPrice), oldestFirst(a, b))
}

// runOrder is heights before slots, then key, then Guaranteed before BestEffort, then id (S-SEL-13).
func runOrder(a, b *candidate) int {
	return cmp.Or(compareKind(a, b), cmp.Compare(a.key, b.key), compareClass(a, b), cmp.Compare(a.id, b.id))
}

func compareKind(a, b *candidate) int  { return compareBool(a.byHeight(), b.byHeight()) }
func compareClass(a, b *candidate) int { return compareBool(a.guaranteed(), b.guaranteed()) }

// compareBool orders true first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// inOrder visits candidates so that each comes after those it waits for and, among all that are ready, the least by order comes
// next. visit says whether those waiting for the candidate are released. What is never released is never visited.
func inOrder(cs []*candidate, order func(a, b *candidate) int, visit func(*candidate) (release bool)) {
	ready := &readyHeap{order: order}
	for _, c := range cs {
		if c.waiting == 0 {
			ready.items = append(ready.items, c)
		}
	}
	heap.Init(ready)
	for ready.Len() > 0 {
		c := heap.Pop(ready).(*candidate)
		if !visit(c) {
			continue
		}
		for _, n := range c.next {
			if n.waiting--; n.waiting == 0 {
				heap.Push(ready, n)
			}
		}
	}
}

type readyHeap struct {
	items []*candidate
	order func(a, b *candidate) int
}

func (h *readyHeap) Len() int           { return len(h.items) }
func (h *readyHeap) Less(i, j int) bool { return h.order(h.items[i], h.items[j]) < 0 }
func (h *readyHeap) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *readyHeap) Push(x any)         { h.items = append(h.items, x.(*candidate)) }
func (h *readyHeap) Pop() any {
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	return last
}

// waitFor lets each candidate wait for those of its dependencies that stand in byID, and for ever for one that blocks it.
func waitFor(cs []*candidate, byID map[uint64]*candidate, blocked func(dependency uint64) bool) {
	for _, c := range cs {
		c.waiting, c.next = 0, nil
	}
	for _, c := range cs {
		for _, id := range c.dependsOn {
			if d := byID[id]; d != nil {
				c.waiting++
				d.next = append(d.next, c)
			} else if blocked(id) {
				c.waiting++
			}
		}
	}
}
