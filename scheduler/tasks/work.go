package tasks

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// run is one call of a callback.
type run struct {
	t    *task
	a    *attempt
	call func(context.Context, *Runtime, *task, *attempt) result
	ctx  context.Context
}

// work runs the callback that the delivery is for, or with nil the one that has waited longest for a place.
func (r *Runtime) work(h *handle) {
	s := r.open()
	defer s.freeThread()
	w, ok := r.accept(h, s.start)
	if !ok {
		return
	}
	if !w.t.watchdog() {
		s.freeThread() // it may block for long
	}
	returned := false
	defer func() { // the guard: a panic and the end of the goroutine both come here
		if !returned {
			r.abandon(w, recover())
		}
	}()
	res := w.call(w.ctx, r, w.t, w.a)
	returned = true
	if r.complete(w, res, &s) {
		s.freeThread()
		s.recordMemory(&w.t.work)
	}
}

// accept starts the run, unless the delivery is stale or has to wait.
func (r *Runtime) accept(h *handle, now Instant) (run, bool) {
	r.mu.Lock()
	defer r.unlock()
	full := r.running >= r.limit
	if h == nil {
		if full || len(r.waiting) == 0 {
			return run{}, false
		}
		h = r.waiting[0] // it is not stale: what drops a handle takes it off this list
	}
	t := r.owner(h)
	if t == nil {
		return run{}, false
	}
	if full || len(r.waiting) > 0 && r.waiting[0] != h {
		if !slices.Contains(r.waiting, h) {
			r.waiting = append(r.waiting, h)
		}
		return run{}, false
	}
	r.spend(h)
	if h.role == roleWake {
		t.wake, t.attempt = nil, &attempt{}
	}
	a := t.attempt
	a.queued, a.started, a.startedAt = nil, true, now
	t.counters.WorkStarted.inc()
	r.running++
	w := run{t, a, t.run, r.root}
	if t.watchdog() && t.limit > 0 {
		w.ctx, a.cancel = context.WithCancel(r.root)
	}
	return w, true
}

// leave ends the run's place among the running ones. The lock is held.
func (r *Runtime) leave(a *attempt) {
	r.running--
	if a.cancel != nil {
		a.cancel()
	}
	if r.idle != nil && r.running == 0 {
		close(r.idle)
		r.idle = nil
	}
	if len(r.waiting) > 0 {
		go r.work(nil)
	}
}

// abandon ends a run whose callback did not return: v is what it panicked with, nil if it ended its goroutine.
func (r *Runtime) abandon(w run, v any) {
	if v != nil && r.onPanic != nil {
		defer r.onPanic(w.t.id, v, debug.Stack())
	}
	now := r.clock.Now()
	r.mu.Lock()
	defer r.unlock()
	t, a := w.t, w.a
	if v != nil {
		t.counters.Panics.inc()
		t.lastPanic = cut(fmt.Sprint(v))
	}
	if t.attempt == a {
		r.giveUp(t, a, now)
	} else {
		r.late(t)
	}
	r.leave(a)
}

// giveUp retires the attempt of a callback that did not return, and with it what the callback asked for.
func (r *Runtime) giveUp(t *task, a *attempt, now Instant) {
	stop := a.pending
	if t.watchdog() {
		a.lost = true // its successor retires it
		stop = a.kept
	}
	switch {
	case stop.kind == commandUnregister:
		a.lost = true
		r.remove(t, now)
	case !t.watchdog() || r.stopping:
		a.lost = true
		r.halt(t, ReasonAbandoned, now)
	case a.failed != "":
		r.halt(t, a.failed, now)
	case stop.kind == commandCancel:
		t.counters.Cancelled.inc()
		r.halt(t, ReasonCancelled, now)
	}
}

// late counts the end of a run that a shutdown had given up.
func (r *Runtime) late(t *task) {
	if r.find(t.id, t.claim) == nil {
		r.stale.inc()
	} else {
		t.counters.StaleWork.inc()
	}
}
