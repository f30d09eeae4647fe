package scheduler

import "github.com/holiman/uint256"

// Outcome of a leading transaction's receipt (document 002, "What a run looks like").
type Outcome uint8

// The three outcomes. Only Success has receipt status 1.
const (
	Success  Outcome = iota + 1 // execute ran and paid the fee; the logs say what became of the calls (S-RUN-07)
	Reverted                    // execute reverted: the fee stays locked, and expire returns it (S-RUN-08)
	Skipped                     // an earlier run canceled the entry, or escrow cannot cover the fee; no gas used (S-RUN-09)
)

// Receipt is what a leading transaction left behind besides its logs.
type Receipt struct {
	Outcome Outcome
	GasUsed uint64 // at most the run's GasLimit; independent of the fee
}

// executeGas is the metered gas of execute itself, without the calls it makes.
const executeGas = 60_000

// internalError is the value of a panic over a broken invariant. A run does not recover it.
type internalError string

func (e internalError) Error() string { return "scheduler: internal error: " + string(e) }

// Execute runs one of the plan's transactions: the system calls execute(id) from the scheduler to itself. A target that panics is a
// target that failed; a host whose panics may differ between nodes must not let them come this far.
func (m *Machine) Execute(env Env, h *Host, run Run) Receipt {
	env.Caller = Address
	c := &call{m, env, h}
	if !c.covered(run.ID) {
		return Receipt{Outcome: Skipped}
	}
	var used uint64
	if err := c.atomic(func() (err error) {
		used, err = c.execute(run.ID)
		return err
	}); err != nil {
		return Receipt{Reverted, min(executeGas, run.GasLimit)}
	}
	return Receipt{Success, min(executeGas+used, run.GasLimit)}
}

// covered: the entry is still Scheduled and both ledgers, ours and the token's, can pay its fee.
func (c *call) covered(id uint64) bool {
	e := readEntry(c.State, id)
	fee, locked, held := e.fee(), getAmount(c.State, tagLocked, e.payer), c.Token.Held()
	return e.status == Scheduled && !locked.Lt(&fee) && !held.Lt(&fee)
}

// execute is execute(id): re-checks, status Executed, fee, dependency outcome, capture, calls, outcome event, then retry, pause or
// recurrence (S-RUN-19). used is the gas of the calls. Its errors revert the whole execution; failing calls do not.
func (c *call) execute(id uint64) (used uint64, err error) {
	e, failedDependency, err := c.checkExecutable(id)
	if err != nil {
		return 0, err
	}
	defer c.markRunning()()
	e.status = Executed // before any call, so that no target can cancel, expire or rerun it (S-RUN-11)
	writeHead(c.State, id, e.head)
	fee := e.fee()
	c.unlock(e.payer, fee)
	if c.Token.Credit(c.Proposer, fee) != nil {
		return 0, TransferFailed
	}
	calls := c.storedCalls(id)
	if failedDependency || len(calls) == 0 {
		// A dependency that can no longer succeed and a payload that does not open are permanent: no retry.
		return 0, c.fail(e)
	}
	used, err = c.makeCalls(e, calls)
	switch {
	case err == nil:
		c.succeed(e)
	case !c.retry(e, fee):
		return used, c.fail(e)
	}
	return used, nil
}

// checkExecutable is S-RUN-05 and S-RUN-06. Only entries that a block selected are due.
func (c *call) checkExecutable(id uint64) (e *entry, failedDependency bool, err error) {
	if c.Caller != Address {
		return nil, false, NotChain
	}
	e = readEntry(c.State, id)
	if e.status != Scheduled {
		return nil, false, NotScheduled
	}
	if e.flags&FlagDetached == 0 || e.sealed() || !e.due(c.Height, c.Time) {
		return nil, false, NotDue
	}
	for i, d := range e.dependsOn(c.State) {
		h := readHead(c.State, d)
		if !h.settled(c.State) {
			return nil, false, NotDue
		}
		finished := e.dependsOnFinished>>i&1 == 1
		failedDependency = failedDependency || !finished && h.status != Executed
	}
	return e, failedDependency, nil
}

// running: a system transaction executes (S-RUN-17).
func (c *call) running() bool { return c.State.Temp(keyOf(tagRunning, 0, 0)) != Word{} }

func (c *call) markRunning() (done func()) {
	c.State.SetTemp(keyOf(tagRunning, 0, 0), wordOf(1))
	return func() { c.State.SetTemp(keyOf(tagRunning, 0, 0), Word{}) }
}

// makeCalls captures an entry's reserve and makes its calls in order; if anything fails nothing has happened (S-RUN-12). A sealed
// entry may declare more gas than it paid for: it runs out of gas before its first call (S-SEA-18).
func (c *call) makeCalls(e *entry, calls []Call) (used uint64, err error) {
	if need, ok := callsGas(calls, 0); !ok || need > e.gasLimit {
		return e.gasLimit, CallFailed
	}
	err = c.atomic(func() (err error) {
		if used, err = c.capture(e, calls[0].Target); err != nil {
			return err
		}
		for _, call := range calls {
			if c.forbidden(call.Target) {
				return BadTarget // it became a MIP20 token (S-RUN-13)
			}
			gas, err := c.makeCall(call)
			used += callOverhead + gas
			if err != nil {
				return CallFailed
			}
		}
		return nil
	})
	return used, err
}

func (c *call) makeCall(call Call) (used uint64, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case internalError:
			panic(v)
		default:
			used, err = call.GasLimit, CallFailed
		}
	}()
	_, used, err = c.Executor.Call(call.Target, call.GasLimit, call.Data)
	return min(used, call.GasLimit), err
}

// retry puts a failed entry back as a slot-triggered BestEffort entry, if it has a retry, room and another fee left (document 002,
// "Failures, retries, and recurrence"; S-RTY-01 to S-RTY-04).
func (c *call) retry(e *entry, fee uint256.Int) bool {
	if e.attempts >= e.maxRetries {
		return false
	}
	key, ok := c.newRoom().after(c.Time + max(1, uint64(e.backoffSlots)) - 1)
	if !ok || !c.lock(e.payer, fee) {
		return false
	}
	c.emitExecutionFailed(e, true)
	e.status, e.key, e.deadlineSlot = Scheduled, key, key+c.policy.MaxLateSlots
	e.attempts++
	e.flags = e.flags&^FlagDetached | FlagBestEffort
	e.write(c.State)
	enqueue(c.State, key, e.id, 0)
	return true
}

// succeed ends a run whose calls worked.
func (c *call) succeed(e *entry) {
	c.emit(eventExecuted, wordOf(uint64(e.attempts)), wordOf(e.id))
	c.recur(e)
	c.finish(e, Executed)
}

// fail is a final failure: the reserve is released, and a series pauses or goes on.
func (c *call) fail(e *entry) error {
	c.emitExecutionFailed(e, false)
	if err := c.release(e); err != nil {
		return err
	}
	if e.pauses() {
		c.pause(e)
		return nil
	}
	c.recur(e)
	c.finish(e, Failed)
	return nil
}

func (c *call) emitExecutionFailed(e *entry, willRetry bool) {
	attempt, retry := wordOf(uint64(e.attempts)), wordOfBool(willRetry)
	c.emitData(eventExecutionFailed, append(attempt[:], retry[:]...), wordOf(e.id))
}
