package partials

import (
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// Job is the heavy part of recovering one key, cut off from the Pool that made it. It does not change, and Run may be called
// on any goroutine.
type Job struct {
	group      *Group
	id         tlock.Identity
	owner      *Pool       // only compared; nil outside of a pool
	number     uint64      // given by the pool
	prepared   *Prepared   // nil until a job made it
	candidates []candidate // threshold or more, of different members, the most trusted first
	careful    bool        // check all partials before interpolating: that failed before at this identity
}

// Outcome is what a Job found out, for Pool.Finish. Only Job.Run makes one.
type Outcome struct {
	job        *Job
	prepared   *Prepared
	candidates []candidate // as in the job, with what became known of them
	careful    bool
	key        *tlock.Key
}

// Identity returns the identity that the job recovers.
func (j *Job) Identity() tlock.Identity { return j.id }

// Run recovers the key: optimistically, and if that fails by finding the bad partials and doing without them. From wire
// bytes and without cheats it costs about 8 pairings at a threshold of 67. Partials of members that were to blame before are
// taken only if there are not enough others, and checked first. Without enough good partials there is no key in the
// outcome, but those that were found to be bad are named. run may be nil.
func (j *Job) Run(run tlock.Runner) Outcome {
	out := Outcome{job: j, prepared: j.prepared, candidates: slices.Clone(j.candidates), careful: j.careful}
	if out.prepared == nil {
		out.prepared = Prepare(j.group.ns, j.id)
	}
	for {
		chosen := choose(out.candidates, j.group.Threshold(), run)
		if chosen == nil {
			return out
		}
		check := chosen
		if !out.careful {
			check = slices.DeleteFunc(slices.Clone(chosen), func(c *candidate) bool { return !c.suspect })
		}
		j.group.verify(out.prepared, check, run)
		if slices.ContainsFunc(check, (*candidate).isRefused) {
			continue
		}
		if key, ok := j.group.interpolate(out.prepared, chosen); ok {
			out.key = &key
			return out
		}
		if out.careful {
			panic("partials: internal error: verified partials do not make the group's key")
		}
		out.careful = true
	}
}

// choose returns the first t that decode and are not refused, or nil if there are fewer.
func choose(cs []candidate, t int, run tlock.Runner) []*candidate {
	for {
		var chosen []*candidate
		for i := range cs {
			if c := &cs[i]; c.state != refused && len(chosen) < t {
				chosen = append(chosen, c)
			}
		}
		if len(chosen) < t {
			return nil
		}
		decode(chosen, run)
		if !slices.ContainsFunc(chosen, (*candidate).isRefused) {
			return chosen
		}
	}
}

// blamed returns the indices of the refused ones, ascending.
func blamed(cs []candidate) []uint32 {
	var indices []uint32
	for i := range cs {
		if cs[i].state == refused {
			indices = append(indices, cs[i].Index)
		}
	}
	slices.Sort(indices)
	return indices
}

// Recover makes the key of an identity from partials of different members, in any order, some of them perhaps bad; those
// beyond the threshold are used if others fail. It also returns the indices of the bad ones that it met, ascending. ErrIndex
// if one is of no member, ErrDuplicate if two are of the same, ErrTooFew if fewer than threshold are good. run may be nil.
func (g *Group) Recover(p *Prepared, parts []Partial, run tlock.Runner) (tlock.Key, []uint32, error) {
	if p.id.IsZero() {
		panic("partials: internal error: a confirmation has no key")
	}
	job := &Job{group: g, id: p.id, prepared: p}
	seen := make(map[uint32]bool, len(parts))
	for _, part := range parts {
		if err := g.checkIndex(part.Index); err != nil {
			return tlock.Key{}, nil, err
		}
		if seen[part.Index] {
			return tlock.Key{}, nil, classed(ErrDuplicate, "two partials of index %d", part.Index)
		}
		seen[part.Index] = true
		job.candidates = append(job.candidates, candidate{Partial: part})
	}
	out := job.Run(run)
	bad := blamed(out.candidates)
	if out.key == nil {
		return tlock.Key{}, bad, classed(ErrTooFew, "%d partials of %v, %d of them known to be bad: %d good ones make its key",
			len(parts), p.id, len(bad), g.Threshold())
	}
	return *out.key, bad, nil
}
