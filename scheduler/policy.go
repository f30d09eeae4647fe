package scheduler

import (
	"errors"
	"fmt"
)

// Policy is set once, when the network installs the scheduler (document 002, "Policy"; S-POL-01). Gas is measured by Cost.
type Policy struct {
	GasPerBlock          uint64 // budget for scheduled entries per block
	GuaranteedGasPerSlot uint64 // gas the Guaranteed class may reserve per slot or height
	MaxHorizonSlots      uint64 // furthest slot or height ahead, and the longest period or backoff
	MaxLateSlots         uint64 // slots after its slot in which an entry may still run
	CancelRefundBps      uint16 // share of the fee a cancel returns, in 1/10,000
	MaxEntriesPerBlock   uint32 // entries queued at one key, and where a block stops selecting BestEffort
	Treasury             Addr   // escrow account credited with the rest of canceled fees
	MinGasPrice          uint64 // lowest gasPrice, in gas-token base units per gas
	GasToken             Addr   // token escrow is held in
}

// DefaultPolicy is S-POL-12. Treasury and GasToken must still be given.
func DefaultPolicy() Policy {
	return Policy{
		GasPerBlock:          30_000_000,
		GuaranteedGasPerSlot: 10_000_000,
		MaxHorizonSlots:      34_560_000,
		MaxLateSlots:         300,
		CancelRefundBps:      9_000,
		MaxEntriesPerBlock:   128,
		MinGasPrice:          1_000,
	}
}

// Validate checks the policy against the block gas limit and reports every fault at once (S-POL-11). The warnings name settings
// that are allowed and probably not meant.
func (p Policy) Validate(blockGasLimit uint64) (warnings []string, err error) {
	err = p.check()
	if p.GasPerBlock > blockGasLimit {
		err = errors.Join(err, fmt.Errorf("gasPerBlock %d exceeds the block gas limit %d", p.GasPerBlock, blockGasLimit))
	}
	if p.GuaranteedGasPerSlot > p.GasPerBlock/2 {
		warnings = append(warnings, "guaranteedGasPerSlot is more than half of gasPerBlock: a slot and a height that fall into one block can exceed it")
	}
	if p.MaxLateSlots < GraceSlots+1 {
		warnings = append(warnings, fmt.Sprintf("maxLateSlots below %d ends a sealed entry's time to run before its key is overdue", GraceSlots+1))
	}
	if reads := uint32(DefaultLimits().Reads); p.MaxEntriesPerBlock > reads/2 {
		warnings = append(warnings, fmt.Sprintf("maxEntriesPerBlock above %d lets height entries that wait for a dependency, and move each block, use up the %d entries that a block reads before any slot",
			reads/2, reads))
	}
	return warnings, err
}

func (p Policy) check() error {
	var all []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	refuse(p.CancelRefundBps > bpsWhole, "cancelRefundBps %d exceeds 10000", p.CancelRefundBps)
	refuse(p.GasPerBlock < costExecute, "gasPerBlock %d is below %d, the cost of an empty run", p.GasPerBlock, costExecute)
	refuse(p.GuaranteedGasPerSlot > p.GasPerBlock, "guaranteedGasPerSlot %d exceeds gasPerBlock %d", p.GuaranteedGasPerSlot, p.GasPerBlock)
	refuse(p.MaxEntriesPerBlock == 0, "maxEntriesPerBlock is zero: nothing could be scheduled")
	refuse(p.MaxHorizonSlots == 0, "maxHorizonSlots is zero: nothing could be scheduled")
	refuse(p.MaxHorizonSlots >= maxSpan, "maxHorizonSlots %d is not below 2^61", p.MaxHorizonSlots)
	refuse(p.MaxLateSlots >= maxSpan, "maxLateSlots %d is not below 2^61", p.MaxLateSlots)
	refuse(p.Treasury == Addr{}, "treasury is not set")
	refuse(p.GasToken == Addr{}, "gasToken is not set")
	return errors.Join(all...)
}
