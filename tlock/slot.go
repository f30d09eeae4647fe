package tlock

import (
	"math"
	"time"
)

// SlotAt returns the first slot that does not start before t: t rounded up to a whole second. The key of slot s is
// released when s is over, at SlotEnd(s), so what is sealed to SlotAt(t) never opens before t. A time before 1970 gives
// slot 0.
func SlotAt(t time.Time) uint64 {
	s := t.Unix()
	if t.Nanosecond() > 0 && s < math.MaxInt64 {
		s++
	}
	return uint64(max(s, 0))
}

// SlotEnd returns the moment slot s is over, s+1 in Unix seconds: no honest validator releases a partial before it. Slots
// too far away for time.Time (above 2^62) give the same, absurdly late, time.
func SlotEnd(slot uint64) time.Time {
	return time.Unix(int64(min(slot, 1<<62))+1, 0).UTC()
}
