package tasks

import (
	"math"
	"math/bits"
)

// Counter counts events and stays at its greatest value, which therefore means "saturated", even if it was reached exactly.
type Counter uint64

// Saturated says that the counter may have missed events.
func (c Counter) Saturated() bool { return c == math.MaxUint64 }

func (c *Counter) inc() { c.add(1) }

func (c *Counter) add(n uint64) {
	sum, carry := bits.Add64(uint64(*c), n, 0)
	if carry != 0 {
		sum = math.MaxUint64
	}
	*c = Counter(sum)
}

// Counters count what happened to a registration since it was made. WorkCompleted is the sum of the four outcomes that
// follow it; nothing is promised about WorkStarted and Unacknowledged.
type Counters struct {
	ScheduleRequests Counter `json:"schedule_requests"` // initial schedules and schedules asked for by commands
	WakeupsArmed     Counter `json:"wakeups_armed"`     // timers armed for wake-ups, successors and their replacements among them
	WorkDispatched   Counter `json:"work_dispatched"`   // work that a watchdog queued
	SchedulerStarted Counter `json:"scheduler_started"` // scheduler steps of a watchdog
	WorkStarted      Counter `json:"work_started"`      // calls of the callback
	WorkCompleted    Counter `json:"work_completed"`    // normal returns of the callback
	Succeeded        Counter `json:"succeeded"`
	NoWork           Counter `json:"no_work"`
	RetryableFailure Counter `json:"retryable_failure"`
	InvariantFailure Counter `json:"invariant_failure"`
	Cancelled        Counter `json:"cancelled"`      // cancellations that cleared something
	StaleWakeups     Counter `json:"stale_wakeups"`  // wake-ups that came after they had been replaced or cancelled
	StaleWork        Counter `json:"stale_work"`     // queued work that came too late, or returned after it had been given up
	Coalesced        Counter `json:"coalesced"`      // requests that an armed wake-up already met, and wake-ups during an overrun
	Unacknowledged   Counter `json:"unacknowledged"` // attempts that ended without a normal return
	Panics           Counter `json:"panics"`         // panics of the callback, counted at once
	Units            Counter `json:"units"`          // units of work that completions reported
}

// complete counts a normal return.
func (c *Counters) complete(done Completion) {
	c.WorkCompleted.inc()
	c.Units.add(done.units)
	switch done.Kind() {
	case OutcomeSuccess:
		c.Succeeded.inc()
	case OutcomeNoWork:
		c.NoWork.inc()
	case OutcomeRetryableFailure:
		c.RetryableFailure.inc()
	default:
		c.InvariantFailure.inc()
	}
}
