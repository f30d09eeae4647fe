package tasks

import "time"

// Clock is where a runtime has its time from. Now must not run backwards while tasks are armed: a clock that does so makes
// overdue tasks look early, but neither loses a wake-up nor adds one, because an armed wake-up is due when its timer says so.
type Clock interface {
	Now() Instant
	// AfterFunc calls f once, in a goroutine of its own, d from now unless the timer was stopped. It never calls f before it
	// returns: the runtime holds its lock meanwhile. An error, a nil timer or a panic says that nothing was armed.
	AfterFunc(d time.Duration, f func()) (Timer, error)
}

// Timer is one armed call. Stop says whether it came in time; a call that it missed is recognised as stale.
type Timer interface{ Stop() bool }

type systemClock struct {
	start time.Time
	base  Instant // start as an Instant
}

// SystemClock is the process's monotonic clock with time.AfterFunc.
func SystemClock() Clock {
	now := time.Now()
	return systemClock{now, Instant(now.UnixNano())}
}

func (c systemClock) Now() Instant { return c.base + Instant(time.Since(c.start)) }

func (systemClock) AfterFunc(d time.Duration, f func()) (Timer, error) {
	return time.AfterFunc(d, f), nil
}
