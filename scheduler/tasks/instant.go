package tasks

import (
	"math"
	"time"
)

// Instant is a point in time on a runtime's clock, in nanoseconds. The system clock counts them from 1970 by the wall clock
// as it stood when the clock was made, and from then on monotonically: a wall clock that is set does not move it.
type Instant uint64

// Add is t+d, checked: ErrDelayOutOfRange if d is negative, ErrDeadlineOverflow if the sum is beyond the last Instant.
func (t Instant) Add(d time.Duration) (Instant, error) {
	if d < 0 {
		return 0, ErrDelayOutOfRange
	}
	if uint64(d) > math.MaxUint64-uint64(t) {
		return 0, ErrDeadlineOverflow
	}
	return t + Instant(d), nil
}

// Since is how long ago earlier was: 0 if it is not earlier, and the longest Duration if it is longer ago than that.
func (t Instant) Since(earlier Instant) time.Duration {
	if earlier >= t {
		return 0
	}
	return time.Duration(min(uint64(t-earlier), math.MaxInt64))
}

// Time is the Instant as a date, if it counts from 1970 as the system clock does.
func (t Instant) Time() time.Time {
	return time.Unix(int64(uint64(t)/uint64(time.Second)), int64(uint64(t)%uint64(time.Second)))
}
