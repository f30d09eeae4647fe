package tasks

// complete takes a callback's result; true if the task is still there.
func (r *Runtime) complete(w run, res result, s *span) bool {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.unlock()
	defer r.leave(w.a)
	t := w.t
	if t.attempt != w.a {
		r.late(t)
		return false
	}
	t.attempt = nil
	t.note(res, now)
	if r.settle(t, w.a, res, now) {
		return false
	}
	s.record(&t.work)
	return true
}

// note records what happened.
func (t *task) note(res result, now Instant) {
	kind, decision := res.completion.Kind(), res.Decision()
	t.counters.complete(res.completion)
	t.outcome = &Outcome{Kind: kind, Units: res.completion.units, Detail: res.completion.detail, At: now}
	t.decision = &decision
	if kind == OutcomeRetryableFailure {
		t.streak.inc()
	} else {
		t.streak = 0
	}
}

// settle does what follows a normal return; true if the task was removed. In this order: unregistering is final, an
// invariant failure stops, as do a shutdown and a failed successor; then the pending command counts, and without one the
// callback's decision.
func (r *Runtime) settle(t *task, a *attempt, res result, now Instant) (removed bool) {
	reason := InactiveReason("")
	switch {
	case a.pending.kind == commandUnregister:
		r.remove(t, now)
		return true
	case res.completion.Kind() == OutcomeInvariantFailure:
		reason = ReasonInvariantFailure
	case r.stopping:
		reason = ReasonShutDown
	case a.failed != "":
		reason = a.failed
	case a.pending.kind == commandCancel:
		t.counters.Cancelled.inc()
		reason = ReasonCancelled
	case a.pending.kind == commandSchedule:
		// What obey refuses it has stopped.
		return r.obey(t, a.pending, now) != nil && t.lifetime == LifetimeRemoveWhenStopped
	default:
		reason = r.follow(t, res.Decision(), now)
	}
	if reason == "" {
		return false
	}
	r.halt(t, reason, now)
	return t.lifetime == LifetimeRemoveWhenStopped
}

// follow does what the callback decided; the reason to stop, if that is what follows.
func (r *Runtime) follow(t *task, d Decision, now Instant) InactiveReason {
	var s Schedule
	switch d.Kind {
	case DecisionContinue:
		return ""
	case DecisionContinueImmediately:
		s = Immediately()
	case DecisionScheduleAt:
		s = At(d.At)
	case DecisionRetryAfter:
		s = After(d.Delay)
	case DecisionRecurAfterCompletion:
		s = Schedule{cadence: true}
	default:
		return ReasonStopped
	}
	deadline, err := s.resolve(now, t.cadence)
	if err == nil {
		err = r.moveTo(t, now, deadline)
	}
	if err != nil {
		return controlReason(err)
	}
	return ""
}
