package tasks

import "slices"

// Inventory is all tasks of a runtime at one moment, in the order of their identities.
type Inventory struct {
	Epoch    uint64     `json:"epoch"` // never 0, without tasks either
	At       Instant    `json:"at"`
	Tasks    []Snapshot `json:"tasks"`
	Handles  int        `json:"handles"` // timers and queued work that tasks own
	Running  int        `json:"running"` // callbacks that run, also those given up by a shutdown
	Waiting  int        `json:"waiting"` // deliveries that wait for a place among the running
	Stale    Counter    `json:"stale"`   // deliveries that came for registrations that were gone
	ShutDown bool       `json:"shut_down"`
}

// Inventory copies all tasks at one moment. Of a runtime that is not initialized it is the zero Inventory.
func (r *Runtime) Inventory() Inventory {
	if r.ready() != nil {
		return Inventory{}
	}
	r.mu.Lock()
	now := r.clock.Now()
	inv := Inventory{Epoch: r.epoch, At: now, Tasks: make([]Snapshot, 0, len(r.tasks)), Handles: r.handles, Running: r.running,
		Waiting: len(r.waiting), Stale: r.stale, ShutDown: r.stopping}
	for _, t := range r.tasks { // in any order: sorted below
		inv.Tasks = append(inv.Tasks, t.snapshot(now, r.epoch))
	}
	r.unlock()
	slices.SortFunc(inv.Tasks, func(a, b Snapshot) int { return a.Identity.Compare(b.Identity) })
	return inv
}

// Snapshot is the task of that identity; false if there is none.
func (r *Runtime) Snapshot(id Identity) (Snapshot, bool) {
	if r.ready() != nil {
		return Snapshot{}, false
	}
	r.mu.Lock()
	defer r.unlock()
	t := r.tasks[id]
	if t == nil {
		return Snapshot{}, false
	}
	return t.snapshot(r.clock.Now(), r.epoch), true
}
