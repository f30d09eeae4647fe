package tasks

import (
	"context"
	"time"
)

// Policy says how often a task runs.
type Policy string

const (
	PolicyOnce            Policy = "once"             // once, unless it is scheduled again
	PolicyAfterCompletion Policy = "after-completion" // again a cadence after each normal return that asks for it
	PolicyWatchdog        Policy = "watchdog"         // again a cadence after each wake-up, whatever becomes of the work
)

// task is one registration. All fields but the first block are guarded by the runtime's lock. What state it is in follows
// from wake and attempt alone (state.go), so that the two cannot disagree with a third.
type task struct {
	id       Identity
	claim    uint64
	policy   Policy
	cadence  time.Duration // 0 for Once
	lifetime Lifetime
	limit    time.Duration // of a watchdog's work; 0 is none
	run      func(context.Context, claim) result
	release  func() // called once, outside the lock, when the declaration is gone
	gone     bool   // the declaration is no longer the runtime's

	generation uint64         // the last one given to a handle
	wake       *handle        // the armed wake-up; a watchdog's successor
	attempt    *attempt       // the run that is queued, running or lost
	reason     InactiveReason // why there is neither

	counters        Counters
	streak          Counter
	decision        decision      // of the last completion
	requested       time.Duration // the last delay asked for; negative before the first
	armed           time.Duration // the last one given to the clock; negative before the first
	outcome         Outcome       // the last one; none without a kind
	lastPanic       string
	scheduler, work Performance
}

// attempt is one run of a task's callback, from the moment it is queued (watchdog) or started.
type attempt struct {
	task      *task
	queued    *handle // a watchdog's queued work; nil once started
	started   bool
	startedAt Instant
	lost      bool           // a watchdog's callback ended without returning; the successor will replace the attempt
	overrun   bool           // a watchdog's successor came while the callback ran
	failed    InactiveReason // a watchdog's next successor could not be armed while the callback ran

	// Of the goroutine that runs it, once started.
	run      func(context.Context, claim) result
	ctx      context.Context
	cancel   context.CancelFunc // of ctx, if the task has a WorkLimit
	span     span
	result   result
	returned bool

	// pending is what all commands since the attempt was queued amount to; it is applied at a normal return. kept is what
	// those amount to that came through the registration: of these a cancellation outlives a callback that does not return.
	pending, kept command
}

// busy says that commands wait for the end of an attempt.
func (t *task) busy() bool { return t.attempt != nil && !t.attempt.lost }

func (t *task) watchdog() bool { return t.policy == PolicyWatchdog }

func (t *task) inactive() bool { return t.wake == nil && t.attempt == nil }
