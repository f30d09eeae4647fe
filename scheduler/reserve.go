package scheduler

import "github.com/holiman/uint256"

// reserve is what an entry holds of a MIP20 token until it runs (document 002, "Reserves"); zero is none. The token keeps the amount
// out of the payer's spendable balance exactly while the entry is Scheduled (I-29), so the scheduler keeps no books of its own. The
// reserve token is never the gas token, which must stay free to pay fees (S-RES-08).
//
// A hold that does not come about is TransferFailed, a capture that fails is a failed call. A release cannot fail in a token that
// keeps what it holds; should it fail all the same, it is TransferFailed and its transaction changes nothing, a run being reverted.
type reserve struct {
	token  Addr
	amount [12]byte // uint96, big-endian
}

// checkReserve is S-SCH-23.
func (c *call) checkReserve(p Params) error {
	switch r := p.reserve(); {
	case r == reserve{}:
		return nil
	case r.token == Addr{}, r.amount == [12]byte{}:
		return BadReserve
	case r.token == c.policy.GasToken:
		return ReserveIsGasToken
	case !c.Token.IsMIP20(r.token):
		return BadReserve
	}
	return nil
}

// hold takes e's reserve out of its payer's spendable balance, by the allowance given to the scheduler (S-RES-01). It comes after all
// other changes of its transaction: a token may call back.
func (c *call) hold(e *entry) error { return c.withReserve(e, c.Token.HoldFrom) }

// release makes e's reserve spendable again, in full (S-RES-04).
func (c *call) release(e *entry) error { return c.withReserve(e, c.Token.Release) }

// capture moves e's reserve to the first call's target, which cannot refuse it (S-RES-02, S-RES-06). A failed run undoes it with the
// calls, so that the hold stays through retries (S-RES-03). used is the gas of it.
func (c *call) capture(e *entry, to Addr) (used uint64, err error) {
	if e.reserve == (reserve{}) {
		return 0, nil
	}
	if c.Token.Capture(e.reserve.token, e.payer, to, e.reserve.units()) != nil {
		return captureGas, CallFailed
	}
	return captureGas, nil
}

func (c *call) withReserve(e *entry, do func(token, from Addr, amount uint256.Int) error) error {
	if e.reserve != (reserve{}) && do(e.reserve.token, e.payer, e.reserve.units()) != nil {
		return TransferFailed
	}
	return nil
}

func (r reserve) units() (v uint256.Int) {
	v.SetBytes(r.amount[:])
	return v
}

func (p Params) reserve() reserve { return reserve{p.ReserveToken, p.ReserveAmount} }

// A reserve is one word of its entry: token 20, amount 12.
func readReserve(r Reader, id uint64) reserve {
	w := r.Get(keyOf(tagEntry, id, wordReserve))
	return reserve{Addr(w[:20]), [12]byte(w[20:])}
}

func writeReserve(s State, id uint64, r reserve) {
	var w Word
	copy(w[:20], r.token[:])
	copy(w[20:], r.amount[:])
	s.Set(keyOf(tagEntry, id, wordReserve), w)
}
