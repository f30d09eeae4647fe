package tasks

import (
	"context"
	"time"
)

// WatchdogFunc is the work of a Watchdog task. It is meant to be one bounded step: while it runs no other begins, and every
// successor that fires meanwhile is coalesced. ctx ends when the runtime shuts down, and at an overrun if the task has a
// WorkLimit. The WatchdogContext is good until it returns.
type WatchdogFunc func(ctx context.Context, c *WatchdogContext) WatchdogResult

// WatchdogRegistration is the owner's right to a Watchdog task.
type WatchdogRegistration struct {
	_ noCopy
	registration
}

// WatchdogContext is a running callback's right to its own task. What is asked through it is discarded if the callback
// does not return.
type WatchdogContext struct {
	_ noCopy
	callback
}

// EnsureScheduled makes sure that the task runs within a cadence from now. It never delays an earlier wake-up.
func (g *WatchdogRegistration) EnsureScheduled() error {
	return g.ask(commandSchedule, Schedule{cadence: true}, false)
}

// EnsureScheduledImmediately makes sure that the task runs at once, in a later delivery.
func (g *WatchdogRegistration) EnsureScheduledImmediately() error {
	return g.ask(commandSchedule, Immediately(), false)
}

// EnsureScheduled makes sure that the task runs again within a cadence from now.
func (c *WatchdogContext) EnsureScheduled() error {
	return c.ask(commandSchedule, Schedule{cadence: true}, false)
}

// EnsureScheduledImmediately makes sure that the task runs again at once, in a later delivery.
func (c *WatchdogContext) EnsureScheduledImmediately() error {
	return c.ask(commandSchedule, Immediately(), false)
}

// RegisterWatchdog declares a task in two steps: the scheduler step arms the next wake-up, a cadence from now, and queues the
// work; the work runs in a delivery of its own. So whatever becomes of the work, there is another attempt.
// The first deadline is start's own.
func (r *Runtime) RegisterWatchdog(id Identity, cadence time.Duration, start Start, f WatchdogFunc,
	opts ...Option) (*WatchdogRegistration, error) {
	t := &task{id: id, policy: PolicyWatchdog, cadence: cadence}
	if f != nil {
		t.run = func(ctx context.Context, c claim) result {
			return f(ctx, &WatchdogContext{callback: callback{c}}).result
		}
	}
	if err := r.add(t, start, opts); err != nil {
		return nil, err
	}
	return &WatchdogRegistration{registration: registration{claim{r, t, nil}}}, nil
}
