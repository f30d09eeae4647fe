package partials_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// poolBench is a pool with the members' good partials of some slots.
type poolBench struct {
	*cluster
	t    *testing.T
	pool *partials.Pool
}

func newPoolBench(t *testing.T, n, threshold int, limits partials.Limits) *poolBench {
	c := newCluster(t, n, threshold)
	return &poolBench{cluster: c, t: t, pool: partials.NewPool(c.group, limits)}
}

func (b *poolBench) good(id tlock.Identity, index uint32) partials.Partial {
	return b.shares[index-1].Sign(partials.Prepare(b.group.Namespace(), id))
}

// bad is a partial that decodes and lies in the subgroup, but is not the member's.
func (b *poolBench) bad(id tlock.Identity, index uint32) partials.Partial {
	part := b.good(id, index)
	part.Sig = decodeG2(part.Sig).Neg().Bytes()
	return part
}

// add adds a partial, wants this error, and runs the job if there is one to its end.
func (b *poolBench) add(id tlock.Identity, part partials.Partial, want error) partials.Result {
	b.t.Helper()
	job, err := b.pool.Add(id, part)
	if !errors.Is(err, want) || want == nil && err != nil {
		b.t.Fatalf("%v, index %d: got %v, want %v", id, part.Index, err, want)
	}
	return b.settle(job)
}

func (b *poolBench) settle(job *partials.Job) partials.Result {
	var all partials.Result
	for job != nil {
		var res partials.Result
		res, job = b.pool.Finish(job.Run(nil))
		all.Key, all.Blamed = res.Key, append(all.Blamed, res.Blamed...)
	}
	return all
}

func (b *poolBench) wantKey(id tlock.Identity, res partials.Result) {
	b.t.Helper()
	if res.Key == nil || res.Key.Bytes() != b.key(id) {
		b.t.Fatalf("%v: no key, or a wrong one: %v", id, res)
	}
}

func (b *poolBench) wantIndices(what string, got []uint32, want ...uint32) {
	b.t.Helper()
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestPoolMakesTheKeyAtTheThreshold(t *testing.T) {
	b := newPoolBench(t, 4, 3, partials.DefaultLimits)
	id := tlock.SlotIdentity(7)
	b.wantIndices("missing at first", b.pool.Missing(id), 1, 2, 3, 4)
	b.add(id, b.good(id, 3), nil)
	b.add(id, b.good(id, 1), nil)
	b.add(id, b.good(id, 3), partials.ErrDuplicate)
	b.wantIndices("missing", b.pool.Missing(id), 2, 4)
	res := b.add(id, b.good(id, 4), nil)
	b.wantKey(id, res)
	b.wantIndices("blamed", res.Blamed)
	if key, ok := b.pool.Key(id); !ok || key.Bytes() != b.key(id) {
		t.Error("the pool does not keep the key")
	}
	b.add(id, b.good(id, 2), partials.ErrDone)
	b.wantIndices("missing when done", b.pool.Missing(id))
	if b.pool.PendingIdentities() != 0 {
		t.Error("partials are kept beside the key")
	}
	for _, index := range []uint32{0, 5, 1<<32 - 1} {
		b.add(id, partials.Partial{Index: index}, partials.ErrIndex)
	}
}

func TestPoolRemembersWhoWasToBlame(t *testing.T) {
	b := newPoolBench(t, 7, 5, partials.DefaultLimits)
	first, second := tlock.SlotIdentity(7), tlock.SlotIdentity(8)
	for _, part := range []partials.Partial{b.bad(first, 1), b.good(first, 2), b.bad(first, 3), b.good(first, 4)} {
		b.add(first, part, nil)
	}
	res := b.add(first, b.good(first, 5), nil)
	b.wantIndices("blamed at the threshold", res.Blamed, 1, 3)
	b.wantIndices("suspects", b.pool.Suspects(), 1, 3)
	b.add(first, b.good(first, 1), partials.ErrDuplicate) // too late: barred at this identity
	b.wantIndices("missing after blame", b.pool.Missing(first), 6, 7)
	b.add(first, b.good(first, 6), nil)
	b.wantKey(first, b.add(first, b.good(first, 7), nil))

	// At the next identity the two are there early, but taken only if there are not enough others.
	for _, index := range []uint32{1, 3, 2, 4} {
		b.add(second, b.good(second, index), nil)
	}
	job, err := b.pool.Add(second, b.good(second, 5))
	if err != nil {
		t.Fatal(err)
	}
	if _, suspects := job.Unchecked(); suspects != 2 {
		t.Errorf("%d suspects among the first five, want 2: there is nobody else", suspects)
	}
	b.wantKey(second, b.settle(job))

	// If they are bad again, that is found before anything is interpolated.
	again := tlock.SlotIdentity(10)
	for _, part := range []partials.Partial{b.bad(again, 1), b.bad(again, 3), b.good(again, 2), b.good(again, 4)} {
		b.add(again, part, nil)
	}
	job, _ = b.pool.Add(again, b.good(again, 5))
	out := job.Run(nil)
	if res, _ := b.pool.Finish(out); out.Careful() || !slices.Equal(res.Blamed, []uint32{1, 3}) {
		t.Errorf("blamed %v, after interpolating in vain: %v", res.Blamed, out.Careful())
	}

	third := tlock.SlotIdentity(9)
	for _, index := range []uint32{1, 2, 4, 5} {
		b.add(third, b.good(third, index), nil)
	}
	job, _ = b.pool.Add(third, b.bad(third, 7)) // not known to be bad: the job fails at first
	for _, index := range []uint32{3, 6} {
		if waiting, err := b.pool.Add(third, b.good(third, index)); waiting != nil || err != nil {
			t.Fatalf("a second job beside the first: %v, %v", waiting, err)
		}
	}
	res, next := b.pool.Finish(job.Run(nil))
	b.wantIndices("blamed", res.Blamed, 7)
	if next == nil {
		t.Fatal("no job although enough good partials are there")
	}
	// 2, 4, 5 and suspect 1 are verified by now; 6 and suspect 3 are new, and 6 goes first.
	if unverified, suspects := next.Unchecked(); unverified != 1 || suspects != 1 {
		t.Errorf("%d unverified and %d suspects among the first five, want 1 and 1", unverified, suspects)
	}
	b.wantKey(third, b.settle(next))
}

func TestPoolHoldsTheFirstOfTwoDifferentPartials(t *testing.T) {
	b := newPoolBench(t, 4, 3, partials.DefaultLimits)
	id, other := tlock.SlotIdentity(7), tlock.SlotIdentity(8)
	b.add(id, b.bad(id, 1), nil)
	b.add(id, b.good(id, 1), partials.ErrEquivocation) // does not replace the first
	b.wantIndices("suspects", b.pool.Suspects(), 1)
	b.add(id, b.bad(id, 1), partials.ErrDuplicate)
	b.add(id, b.good(id, 2), nil)
	res := b.add(id, b.good(id, 3), nil)
	b.wantIndices("blamed", res.Blamed, 1)
	b.wantKey(id, b.add(id, b.good(id, 4), nil))

	b.add(other, b.good(other, 2), nil)
	b.add(other, b.bad(other, 2), partials.ErrEquivocation) // nor does a bad one
	b.add(other, b.good(other, 3), nil)
	res = b.add(other, b.good(other, 4), nil)
	b.wantKey(other, res)
	b.wantIndices("blamed", res.Blamed)
}

// TestAFloodingMemberPushesOutNothingButItsOwn, neither with new slots nor with old ones nor with conditions.
func TestAFloodingMemberPushesOutNothingButItsOwn(t *testing.T) {
	b := newPoolBench(t, 4, 3, partials.Limits{Pending: 8, Done: 4})
	slot, condition := tlock.SlotIdentity(1000), tlock.ConditionIdentity([32]byte{1})
	for _, id := range []tlock.Identity{slot, condition} {
		b.add(id, b.good(id, 1), nil)
		b.add(id, b.good(id, 2), nil)
	}
	for i := range uint64(200) {
		for _, id := range []tlock.Identity{tlock.SlotIdentity(900 + i), tlock.ConditionIdentity([32]byte{2, byte(i)})} {
			job, _ := b.pool.Add(id, partials.Partial{Index: 4, Sig: [96]byte{0x80, byte(i)}}) // once at slot 1000
			b.settle(job)
		}
	}
	if slots, conditions := b.pool.Waiting(4); slots != 8 || conditions != 8 {
		t.Errorf("the flooding member has %d slots and %d conditions waiting, want 8 and 8", slots, conditions)
	}
	if got := b.pool.PendingIdentities(); got != 2*8+2 {
		t.Errorf("%d identities pending, want 18", got)
	}
	for _, id := range []tlock.Identity{slot, condition} {
		b.wantIndices("held", b.pool.Held(id), 1, 2)
		b.wantKey(id, b.add(id, b.good(id, 3), nil))
	}
}

// TestOldPartialsSentAgainPushOutNothingNewer: whoever stored an honest member's partials cannot use them up against it.
func TestOldPartialsSentAgainPushOutNothingNewer(t *testing.T) {
	b := newPoolBench(t, 4, 3, partials.Limits{Pending: 3, Done: 1})
	for _, slot := range []uint64{100, 102, 101} {
		b.add(tlock.SlotIdentity(slot), b.good(tlock.SlotIdentity(slot), 1), nil)
	}
	for slot := range uint64(100) {
		b.add(tlock.SlotIdentity(slot), b.good(tlock.SlotIdentity(slot), 1), partials.ErrFull)
	}
	newest := tlock.SlotIdentity(103) // but a new slot always finds a place, at the cost of the oldest
	b.add(newest, b.good(newest, 1), nil)
	b.wantIndices("held of the newest slot", b.pool.Held(newest), 1)
	b.wantIndices("held of slot 101", b.pool.Held(tlock.SlotIdentity(101)), 1)
	b.wantIndices("held of the oldest slot", b.pool.Held(tlock.SlotIdentity(100)))
}

func TestPoolKeepsOnlyTheNewestKeys(t *testing.T) {
	b := newPoolBench(t, 1, 1, partials.Limits{Pending: 1, Done: 2})
	for slot := range uint64(5) {
		id := tlock.SlotIdentity(slot)
		b.wantKey(id, b.add(id, b.good(id, 1), nil))
	}
	for slot := range uint64(5) {
		if _, ok := b.pool.Key(tlock.SlotIdentity(slot)); ok != (slot >= 3) {
			t.Errorf("key of slot %d kept: %v", slot, ok)
		}
	}
	b.pool.Forget(4)
	if keys, order := b.pool.DoneIdentities(); keys != 1 || order != 1 {
		t.Errorf("%d keys in order of %d after Forget, want 1", keys, order)
	}
}

// TestOutcomesThatComeLate: what a job found out is used as far as it still fits.
func TestOutcomesThatComeLate(t *testing.T) {
	b := newPoolBench(t, 4, 3, partials.DefaultLimits)
	id := tlock.SlotIdentity(7)
	fill := func(parts ...partials.Partial) (job *partials.Job) {
		for _, part := range parts {
			var err error
			if job, err = b.pool.Add(id, part); err != nil {
				t.Fatal(err)
			}
		}
		return job
	}
	// Dropped and filled again while the job ran: its blame holds for the member, but not for other bytes.
	job := fill(b.good(id, 1), b.good(id, 2), b.bad(id, 3))
	b.pool.Drop(id)
	again := fill(b.good(id, 1), b.good(id, 2), b.good(id, 3))
	res, next := b.pool.Finish(job.Run(nil))
	b.wantIndices("blamed", res.Blamed, 3)
	if res.Key != nil || next != nil {
		t.Errorf("a dropped job led to %v, %v", res, next)
	}
	b.wantIndices("held", b.pool.Held(id), 1, 2, 3)
	res, _ = b.pool.Finish(again.Run(nil))
	b.wantKey(id, res)
	// The same identity, but meanwhile a bad partial made way for a newer slot, and came back good.
	small := partials.NewPool(b.group, partials.Limits{Pending: 1, Done: 1})
	newer, older := tlock.SlotIdentity(6), tlock.SlotIdentity(5)
	var running *partials.Job
	for _, part := range []partials.Partial{b.good(older, 1), b.good(older, 2), b.bad(older, 3)} {
		running, _ = small.Add(older, part)
	}
	if _, err := small.Add(newer, b.good(newer, 3)); err != nil {
		t.Fatal(err)
	}
	small.Drop(newer)
	if _, err := small.Add(older, b.good(older, 3)); err != nil {
		t.Fatal(err)
	}
	res, next = small.Finish(running.Run(nil))
	b.wantIndices("blamed for the earlier partial", res.Blamed, 3)
	b.wantIndices("held of the older slot", small.Held(older), 1, 2, 3)
	if next == nil {
		t.Error("no job for the good partial")
	}
	// A key found twice is told once.
	if res, next := b.pool.Finish(again.Run(nil)); res.Key != nil || next != nil {
		t.Errorf("the same key again: %v, %v", res, next)
	}
	// A key that was found although the identity was dropped is a key.
	other := tlock.SlotIdentity(8)
	id = other
	job = fill(b.good(id, 1), b.good(id, 2), b.good(id, 4))
	b.pool.Forget(9)
	res, _ = b.pool.Finish(job.Run(parallel))
	b.wantKey(id, res)
	// Another pool's outcome changes nothing.
	stranger := partials.NewPool(b.group, partials.DefaultLimits)
	if res, next := stranger.Finish(job.Run(nil)); res.Key != nil || next != nil {
		t.Errorf("another pool's job: %v, %v", res, next)
	}
}

// TestCarefulJobsCheckOnlyWhatIsNew: after a failure at an identity, each further bad partial costs one check.
func TestCarefulJobsCheckOnlyWhatIsNew(t *testing.T) {
	b := newPoolBench(t, 10, 7, partials.DefaultLimits)
	id := tlock.SlotIdentity(7)
	for index := uint32(1); index <= 6; index++ {
		b.add(id, b.good(id, index), nil)
	}
	for _, index := range []uint32{7, 8, 9} {
		job, err := b.pool.Add(id, b.bad(id, index))
		if err != nil {
			t.Fatal(err)
		}
		if unverified, _ := job.Unchecked(); index > 7 && unverified != 1 {
			t.Errorf("at index %d %d partials are unverified, want 1", index, unverified)
		}
		out := job.Run(nil)
		if !out.Careful() {
			t.Errorf("at index %d: no longer careful", index)
		}
		res, _ := b.pool.Finish(out)
		b.wantIndices("blamed", res.Blamed, index)
	}
	job, err := b.pool.Add(id, b.good(id, 10))
	if err != nil {
		t.Fatal(err)
	}
	out := job.Run(nil)
	if !out.Careful() {
		t.Error("the last job is no longer careful")
	}
	res, _ := b.pool.Finish(out)
	b.wantKey(id, res)
	b.wantIndices("suspects", b.pool.Suspects(), 7, 8, 9)
}

func TestPoolPanicsOnlyOnItsCallersMistakes(t *testing.T) {
	c := newCluster(t, 1, 1)
	for name, try := range map[string]func(){
		"no identity": func() {
			_, _ = partials.NewPool(c.group, partials.DefaultLimits).Add(tlock.Identity{}, partials.Partial{Index: 1})
		},
		"limits of zero":        func() { partials.NewPool(c.group, partials.Limits{}) },
		"signing without share": func() { partials.Share{}.Sign(partials.PrepareConfirmation(c.group.Namespace(), [32]byte{})) },
		"key of a confirmation": func() {
			p := partials.PrepareConfirmation(c.group.Namespace(), [32]byte{})
			_, _, _ = c.group.Recover(p, c.sign(p), nil)
		},
		"envelope of nothing": func() { partials.Envelope{}.Encode() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			try()
		}()
	}
}
