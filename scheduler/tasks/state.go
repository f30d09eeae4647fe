package tasks

// State says what a task is doing. It follows from what the task owns: a wake-up, an attempt, both or neither.
type State string

const (
	StateInactive     State = "inactive"      // nothing is armed; see the reason
	StateScheduled    State = "scheduled"     // a wake-up is armed
	StateRunning      State = "running"       // the callback of a Once or AfterCompletion task runs
	StateAwaitingWork State = "awaiting-work" // a watchdog's successor is armed and its attempt is not finished
)

// AttemptState says how far a watchdog's attempt has come.
type AttemptState string

const (
	AttemptDispatched AttemptState = "dispatched" // queued
	AttemptRunning    AttemptState = "running"    // its callback has been called
	AttemptLost       AttemptState = "lost"       // it ended without returning; the successor will replace it
)

// InactiveReason says why a task is inactive.
type InactiveReason string

const (
	ReasonDeclared         InactiveReason = "declared"          // it has not been scheduled yet
	ReasonStopped          InactiveReason = "stopped"           // its callback decided so
	ReasonCancelled        InactiveReason = "cancelled"         // its owner or its callback asked for it
	ReasonInvariantFailure InactiveReason = "invariant-failure" // a completion said so
	ReasonAbandoned        InactiveReason = "abandoned"         // its callback did not return
	ReasonShutDown         InactiveReason = "shut-down"         // the runtime ended

	// The control failures: the runtime could not go on with the task.
	ReasonGenerationExhausted InactiveReason = "generation-exhausted"    // the numbers for its timers are used up
	ReasonDeadlineOverflow    InactiveReason = "deadline-overflow"       // beyond the clock's range
	ReasonDelayOutOfRange     InactiveReason = "delay-out-of-range"      // its callback decided on a negative or too long delay
	ReasonBindingFailed       InactiveReason = "provider-binding-failed" // the clock could not arm a timer
)

// ControlFailure says that the reason is one of the control failures.
func (r InactiveReason) ControlFailure() bool {
	switch r {
	case ReasonGenerationExhausted, ReasonDeadlineOverflow, ReasonDelayOutOfRange, ReasonBindingFailed:
		return true
	}
	return false
}

// Condition is a task's health in one word.
type Condition string

const (
	ConditionDisabled Condition = "disabled" // not wanted now: declared only, cancelled or shut down
	ConditionIdle     Condition = "idle"     // it stopped by itself
	ConditionActive   Condition = "active"   // it is scheduled or runs
	ConditionRetrying Condition = "retrying" // it is scheduled or runs, and its last run failed or was lost
	ConditionFailed   Condition = "failed"   // it stopped, and not because it was done
)

func (t *task) state() State {
	switch {
	case t.attempt != nil && t.watchdog():
		return StateAwaitingWork
	case t.attempt != nil:
		return StateRunning
	case t.wake != nil:
		return StateScheduled
	}
	return StateInactive
}

func (a *attempt) state() AttemptState {
	switch {
	case a.lost:
		return AttemptLost
	case a.started:
		return AttemptRunning
	}
	return AttemptDispatched
}

func (t *task) condition() Condition {
	failing := t.outcome.Kind == OutcomeRetryableFailure || t.outcome.Kind == OutcomeUnacknowledged
	switch {
	case !t.inactive() && failing:
		return ConditionRetrying
	case !t.inactive():
		return ConditionActive
	case t.reason == ReasonStopped && !failing:
		return ConditionIdle
	case t.reason == ReasonDeclared || t.reason == ReasonCancelled || t.reason == ReasonShutDown:
		return ConditionDisabled
	}
	return ConditionFailed
}
