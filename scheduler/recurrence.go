package scheduler

// A series is a row of entries, one for each period (document 002, "Failures, retries, and recurrence"). Each period is an entry of its
// own, with its own id, fee and reserve, and Recurred links it to the one before. remaining counts the periods still to come.
// A series goes on when a period succeeds or finally fails; one that is canceled, expires or never executes is its last (S-REC-08).

// checkRecurrence is S-SCH-08 and S-SCH-09: period, remaining and pauseOnFail belong together, and not to a height trigger, an
// entry with dependencies or a conditional one.
func (c *call) checkRecurrence(p Params) error {
	if p.recurs() != (p.Remaining != 0) || p.PauseOnFail && !p.recurs() {
		return CannotRecur
	}
	if p.recurs() && (p.Height != 0 || len(p.DependsOn) > 0 || p.conditional()) {
		return CannotRecur
	}
	return nil
}

// recur goes on with the series of e, a period that has ended, if periods remain. A series that finds no room, no fee or no reserve
// for its next period starves; e keeps its status (S-REC-06).
func (c *call) recur(e *entry) {
	if e.remaining > 0 && c.schedulePeriod(e) != nil {
		c.emitData(eventRecurrenceStarved, nil, wordOf(e.id))
	}
}

// schedulePeriod schedules the period after e and links the two: the one place that knows that a period is a new entry. It takes the
// first of the 8 slots from its due slot with room (S-REC-03), Guaranteed if the series is and that slot has the gas (S-CAP-05), and
// its own fee and reserve. The errors come in this order: SlotFull, InsufficientEscrow, TransferFailed; they change nothing.
func (c *call) schedulePeriod(e *entry) error {
	return c.atomic(func() error {
		next := c.periodAfter(e)
		at, ok := c.newRoom().after(next.dueSlot - 1)
		if !ok {
			return SlotFull
		}
		next.key, next.deadlineSlot = at, at+c.policy.MaxLateSlots
		if next.flags&FlagGuaranteed != 0 && next.cost() <= c.guaranteedGasLeft(at) {
			next.flags &^= FlagBestEffort
		}
		if err := c.enter(next, c.State.Blob(keyOf(tagCalls, e.id, 0))); err != nil {
			return err
		}
		c.emit(eventRecurred, wordOf(at), wordOf(e.id), wordOf(next.id))
		return nil
	})
}

// periodAfter is the next period of e's series: e's terms under the next id, one period fewer to come, BestEffort for now.
func (c *call) periodAfter(e *entry) *entry {
	next := *e
	next.id = nextID(c.State)
	next.status, next.attempts = Scheduled, 0
	next.flags = e.flags&(FlagLateExecute|FlagPauseOnFail|FlagGuaranteed) | FlagBestEffort
	next.dueSlot = nextDue(e.dueSlot, e.periodSlots, c.Time)
	next.remaining--
	return &next
}

// nextDue is the first slot after now that lies a whole number of periods, at least one, after due: it is calculated from the due slot
// and not from the slot that ran (S-REC-01). Periods that a halt has left behind are skipped, and use up none of the series (S-REC-02).
func nextDue(due, period, now uint64) uint64 {
	behind := max(due, now) - due
	return due + (behind/period+1)*period
}
