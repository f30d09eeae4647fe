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

// decisions are the kinds; a decision keeps a kind's place here and not its text, as a completion does.
var decisions = [...]DecisionKind{DecisionStop, DecisionContinueImmediately, DecisionScheduleAt, DecisionRetryAfter,
	DecisionRecurAfterCompletion, DecisionContinue}

const (
	decideStop = iota // the zero decision
	decideContinueImmediately
	decideScheduleAt
	decideRetryAfter
	decideRecurAfterCompletion
	decideContinue
)

// decision is what a callback decided.
type decision struct {
	kind  uint8  // index of decisions
	value uint64 // an Instant or a delay
}

// Decision is a decision as it is observed: Delay belongs to retry-after, At to schedule-at.
type Decision struct {
	Kind  DecisionKind  `json:"kind"`
	Delay time.Duration `json:"delay_ns,omitempty"`
	At    Instant       `json:"at,omitempty"`
}

func (d decision) show() Decision {
	out := Decision{Kind: decisions[d.kind]}
	switch d.kind {
	case decideRetryAfter:
		out.Delay = time.Duration(d.value)
	case decideScheduleAt:
		out.At = Instant(d.value)
	}
	return out
}

// OnceDecision is what a Once callback may decide: Stop, ContinueImmediately, ScheduleAt, RetryAfter.
type OnceDecision interface{ once() decision }

// AfterCompletionDecision is what an AfterCompletion callback may decide: what a Once callback may, and RecurAfterCompletion.
type AfterCompletionDecision interface{ afterCompletion() decision }

// WatchdogDecision is what a Watchdog callback may decide: Stop, ContinueImmediately, ScheduleAt, Continue.
type WatchdogDecision interface{ watchdog() decision }

// AnyDecision is a decision that every policy knows.
type AnyDecision struct{ d decision }

// OrdinaryDecision is a decision that Once and AfterCompletion know.
type OrdinaryDecision struct{ d decision }

// RecurDecision is a decision that only AfterCompletion knows.
type RecurDecision struct{ d decision }

// ContinueDecision is a decision that only Watchdog knows.
type ContinueDecision struct{ d decision }

// Stop makes the task inactive.
func Stop() AnyDecision { return AnyDecision{} }

// ContinueImmediately runs the task again, in a delivery of its own. A watchdog replaces its successor by it.
func ContinueImmediately() AnyDecision { return AnyDecision{decision{kind: decideContinueImmediately}} }

// ScheduleAt runs the task at t; a watchdog moves its successor there.
func ScheduleAt(t Instant) AnyDecision { return AnyDecision{decision{decideScheduleAt, uint64(t)}} }

// RetryAfter runs the task d after its completion. The delay is checked then, and only if the decision wins.
func RetryAfter(d time.Duration) OrdinaryDecision {
	return OrdinaryDecision{decision{decideRetryAfter, uint64(d)}}
}

// RecurAfterCompletion runs the task its cadence after its completion.
func RecurAfterCompletion() RecurDecision {
	return RecurDecision{decision{kind: decideRecurAfterCompletion}}
}

// Continue keeps the successor that was armed before the work began.
func Continue() ContinueDecision { return ContinueDecision{decision{kind: decideContinue}} }

func (x AnyDecision) once() decision                 { return x.d }
func (x AnyDecision) afterCompletion() decision      { return x.d }
func (x AnyDecision) watchdog() decision             { return x.d }
func (x OrdinaryDecision) once() decision            { return x.d }
func (x OrdinaryDecision) afterCompletion() decision { return x.d }
func (x RecurDecision) afterCompletion() decision    { return x.d }
func (x ContinueDecision) watchdog() decision        { return x.d }
