package tasks

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// role says what a delivery is for.
type role uint8

const (
	roleWake      role = iota // run the callback of a Once or AfterCompletion task
	roleScheduler             // the first of a watchdog's two steps
	roleWork                  // the second
)

// handle is one armed timer or queued work, and its delivery's ticket: registration, generation and role must all still be
// right when it arrives, else the delivery is stale.
type handle struct {
	task       *task // one registration's record: it stands for identity and claim, which it never changes
	generation uint64
	role       role
	deadline   Instant
	timer      Timer
}

// arm binds a new handle to the clock. The handle replaces none: the caller has dropped the old one.
func (r *Runtime) arm(t *task, kind role, now, deadline Instant) (*handle, error) {
	if t.generation == math.MaxUint64 {
		return nil, &ControlError{Reason: ReasonGenerationExhausted}
	}
	if r.handles >= MaxHandles {
		return nil, &ControlError{Reason: ReasonBindingFailed, Err: ErrOwnershipInvariant}
	}
	t.generation++
	h := &handle{task: t, generation: t.generation, role: kind, deadline: deadline}
	timer, err := afterFunc(r.clock, deadline.Since(now), func() { r.deliver(h) })
	if err != nil {
		return nil, &ControlError{Reason: ReasonBindingFailed, Err: err}
	}
	h.timer = timer
	r.handles++
	return h, nil
}

// afterFunc makes every way in which a clock can fail an error.
func afterFunc(c Clock, d time.Duration, f func()) (timer Timer, err error) {
	defer func() {
		if v := recover(); v != nil {
			timer, err = nil, fmt.Errorf("the clock panicked: %v", v)
		}
	}()
	timer, err = c.AfterFunc(d, f)
	if err == nil && timer == nil {
		err = errors.New("the clock gave no timer")
	}
	return timer, err
}

// drop gives a handle up: its timer is stopped, and a delivery that is on its way will be stale.
func (r *Runtime) drop(h *handle) {
	if h == nil {
		return
	}
	h.timer.Stop()
	r.spend(h)
}

// spend ends the ownership of a handle, delivered or dropped.
func (r *Runtime) spend(h *handle) {
	r.handles--
	for i, w := range r.waiting {
		if w == h {
			r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
			return
		}
	}
}

// disarm drops the task's wake-up, if it has one.
func (r *Runtime) disarm(t *task) {
	r.drop(t.wake)
	t.wake = nil
}

// wakeAt arms the task's wake-up for the deadline, in place of the one it has. On failure it has none.
func (r *Runtime) wakeAt(t *task, now, deadline Instant) error {
	r.disarm(t)
	kind := roleWake
	if t.watchdog() {
		kind = roleScheduler
	}
	h, err := r.arm(t, kind, now, deadline)
	if err != nil {
		return err
	}
	t.wake, t.armed = h, deadline.Since(now)
	t.counters.WakeupsArmed.inc()
	return nil
}

// moveTo is wakeAt unless the wake-up that is armed is as good as the one asked for: at the same deadline, or both due.
func (r *Runtime) moveTo(t *task, now, deadline Instant) error {
	if t.wake != nil && (t.wake.deadline == deadline || max(t.wake.deadline, deadline) <= now) {
		t.counters.Coalesced.inc()
		return nil
	}
	return r.wakeAt(t, now, deadline)
}

// deliver takes a handle that the clock fired, in a goroutine of the clock's.
func (r *Runtime) deliver(h *handle) {
	if h.role == roleScheduler {
		r.schedule(h)
	} else {
		r.work(h)
	}
}

// owner is the task that the delivery is for; nil, counted, if the delivery is stale.
func (r *Runtime) owner(h *handle) *task {
	t := h.task
	if t.gone {
		r.stale.inc()
		return nil
	}
	own := t.wake
	if h.role == roleWork {
		if own = nil; t.attempt != nil {
			own = t.attempt.queued
		}
	}
	if own != nil && own.generation == h.generation && own.role == h.role {
		return t
	}
	if h.role == roleWork {
		t.counters.StaleWork.inc()
	} else {
		t.counters.StaleWakeups.inc()
	}
	return nil
}
