package scheduler

import "github.com/holiman/uint256"

// A series with pauseOnFail pauses when a period finally fails (document 002, "Failures, retries, and recurrence"). The failed entry
// stays, Paused and with all its fields, until its payer resumes or cancels the series. Nothing is locked or held for it, it stands in
// no queue, and to dependents it has ended without success.

// pauses: a final failure of e pauses its series. Without a period to come there is nothing to resume (S-PAU-02).
func (e *entry) pauses() bool { return e.flags&FlagPauseOnFail != 0 && e.remaining > 0 }

// pause is S-PAU-01.
func (c *call) pause(e *entry) {
	e.status = Paused
	writeHead(c.State, e.id, e.head)
	c.emitData(eventPaused, nil, wordOf(e.id))
}

// resume schedules the period after a paused one, which is not run again and becomes Failed (S-PAU-03, S-PAU-05). What the next period
// lacks is the error, and the series stays paused (S-PAU-04).
func (c *call) resume(id uint64) error {
	e := readEntry(c.State, id)
	if e.status != Paused {
		return NotPaused
	}
	if e.payer != c.Caller {
		return NotPayer
	}
	e.status = Failed // before the next period's reserve is held: a token that calls back finds the series resumed
	writeHead(c.State, id, e.head)
	if err := c.schedulePeriod(e); err != nil {
		return err
	}
	c.finish(e, Failed)
	return nil
}

// cancelPaused ends a paused series. There is no fee to refund (S-PAU-06).
func (c *call) cancelPaused(e *entry) {
	c.finish(e, Cancelled)
	c.emit(eventCancelled, new(uint256.Int).Bytes32(), wordOf(e.id))
}
