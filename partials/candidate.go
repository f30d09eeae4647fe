package partials

import (
	"cmp"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// candidate is a partial of a known member on its way through recovery.
type candidate struct {
	Partial
	suspect bool // its author was to blame before
	state   state
	point   bls.G2 // unless raw or refused
}

type state uint8

const (
	raw      state = iota
	decoded        // on the curve, perhaps outside of the subgroup
	verified       // the member's partial
	refused        // not the member's partial
)

func (c *candidate) isRefused() bool { return c.state == refused }

// trust orders candidates: verified ones, then those of members never blamed, then the rest; each by index, so that all
// nodes try the same ones first.
func (c *candidate) trust(d *candidate) int {
	rank := func(c *candidate) int {
		switch {
		case c.state == verified:
			return 0
		case !c.suspect:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(c), rank(d)), cmp.Compare(c.Index, d.Index))
}

// decode decodes the raw ones among cs without checking their subgroup.
func decode(cs []*candidate, run tlock.Runner) {
	each(run, len(cs), func(i int) {
		c := cs[i]
		if c.state != raw {
			return
		}
		point, err := bls.DecodeG2Unchecked(c.Sig[:])
		if err != nil {
			c.state = refused
			return
		}
		c.state, c.point = decoded, point
	})
}

// verify takes every decoded one among cs to verified or refused.
func (g *Group) verify(p *Prepared, cs []*candidate, run tlock.Runner) {
	each(run, len(cs), func(i int) {
		if c := cs[i]; c.state == decoded && !c.point.InSubgroup() {
			c.state = refused
		}
	})
	var open []*candidate
	b := batch{lines: p.lines}
	for _, c := range cs {
		if c.state == decoded {
			open = append(open, c)
			b.public = append(b.public, g.public[c.Index-1])
			b.points = append(b.points, c.point)
		}
	}
	for _, i := range b.bad(run) {
		open[i].state = refused
	}
	for _, c := range open {
		if c.state == decoded {
			c.state = verified
		}
	}
}

// interpolate makes the key of as many candidates as the threshold, decoded at least. A point outside of the subgroup makes
// nonsense of the multi-scalar multiplication; the check of its result covers that.
func (g *Group) interpolate(p *Prepared, chosen []*candidate) (tlock.Key, bool) {
	indices := make([]uint32, len(chosen))
	points := make([]bls.G2, len(chosen))
	for i, c := range chosen {
		indices[i], points[i] = c.Index, c.point
	}
	coefficients, err := bls.LagrangeAtZero(indices)
	if err != nil {
		panic("partials: internal error: " + err.Error())
	}
	key, err := tlock.KeyFromPoint(bls.MSMG2(points, coefficients)) // checks the subgroup
	if err != nil || !bls.VerifyG2(g.key.Point(), p.lines, key.Point()) {
		return tlock.Key{}, false
	}
	return key, true
}
