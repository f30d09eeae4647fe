package partials

import (
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// batch checks partials of one identity together: with random c_i, e(sum c_i P_i, Q) = e(G1, sum c_i S_i) holds for all of a
// set of good partials, and for a set with a bad one with a chance of about 2^-127. The points are in the subgroup.
type batch struct {
	lines  *bls.Lines
	public []bls.G1
	points []bls.G2
	coeffs []bls.Coeff128
}

// linearBelow is the size of a set in which checking one by one costs no more than searching.
const linearBelow = 5

// bad returns the positions of the partials that do not verify, ascending; each of them failed a check of its own.
//
// It looks for the first bad one by halving, then goes on behind it: all before it is known to be good. A single bad one
// among 67 costs 29 pairings where one by one costs 87. Every further one costs a search, so where bad ones turn out to lie
// closer than a search is worth, about one in eight, it checks the rest one by one: an attacker gains little over
// that however it places them.
func (b *batch) bad(run tlock.Runner) []int {
	n := len(b.points)
	if n == 0 {
		return nil
	}
	var err error
	if b.coeffs, err = bls.RandomCoeffs(n); err != nil {
		panic("partials: internal error: no randomness: " + err.Error())
	}
	var found []int
	for from := 0; from < n && !b.holds(from, n); {
		if n-from == 1 {
			return append(found, from)
		}
		if n-from < linearBelow || 8*len(found) > from+8 {
			return append(found, b.oneByOne(from, n, run)...)
		}
		first := b.firstBad(from, n)
		if !b.holds(first, first+1) { // so far it was inferred, and nobody is blamed by that
			found = append(found, first)
		}
		from = first + 1
	}
	return found
}

// firstBad returns the position of the first bad one in [lo, hi), which does not hold.
func (b *batch) firstBad(lo, hi int) int {
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; b.holds(lo, mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// oneByOne returns the positions in [lo, hi) of the bad ones.
func (b *batch) oneByOne(lo, hi int, run tlock.Runner) []int {
	good := make([]bool, hi-lo)
	each(run, hi-lo, func(i int) { good[i] = b.holds(lo+i, lo+i+1) })
	var found []int
	for i, ok := range good {
		if !ok {
			found = append(found, lo+i)
		}
	}
	return found
}

// holds checks the partials at [lo, hi) together, a single one without a coefficient.
func (b *batch) holds(lo, hi int) bool {
	if hi-lo == 1 {
		return bls.VerifyG2(b.public[lo], b.lines, b.points[lo])
	}
	public := bls.MSMG1Short(b.public[lo:hi], b.coeffs[lo:hi])
	point := bls.MSMG2Short(b.points[lo:hi], b.coeffs[lo:hi])
	return bls.VerifyG2(public, b.lines, point)
}
