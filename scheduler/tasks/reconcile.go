package tasks

import "time"

// Desired is what the owner of an AfterCompletion task or a watchdog wants of it, by what its durable state says.
type Desired struct {
	active bool
	s      Schedule
	exact  bool
}

// Inactive wants no wake-up; the task stays declared.
func Inactive() Desired { return Desired{} }

// Scheduled wants a wake-up within a cadence.
func Scheduled() Desired { return Desired{active: true, s: Schedule{cadence: true}} }

// ScheduledImmediately wants a wake-up at once, in a later delivery: there is work to do already.
func ScheduledImmediately() Desired { return Desired{active: true, s: Immediately()} }

// ScheduledAt wants a wake-up at exactly t.
func ScheduledAt(t Instant) Desired { return Desired{active: true, s: At(t), exact: true} }

func (d Desired) start() Start {
	if !d.active {
		return Retained(nil)
	}
	return RetainedAt(d.s)
}

// ReconcileOnce brings the slot's task to what is wanted: a wake-up at s, or with nil none. An empty slot is filled with a
// retained registration, once its initial state stands; if that fails, the slot stays empty and nothing is left of the
// declaration. A filled slot keeps its registration and its callback, whatever f is; it must be of the same declaration,
// else ErrReconciliationConflict. A relative schedule does not delay one that stands. Run the same calls at every start.
func (r *Runtime) ReconcileOnce(slot **OnceRegistration, id Identity, s *Schedule, f OnceFunc, opts ...Option) error {
	if g := *slot; g != nil {
		d := Desired{}
		if s != nil {
			d = Desired{active: true, s: *s, exact: s.absolute}
		}
		return r.reconcile(&g.claim, id, PolicyOnce, 0, d)
	}
	g, err := r.RegisterOnce(id, Retained(s), f, opts...)
	if err == nil {
		*slot = g
	}
	return err
}

// ReconcileAfterCompletion brings the slot's task to what is wanted, by the rules of ReconcileOnce.
func (r *Runtime) ReconcileAfterCompletion(slot **AfterCompletionRegistration, id Identity, cadence time.Duration, d Desired,
	f AfterCompletionFunc, opts ...Option) error {
	if g := *slot; g != nil {
		return r.reconcile(&g.claim, id, PolicyAfterCompletion, cadence, d)
	}
	g, err := r.RegisterAfterCompletion(id, cadence, d.start(), f, opts...)
	if err == nil {
		*slot = g
	}
	return err
}

// ReconcileWatchdog brings the slot's task to what is wanted, by the rules of ReconcileOnce.
func (r *Runtime) ReconcileWatchdog(slot **WatchdogRegistration, id Identity, cadence time.Duration, d Desired,
	f WatchdogFunc, opts ...Option) error {
	if g := *slot; g != nil {
		return r.reconcile(&g.claim, id, PolicyWatchdog, cadence, d)
	}
	g, err := r.RegisterWatchdog(id, cadence, d.start(), f, opts...)
	if err == nil {
		*slot = g
	}
	return err
}

func (r *Runtime) reconcile(c *claim, id Identity, p Policy, cadence time.Duration, d Desired) error {
	if err := r.ready(); err != nil {
		return err
	}
	if err := r.matches(c, id, p, cadence); err != nil {
		return err
	}
	if !d.active {
		return c.Cancel()
	}
	return c.ask(commandSchedule, d.s, d.exact)
}

// matches checks that the slot's registration stands and is of this declaration.
func (r *Runtime) matches(c *claim, id Identity, p Policy, cadence time.Duration) error {
	if c.rt != r || c.Identity() != id {
		return ErrReconciliationConflict
	}
	r.mu.Lock()
	defer r.unlock()
	t, err := c.task()
	if err != nil {
		return err
	}
	if t.policy != p || t.cadence != cadence || t.lifetime != LifetimeRetained {
		return ErrReconciliationConflict
	}
	return nil
}
