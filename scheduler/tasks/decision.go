package tasks

import "time"

// DecisionKind says what a callback wants to follow.
type DecisionKind string

const (
	DecisionStop                 DecisionKind = "stop"                   // Stop
	DecisionContinueImmediately  DecisionKind = "continue-immediately"   // ContinueImmediately
	DecisionScheduleAt           DecisionKind = "schedule-at"            // ScheduleAt
	DecisionRetryAfter           DecisionKind = "retry-after"            // RetryAfter
	DecisionRecurAfterCompletion DecisionKind = "recur-after-completion" // RecurAfterCompletion
	DecisionContinue             DecisionKind = "continue"               // Continue
)

// Decision is a decision as it is observed: Delay belongs to retry-after, At to schedule-at.
type Decision struct {
	Kind  DecisionKind  `json:"kind"`
	Delay time.Duration `json:"delay_ns,omitempty"`
	At    Instant       `json:"at,omitempty"`
}

// OnceDecision is what a Once callback may decide: Stop, ContinueImmediately, ScheduleAt, RetryAfter.
type OnceDecision interface{ once() Decision }

// AfterCompletionDecision is what an AfterCompletion callback may decide: what a Once callback may, and RecurAfterCompletion.
type AfterCompletionDecision interface{ afterCompletion() Decision }

// WatchdogDecision is what a Watchdog callback may decide: Stop, ContinueImmediately, ScheduleAt, Continue.
type WatchdogDecision interface{ watchdog() Decision }

// AnyDecision is a decision that every policy knows.
type AnyDecision struct{ d Decision }

// OrdinaryDecision is a decision that Once and AfterCompletion know.
type OrdinaryDecision struct{ d Decision }

// RecurDecision is a decision that only AfterCompletion knows.
type RecurDecision struct{ d Decision }

// ContinueDecision is a decision that only Watchdog knows.
type ContinueDecision struct{ d Decision }

// Stop makes the task inactive.
func Stop() AnyDecision { return AnyDecision{Decision{Kind: DecisionStop}} }

// ContinueImmediately runs the task again, in a delivery of its own. A watchdog replaces its successor by it.
func ContinueImmediately() AnyDecision {
	return AnyDecision{Decision{Kind: DecisionContinueImmediately}}
}

// ScheduleAt runs the task at t; a watchdog moves its successor there.
func ScheduleAt(t Instant) AnyDecision { return AnyDecision{Decision{Kind: DecisionScheduleAt, At: t}} }

// RetryAfter runs the task d after its completion. The delay is checked then, and only if the decision wins.
func RetryAfter(d time.Duration) OrdinaryDecision {
	return OrdinaryDecision{Decision{Kind: DecisionRetryAfter, Delay: d}}
}

// RecurAfterCompletion runs the task its cadence after its completion.
func RecurAfterCompletion() RecurDecision {
	return RecurDecision{Decision{Kind: DecisionRecurAfterCompletion}}
}

// Continue keeps the successor that was armed before the work began.
func Continue() ContinueDecision { return ContinueDecision{Decision{Kind: DecisionContinue}} }

func (x AnyDecision) once() Decision                 { return x.d }
func (x AnyDecision) afterCompletion() Decision      { return x.d }
func (x AnyDecision) watchdog() Decision             { return x.d }
func (x OrdinaryDecision) once() Decision            { return x.d }
func (x OrdinaryDecision) afterCompletion() Decision { return x.d }
func (x RecurDecision) afterCompletion() Decision    { return x.d }
func (x ContinueDecision) watchdog() Decision        { return x.d }
