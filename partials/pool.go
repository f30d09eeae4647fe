package partials

import (
	"cmp"
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// Limits bound a Pool.
type Limits struct {
	// Pending is how many slots, and how many conditions, may wait for their key with a partial of one and the same member.
	Pending int
	// Done is how many keys are kept after recovery, to recognise late partials.
	Done int
}

// DefaultLimits let a member's partials of four minutes wait while too few members are up. A pool then takes at most 0.3 MB
// for each member that means harm, and 20 KB for each identity at which a bad partial was met.
var DefaultLimits = Limits{Pending: 256, Done: 256}

// Pool gathers the partials of a group and makes keys of them. It is a serial machine: one caller at a time, the same
// decisions for the same calls. The heavy work is in the Jobs that it hands out, one at a time for each identity.
//
// It holds one partial of each member for an identity, and never replaces one. A partial is unique, so a member that
// sends two different ones lies; it is one of the n-threshold whose partials are not needed, and exchanging them would only
// let it choose how much work it makes.
//
// The bound is on each member: one that has Limits.Pending slots waiting loses its own partial of the oldest slot to one of a
// newer slot, and of conditions the one that came first. So a member that floods the pool pushes out nothing but its own, new
// slots always find a place, and old partials of an honest member that somebody sends again push out nothing newer. For
// conditions the caller sees to the last: it adds only those that fired and still wait for their key.
type Pool struct {
	group  *Group
	limits Limits

	pending   map[tlock.Identity]*entry
	members   []member // by index-1
	arrivals  uint64   // conditions' rank among a member's partials
	lastJob   uint64
	done      map[tlock.Identity]tlock.Key
	doneOrder []tlock.Identity // oldest first
}

// entry is an identity that waits for its key. Each candidate in it has its place in its member's slots or conditions.
type entry struct {
	candidates []candidate // ascending by index
	barred     []uint32    // blamed at this identity: nothing more of them here
	prepared   *Prepared   // nil until a job made it
	careful    bool        // a job failed to interpolate
	job        uint64      // number of the job under way, 0 if none
}

// member is what the pool knows of a member: where it has partials waiting, by rank, and whether it was to blame.
type member struct {
	slots, conditions map[tlock.Identity]uint64
	suspect           bool
}

// NewPool returns an empty pool for a group. It panics if a limit is not positive.
func NewPool(g *Group, limits Limits) *Pool {
	if limits.Pending < 1 || limits.Done < 1 {
		panic("partials: internal error: pool limits must be positive")
	}
	p := &Pool{
		group:   g,
		limits:  limits,
		pending: make(map[tlock.Identity]*entry),
		members: make([]member, g.N()),
		done:    make(map[tlock.Identity]tlock.Key),
	}
	for i := range p.members {
		p.members[i] = member{slots: make(map[tlock.Identity]uint64), conditions: make(map[tlock.Identity]uint64)}
	}
	return p
}

// Add takes in a partial whose author the caller has authenticated as the member of its index. It returns a job if there is
// now something to recover: run it anywhere and give its outcome to Finish, before which the identity gets no other. An error says that the partial was not taken in:
// ErrIndex or ErrEquivocation, which are the author's fault, or ErrDuplicate, ErrDone or ErrFull, which are nobody's.
func (p *Pool) Add(id tlock.Identity, part Partial) (*Job, error) {
	if id.IsZero() {
		panic("partials: internal error: partial of no identity")
	}
	if err := p.group.checkIndex(part.Index); err != nil {
		return nil, err
	}
	if _, ok := p.done[id]; ok {
		return nil, ErrDone
	}
	if err := p.checkNew(id, part); err != nil {
		return nil, err
	}
	if err := p.makeRoom(id, part.Index); err != nil {
		return nil, err
	}
	e := p.pending[id]
	if e == nil {
		e = new(entry)
		p.pending[id] = e
	}
	at, _ := e.find(part.Index)
	e.candidates = slices.Insert(e.candidates, at, candidate{Partial: part})
	return p.startJob(id, e), nil
}

// checkNew refuses what the author has sent before at this identity.
func (p *Pool) checkNew(id tlock.Identity, part Partial) error {
	e := p.pending[id]
	if e == nil {
		return nil
	}
	if slices.Contains(e.barred, part.Index) {
		return ErrDuplicate
	}
	at, ok := e.find(part.Index)
	switch {
	case !ok:
		return nil
	case e.candidates[at].Sig == part.Sig:
		return ErrDuplicate
	}
	p.members[part.Index-1].suspect = true
	return ErrEquivocation
}

// makeRoom enters id among those where the member has a partial waiting. If it has as many as it may, the lowest rank has to
// go: the oldest slot, or the condition that came first.
func (p *Pool) makeRoom(id tlock.Identity, index uint32) error {
	own := p.members[index-1].waiting(id)
	rank, isSlot := id.Slot()
	if !isSlot {
		p.arrivals++
		rank = p.arrivals
	}
	if len(own) >= p.limits.Pending {
		victim, lowest := id, rank
		for other, r := range own { // any order: ranks differ, so the lowest is one
			if r < lowest {
				victim, lowest = other, r
			}
		}
		if victim == id {
			return ErrFull
		}
		p.remove(victim, index)
	}
	own[id] = rank
	return nil
}

// remove takes a member's partial out, and the identity if it was the last.
func (p *Pool) remove(id tlock.Identity, index uint32) {
	delete(p.members[index-1].waiting(id), id)
	e := p.pending[id]
	if at, ok := e.find(index); ok {
		e.candidates = slices.Delete(e.candidates, at, at+1)
	}
	if len(e.candidates) == 0 {
		delete(p.pending, id)
	}
}

// startJob returns a job if enough partials are there and none is under way.
func (p *Pool) startJob(id tlock.Identity, e *entry) *Job {
	if e.job != 0 || len(e.candidates) < p.group.Threshold() {
		return nil
	}
	p.lastJob++
	e.job = p.lastJob
	j := &Job{group: p.group, id: id, owner: p, number: e.job, prepared: e.prepared, careful: e.careful, candidates: slices.Clone(e.candidates)}
	for i := range j.candidates {
		j.candidates[i].suspect = p.members[j.candidates[i].Index-1].suspect
	}
	slices.SortFunc(j.candidates, func(a, b candidate) int { return a.trust(&b) })
	return j
}

// Result is what a job led to.
type Result struct {
	Identity tlock.Identity
	Key      *tlock.Key // nil if there is none yet, or if it was already known
	Blamed   []uint32   // indices of members whose partials were found to be bad, ascending
}

// Finish takes in what a job of this pool found out. It returns the identity's key, who was to blame, and another job if
// partials that came in meanwhile are enough for one. The outcome of another pool's job changes nothing, as after a change of
// epoch.
func (p *Pool) Finish(out Outcome) (Result, *Job) {
	id := out.job.id
	if out.job.owner != p {
		return Result{Identity: id}, nil
	}
	res := Result{Identity: id, Blamed: blamed(out.candidates)}
	for _, index := range res.Blamed {
		p.members[index-1].suspect = true
	}
	if out.key != nil {
		if _, known := p.done[id]; !known {
			p.complete(id, *out.key)
			res.Key = out.key
		}
		return res, nil
	}
	e := p.pending[id]
	if e == nil || e.job != out.job.number {
		return res, nil // dropped meanwhile
	}
	e.job, e.prepared, e.careful = 0, out.prepared, out.careful
	p.learn(id, e, out.candidates)
	if p.pending[id] == nil {
		return res, nil
	}
	return res, p.startJob(id, e)
}

// learn applies to e what a job found out about candidates, where e still has the same bytes of them.
func (p *Pool) learn(id tlock.Identity, e *entry, found []candidate) {
	for _, c := range found {
		at, ok := e.find(c.Index)
		if !ok || e.candidates[at].Sig != c.Sig {
			continue
		}
		if c.state == refused {
			e.barred = append(e.barred, c.Index)
			p.remove(id, c.Index)
			continue
		}
		e.candidates[at] = c
	}
}

// complete replaces an identity's partials by its key.
func (p *Pool) complete(id tlock.Identity, key tlock.Key) {
	p.Drop(id)
	if len(p.doneOrder) >= p.limits.Done {
		delete(p.done, p.doneOrder[0])
		p.doneOrder = slices.Delete(p.doneOrder, 0, 1)
	}
	p.done[id] = key
	p.doneOrder = append(p.doneOrder, id)
}

// Key returns the key of an identity, if it was recovered and is still kept.
func (p *Pool) Key(id tlock.Identity) (tlock.Key, bool) {
	key, ok := p.done[id]
	return key, ok
}

// Missing returns the indices of members whose partial of an identity is neither held nor refused, ascending; none if the
// key is known.
func (p *Pool) Missing(id tlock.Identity) []uint32 {
	if _, ok := p.done[id]; ok {
		return nil
	}
	e := p.pending[id]
	var missing []uint32
	for index := uint32(1); p.group.Has(index); index++ {
		if e != nil {
			if _, ok := e.find(index); ok || slices.Contains(e.barred, index) {
				continue
			}
		}
		missing = append(missing, index)
	}
	return missing
}

// Suspects returns the indices of members that were to blame for a bad or a second partial, ascending.
func (p *Pool) Suspects() []uint32 {
	var indices []uint32
	for i, m := range p.members {
		if m.suspect {
			indices = append(indices, uint32(i+1))
		}
	}
	return indices
}

// Drop forgets the partials of an identity, say because its key came from elsewhere.
func (p *Pool) Drop(id tlock.Identity) {
	if e := p.pending[id]; e != nil {
		for _, c := range e.candidates {
			delete(p.members[c.Index-1].waiting(id), id)
		}
		delete(p.pending, id)
	}
}

// Forget forgets the partials and keys of slots before slot.
func (p *Pool) Forget(slot uint64) {
	before := func(id tlock.Identity) bool {
		s, ok := id.Slot()
		return ok && s < slot
	}
	for id := range p.pending { // any order: dropping one leaves the others as they are
		if before(id) {
			p.Drop(id)
		}
	}
	p.doneOrder = slices.DeleteFunc(p.doneOrder, func(id tlock.Identity) bool {
		if before(id) {
			delete(p.done, id)
			return true
		}
		return false
	})
}

// find returns where the candidate of a member is, or would be.
func (e *entry) find(index uint32) (int, bool) {
	return slices.BinarySearchFunc(e.candidates, index, func(c candidate, index uint32) int {
		return cmp.Compare(c.Index, index)
	})
}

// waiting returns the member's partials of id's kind.
func (m *member) waiting(id tlock.Identity) map[tlock.Identity]uint64 {
	if _, ok := id.Slot(); ok {
		return m.slots
	}
	return m.conditions
}
