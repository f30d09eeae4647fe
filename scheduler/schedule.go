package scheduler

import (
	"math/bits"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// schedule checks params, locks the fee and queues the entry (document 002, "Scheduling an entry"). The first failing rule, in the
// order of validate and then capacity and escrow, decides the error.
func (c *call) schedule(p Params) (id uint64, err error) {
	data, err := c.validate(p)
	if err != nil {
		return 0, err
	}
	id = nextID(c.State)
	e := c.newEntry(id, p, len(data))
	if err := c.checkCapacity(e, p.When.Item); err != nil {
		return 0, err
	}
	c.storeOneShot(e, p)
	if err := c.enter(e, data); err != nil {
		return 0, err
	}
	fee := e.fee()
	feeWord, keyWord := fee.Bytes32(), wordOf(e.key)
	c.emitData(eventScheduled, append(keyWord[:], feeWord[:]...), wordOf(id), wordOfAddr(e.payer))
	return id, nil
}

// checkCapacity is S-SCH-24 and S-SCH-25, and S-SCH-19 for a conditional entry, which stands in no queue yet.
func (c *call) checkCapacity(e *entry, item Word) error {
	if e.key == WatchKey {
		if readWatchList(c.State, item).count >= c.limits.WatchersPerItem {
			return WatchFull
		}
		return nil
	}
	if readQueueHead(c.State, e.key).count >= uint64(c.policy.MaxEntriesPerBlock) {
		return SlotFull
	}
	if e.guaranteed() && e.cost() > c.guaranteedGasLeft(e.key) {
		return SlotReserveFull
	}
	return nil
}

// newEntry is the entry that valid params describe (S-SCH-27).
func (c *call) newEntry(id uint64, p Params, dataLen int) *entry {
	e := &entry{
		id:       id,
		head:     head{payer: c.Caller, key: p.Slot, status: Scheduled, maxRetries: p.MaxRetries},
		gasLimit: p.GasLimit, gasPrice: p.GasPrice,
		deadlineSlot: p.Slot + c.policy.MaxLateSlots, dueSlot: p.Slot,
		dataLen: uint32(dataLen), dependencies: uint8(len(p.DependsOn)), backoffSlots: p.BackoffSlots,
		remaining: p.Remaining, periodSlots: p.PeriodSlots, reserve: p.reserve(),
	}
	if p.Height != 0 {
		e.key, e.deadlineSlot, e.dueSlot = HeightKey|p.Height, 0, 0
	}
	if p.conditional() {
		e.key, e.deadlineSlot, e.whenKind = WatchKey, 0, p.When.Kind // the slot is its not-before time (S-CON-01)
	}
	if p.Class == Guaranteed {
		e.flags |= FlagGuaranteed
	} else {
		e.flags |= FlagBestEffort
	}
	if p.LateExecute {
		e.flags |= FlagLateExecute
	}
	if p.PauseOnFail {
		e.flags |= FlagPauseOnFail
	}
	if len(p.Ciphertext) > 0 {
		e.flags |= FlagSealed
	}
	for i, d := range p.DependsOn {
		if d.Finished {
			e.dependsOnFinished |= 1 << i
		}
	}
	return e
}

// storeOneShot writes the words that no period of a series has.
func (c *call) storeOneShot(e *entry, p Params) {
	writeDependsOn(c.State, e.id, p.DependsOn)
	c.State.Set(keyOf(tagEntry, e.id, wordCommitment), p.Commitment)
	c.State.Set(keyOf(tagEntry, e.id, wordItem), p.When.Item)
	c.State.Set(keyOf(tagEntry, e.id, wordOperand), p.When.Operand)
	if e.sealed() {
		c.countSealed(e)
	}
}

// enter is how an entry, be it new or the next period of a series, becomes Scheduled: it takes the next id, locks its fee
// (InsufficientEscrow), is stored with its data, takes its place in a queue or on a watch list, and holds its reserve (TransferFailed).
func (c *call) enter(e *entry, data []byte) error {
	if !c.lock(e.payer, e.fee()) {
		return InsufficientEscrow
	}
	e.write(c.State)
	c.State.SetBlob(keyOf(tagCalls, e.id, 0), data)
	if e.key == WatchKey {
		c.watch(readWhen(c.State, e).Item, e.id)
	} else {
		enqueue(c.State, e.key, e.id, e.reserved())
	}
	setUint64(c.State, tagMeta, 0, metaNextID, e.id+1)
	return c.hold(e)
}

// validate applies the checks that need no capacity or escrow and returns the data to store: the encoded calls, or the ciphertext.
func (c *call) validate(p Params) ([]byte, error) {
	for _, check := range []func(Params) error{c.checkClass, c.checkTrigger, c.checkRecurrence, c.checkDependencies} {
		if err := check(p); err != nil {
			return nil, err
		}
	}
	data, err := c.checkShape(p)
	if err != nil {
		return nil, err
	}
	for _, check := range []func(Params) error{c.checkCondition, c.checkPrice} {
		if err := check(p); err != nil {
			return nil, err
		}
	}
	if err := c.checkGas(p, len(data)); err != nil {
		return nil, err
	}
	return data, c.checkReserve(p)
}

func (p Params) conditional() bool { return p.When != Condition{} }
func (p Params) recurs() bool      { return p.PeriodSlots != 0 }
func (p Params) reserves() bool    { return p.reserve() != reserve{} }

// checkClass is S-SCH-02 and S-SCH-18: conditional entries are BestEffort.
func (c *call) checkClass(p Params) error {
	if p.Class > BestEffort || p.conditional() && p.Class != BestEffort {
		return BadClass
	}
	return nil
}

// checkTrigger is S-SCH-03 to S-SCH-07: exactly one trigger, in the future, within the horizon; period and backoff within it too.
func (c *call) checkTrigger(p Params) error {
	horizon := c.policy.MaxHorizonSlots
	switch {
	case (p.Slot == 0) == (p.Height == 0), p.conditional() && p.Height != 0:
		return BadTrigger
	case p.Slot != 0 && p.Slot <= c.Time, p.Height != 0 && p.Height <= c.Height:
		return SlotNotInFuture
	case p.Slot != 0 && p.Slot-c.Time > horizon, p.Height != 0 && p.Height-c.Height > horizon:
		return BeyondHorizon
	case p.PeriodSlots > horizon, uint64(p.BackoffSlots) > horizon:
		return BeyondHorizon
	}
	return nil
}

// checkDependencies is S-SCH-10. Finished, foreign and repeated dependencies are allowed (S-SCH-11).
func (c *call) checkDependencies(p Params) error {
	if len(p.DependsOn) > MaxDependencies {
		return BadDependency
	}
	next := nextID(c.State)
	for _, d := range p.DependsOn {
		if d.ID == 0 || d.ID >= next {
			return BadDependency
		}
	}
	return nil
}

// checkShape is S-SCH-12 to S-SCH-16: an open entry has calls, a sealed one a ciphertext.
func (c *call) checkShape(p Params) ([]byte, error) {
	if len(p.Ciphertext) > 0 {
		return p.Ciphertext, c.checkSealed(p)
	}
	if p.Commitment != (Word{}) {
		return nil, BadSeal
	}
	if len(p.Calls) == 0 || len(p.Calls) > MaxCalls {
		return nil, BadCalls
	}
	for _, call := range p.Calls {
		if c.forbidden(call.Target) {
			return nil, BadTarget
		}
	}
	data := tlock.EncodeCalls(p.Calls)
	if len(data) > MaxEncodedCalls {
		return nil, DataTooLarge
	}
	return data, nil
}

func (c *call) checkSealed(p Params) error {
	switch {
	case len(p.Ciphertext) > MaxCiphertext:
		return DataTooLarge
	case len(p.Ciphertext) < MinCiphertext, len(p.Calls) > 0, p.Commitment == Word{}, p.Slot == 0:
		return BadSeal
	case p.recurs(), p.reserves():
		return BadSeal
	case len(c.Beacon.GroupKey()) == 0:
		return BadSeal
	}
	return nil
}

// forbidden: no call targets the zero address, the scheduler, the gas token or a MIP20 token (document 002, "Call authority").
func (c *call) forbidden(target Addr) bool {
	return target == Addr{} || target == Address || target == c.policy.GasToken || c.Token.IsMIP20(target)
}

// checkPrice is S-SCH-20.
func (c *call) checkPrice(p Params) error {
	switch {
	case p.GasPrice == 0:
		return ZeroGasPrice
	case p.GasPrice < c.policy.MinGasPrice:
		return GasPriceTooLow
	}
	return nil
}

// checkGas is S-SCH-21 and S-SCH-22. A sealed entry's calls are checked when it runs (S-SEA-18).
func (c *call) checkGas(p Params, dataLen int) error {
	var capture uint64
	if p.reserves() {
		capture = captureGas
	}
	if need, ok := callsGas(p.Calls, capture); !ok || p.GasLimit < need {
		return GasLimitOutOfRange
	}
	cost, ok := Cost(p.GasLimit, uint64(dataLen), uint64(len(p.DependsOn)), p.recurs(), p.reserves())
	if !ok || cost > c.policy.GasPerBlock {
		return GasLimitOutOfRange
	}
	return nil
}

// callsGas is what gasLimit must cover: the capture, each call's limit and the overhead of making it. ok is false when the
// sum leaves 64 bits.
func callsGas(calls []Call, capture uint64) (sum uint64, ok bool) {
	sum = capture
	for _, call := range calls {
		var over1, over2 uint64
		sum, over1 = bits.Add64(sum, call.GasLimit, 0)
		sum, over2 = bits.Add64(sum, callOverhead, 0)
		if over1|over2 != 0 {
			return 0, false
		}
	}
	return sum, true
}
