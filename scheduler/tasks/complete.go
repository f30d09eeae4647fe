package tasks

import "time"

// complete takes the callback's result; true if the task is still there.
func (r *Runtime) complete(a *attempt) bool {
	now := r.clock.Now()
	r.mu.Lock()
	defer r.unlock()
	t := a.task
	there := t.attempt == a
	if there {
		t.attempt = nil
		t.note(&a.result, now)
		if there = !r.settle(a, now); there {
			a.span.record(&t.work)
		}
	} else {
		r.late(t)
	}
	r.leave(a)
	return there
}

// note records what happened.
func (t *task) note(res *result, now Instant) {
	kind := res.completion.Kind()
	t.counters.complete(res.completion)
	t.outcome = Outcome{Kind: kind, Units: res.completion.units, Detail: res.completion.detail, At: now}
	t.decision = res.decision
	if kind == OutcomeRetryableFailure {
		t.streak.inc()
	} else {
		t.streak = 0
	}
}

// settle does what follows a normal return; true if the task was removed. In this order: unregistering is final, an
// invariant failure stops, as do a shutdown and a failed successor; then the pending command counts, and without one the
// callback's decision.
func (r *Runtime) settle(a *attempt, now Instant) (removed bool) {
	t, res := a.task, &a.result
	reason := InactiveReason("")
	switch {
	case a.pending.kind == commandUnregister:
		r.remove(t, now)
		return true
	case res.completion.kind == 0:
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
		reason = r.follow(t, res.decision, now)
	}
	if reason == "" {
		return false
	}
	r.halt(t, reason, now)
	return t.lifetime == LifetimeRemoveWhenStopped
}

// follow does what the callback decided; the reason to stop, if that is what follows.
func (r *Runtime) follow(t *task, d decision, now Instant) InactiveReason {
	var s Schedule
	switch d.kind {
	case decideContinue:
		return ""
	case decideContinueImmediately:
		s = Immediately()
	case decideScheduleAt:
		s = At(Instant(d.value))
	case decideRetryAfter:
		s = After(time.Duration(d.value))
	case decideRecurAfterCompletion:
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
