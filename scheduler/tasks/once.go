package tasks

import "context"

// OnceFunc is the callback of a Once task. It may block; ctx ends when the runtime shuts down. The OnceContext is good until
// it returns.
type OnceFunc func(ctx context.Context, c *OnceContext) OnceResult

// OnceRegistration is the owner's right to a Once task.
type OnceRegistration struct {
	_ noCopy
	registration
}

// OnceContext is a running callback's right to its own task. What is asked through it is discarded if the callback does not
// return.
type OnceContext struct {
	_ noCopy
	callback
}

// EnsureScheduled makes sure that the task runs at s or earlier; of several requests the earliest counts.
func (g *OnceRegistration) EnsureScheduled(s Schedule) error { return g.ask(commandSchedule, s, false) }

// EnsureScheduled makes sure that the task runs again at s or earlier.
func (c *OnceContext) EnsureScheduled(s Schedule) error { return c.ask(commandSchedule, s, false) }

// RegisterOnce declares a task that runs one time, unless its callback or owner schedules it again.
func (r *Runtime) RegisterOnce(id Identity, start Start, f OnceFunc, opts ...Option) (*OnceRegistration, error) {
	t := &task{id: id, policy: PolicyOnce}
	if f != nil {
		t.run = func(ctx context.Context, c claim) result {
			return f(ctx, &OnceContext{callback: callback{c}}).result
		}
	}
	if err := r.add(t, start, opts); err != nil {
		return nil, err
	}
	return &OnceRegistration{registration: registration{claim{r, t, nil}}}, nil
}
