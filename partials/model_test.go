package partials_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// poolModel says what a Pool must do, in plain maps and without cryptography: which partials are good is known beforehand.
type poolModel struct {
	n, threshold int
	limits       partials.Limits
	good         map[tlock.Identity][]partials.Partial // by index-1

	entries  map[tlock.Identity]*modelEntry
	arrivals map[tlock.Identity]map[uint32]int // when a partial came, for conditions' turn
	clock    int
	done     []tlock.Identity
	suspects map[uint32]bool
}

type modelEntry struct {
	held   map[uint32]partials.Partial
	barred map[uint32]bool
	job    *modelJob
}

type modelJob struct {
	id   tlock.Identity
	of   *modelEntry
	job  *partials.Job
	held map[uint32]partials.Partial // when it was made
}

func (m *poolModel) isGood(id tlock.Identity, p partials.Partial) bool {
	return m.good[id][p.Index-1] == p
}

// add returns the error that Add must give, and whether there must be a job.
func (m *poolModel) add(id tlock.Identity, p partials.Partial) (error, bool) {
	if p.Index < 1 || int(p.Index) > m.n {
		return partials.ErrIndex, false
	}
	if slices.Contains(m.done, id) {
		return partials.ErrDone, false
	}
	e := m.entries[id]
	if e != nil {
		if e.barred[p.Index] || e.held[p.Index] == p {
			return partials.ErrDuplicate, false
		}
		if _, ok := e.held[p.Index]; ok {
			m.suspects[p.Index] = true
			return partials.ErrEquivocation, false
		}
	}
	if own := m.waiting(p.Index, id); len(own) == m.limits.Pending {
		if slot, ok := id.Slot(); ok {
			if oldest, _ := own[0].Slot(); slot < oldest {
				return partials.ErrFull, false
			}
		}
		m.remove(own[0], p.Index)
	}
	if e = m.entries[id]; e == nil {
		e = &modelEntry{held: make(map[uint32]partials.Partial), barred: make(map[uint32]bool)}
		m.entries[id], m.arrivals[id] = e, make(map[uint32]int)
	}
	m.clock++
	e.held[p.Index], m.arrivals[id][p.Index] = p, m.clock
	return nil, e.job == nil && len(e.held) >= m.threshold
}

// waiting returns where the member has a partial of id's kind, in the order in which they have to go.
func (m *poolModel) waiting(index uint32, id tlock.Identity) []tlock.Identity {
	_, slots := id.Slot()
	var own []tlock.Identity
	for other, e := range m.entries {
		_, isSlot := other.Slot()
		if _, ok := e.held[index]; ok && isSlot == slots {
			own = append(own, other)
		}
	}
	slices.SortFunc(own, func(a, b tlock.Identity) int {
		if slots {
			x, _ := a.Slot()
			y, _ := b.Slot()
			return int(x) - int(y)
		}
		return m.arrivals[a][index] - m.arrivals[b][index]
	})
	return own
}

func (m *poolModel) remove(id tlock.Identity, index uint32) {
	delete(m.entries[id].held, index)
	if len(m.entries[id].held) == 0 {
		delete(m.entries, id)
	}
}

// finish checks what the job found out against what is known, takes it in, and returns whether there must be another job.
func (m *poolModel) finish(t *rapid.T, j *modelJob, res partials.Result) bool {
	goodOnes := 0
	for _, p := range j.held {
		if m.isGood(j.id, p) {
			goodOnes++
		}
	}
	for _, index := range res.Blamed {
		if p, ok := j.held[index]; !ok || m.isGood(j.id, p) {
			t.Fatalf("%v: index %d is blamed and did nothing", j.id, index)
		}
		m.suspects[index] = true
	}
	known := slices.Contains(m.done, j.id)
	if want := goodOnes >= m.threshold && !known; (res.Key != nil) != want {
		t.Fatalf("%v: key %v with %d good partials, known before: %v", j.id, res.Key, goodOnes, known)
	}
	if res.Key != nil {
		delete(m.entries, j.id)
		m.done = append(m.done, j.id)
		m.done = m.done[max(0, len(m.done)-m.limits.Done):]
	}
	e := m.entries[j.id]
	if res.Key != nil || known || e != j.of {
		return false
	}
	if len(j.held)-len(res.Blamed) >= m.threshold {
		t.Fatalf("%v: gave up with %d of %d partials blamed", j.id, len(res.Blamed), len(j.held))
	}
	e.job = nil
	for _, index := range res.Blamed {
		if p, ok := e.held[index]; ok && p == j.held[index] {
			e.barred[index] = true
			m.remove(j.id, index)
		}
	}
	return len(e.held) >= m.threshold
}

// TestPoolAgainstItsModel does random things to a pool, jobs finishing in any order, and compares all that can be seen of it.
func TestPoolAgainstItsModel(t *testing.T) {
	const n, threshold = 5, 3
	c := newCluster(t, n, threshold)
	var ids []tlock.Identity
	for i := range uint64(4) {
		ids = append(ids, tlock.SlotIdentity(i), tlock.ConditionIdentity([32]byte{byte(i)}))
	}
	good, bad := make(map[tlock.Identity][]partials.Partial), make(map[tlock.Identity][][]partials.Partial)
	for _, id := range ids {
		parts := c.sign(partials.Prepare(c.group.Namespace(), id))
		good[id] = parts
		for _, kind := range badnesses {
			var spoiled []partials.Partial
			for i := range parts {
				spoiled = append(spoiled, partials.Partial{Index: uint32(i + 1), Sig: kind.spoil(c, parts, i)})
			}
			bad[id] = append(bad[id], spoiled)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := &poolModel{
			n: n, threshold: threshold, limits: partials.Limits{Pending: 2, Done: 2}, good: good,
			entries:  make(map[tlock.Identity]*modelEntry),
			arrivals: make(map[tlock.Identity]map[uint32]int),
			suspects: make(map[uint32]bool),
		}
		pool := partials.NewPool(c.group, m.limits)
		var jobs []*modelJob
		started := func(id tlock.Identity, job *partials.Job, want bool) {
			if (job != nil) != want {
				t.Fatalf("%v: job %v, want one: %v", id, job, want)
			}
			if job != nil {
				e := m.entries[id]
				e.job = &modelJob{id: id, of: e, job: job, held: maps.Clone(e.held)}
				jobs = append(jobs, e.job)
			}
		}
		add := func(t *rapid.T, choose func(id tlock.Identity, i int) partials.Partial) {
			id := rapid.SampledFrom(ids).Draw(t, "identity")
			part := choose(id, rapid.IntRange(0, n-1).Draw(t, "member"))
			want, wantJob := m.add(id, part)
			job, err := pool.Add(id, part)
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Fatalf("%v, index %d: got %v, want %v", id, part.Index, err, want)
			}
			started(id, job, wantJob)
		}
		addGood := func(t *rapid.T) {
			add(t, func(id tlock.Identity, i int) partials.Partial { return good[id][i] })
		}
		t.Repeat(map[string]func(*rapid.T){
			"good":  addGood,
			"good2": addGood, // more often than the others
			"bad": func(t *rapid.T) {
				kind := rapid.IntRange(0, len(badnesses)-1).Draw(t, "badness")
				add(t, func(id tlock.Identity, i int) partials.Partial { return bad[id][kind][i] })
			},
			"stranger": func(t *rapid.T) {
				index := rapid.SampledFrom([]uint32{0, n + 1, 1<<32 - 1}).Draw(t, "index")
				add(t, func(id tlock.Identity, i int) partials.Partial {
					return partials.Partial{Index: index, Sig: good[id][i].Sig}
				})
			},
			"finish": func(t *rapid.T) {
				if len(jobs) == 0 {
					return
				}
				at := rapid.IntRange(0, len(jobs)-1).Draw(t, "job")
				j := jobs[at]
				jobs = slices.Delete(jobs, at, at+1)
				res, next := pool.Finish(j.job.Run(nil))
				if res.Identity != j.id {
					t.Fatalf("result of %v, want %v", res.Identity, j.id)
				}
				if res.Key != nil && res.Key.Bytes() != c.key(j.id) {
					t.Fatalf("%v: wrong key", j.id)
				}
				started(j.id, next, m.finish(t, j, res))
			},
			"drop": func(t *rapid.T) {
				id := rapid.SampledFrom(ids).Draw(t, "identity")
				pool.Drop(id)
				delete(m.entries, id)
			},
			"forget": func(t *rapid.T) {
				before := rapid.Uint64Range(0, 3).Draw(t, "before")
				pool.Forget(before)
				old := func(id tlock.Identity) bool { slot, ok := id.Slot(); return ok && slot < before }
				maps.DeleteFunc(m.entries, func(id tlock.Identity, _ *modelEntry) bool { return old(id) })
				m.done = slices.DeleteFunc(m.done, old)
			},
			"": func(t *rapid.T) { m.compare(t, pool, ids) },
		})
	})
}

func (m *poolModel) compare(t *rapid.T, pool *partials.Pool, ids []tlock.Identity) {
	if got := pool.PendingIdentities(); got != len(m.entries) {
		t.Fatalf("%d identities pending, want %d", got, len(m.entries))
	}
	if keys, order := pool.DoneIdentities(); keys != len(m.done) || order != len(m.done) {
		t.Fatalf("%d keys in order of %d, want %d", keys, order, len(m.done))
	}
	if got, want := pool.Suspects(), slices.Sorted(maps.Keys(m.suspects)); !slices.Equal(got, want) {
		t.Fatalf("suspects %v, want %v", got, want)
	}
	for index := uint32(1); int(index) <= m.n; index++ {
		slots, conditions := pool.Waiting(index)
		wantSlots, wantConditions := m.waiting(index, ids[0]), m.waiting(index, ids[1])
		if slots != len(wantSlots) || conditions != len(wantConditions) || slots > m.limits.Pending || conditions > m.limits.Pending {
			t.Fatalf("member %d: %d and %d waiting, want %v and %v", index, slots, conditions, wantSlots, wantConditions)
		}
	}
	for _, id := range ids {
		var held, missing []uint32
		e, done := m.entries[id], slices.Contains(m.done, id)
		for index := uint32(1); int(index) <= m.n; index++ {
			has := false
			if e != nil {
				_, has = e.held[index]
			}
			if has {
				held = append(held, index)
			} else if !done && (e == nil || !e.barred[index]) {
				missing = append(missing, index)
			}
		}
		if got := pool.Held(id); !slices.Equal(got, held) {
			t.Fatalf("%v: holds %v, want %v", id, got, held)
		}
		if got := pool.Missing(id); !slices.Equal(got, missing) {
			t.Fatalf("%v: misses %v, want %v", id, got, missing)
		}
		if _, ok := pool.Key(id); ok != done {
			t.Fatalf("%v: key kept: %v, want %v", id, ok, done)
		}
	}
}
