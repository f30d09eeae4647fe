package tasks

import "time"

// Outcome is how the last run ended.
type Outcome struct {
	Kind   OutcomeKind `json:"kind"`
	Units  uint64      `json:"units"`
	Detail string      `json:"detail,omitempty"` // what Because added
	At     Instant     `json:"at"`
}

// Wakeup is an armed wake-up.
type Wakeup struct {
	Deadline Instant `json:"deadline"`
	// Overdue: the deadline has come and the wake-up has not been accepted yet.
	Overdue bool `json:"overdue"`
}

// Attempt is a run that is queued, running or lost.
type Attempt struct {
	State AttemptState `json:"state"`
	// StartedAt is nil until the callback has been called.
	StartedAt *Instant `json:"started_at,omitempty"`
	// Overrun: a watchdog's successor fired while the work was running.
	Overrun bool `json:"overrun,omitempty"`
}

// Snapshot is what there is to know about a task at one moment. It is a copy: nothing done to it reaches the task.
type Snapshot struct {
	Identity     Identity       `json:"identity"`
	Registration RegistrationID `json:"registration"`
	At           Instant        `json:"at"` // when the snapshot was taken
	Policy       Policy         `json:"policy"`
	Cadence      time.Duration  `json:"cadence_ns,omitempty"` // 0 for Once
	Lifetime     Lifetime       `json:"lifetime"`

	State     State          `json:"state"`
	Reason    InactiveReason `json:"reason,omitempty"` // why it is inactive
	Condition Condition      `json:"condition"`
	Overdue   bool           `json:"overdue"` // it is scheduled, and its deadline has come
	Wakeup    *Wakeup        `json:"wakeup,omitempty"`
	Attempt   *Attempt       `json:"attempt,omitempty"`

	LatestDecision *Decision      `json:"latest_decision,omitempty"`
	RequestedDelay *time.Duration `json:"requested_delay_ns,omitempty"` // the last one that a schedule asked for
	ArmedDelay     *time.Duration `json:"armed_delay_ns,omitempty"`     // the last one given to the clock
	LastOutcome    *Outcome       `json:"last_outcome,omitempty"`
	Failures       Counter        `json:"failures"` // retryable failures since the last completion of another kind
	LastPanic      string         `json:"last_panic,omitempty"`
	Counters       Counters       `json:"counters"`

	Scheduler Performance `json:"scheduler"` // of a watchdog's scheduler steps
	Work      Performance `json:"work"`      // of the callback
}

func (t *task) snapshot(now Instant, epoch uint64) Snapshot {
	s := Snapshot{
		Identity: t.id, Registration: RegistrationID{epoch, t.claim}, At: now,
		Policy: t.policy, Cadence: t.cadence, Lifetime: t.lifetime,
		State: t.state(), Condition: t.condition(),
		LatestDecision: present(t.decision.show(), t.counters.WorkCompleted > 0), LastOutcome: present(t.outcome, t.outcome.Kind != ""),
		RequestedDelay: present(t.requested, t.requested >= 0), ArmedDelay: present(t.armed, t.armed >= 0), Failures: t.streak, LastPanic: t.lastPanic, Counters: t.counters,
		Scheduler: t.scheduler.copied(), Work: t.work.copied(),
	}
	if s.State == StateInactive {
		s.Reason = t.reason
	}
	if t.wake != nil {
		s.Wakeup = &Wakeup{t.wake.deadline, t.wake.deadline <= now}
		s.Overdue = s.State == StateScheduled && s.Wakeup.Overdue
	}
	if a := t.attempt; a != nil {
		s.Attempt = &Attempt{State: a.state(), Overrun: a.overrun}
		if a.started {
			s.Attempt.StartedAt = present(a.startedAt, true)
		}
	}
	return s
}

// present is a pointer to v, or nil if there is no v yet.
func present[T any](v T, there bool) *T {
	if !there {
		return nil
	}
	return &v
}

func (p Performance) copied() Performance {
	p.Memory = p.Memory.copied()
	return p
}
