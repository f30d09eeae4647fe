// Package scheduler is the scheduler of document 002 as a deterministic state machine: facts in, decisions out.
package scheduler

import "fmt"

// Machine is the scheduler contract of one chain. It is immutable and safe for concurrent use; all state is the Host's.
type Machine struct {
	chainID uint64
	policy  Policy
}

// New makes the machine for a chain and its policy, which must pass Policy.Validate.
func New(chainID uint64, p Policy) (*Machine, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("scheduler policy: %w", err)
	}
	return &Machine{chainID, p}, nil
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

// CheckInstalled refuses a state that was installed under another policy or not at all, such as another chain's snapshot.
func (m *Machine) CheckInstalled(r Reader) error {
	if r.Get(keyOf(tagMeta, 0, metaPolicy)) != m.policyHash() {
		return fmt.Errorf("the state holds no scheduler of this policy: it belongs to another chain")
	}
	return nil
}

// policyHash commits the state to the policy, so that a snapshot of another chain is not run under this one's rules.
func (m *Machine) policyHash() Word {
	p := m.policy
	var b []byte
	for _, v := range []uint64{p.GasPerBlock, p.GuaranteedGasPerSlot, p.MaxHorizonSlots, p.MaxLateSlots, uint64(p.CancelRefundBps), uint64(p.MaxEntriesPerBlock), p.MinGasPrice} {
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
