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

// What the search goes by; a check of a set costs from 2 pairings for a few to 5 for 67, a single one 1.1.
const (
	pairSize   = 2  // a set of two costs as much as two single checks
	stripSize  = 8  // the size down to which halving pays
	searchCost = 16 // finding one more bad one costs about as much as so many single checks
)

// bad returns the positions of the partials that do not verify, ascending; each of them failed a check of its own.
//
// It looks for the first bad one by halving, then goes on behind it: all before it is known to be good. A single bad one
// among 67 costs about 20 pairings where one by one costs 70. Where bad ones turn out to lie closer than a search is worth it
// checks the rest one by one: with a third of them bad, halving to the end would cost twice as much as that.
func (b *batch) bad(run tlock.Runner) []int {
	n := len(b.points)
	var err error
	if b.coeffs, err = bls.RandomCoeffs(n); err != nil {
		panic("partials: internal error: no randomness: " + err.Error())
	}
	var found []int
	for from := 0; from < n; {
		if n-from <= pairSize {
			return append(found, b.oneByOne(from, n, run)...)
		}
		if b.holds(from, n) {
			return found
		}
		if n-from <= stripSize || searchCost*len(found) > from+searchCost {
			return append(found, b.oneByOne(from, n, run)...)
		}
		first, ok := b.firstBad(from, n)
		if ok {
			found = append(found, first)
		}
		from = first + 1
	}
	return found
}

// firstBad returns the position of the first bad one in [lo, hi), which does not hold. It is not ok, by the chance that a bad
// half was taken to hold, if there is none.
func (b *batch) firstBad(lo, hi int) (at int, ok bool) {
	for hi-lo > stripSize {
		if mid := lo + (hi-lo)/2; b.holds(lo, mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	for ; lo < hi; lo++ {
		if !b.holds(lo, lo+1) {
			return lo, true
		}
	}
	return hi - 1, false
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
