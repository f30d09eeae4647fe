package tasks

import "unicode/utf8"

// OutcomeKind says how a run ended.
type OutcomeKind string

const (
	OutcomeSuccess          OutcomeKind = "success"           // Success
	OutcomeNoWork           OutcomeKind = "no-work"           // NoWork
	OutcomeRetryableFailure OutcomeKind = "retryable-failure" // RetryableFailure
	OutcomeInvariantFailure OutcomeKind = "invariant-failure" // InvariantFailure
	// OutcomeUnacknowledged: the run did not return normally (it panicked, ended its goroutine, never started or outlived a
	// shutdown). No callback can report it.
	OutcomeUnacknowledged OutcomeKind = "unacknowledged"
)

// maxDetail bounds the texts that are kept about a task: the cause of its last failure and its last panic.
const maxDetail = 256

// outcomes are the kinds that a completion can have. It keeps a kind's place here and not its text, because results pass
// through the small stack of a fresh goroutine.
var outcomes = [...]OutcomeKind{OutcomeInvariantFailure, OutcomeSuccess, OutcomeNoWork, OutcomeRetryableFailure}

// Completion records what a run did. What follows is decided by the decision beside it, never by the completion, with one
// exception: an invariant failure stops the task. The zero Completion is an invariant failure.
type Completion struct {
	detail string
	units  uint64
	kind   uint8 // index of outcomes
}

// Success says that n units of work were done.
func Success(n uint64) Completion { return Completion{kind: 1, units: n} }

// NoWork says that there was nothing to do.
func NoWork() Completion { return Completion{kind: 2} }

// RetryableFailure says that the run failed after n units of work, in a way that is expected to happen.
func RetryableFailure(n uint64) Completion { return Completion{kind: 3, units: n} }

// InvariantFailure says that something happened that must not: the task stops, whatever was decided or asked for.
func InvariantFailure(n uint64) Completion { return Completion{units: n} }

// Because adds err's text, cut to 256 bytes, for the task's snapshot. The error itself is not kept.
func (c Completion) Because(err error) Completion {
	if err != nil {
		c.detail = cut(err.Error())
	}
	return c
}

// Kind is the completion's class.
func (c Completion) Kind() OutcomeKind { return outcomes[c.kind] }

// Units is how many units of work were done.
func (c Completion) Units() uint64 { return c.units }

// cut shortens s to maxDetail bytes, not inside a character.
func cut(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	end := maxDetail
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
