package tasks

// claim is the right to one registration; with an attempt, only while that attempt runs.
type claim struct {
	rt      *Runtime
	of      *task
	attempt *attempt // of a context; nil in a registration
}

// Identity is the task's identity; it can be read for ever.
func (c *claim) Identity() Identity {
	if c.of == nil {
		return Identity{}
	}
	return c.of.id
}

// ID is the registration's number and its runtime's epoch.
func (c *claim) ID() RegistrationID {
	if c.rt == nil {
		return RegistrationID{}
	}
	return RegistrationID{Epoch: c.rt.epoch, Sequence: c.of.claim}
}

// Cancel makes the task inactive: at once if it is idle, otherwise at its callback's normal return. It never interrupts
// the callback. Cancelling an inactive task changes nothing.
func (c *claim) Cancel() error { return c.ask(commandCancel, Schedule{}, false) }

// Unregister ends the registration: at once if the task is idle, otherwise when its callback ends.
func (c *claim) Unregister() error { return c.ask(commandUnregister, Schedule{}, false) }

// ReconcileSchedule wants exactly this: a wake-up at s, earlier or later than the one there is, or with nil no wake-up.
// While the callback runs it is applied at the normal return, in place of the callback's decision.
func (c *claim) ReconcileSchedule(s *Schedule) error {
	if s == nil {
		return c.Cancel()
	}
	return c.ask(commandSchedule, *s, true)
}

// task is the claim's task. The lock is held.
func (c *claim) task() (*task, error) {
	t := c.of
	if t.gone || c.attempt != nil && t.attempt != c.attempt {
		return nil, ErrRegistrationExpired
	}
	return t, nil
}

func (c *claim) ask(kind commandKind, s Schedule, exact bool) error {
	r := c.rt
	if r == nil {
		return ErrRegistrationExpired
	}
	r.mu.Lock()
	defer r.unlock()
	t, err := c.task()
	if err != nil {
		return err
	}
	now := r.clock.Now()
	cmd := command{kind: kind, exact: exact}
	if kind == commandSchedule {
		if cmd.deadline, err = r.requested(t, s, now); err != nil {
			return err
		}
	}
	if t.busy() && (t.attempt.started || kind == commandSchedule) {
		t.attempt.propose(t, cmd, c.attempt == nil)
		return nil
	}
	return r.obey(t, cmd, now)
}

// requested checks and counts the request for a schedule.
func (r *Runtime) requested(t *task, s Schedule, now Instant) (Instant, error) {
	deadline, err := s.resolve(now, t.cadence)
	switch {
	case err != nil:
		return 0, err
	case r.stopping:
		return 0, ErrShutdown
	case t.busy() && t.attempt.pending.terminal(t.lifetime):
		return 0, ErrRegistrationExpired
	}
	t.counters.ScheduleRequests.inc()
	t.request(now, deadline)
	return deadline, nil
}

// propose puts a command into the attempt's pending one.
func (a *attempt) propose(t *task, cmd command, outside bool) {
	pending, changed := a.pending.then(cmd, t.lifetime)
	if !changed && cmd.kind == commandSchedule {
		t.counters.Coalesced.inc()
	}
	a.pending = pending
	if outside {
		a.kept, _ = a.kept.then(cmd, t.lifetime)
	}
}

// obey does at once what is asked of a task whose callback does not run.
func (r *Runtime) obey(t *task, cmd command, now Instant) error {
	switch cmd.kind {
	case commandUnregister:
		r.remove(t, now)
	case commandCancel:
		if !t.inactive() {
			t.counters.Cancelled.inc()
			r.halt(t, ReasonCancelled, now)
		}
	case commandSchedule:
		cmd.deadline = max(cmd.deadline, now) // it may have waited for the end of a run
		if !cmd.exact && t.wake != nil && t.wake.deadline <= cmd.deadline {
			t.counters.Coalesced.inc()
			return nil
		}
		if err := r.moveTo(t, now, cmd.deadline); err != nil {
			r.halt(t, controlReason(err), now)
			return err
		}
	}
	return nil
}

// halt makes the task inactive; a transient one is removed.
func (r *Runtime) halt(t *task, reason InactiveReason, now Instant) {
	r.disarm(t)
	r.retire(t, now)
	t.reason = reason
	if t.lifetime == LifetimeRemoveWhenStopped {
		r.remove(t, now)
	}
}

// retire ends an attempt that is queued or lost.
func (r *Runtime) retire(t *task, now Instant) {
	a := t.attempt
	if a == nil {
		return
	}
	t.attempt = nil
	r.drop(a.queued)
	if a.lost {
		t.unacknowledged(now)
	}
}

// unacknowledged notes an attempt that ended without a normal return. The failure streak stays as it is.
func (t *task) unacknowledged(now Instant) {
	t.counters.Unacknowledged.inc()
	t.outcome = Outcome{Kind: OutcomeUnacknowledged, At: now}
}
