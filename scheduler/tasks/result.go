package tasks

// result is what every callback returns: what happened, and what is to follow.
type result struct {
	completion Completion
	decision   decision
}

// newResult keeps the decision beside every completion but an invariant failure, which stops. Delays are not checked here.
func newResult(c Completion, d decision) result {
	if c.kind == 0 {
		d = decision{}
	}
	return result{c, d}
}

// Completion is what happened.
func (r result) Completion() Completion { return r.completion }

// Decision is what is to follow.
func (r result) Decision() Decision { return r.decision.show() }

// OnceResult is what a Once callback returns. The zero OnceResult is an invariant failure.
type OnceResult struct{ result }

// AfterCompletionResult is what an AfterCompletion callback returns. The zero AfterCompletionResult is an invariant failure.
type AfterCompletionResult struct{ result }

// WatchdogResult is what a Watchdog callback returns. The zero WatchdogResult is an invariant failure.
type WatchdogResult struct{ result }

// NewOnceResult pairs a completion with a decision; nil decides to stop.
func NewOnceResult(c Completion, d OnceDecision) OnceResult {
	if d == nil {
		d = Stop()
	}
	return OnceResult{newResult(c, d.once())}
}

// NewAfterCompletionResult pairs a completion with a decision; nil decides to stop.
func NewAfterCompletionResult(c Completion, d AfterCompletionDecision) AfterCompletionResult {
	if d == nil {
		d = Stop()
	}
	return AfterCompletionResult{newResult(c, d.afterCompletion())}
}

// NewWatchdogResult pairs a completion with a decision; nil decides to stop.
func NewWatchdogResult(c Completion, d WatchdogDecision) WatchdogResult {
	if d == nil {
		d = Stop()
	}
	return WatchdogResult{newResult(c, d.watchdog())}
}
