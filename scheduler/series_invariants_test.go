package scheduler_test

import (
	"slices"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// The invariants of series, pauses and reserves.

func argOf(ev scheduler.Event, i int) *uint256.Int {
	return new(uint256.Int).SetBytes32(ev.Args[i].Word[:])
}

func hasReserve(e scheduler.Entry) bool { return e.ReserveAmount != [12]byte{} }

func reserveUnits(e scheduler.Entry) uint64 {
	return new(uint256.Int).SetBytes(e.ReserveAmount[:]).Uint64()
}

// checkPeriod is I-31, and that a period has all terms of the one before. The entry before is as it was at the last look: what a
// block's runs finish, they did not schedule.
func (v *invariants) checkPeriod(w *world, id, next, key uint64) {
	was, now, time := v.entries[id], w.view().Entry(next), w.Env().Time
	v.fee[next] = v.fee[id]
	if was.Status == scheduler.Paused {
		v.seen["resumed"]++
	}
	if now.Status != scheduler.Scheduled {
		return // a later run of the block canceled it
	}
	ahead := now.DueSlot - was.DueSlot
	w.assert(now.DueSlot > was.DueSlot && ahead%was.PeriodSlots == 0, "I-31: due slot %d follows %d, period %d", now.DueSlot, was.DueSlot, was.PeriodSlots)
	least := ahead == was.PeriodSlots || now.DueSlot-was.PeriodSlots <= time
	w.assert(now.DueSlot > time && least, "S-REC-02: due slot %d follows %d at %d, period %d", now.DueSlot, was.DueSlot, time, was.PeriodSlots)
	w.assert(key == now.Key && key >= now.DueSlot && key < now.DueSlot+8, "S-REC-03: period %d due at %d stands at %d", next, now.DueSlot, key)
	w.assert(now.Remaining+1 == was.Remaining, "I-31: %d periods remain after %d", now.Remaining, was.Remaining)
	w.assert(!isGuaranteed(now) || was.Flags&scheduler.FlagGuaranteed != 0, "S-CAP-05: period %d of a BestEffort series is Guaranteed", next)
	if ahead > was.PeriodSlots {
		v.seen["skipped periods"]++
	}
	want := was
	want.Status, want.Attempts, want.Key, want.DueSlot, want.Remaining = now.Status, 0, key, now.DueSlot, now.Remaining
	want.DeadlineSlot = key + w.Machine().Policy().MaxLateSlots
	want.Flags = was.Flags&^(scheduler.FlagDetached|scheduler.FlagBestEffort) | now.Flags&scheduler.FlagBestEffort
	w.assert(gethText(now) == gethText(want), "A-01: period %d is\n%s, want\n%s", next, gethText(now), gethText(want))
}

// checkPaused is I-18 and S-PAU-01 for an entry that was paused at the last look: it keeps all its fields until it fails or is canceled.
func (v *invariants) checkPaused(w *world, id uint64, was, now scheduler.Entry) {
	if was.Status != scheduler.Paused {
		return
	}
	switch now.Status {
	case scheduler.Failed, scheduler.Cancelled:
	case scheduler.Paused:
		w.assert(gethText(now) == gethText(was), "A-60: paused entry %d changed", id)
	default:
		w.assert(false, "I-18: paused entry %d has status %d", id, now.Status)
	}
}

// checkHolds is I-29: the token holds the reserves of Scheduled entries and nothing else, and no token is made or lost.
func (v *invariants) checkHolds(w *world, now map[uint64]scheduler.Entry) {
	held := map[scheduler.Addr]uint64{}
	for _, e := range now {
		if e.Status == scheduler.Scheduled && hasReserve(e) {
			held[e.Payer] += reserveUnits(e)
		}
	}
	var sum uint64
	for _, a := range payers {
		got := asUint64(w.Held(mip20, a))
		w.assert(got == held[a], "I-29: held of %x is %d, reserves of its entries %d", a[:1], got, held[a])
		sum += got
	}
	for _, a := range append(slices.Clone(payers), okTarget, refusingTarget, revertTarget, panicTarget, memory.ReceivePolicy) {
		sum += asUint64(w.TokenBalance(mip20, a))
	}
	w.assert(sum == 2*streamReserves+150, "I-29: %d reserve tokens in all", sum)
}

// checkCapture is I-30: of all runs only one that succeeds moves reserve tokens, its entry's reserve and once.
func (v *invariants) checkCapture(w *world, id uint64, logs []memory.Log) {
	e := v.before[id]
	moved := transfers(logs)
	if !hasReserve(e) || !slices.ContainsFunc(events(logs), func(s string) bool { return s[:9] == "Executed(" }) {
		w.assert(len(moved) == 0, "I-30: run of %d moved %v", id, moved)
		return
	}
	v.seen["captured"]++
	w.assert(len(moved) == 1, "I-30: run of %d moved %v", id, moved)
	for _, l := range logs {
		if l.Address != mip20 {
			continue
		}
		w.assert(scheduler.Addr(l.Topics[1][12:]) == e.Payer, "I-30: run of %d captured from %x", id, l.Topics[1])
		units := new(uint256.Int).SetBytes(l.Data)
		w.assert(units.Uint64() == reserveUnits(e), "I-30: run of %d captured %s", id, units)
		if scheduler.Addr(l.Topics[2][12:]) == memory.ReceivePolicy {
			v.seen["captured into quarantine"]++
		}
	}
}
