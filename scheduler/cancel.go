package scheduler

import "github.com/holiman/uint256"

// cancel ends an entry before it runs; the payer gets cancelRefundBps of the fee, the treasury's escrow the rest (document 002,
// "Cancelling, expiring, and withdrawing"; S-CXL-01, S-CXL-02).
func (c *call) cancel(id uint64) error {
	e := readEntry(c.State, id)
	if e.status != Scheduled && e.status != Paused {
		return NotScheduled
	}
	if e.payer != c.Caller {
		return NotPayer
	}
	if e.status == Paused {
		c.cancelPaused(e)
		return nil
	}
	fee := e.fee()
	var refund uint256.Int
	// 128 bits of fee times 14 bits of share do not overflow.
	refund.Mul(&fee, uint256.NewInt(uint64(c.policy.CancelRefundBps)))
	refund.Div(&refund, uint256.NewInt(bpsWhole))
	c.unlock(e.payer, fee)
	c.give(e.payer, refund)
	c.give(c.policy.Treasury, *new(uint256.Int).Sub(&fee, &refund))
	c.emit(eventCancelled, refund.Bytes32(), wordOf(id))
	return c.drop(e, Cancelled)
}

// expire returns the whole fee of an entry that can no longer run; anyone may call it, but not from inside a run (S-CXL-04).
func (c *call) expire(id uint64) error {
	if c.running() {
		return Running
	}
	e := readEntry(c.State, id)
	if e.status != Scheduled {
		return NotScheduled
	}
	if !e.dead(c.Time) && !e.passed(c.State) && !c.itemGone(e) {
		return NotExpired
	}
	fee := e.fee()
	c.unlock(e.payer, fee)
	c.give(e.payer, fee)
	c.emit(eventExpired, fee.Bytes32(), wordOf(id))
	return c.drop(e, Expired)
}

// itemGone: the entry watches an item that has left the catalog. One that has fired does not care any more.
func (c *call) itemGone(e *entry) bool {
	if e.key != WatchKey {
		return false
	}
	_, listed := c.Oracle.Item(readWhen(c.State, e).Item)
	return !listed
}

// drop ends a Scheduled entry before it runs: it frees its place, in a queue or on a watch list, and its Guaranteed capacity, and
// releases its reserve (S-CXL-03, S-CXL-08).
func (c *call) drop(e *entry, final Status) error {
	is := func(id uint64) bool { return id == e.id }
	switch {
	case e.key == WatchKey:
		c.unwatch(readWhen(c.State, e).Item, is)
	case !e.passed(c.State):
		dequeue(c.State, e.key, e.reserved(), is)
	}
	if e.sealed() {
		c.uncountSealed(e)
	}
	c.finish(e, final)
	return c.release(e)
}
