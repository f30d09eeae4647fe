package partials_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// shuffled draws an order of 0..n-1.
func shuffled(t *rapid.T, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return rapid.Permutation(order).Draw(t, "order")
}

func pick(parts []partials.Partial, order []int) []partials.Partial {
	var picked []partials.Partial
	for _, i := range order {
		picked = append(picked, parts[i])
	}
	return picked
}

func TestAnyThresholdSubsetMakesTheKey(t *testing.T) {
	t.Run("I-38 any threshold partials give the same key, one fewer none", func(t *testing.T) {
		for _, n := range []int{1, 2, 3, 4, 7, 10} {
			threshold := partials.Threshold(n)
			c := newCluster(t, n, threshold)
			id := tlock.SlotIdentity(7)
			p := partials.Prepare(c.group.Namespace(), id)
			parts := c.sign(p)
			rapid.Check(t, func(t *rapid.T) {
				order := shuffled(t, n)
				key, bad, err := c.group.Recover(p, pick(parts, order[:threshold]), nil)
				if err != nil || len(bad) != 0 {
					t.Fatalf("n=%d: blamed %v: %v", n, bad, err)
				}
				if got, want := key.Bytes(), c.key(id); got != want {
					t.Fatalf("n=%d: key %x, want %x", n, got, want)
				}
				if err := c.group.Key().Verify(c.group.Namespace(), id, key); err != nil {
					t.Fatal(err)
				}
				_, bad, err = c.group.Recover(p, pick(parts, order[:threshold-1]), nil)
				if !errors.Is(err, partials.ErrTooFew) || !errors.Is(err, partials.ErrNotYet) || len(bad) != 0 {
					t.Fatalf("n=%d: one partial short: blamed %v: %v", n, bad, err)
				}
			})
		}
	})
}

// TestBadPartialsDoNotStopRecovery: up to n-t bad partials of any kind, in any order, leave the right key, and
// exactly the bad ones that come before the last one needed are named (S-BEA-06), unless they did no harm.
func TestBadPartialsDoNotStopRecovery(t *testing.T) {
	for _, n := range []int{4, 7, 13} {
		c := newCluster(t, n, partials.Threshold(n))
		id := tlock.ConditionIdentity([32]byte{byte(n)})
		p := partials.Prepare(c.group.Namespace(), id)
		good := c.sign(p)
		rapid.Check(t, func(t *rapid.T) {
			parts, isBad := spoil(t, c, good, c.group.N()-c.group.Threshold())
			order := shuffled(t, n)
			key, bad, err := c.group.Recover(p, pick(parts, order), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := key.Bytes(), c.key(id); got != want {
				t.Fatalf("key %x, want %x", got, want)
			}
			var want []uint32
			for needed, at := c.group.Threshold(), 0; needed > 0; at++ {
				if isBad[order[at]] {
					want = append(want, uint32(order[at]+1))
				} else {
					needed--
				}
			}
			slices.Sort(want)
			if harmless(t, parts, good, order[:c.group.Threshold()]) {
				want = nil
			}
			if !slices.Equal(bad, want) {
				t.Fatalf("blamed %v, want %v", bad, want)
			}
		})
	}
}

// harmless reports whether the partials of these members interpolate to the key although some may be bad: the members of
// a cancelling pair can happen to have the same Lagrange coefficient.
func harmless(t *rapid.T, parts, good []partials.Partial, members []int) bool {
	var xs []uint32
	var points, want []bls.G2
	for _, i := range members {
		point, err := bls.DecodeG2(parts[i].Sig[:])
		if err != nil {
			return false
		}
		xs, points, want = append(xs, parts[i].Index), append(points, point), append(want, decodeG2(good[i].Sig))
	}
	l, err := bls.LagrangeAtZero(xs)
	if err != nil {
		t.Fatal(err)
	}
	return bls.MSMG2(points, l).Equal(bls.MSMG2(want, l))
}

// spoil draws at most limit members and a badness for each.
func spoil(t *rapid.T, c *cluster, good []partials.Partial, limit int) ([]partials.Partial, map[int]bool) {
	parts, isBad := slices.Clone(good), make(map[int]bool)
	victims := shuffled(t, len(good))[:rapid.IntRange(0, limit).Draw(t, "bad")]
	if len(victims) >= 2 && rapid.Bool().Draw(t, "cancelling pair") {
		cancel(parts, victims[0], victims[1])
		isBad[victims[0]], isBad[victims[1]] = true, true
		victims = victims[2:]
	}
	for _, v := range victims {
		kind := rapid.SampledFrom(badnesses).Draw(t, "badness")
		parts[v].Sig, isBad[v] = kind.spoil(c, good, v), true
	}
	return parts, isBad
}

// TestTooManyBadPartialsMakeNoKey: threshold-1 good ones and any number of bad ones give no key and blame no good one.
func TestTooManyBadPartialsMakeNoKey(t *testing.T) {
	c := newCluster(t, 7, 5)
	p := partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(7))
	good := c.sign(p)
	for _, kind := range badnesses {
		t.Run(kind.name, func(t *testing.T) {
			parts := slices.Clone(good)
			for _, i := range []int{1, 3, 4} {
				parts[i].Sig = kind.spoil(c, good, i)
			}
			_, bad, err := c.group.Recover(p, parts, nil)
			if !errors.Is(err, partials.ErrTooFew) {
				t.Errorf("got %v, want ErrTooFew", err)
			}
			if want := []uint32{2, 4, 5}; !slices.Equal(bad, want) {
				t.Errorf("blamed %v, want %v", bad, want)
			}
		})
	}
}

// TestPartialsThatCancelInTheInterpolation: whoever knows the Lagrange coefficients can spoil two partials so that the key
// comes out right all the same. That is no harm; checked one by one or in a batch they are still found.
func TestPartialsThatCancelInTheInterpolation(t *testing.T) {
	c := newCluster(t, 4, 3)
	id := tlock.SlotIdentity(7)
	p := partials.Prepare(c.group.Namespace(), id)
	parts := c.sign(p)[:3]
	l, err := bls.LagrangeAtZero([]uint32{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, sign := range []bls.Scalar{bls.ScalarFromUint64(1), bls.ScalarFromUint64(1).Neg()} {
		inverse, err := l[i].Inverse()
		if err != nil {
			t.Fatal(err)
		}
		shift := bls.G2Generator().Mul(inverse.Mul(sign))
		parts[i].Sig = decodeG2(parts[i].Sig).Add(shift).Bytes()
	}
	key, bad, err := c.group.Recover(p, parts, nil)
	if err != nil || len(bad) != 0 || key.Bytes() != c.key(id) {
		t.Errorf("blamed %v, %v, key right: %v", bad, err, key.Bytes() == c.key(id))
	}
	if bad := c.group.VerifyBatch(p, parts, nil); !slices.Equal(bad, []uint32{1, 2}) {
		t.Errorf("batch blames %v, want [1 2]", bad)
	}
}

// TestVerifyBatchFindsExactlyTheBad, wherever they are and however many: it takes the search and the way one by one.
func TestVerifyBatchFindsExactlyTheBad(t *testing.T) {
	c := newCluster(t, 24, 17)
	p := partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(7))
	good := c.sign(p)
	rapid.Check(t, func(t *rapid.T) {
		parts, isBad := spoil(t, c, good, 24)
		order := shuffled(t, 24)[:rapid.IntRange(0, 24).Draw(t, "size")]
		var want []uint32
		for _, i := range order {
			if isBad[i] {
				want = append(want, uint32(i+1))
			}
		}
		slices.Sort(want)
		if bad := c.group.VerifyBatch(p, pick(parts, order), parallel); !slices.Equal(bad, want) {
			t.Fatalf("blamed %v, want %v", bad, want)
		}
	})
}

// parallel is a Runner with a goroutine for each call.
func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func TestVerifyPartialRefusesEveryBadness(t *testing.T) {
	c := newCluster(t, 4, 3)
	p := partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(7))
	good := c.sign(p)
	for _, kind := range badnesses {
		part := partials.Partial{Index: 2, Sig: kind.spoil(c, good, 1)}
		if err := c.group.VerifyPartial(p, part); !errors.Is(err, partials.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", kind.name, err)
		}
	}
	if err := c.group.VerifyPartial(p, good[1]); err != nil {
		t.Error(err)
	}
	for _, index := range []uint32{0, 5, 1<<32 - 1} {
		part := partials.Partial{Index: index, Sig: good[1].Sig}
		if err := c.group.VerifyPartial(p, part); !errors.Is(err, partials.ErrIndex) {
			t.Errorf("index %d: got %v, want ErrIndex", index, err)
		}
		if bad := c.group.VerifyBatch(p, []partials.Partial{good[0], part}, nil); !slices.Equal(bad, []uint32{index}) {
			t.Errorf("index %d: batch blames %v", index, bad)
		}
		if _, _, err := c.group.Recover(p, append(good[:2:2], part), nil); !errors.Is(err, partials.ErrIndex) {
			t.Errorf("index %d: recovery got %v, want ErrIndex", index, err)
		}
	}
	if _, _, err := c.group.Recover(p, append(good[:2:2], good[0]), nil); !errors.Is(err, partials.ErrDuplicate) {
		t.Errorf("twice the same member: got %v, want ErrDuplicate", err)
	}
}
