package tasks

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// work runs the callback that the delivery is for, or with nil the one that has waited longest for a place.
//
// A delivery comes in a fresh goroutine with a small stack, and letting it grow costs more than all the rest. So what a run
// needs lies in its attempt and not on the stack, and the completion is not nested in the call.
func (r *Runtime) work(h *handle) {
	a := r.accept(h)
	if a == nil {
		return
	}
	r.call(a)
	if a.returned && r.complete(a) {
		a.span.freeThread()
		a.span.recordMemory(&a.task.work)
	}
	a.span.freeThread()
}

// accept starts an attempt, unless the delivery is stale or has to wait.
func (r *Runtime) accept(h *handle) *attempt {
	s := r.open()
	a := r.start(h, &s)
	if a == nil || !a.task.watchdog() { // ordinary work may block for long: it does not keep the thread
		s.freeThread()
	}
	if a != nil {
		a.span = s
	}
	return a
}

func (r *Runtime) start(h *handle, s *span) *attempt {
	r.mu.Lock()
	defer r.unlock()
	full := r.running >= r.limit
	if h == nil {
		if full || len(r.waiting) == 0 {
			return nil
		}
		h = r.waiting[0] // it is not stale: what drops a handle takes it off this list
	}
	t := r.owner(h)
	if t == nil {
		return nil
	}
	if full || len(r.waiting) > 0 && r.waiting[0] != h {
		if !slices.Contains(r.waiting, h) {
			r.waiting = append(r.waiting, h)
		}
		return nil
	}
	r.spend(h)
	if h.role == roleWake {
		t.wake, t.attempt = nil, &attempt{task: t}
	}
	a := t.attempt
	a.queued, a.started, a.startedAt, a.run, a.ctx = nil, true, s.start, t.run, r.root
	if t.watchdog() && t.limit > 0 {
		a.ctx, a.cancel = context.WithCancel(r.root)
	}
	t.counters.WorkStarted.inc()
	r.running++
	return a
}

// call calls the callback. Its guard sees a panic and the end of the goroutine alike.
func (r *Runtime) call(a *attempt) {
	defer func() {
		if !a.returned {
			r.abandon(a, recover())
			a.span.freeThread() // what is after call is not reached if the goroutine ends
		}
	}()
	a.result = a.run(a.ctx, claim{r, a.task, a})
	a.returned = true
}

// leave ends the attempt's place among the running ones. The lock is held.
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

// abandon ends an attempt whose callback did not return: v is what it panicked with, nil if it ended its goroutine. What v says of
// itself is the owner's code, and comes before the lock; the attempt ends even if that code ends the goroutine.
func (r *Runtime) abandon(a *attempt, v any) {
	now, text := r.clock.Now(), ""
	defer func() { r.lose(a, v != nil, text, now) }()
	if v != nil {
		defer r.tellPanic(a.task.id, v, debug.Stack())
		text = describe(v)
	}
}

func (r *Runtime) lose(a *attempt, panicked bool, text string, now Instant) {
	t := a.task
	r.mu.Lock()
	defer r.unlock()
	if panicked {
		t.counters.Panics.inc()
		t.lastPanic = text
	}
	if t.attempt == a {
		r.giveUp(a, now)
	} else {
		r.late(t)
	}
	r.leave(a)
}

// describe is a panic's value in words. A value's own String may panic, and fmt does not stand that twice.
func describe(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T, which cannot be printed", v)
		}
	}()
	return cut(fmt.Sprint(v))
}

// tellPanic calls OnPanic. A line for the log must not end the process: what OnPanic panics with itself is dropped.
func (r *Runtime) tellPanic(id Identity, v any, stack []byte) {
	if r.onPanic == nil {
		return
	}
	defer func() { _ = recover() }()
	r.onPanic(id, v, stack)
}

// giveUp retires the attempt of a callback that did not return, and with it what the callback asked for.
func (r *Runtime) giveUp(a *attempt, now Instant) {
	t, stop := a.task, a.pending
	a.lost = true // a watchdog's successor retires it; in all other cases it is retired here
	if t.watchdog() {
		stop = a.kept
	}
	switch {
	case stop.kind == commandUnregister:
		r.remove(t, now)
	case !t.watchdog() || r.stopping:
		r.halt(t, ReasonAbandoned, now)
	case a.failed != "":
		r.halt(t, a.failed, now)
	case stop.kind == commandCancel:
		t.counters.Cancelled.inc()
		r.halt(t, ReasonCancelled, now)
	}
}

// late counts the end of an attempt that a shutdown had given up.
func (r *Runtime) late(t *task) {
	if t.gone {
		r.stale.inc()
	} else {
		t.counters.StaleWork.inc()
	}
}
