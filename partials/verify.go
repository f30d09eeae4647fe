package partials

import (
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// VerifyPartial checks one partial: e(G1, partial) = e(public share, Q) (S-BEA-07), 1.3 of a pairing. ErrIndex if the group
// has no such member, ErrInvalid if the bytes are no point of the subgroup or the check fails.
func (g *Group) VerifyPartial(p *Prepared, part Partial) error {
	if err := g.checkIndex(part.Index); err != nil {
		return err
	}
	sig, err := bls.DecodeG2(part.Sig[:])
	if err != nil {
		return invalid("partial of index %d: %v", part.Index, err)
	}
	if !bls.VerifyG2(g.public[part.Index-1], p.lines, sig) {
		return invalid("partial of index %d does not verify under its public share", part.Index)
	}
	return nil
}

// VerifyBatch checks many partials of one identity, of different indices, at a fraction of their single cost and returns
// the indices of the bad ones, ascending. Every partial is decoded and subgroup-checked by itself, since small subgroups
// could hide in a random combination; the rest is one combination with random coefficients, and, only if that fails, a
// search. run may be nil.
func (g *Group) VerifyBatch(p *Prepared, parts []Partial, run tlock.Runner) []uint32 {
	candidates := make([]candidate, 0, len(parts))
	var members []*candidate
	for _, part := range parts {
		candidates = append(candidates, candidate{Partial: part})
		c := &candidates[len(candidates)-1]
		if g.Has(part.Index) {
			members = append(members, c)
		} else {
			c.state = refused
		}
	}
	decode(members, run)
	g.verify(p, members, run)
	return blamed(candidates)
}
