package chain

import (
	"fmt"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// User transactions pay no fee on this host, so a price alone would be an empty word: anyone could name a high one from accounts that
// own nothing, outrank honest users and grow the state. Therefore a sender must own what its transactions could cost, though nothing
// is taken: the pool admits them up to that sum, and a block holds none whose sender has less than its cost when it runs.

// MaxCost is what the transaction could cost its sender, in base units of the gas token: its gas limit at its highest price.
func (tx *Tx) MaxCost() uint256.Int { return tx.cost }

// costOf is a transaction's gas limit times its maxFeePerGas; the most there can be if that leaves 256 bits.
func costOf(gas uint64, price *uint256.Int) uint256.Int {
	cost, overflow := new(uint256.Int).MulOverflow(uint256.NewInt(gas), price)
	if overflow {
		cost.SetAllOne()
	}
	return *cost
}

// fundsOf is what an account owns: gas tokens, and its escrow with what is locked there for its entries.
func fundsOf(host *memory.Host, a Addr) uint256.Int {
	owner, view := scheduler.Addr(a), schedulerView(host)
	return addUp(host.Balance(owner), view.Balance(owner), view.Locked(owner))
}

// addUp is the sum, or the most there can be.
func addUp(amounts ...uint256.Int) (sum uint256.Int) {
	for i := range amounts {
		if _, overflow := sum.AddOverflow(&sum, &amounts[i]); overflow {
			return *sum.SetAllOne()
		}
	}
	return sum
}

// checkFunds refuses a transaction of cost whose sender owns too little for it and for what already waits.
func checkFunds(tx *Tx, funds, waiting uint256.Int) error {
	if need := addUp(tx.cost, waiting); need.Gt(&funds) {
		more := ""
		if !waiting.IsZero() {
			more = fmt.Sprintf(", its waiting transactions for %s", waiting.Dec())
		}
		return fmt.Errorf("%w: the transaction asks for %s (gas limit times maxFeePerGas)%s; %s owns %s in gas tokens and escrow: "+
			"get gas tokens, or lower the gas limit or maxFeePerGas", ErrFunds, tx.cost.Dec(), more, tx.sender, funds.Dec())
	}
	return nil
}
