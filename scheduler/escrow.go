package scheduler

import "github.com/holiman/uint256"

// deposit pulls amount of the gas token from the caller into its available escrow (S-ESC-01, S-ESC-10). Escrow is read after the
// pull, in which a token may have called back.
func (c *call) deposit(amount uint256.Int) error {
	if err := c.Token.Pull(c.Caller, amount); err != nil {
		return TransferFailed
	}
	available := getAmount(c.State, tagAvailable, c.Caller)
	if _, overflow := available.AddOverflow(&available, &amount); overflow {
		return TransferFailed
	}
	setAmount(c.State, tagAvailable, c.Caller, available)
	c.emit(eventDeposited, amount.Bytes32(), wordOfAddr(c.Caller))
	return nil
}

// withdraw sends available escrow to the caller (S-ESC-06, S-ESC-07). Fees locked for entries cannot be withdrawn.
func (c *call) withdraw(amount uint256.Int) error {
	if !c.take(c.Caller, amount) {
		return InsufficientEscrow
	}
	if err := c.Token.Send(c.Caller, amount); err != nil {
		return TransferFailed
	}
	c.emit(eventWithdrawn, amount.Bytes32(), wordOfAddr(c.Caller))
	return nil
}

// take removes amount from an account's available escrow, if it is there.
func (c *call) take(a Addr, amount uint256.Int) bool {
	available := getAmount(c.State, tagAvailable, a)
	if available.Lt(&amount) {
		return false
	}
	setAmount(c.State, tagAvailable, a, *available.Sub(&available, &amount))
	return true
}

// give adds amount to an account's available escrow. It cannot overflow: the sum of all escrow was pulled from one token.
func (c *call) give(a Addr, amount uint256.Int) {
	available := getAmount(c.State, tagAvailable, a)
	setAmount(c.State, tagAvailable, a, *available.Add(&available, &amount))
}

// lock moves an entry's fee from available to locked escrow (S-ESC-02); false if available escrow is too small.
func (c *call) lock(payer Addr, fee uint256.Int) bool {
	if !c.take(payer, fee) {
		return false
	}
	locked := getAmount(c.State, tagLocked, payer)
	setAmount(c.State, tagLocked, payer, *locked.Add(&locked, &fee))
	return true
}

// unlock takes an entry's fee out of locked escrow. The caller says where it goes.
func (c *call) unlock(payer Addr, fee uint256.Int) {
	locked := getAmount(c.State, tagLocked, payer)
	if locked.Lt(&fee) {
		panic(internalError("an entry's fee is not locked"))
	}
	setAmount(c.State, tagLocked, payer, *locked.Sub(&locked, &fee))
}
