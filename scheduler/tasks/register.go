package tasks

import (
	"math"
	"time"
)

// Option is something a registration may have and most do not.
type Option func(*task)

// OnRelease calls f once, outside the lock, when the task's declaration is gone and its callback let go: after it was
// unregistered or removed, or after its registration failed. f must be short and must neither panic nor schedule tasks.
func OnRelease(f func()) Option { return func(t *task) { t.release = f } }

// WorkLimit cancels the context of a watchdog's work if a successor fires when the work has been running for d or longer.
// There is no timer for it, so it takes effect with the first successor after d. Other policies ignore it.
func WorkLimit(d time.Duration) Option { return func(t *task) { t.limit = d } }

// add declares a task. On error nothing of it is left, and its release hook has been called.
func (r *Runtime) add(t *task, start Start, opts []Option) error {
	for _, opt := range opts {
		opt(t)
	}
	if err := r.ready(); err != nil {
		if t.release != nil {
			t.release()
		}
		return err
	}
	r.mu.Lock()
	defer r.unlock()
	err := r.admit(t, start)
	if err != nil {
		r.letGo(t)
	}
	return err
}

func (r *Runtime) admit(t *task, start Start) error {
	now := r.clock.Now()
	deadline, err := r.check(t, start, now)
	if err != nil {
		return err
	}
	t.lifetime, t.reason = start.lifetime, ReasonDeclared
	t.requested, t.armed = -1, -1
	r.claims++
	t.claim = r.claims
	if start.initial != nil {
		t.counters.ScheduleRequests.inc()
		t.request(now, deadline)
		if err := r.wakeAt(t, now, deadline); err != nil {
			return err
		}
	}
	r.tasks[t.id] = t
	return nil
}

// check refuses a declaration before anything has changed.
func (r *Runtime) check(t *task, start Start, now Instant) (deadline Instant, err error) {
	if err := t.id.check(); err != nil {
		return 0, err
	}
	if t.run == nil {
		return 0, ErrNoCallback
	}
	if t.policy != PolicyOnce && t.cadence <= 0 {
		return 0, ErrInvalidCadence
	}
	if start.lifetime == "" {
		return 0, ErrInvalidStart
	}
	if start.initial != nil {
		if deadline, err = start.initial.resolve(now, t.cadence); err != nil {
			return 0, err
		}
	}
	switch {
	case r.stopping:
		return 0, ErrShutdown
	case r.tasks[t.id] != nil:
		return 0, ErrIdentityAlreadyRegistered
	case len(r.tasks) >= MaxRegistrations:
		return 0, ErrCapacity
	case r.claims == math.MaxUint64:
		return 0, ErrClaimGenerationExhausted
	}
	return deadline, nil
}

// remove ends the declaration.
func (r *Runtime) remove(t *task, now Instant) {
	r.disarm(t)
	r.retire(t, now)
	delete(r.tasks, t.id)
	r.letGo(t)
}

// letGo drops the callback now and calls the release hook once the lock is free.
func (r *Runtime) letGo(t *task) {
	t.run, t.gone = nil, true
	if t.release != nil {
		r.released = append(r.released, t.release)
		t.release = nil
	}
}

// request notes the delay that was asked for.
func (t *task) request(now, deadline Instant) {
	t.requested = deadline.Since(now)
}
