package tasks

import "slices"

// schedule is a watchdog's first step, in the clock's goroutine: it validates the delivery, arms the successor and queues
// the work. It calls no code of the task's owner.
func (r *Runtime) schedule(h *handle) {
	s := r.open()
	t := r.step(h, &s)
	s.freeThread()
	if t != nil {
		s.recordMemory(&t.scheduler)
	}
}

func (r *Runtime) step(h *handle, s *span) *task {
	r.mu.Lock()
	defer r.unlock()
	t := r.owner(h)
	if t == nil {
		return nil
	}
	now := r.clock.Now()
	r.spend(h)
	t.wake = nil
	t.counters.SchedulerStarted.inc()
	successor, err := now.Add(t.cadence) // from now: periods that were missed do not come again
	if err == nil {
		err = r.wakeAt(t, now, successor)
	}
	if a := t.attempt; a != nil && a.started && !a.lost {
		t.overrun(a, now, err)
	} else {
		if err == nil {
			err = r.dispatch(t, now)
		}
		if err != nil {
			r.halt(t, controlReason(err), now)
			return nil
		}
	}
	s.record(&t.scheduler)
	return t
}

// overrun is a successor that fires while the work still runs: there is no second run, and the next successor is armed.
func (t *task) overrun(a *attempt, now Instant, err error) {
	t.counters.Coalesced.inc()
	a.overrun = true
	if err != nil {
		a.failed = controlReason(err)
	}
	if a.cancel != nil && now.Since(a.startedAt) >= t.limit {
		a.cancel()
	}
}

// dispatch queues a new attempt. An attempt that was lost or never started is retired by it; one that never started leaves
// its place in the queue and its pending command to its heir.
func (r *Runtime) dispatch(t *task, now Instant) error {
	next := &attempt{task: t}
	place := -1
	if old := t.attempt; old != nil {
		t.unacknowledged(now)
		if !old.lost {
			next.pending, next.kept = old.pending, old.kept
			place = slices.Index(r.waiting, old.queued)
		}
		t.attempt = nil
		r.drop(old.queued)
	}
	queued, err := r.arm(t, roleWork, now, now)
	if err != nil {
		return err
	}
	if place >= 0 {
		r.waiting = slices.Insert(r.waiting, place, queued)
	}
	next.queued, t.attempt = queued, next
	t.counters.WorkDispatched.inc()
	return nil
}
