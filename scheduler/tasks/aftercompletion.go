package tasks

import (
	"context"
	"time"
)

// AfterCompletionFunc is the callback of an AfterCompletion task. It may block; ctx ends when the runtime shuts down. The
// AfterCompletionContext is good until it returns.
type AfterCompletionFunc func(ctx context.Context, c *AfterCompletionContext) AfterCompletionResult

// AfterCompletionRegistration is the owner's right to an AfterCompletion task.
type AfterCompletionRegistration struct {
	_ noCopy
	registration
}

// AfterCompletionContext is a running callback's right to its own task. What is asked through it is discarded if the callback
// does not return.
type AfterCompletionContext struct {
	_ noCopy
	callback
}

// EnsureScheduled makes sure that the task runs within a cadence from now. It never delays an earlier wake-up.
func (g *AfterCompletionRegistration) EnsureScheduled() error {
	return g.ask(commandSchedule, Schedule{cadence: true}, false)
}

// EnsureScheduledImmediately makes sure that the task runs at once, in a later delivery.
func (g *AfterCompletionRegistration) EnsureScheduledImmediately() error {
	return g.ask(commandSchedule, Immediately(), false)
}

// EnsureScheduled makes sure that the task runs again within a cadence from now.
func (c *AfterCompletionContext) EnsureScheduled() error {
	return c.ask(commandSchedule, Schedule{cadence: true}, false)
}

// EnsureScheduledImmediately makes sure that the task runs again at once, in a later delivery.
func (c *AfterCompletionContext) EnsureScheduledImmediately() error {
	return c.ask(commandSchedule, Immediately(), false)
}

// RegisterAfterCompletion declares a task that runs again a cadence after each normal return that asks for it. A callback
// that never returns schedules nothing; what must survive that is a watchdog. The first deadline is start's own.
func (r *Runtime) RegisterAfterCompletion(id Identity, cadence time.Duration, start Start, f AfterCompletionFunc,
	opts ...Option) (*AfterCompletionRegistration, error) {
	t := &task{id: id, policy: PolicyAfterCompletion, cadence: cadence}
	if f != nil {
		t.run = func(ctx context.Context, c claim) result {
			return f(ctx, &AfterCompletionContext{callback: callback{c}}).result
		}
	}
	if err := r.add(t, start, opts); err != nil {
		return nil, err
	}
	return &AfterCompletionRegistration{registration: registration{claim{r, t, nil}}}, nil
}
