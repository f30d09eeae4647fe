package node

import "fmt"

// reason is why a slot has no key two seconds after its end. Each has a code, for metrics and alerts, and a sentence.
type reason string

const (
	reasonNoGroup  reason = "no_group"         // the ceremony is not done
	reasonBehind   reason = "catching_up"      // this validator is replaying what it missed
	reasonNoShare  reason = "no_share"         // this validator has no share and too few others signed
	reasonNoBlock  reason = "no_block"         // no block reached the slot: the chain stands still
	reasonTooFew   reason = "partials_missing" // fewer than threshold partials came
	reasonBad      reason = "partials_bad"     // enough came, but too many are wrong
	reasonNotTimed reason = "not_recovered"    // enough are there and recovery is still at work: this machine is too slow
)

// sentence is the reason for people.
func (r reason) sentence() string {
	switch r {
	case reasonNoGroup:
		return "the validators have no group key yet"
	case reasonBehind:
		return "this validator was catching up"
	case reasonNoShare:
		return "this validator has no share of the group key, and too few others signed"
	case reasonNoBlock:
		return "no block has reached the slot, so nobody may sign it"
	case reasonTooFew:
		return "too few validators signed"
	case reasonBad:
		return "too many partials are wrong"
	case reasonNotTimed:
		return "recovery takes longer than the slots do"
	}
	return fmt.Sprintf("unknown reason %q", string(r))
}
