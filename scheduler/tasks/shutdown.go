package tasks

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Shutdown ends the runtime: nothing is armed any more, queued work is dropped, the callbacks' context is canceled, and
// those that run have until grace is over to return. Work that was dropped or outlives the grace is abandoned, and named by
// an error that is ErrUnfinished if it still runs. The declarations stay readable. It must not be called by a callback, which
// would wait for itself.
func (r *Runtime) Shutdown(grace time.Duration) error {
	if err := r.ready(); err != nil {
		return err
	}
	r.cancel()
	idle := r.stop()
	if idle == nil {
		return nil
	}
	over := make(chan struct{})
	timer, err := afterFunc(r.clock, max(grace, 0), func() { close(over) })
	if err != nil {
		close(over) // a clock that arms nothing gives no grace
	} else {
		defer timer.Stop()
	}
	select {
	case <-idle:
		return nil
	case <-over:
		return r.forsake()
	}
}

// stop drops what is armed or queued. Its channel closes when the last callback has returned; nil if none runs.
func (r *Runtime) stop() <-chan struct{} {
	r.mu.Lock()
	defer r.unlock()
	r.stopping = true
	now := r.clock.Now()
	for _, t := range r.sorted() {
		switch a := t.attempt; {
		case a == nil && t.wake != nil:
			r.halt(t, ReasonShutDown, now)
		case a != nil && (a.lost || !a.started):
			a.lost = true
			r.halt(t, ReasonAbandoned, now)
		case a != nil:
			r.disarm(t)
		}
	}
	if r.running > 0 && r.idle == nil {
		r.idle = make(chan struct{})
	}
	return r.idle
}

// forsake abandons the callbacks that did not return.
func (r *Runtime) forsake() error {
	r.mu.Lock()
	defer r.unlock()
	now := r.clock.Now()
	var names []string
	for _, t := range r.sorted() {
		if t.attempt != nil {
			names = append(names, t.id.String())
			t.attempt.lost = true
			r.halt(t, ReasonAbandoned, now)
		}
	}
	switch {
	case r.running == 0:
		return nil // the last one has just returned
	case len(names) == 0:
		return ErrUnfinished // named by an earlier call
	}
	return fmt.Errorf("%w: %s", ErrUnfinished, strings.Join(names, ", "))
}

// sorted is all tasks in the order of the inventory, so that release hooks are called in it. The lock is held.
func (r *Runtime) sorted() []*task {
	out := make([]*task, 0, len(r.tasks))
	for _, t := range r.tasks { // in any order: sorted below
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *task) int { return a.id.Compare(b.id) })
	return out
}
