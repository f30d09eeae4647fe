// Package scheduler is the Scheduler of document 002 as a deterministic state machine: it runs calls at a future slot, at a block
// height or after an oracle write, paid from escrow, and keeps the calls of sealed entries encrypted until the block that carries the
// key of their slot or condition. Next to it stands the Beacon, whose storage holds the group key and those keys.
//
// A slot is one second, named by its block timestamp. An entry waits in the queue of its key: a slot, or a height with HeightKey set.
// It is Guaranteed, with gas reserved at its key, or BestEffort, chosen by price from what is left. Scheduling it locks its fee,
// Cost * gasPrice; its run pays the fee to the block's proposer whatever the calls do. It may hold a reserve, an amount of a MIP20
// token that its run gives to the first call's target. A recurring entry that has run is followed by an entry for the next period, with
// a new id, its own fee and its own reserve; after a failure it may pause instead, until its payer resumes or cancels the series. A
// conditional entry stands in no queue: it watches an item of the oracle catalog until a write satisfies its condition.
//
// The machine keeps nothing of its own. State, token, beacon and the means to make calls are the Host's, small interfaces that an
// embedding chain fills; package memory fills them in memory. Every node that begins the same block on the same state derives the same
// leading transactions, and refuses a block that leads with others.
//
// # A block, step by step
//
// The numbers are those of the requirements ledger's block pipeline (S-…, A-nn and I-nn in comments cite its entries).
//
//  1. The chain checks the header.
//  2. ApplyUpdate verifies the block's slot and condition keys and stores them.
//  3. BeginBlock evaluates the watchers of the items that were written, on the state the parent left, at most 1,024 of them.
//  4. It scans the due queues: heights, then slots, oldest first, at most 4,096 keys of each kind and 1,024 entries. What can
//     never run any more is skipped; a sealed entry without its key waits and holds its cursor.
//  5. It gives out the gas budget: to Guaranteed entries, oldest first, then to BestEffort ones by price. An entry is ready once its
//     dependencies are settled, or selected before it with no retry left.
//  6. The selected entries leave their queues.
//  7. Waiting BestEffort entries, entries delayed by a dependency, and conditional entries that fire move to the first of the next 8
//     keys with room, in id order. One that fires and finds none keeps watching.
//  8. The cursors advance to the first key that still holds an entry; what they pass is cleared.
//  9. The selected sealed entries are decrypted, checked against their commitments, and their calls stored.
//  10. Execute runs each as a leading transaction of type 0x7e; then come the user transactions, through Call.
//  11. EndBlock opens every other entry whose key is on chain, so that nothing stays sealed after the block that carries its key.
//
// # Embedding
//
// A chain calls ApplyUpdate, BeginBlock, Execute once a leading transaction, Call once a user transaction to Address, and EndBlock; and
// before all of it Install, once. It gives these a Host:
//
//   - State is the storage of Address inside the block. One journal must cover it, every other contract, tokens and logs: the machine
//     undoes a failed run, and what its calls did with it, by one Revert. Temp words are forgotten after each transaction.
//   - Executor makes a call with Address as its sender and a gas limit. The call may come back through Machine.Call, on the same State.
//   - Token moves the gas token in and out of escrow and holds, captures and releases reserves.
//   - Oracle looks up an item of the catalog, as the block's transactions so far have left it.
//   - Beacon is a BeaconReader over the storage that ApplyUpdate writes.
//
// The example does this with maps. What it leaves out, because every chain has its own way: signatures, nonces and gas of user
// transactions, a root that commits to the state, and going back to the parent when a block is refused.
//
// # Outcomes of a run
//
// Success: the fee is paid, and the logs say whether the calls worked (Executed) or not (ExecutionFailed, perhaps with a retry); a series
// goes on (Recurred), starves (RecurrenceStarved) or pauses (Paused). Reverted: a token failed to pay or to release; fee and reserve stay
// as they were and expire returns them. Skipped: an earlier run canceled the entry, or escrow cannot cover the fee; nothing is charged.
// An entry's status is Executed before its first call is made, so no target can cancel, expire or rerun it.
//
// # Security
//
// What must hold, and the tests hold it against random streams of operations: an entry's calls succeed at most once; every fee is
// paid once, refunded, or still locked; every reserve is captured once, released, or still held; an entry that anyone could expire
// never runs; the calls of a sealed entry are read only with its key, which no block may carry before the slot is over. The Host is
// trusted: one that lies about its state or token breaks all of this. Targets are not: they run with the scheduler as their sender and
// may call back into it at any time, and must check themselves what authorises a call. A proposer may leave keys out of its block, and
// so delay an entry; it cannot open one early. A target that panics is a target that failed.
//
// # Limits
//
// Waiting is free once the fee is locked. An entry without a deadline, one of a height or with lateExecute, that depends on an entry
// that watches may wait for ever, and moves or is read again in each block: some 2,000 of them under the default policy use up the
// 1,024 reads and keep what is due behind them from running until it can expire with a full refund. Document 002 has it so; a chain
// that cannot live with it refuses such dependencies before they reach the scheduler, or prices them by minGasPrice.
//
// Timestamps and heights stay below 2^60. State is words, laid out as storage.go says, and one blob of at most 4,268 bytes for an
// entry's calls.
//
// Why not decrypt everything when the key arrives: the work before the first transaction stays bounded by what the block runs, and the
// sweep at its end is bounded by maxEntriesPerBlock; both may use several cores through a Runner, and decide nothing in parallel.
//
// Why not a queue of (time, id) in one ordered map: a key's queue, its Guaranteed reserve and its limit are read and proven as one, and
// a block's work does not grow with what is not due.
package scheduler

import "fmt"

// Machine is the scheduler contract of one chain. It is immutable and safe for concurrent use; all state is the Host's.
type Machine struct {
	chainID uint64
	policy  Policy
	limits  Limits
}

// New makes the machine for a chain and its policy, which must pass Policy.Validate.
func New(chainID uint64, p Policy) (*Machine, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("scheduler policy: %w", err)
	}
	return &Machine{chainID, p, DefaultLimits()}, nil
}

// Policy is the policy the machine was made with.
func (m *Machine) Policy() Policy { return m.policy }

// ChainID is the chain the machine was made for.
func (m *Machine) ChainID() uint64 { return m.chainID }

// Install writes the first state, in the block (height, time) that activates the scheduler (S-CUR-06): ids start at 1, the cursors
// at the next slot and height.
func (m *Machine) Install(s State, height, time uint64) error {
	if height >= maxBlockTime || time >= maxBlockTime {
		return fmt.Errorf("install the scheduler: height %d or time %d is out of range", height, time)
	}
	if nextID(s) != 0 {
		return fmt.Errorf("install the scheduler: the state already holds one")
	}
	s.Set(keyOf(tagMeta, 0, metaPolicy), m.policyHash())
	setUint64(s, tagMeta, 0, metaNextID, 1)
	setUint64(s, tagMeta, 0, metaCursorSlot, time+1)
	setUint64(s, tagMeta, 0, metaCursorHeight, height+1)
	return nil
}

// CheckInstalled refuses a state that was installed under another policy or other limits, or not at all, such as another chain's
// snapshot.
func (m *Machine) CheckInstalled(r Reader) error {
	if r.Get(keyOf(tagMeta, 0, metaPolicy)) != m.policyHash() {
		return fmt.Errorf("the state holds no scheduler of this policy: it belongs to another chain")
	}
	return nil
}

// policyHash commits the state to the policy, and to limits that are not the protocol's, so that a snapshot of another chain is not
// run under this one's rules.
func (m *Machine) policyHash() Word {
	p := m.policy
	var b []byte
	numbers := []uint64{p.GasPerBlock, p.GuaranteedGasPerSlot, p.MaxHorizonSlots, p.MaxLateSlots, uint64(p.CancelRefundBps), uint64(p.MaxEntriesPerBlock), p.MinGasPrice}
	if l := m.limits; l != DefaultLimits() {
		numbers = append(numbers, l.Scan, l.Reads, l.Watchers, l.WatchersPerItem)
	}
	for _, v := range numbers {
		w := wordOf(v)
		b = append(b, w[:]...)
	}
	return keccak(b, p.Treasury[:], p.GasToken[:])
}

// call is one call into the contract: the machine, the block and caller, and the host's capabilities.
type call struct {
	*Machine
	Env
	*Host
}

// atomic runs f and leaves no trace of it if it fails (I-34).
func (c *call) atomic(f func() error) error {
	before := c.State.Snapshot()
	if err := f(); err != nil {
		c.State.Revert(before)
		return err
	}
	return nil
}
