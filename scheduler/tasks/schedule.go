package tasks

import (
	"math"
	"time"
)

// Schedule says when a task wakes up: after a delay or at an Instant.
type Schedule struct {
	absolute bool
	delay    time.Duration
	at       Instant
	cadence  bool // a delay of the task's own cadence
}

// After is d from the moment of the request, which is when the delay is resolved, once. A negative d is refused there.
func After(d time.Duration) Schedule { return Schedule{delay: d} }

// At is the Instant t of the runtime's clock; one in the past means at once, in a later delivery.
func At(t Instant) Schedule { return Schedule{absolute: true, at: t} }

// Immediately is After(0): a later delivery, never a call from within the request.
func Immediately() Schedule { return Schedule{} }

// resolve gives the deadline for a task of that cadence; deadlines in the past become now.
func (s Schedule) resolve(now Instant, cadence time.Duration) (Instant, error) {
	if s.cadence {
		return now.Add(cadence)
	}
	if !s.absolute {
		return now.Add(s.delay)
	}
	if s.at > now && s.at-now > math.MaxInt64 {
		return 0, ErrDelayOutOfRange
	}
	return max(s.at, now), nil
}

// Lifetime says what becomes of a task's declaration when the task stops.
type Lifetime string

const (
	LifetimeRetained          Lifetime = "retained"            // the declaration stays, inactive, and can be scheduled again
	LifetimeRemoveWhenStopped Lifetime = "remove-when-stopped" // the declaration goes, and its registration expires
)

// Start is how a registration begins. The zero Start is refused.
type Start struct {
	lifetime Lifetime
	initial  *Schedule
}

// Retained keeps the declaration until it is unregistered. With nil the task begins inactive.
func Retained(initial *Schedule) Start {
	if initial != nil {
		s := *initial
		initial = &s
	}
	return Start{LifetimeRetained, initial}
}

// RetainedAt is Retained with a schedule.
func RetainedAt(initial Schedule) Start { return Retained(&initial) }

// RemoveWhenStopped removes the declaration when the task stops, for whatever reason.
func RemoveWhenStopped(initial Schedule) Start { return Start{LifetimeRemoveWhenStopped, &initial} }
