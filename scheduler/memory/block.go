package memory

import (
	"fmt"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// Receipt is what a transaction left behind.
type Receipt struct {
	Success bool
	GasUsed uint64
	Logs    []Log
	Return  []byte
	Err     error // why it failed, for people; not part of the state
}

// RunReceipt is the receipt of a leading transaction.
type RunReceipt struct {
	scheduler.Receipt
	Logs []Log
}

// BeginBlock begins a block: it applies the beacon update and derives the leading transactions, in the order of document 002's block
// pipeline. Height and time are those of the block, proposer the account that is paid for its runs. An update that breaks a rule
// wraps scheduler.ErrUpdate, and nothing has changed.
func (h *Host) BeginBlock(env scheduler.Env, u scheduler.Update, run scheduler.Runner) ([]scheduler.Run, error) {
	h.beginTransaction()
	before := h.Snapshot()
	h.setEnv(env)
	err := scheduler.ApplyUpdate(h.Space(scheduler.BeaconAddress), h.namespace, env.Time, u, run)
	if err == nil {
		h.plan, err = h.machine.BeginBlock(h.Env(), h.host(), u, run)
	}
	if err != nil {
		h.Revert(before)
		return nil, fmt.Errorf("begin block %d: %w", env.Height, err)
	}
	return h.plan.Runs, nil
}

// ExecuteRun executes the block's leading transaction i. All must be executed, in order, before the first user transaction.
func (h *Host) ExecuteRun(i int) RunReceipt {
	h.beginTransaction()
	r := h.machine.Execute(h.Env(), h.host(), h.plan.Runs[i])
	return RunReceipt{r, h.takeLogs()}
}

// Transact makes a user's call. Whether from may make it is the chain's business: signature, nonce and fees.
func (h *Host) Transact(from, to scheduler.Addr, gas uint64, input []byte) Receipt {
	h.beginTransaction()
	base := uint64(gasTransaction)
	if h.config.Unmetered {
		base = 0
	}
	if gas < base {
		return Receipt{GasUsed: gas, Err: ErrOutOfGas}
	}
	ret, used, err := h.call(from, to, gas-base, input)
	return Receipt{Success: err == nil, GasUsed: base + used, Logs: h.takeLogs(), Return: ret, Err: err}
}

// EndBlock ends the block with the opening sweep.
func (h *Host) EndBlock(run scheduler.Runner) {
	h.beginTransaction()
	h.machine.EndBlock(h.Env(), h.host(), h.plan, run)
	h.plan = nil
}

// View calls one of the scheduler's, the beacon's or a token's reads, or simulates a call to any account, on the state as it
// stands. It leaves no trace.
func (h *Host) View(from, to scheduler.Addr, input []byte) ([]byte, error) {
	const gas = 30_000_000
	f := h.Fork()
	ret, _, err := f.call(from, to, gas, input)
	return ret, err
}

func (h *Host) beginTransaction() {
	h.temps, h.logs, h.undo = new(overlay), nil, nil
	h.words.undo = nil
}

func (h *Host) takeLogs() []Log {
	logs := h.logs
	h.logs = nil
	return logs
}
