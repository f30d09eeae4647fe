package node

import "time"

// mayRelease is the promise of the whole network, kept by each honest validator for itself: a partial of slot leaves only
// when the slot is over by the validator's own clock, and a final block has reached it (S-BEA-05): enough validators
// have signed that block, so that nothing can be ordered at or before the slot any more.
//
// Nothing opens early as long as fewer than threshold validators break this rule.
func mayRelease(slot uint64, now time.Time, final uint64) bool {
	return now.Unix() > 0 && slot < uint64(now.Unix()) && slot <= final
}
