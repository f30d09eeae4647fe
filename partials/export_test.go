package partials

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// PendingIdentities returns how many identities wait for their key.
func (p *Pool) PendingIdentities() int { return len(p.pending) }

// DoneIdentities returns how many keys are kept, in both places that must agree.
func (p *Pool) DoneIdentities() (keys, order int) { return len(p.done), len(p.doneOrder) }

// Held returns the indices whose partial of an identity is held.
func (p *Pool) Held(id tlock.Identity) []uint32 {
	var indices []uint32
	if e := p.pending[id]; e != nil {
		for _, c := range e.candidates {
			indices = append(indices, c.Index)
		}
	}
	return indices
}

// Waiting returns how many slots and conditions a member has a partial waiting for, by the pool's own accounts.
func (p *Pool) Waiting(index uint32) (slots, conditions int) {
	m := &p.members[index-1]
	return len(m.slots), len(m.conditions)
}

// Unchecked returns how many of a job's first threshold partials have not been verified, and how many are suspects'.
func (j *Job) Unchecked() (unverified, suspects int) {
	for _, c := range j.candidates[:j.group.Threshold()] {
		if c.state != verified {
			unverified++
		}
		if c.suspect {
			suspects++
		}
	}
	return unverified, suspects
}

// Careful reports whether a job failed to interpolate, then or before.
func (o Outcome) Careful() bool { return o.careful }

// Decoded is a batch of decoded and subgroup-checked partials.
type Decoded struct{ b batch }

// NewDecoded decodes partials for Bad.
func NewDecoded(tb testing.TB, g *Group, p *Prepared, parts []Partial) *Decoded {
	d := &Decoded{b: batch{lines: p.lines}}
	for _, part := range parts {
		point, err := bls.DecodeG2(part.Sig[:])
		if err != nil {
			tb.Fatal(err)
		}
		d.b.public = append(d.b.public, g.public[part.Index-1])
		d.b.points = append(d.b.points, point)
	}
	return d
}

// Bad returns the positions of the bad ones.
func (d *Decoded) Bad() []int { return d.b.bad(nil) }
