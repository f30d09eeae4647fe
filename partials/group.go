package partials

import (
	"bytes"
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Group is the public side of a shared key during one epoch: who can sign what share of it. It does not change and may be
// used by any number of goroutines.
type Group struct {
	ns          tlock.Namespace
	epoch       uint64
	key         tlock.GroupKey
	commitments []bls.G1 // of the secret polynomial's coefficients, constant term first; as many as the threshold
	public      []bls.G1 // public[i-1] is the public share of index i
}

// NewGroup returns the group of n members whose secret polynomial has these commitments, constant term first; their number
// is the threshold, 1..n (a ceremony uses Threshold(n)). It computes all public shares, n*threshold small multiplications:
// 50 pairings' time for 100 members. ErrInvalid if a commitment is the identity point, which would make the threshold smaller than it
// looks, or if a public share is.
func NewGroup(ns tlock.Namespace, epoch uint64, n int, commitments []bls.G1) (*Group, error) {
	if ns.IsZero() {
		return nil, invalid("a group needs a namespace")
	}
	if n < 1 || n > MaxMembers {
		return nil, invalid("a group of %d members: 1 to %d are possible", n, MaxMembers)
	}
	if len(commitments) < 1 || len(commitments) > n {
		return nil, invalid("a group of %d members with threshold %d: 1 to %d are possible", n, len(commitments), n)
	}
	for i, c := range commitments {
		if c.IsInfinity() {
			return nil, invalid("commitment %d is the identity point", i)
		}
	}
	key, err := tlock.GroupKeyFromPoint(commitments[0])
	if err != nil {
		return nil, invalid("group key: %v", err)
	}
	g := &Group{ns: ns, epoch: epoch, key: key, commitments: slices.Clone(commitments), public: make([]bls.G1, n)}
	for i := range g.public {
		g.public[i] = bls.EvalG1(g.commitments, uint32(i+1))
		if g.public[i].IsInfinity() {
			return nil, invalid("the public share of index %d is the identity point", i+1)
		}
	}
	return g, nil
}

// Namespace returns the chain whose identities the group signs.
func (g *Group) Namespace() tlock.Namespace { return g.ns }

// Epoch returns the group's epoch. The group key may outlive it; shares do not.
func (g *Group) Epoch() uint64 { return g.epoch }

// N returns the number of members; their indices are 1..N.
func (g *Group) N() int { return len(g.public) }

// Threshold returns how many members make a key.
func (g *Group) Threshold() int { return len(g.commitments) }

// Key returns the group key, under which keys of identities verify.
func (g *Group) Key() tlock.GroupKey { return g.key }

// Commitments returns a copy of the commitments, constant term first.
func (g *Group) Commitments() []bls.G1 { return slices.Clone(g.commitments) }

// Has reports whether index is a member's.
func (g *Group) Has(index uint32) bool { return index >= 1 && uint64(index) <= uint64(len(g.public)) }

// PublicShare returns the public share of a member, its secret share times the generator of G1, and whether there is such a
// member.
func (g *Group) PublicShare(index uint32) (bls.G1, bool) {
	if !g.Has(index) {
		return bls.G1{}, false
	}
	return g.public[index-1], true
}

// Equal reports whether both are the same group: chain, epoch, members and commitments.
func (g *Group) Equal(h *Group) bool { return bytes.Equal(g.Encode(), h.Encode()) }

func (g *Group) checkIndex(index uint32) error {
	if !g.Has(index) {
		return classed(ErrIndex, "index %d: the group has members 1 to %d", index, g.N())
	}
	return nil
}
