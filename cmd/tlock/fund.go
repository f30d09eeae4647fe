package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/account"
	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
)

// submit posts the schedule call, and before it what makes it payable. It returns the schedule transaction's hash. What is left to
// pay later is noted.
func (r *request) submit(ctx context.Context, note io.Writer) (string, error) {
	state, err := r.node.Account(ctx, r.payer.Address.Hex())
	if err != nil {
		return "", err
	}
	calls, err := r.fundFee(state, note)
	if err != nil {
		return "", err
	}
	reserve, err := r.fundReserve(ctx)
	if err != nil {
		return "", err
	}
	calls = append(append(calls, reserve...), account.Call{To: common.Address(scheduler.Address), Input: scheduler.ScheduleInput(r.params)})
	hashes, err := r.payer.Send(ctx, r.node, r.chainID, state.Nonce, calls)
	if err != nil {
		return "", err
	}
	return hashes[len(hashes)-1], nil
}

// fundFee is what has to happen before the fee of the first run can be locked: approve and deposit what escrow lacks.
func (r *request) fundFee(state api.Account, note io.Writer) ([]account.Call, error) {
	escrow, err1 := uint256.FromDecimal(state.Escrow)
	balance, err2 := uint256.FromDecimal(state.Balance)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("node's answer about account %s makes no sense", shorten(state.Address))
	}
	r.noteSeries(escrow, note)
	if escrow.Cmp(r.fee) >= 0 {
		return nil, nil
	}
	missing := new(uint256.Int).Sub(r.fee, escrow)
	if balance.Cmp(missing) < 0 {
		return nil, cli.Hint(fmt.Errorf("account %s has %s gas tokens and %s in escrow, and the entry costs %s", r.payer.Address, balance.Dec(), escrow.Dec(), r.fee.Dec()),
			"send it gas tokens, or lower --gas-price")
	}
	return deposit(common.Address(r.checker.policy.GasToken), missing), nil
}

// noteSeries says what a series takes from escrow that is not there yet: each period locks its fee when the one before has run.
func (r *request) noteSeries(escrow *uint256.Int, note io.Writer) {
	later := new(uint256.Int).Mul(r.fee, uint256.NewInt(uint64(r.params.Remaining)))
	if escrow.Cmp(r.fee) > 0 {
		left := new(uint256.Int).Sub(escrow, r.fee)
		later.Sub(later, min256(later, left))
	}
	if !later.IsZero() {
		fmt.Fprintf(note, "note: the later runs take %s each from escrow, %s in all more than is there: \"tlock deposit\" in time\n", r.fee.Dec(), later.Dec())
	}
}

func min256(a, b *uint256.Int) *uint256.Int {
	if a.Lt(b) {
		return a
	}
	return b
}

// deposit approves an amount of the gas token to the scheduler and pays it into escrow.
func deposit(gasToken common.Address, amount *uint256.Int) []account.Call {
	return []account.Call{{To: gasToken, Input: approveInput(amount)}, {To: common.Address(scheduler.Address), Input: scheduler.DepositInput(*amount)}}
}

// fundReserve approves the reserve of every run, on top of what is approved already: that may be for other entries.
func (r *request) fundReserve(ctx context.Context) ([]account.Call, error) {
	if !reserves(r.params) {
		return nil, nil
	}
	token, owner := common.Address(r.params.ReserveToken), r.payer.Address
	balance, err := readToken(ctx, r.node, token, "balanceOf(address)", owner)
	if err != nil {
		return nil, err
	}
	amount := new(uint256.Int).SetBytes(r.params.ReserveAmount[:])
	if balance.Cmp(amount) < 0 {
		return nil, cli.Hint(fmt.Errorf("account %s has %s of token %s, and the reserve takes %s", owner, balance.Dec(), token, amount.Dec()),
			"send it tokens, or reserve less")
	}
	approved, err := readToken(ctx, r.node, token, "allowance(address,address)", owner, common.Address(scheduler.Address))
	if err != nil {
		return nil, err
	}
	all := new(uint256.Int).Mul(amount, uint256.NewInt(uint64(r.params.Remaining)+1))
	if _, over := all.AddOverflow(all, approved); over {
		all.SetAllOne()
	}
	return []account.Call{{To: token, Input: approveInput(all)}}, nil
}

// readToken calls one of a token's reads, which returns an amount.
func readToken(ctx context.Context, c *api.Client, token common.Address, method string, args ...common.Address) (*uint256.Int, error) {
	input := methodInput(method)
	for _, a := range args {
		input = append(input, common.LeftPadBytes(a[:], 32)...)
	}
	answer, err := c.Try(ctx, api.Call{From: token.Hex(), To: token.Hex(), Input: fmt.Sprintf("%#x", input)})
	if why, refused := api.Refused(err); refused {
		return nil, cli.Hint(fmt.Errorf("%s is no token: %s", token, cli.Word(why)), "a reserve needs a MIP20 token of this network")
	}
	if err != nil {
		return nil, err
	}
	word, err := hexBytes(answer.Data, 32)
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("%s is no token: %s answers with %q", token, method, shorten(answer.Data)), "a reserve needs a MIP20 token of this network")
	}
	return new(uint256.Int).SetBytes(word), nil
}

// approveInput is the calldata of approve(0xFE, amount).
func approveInput(amount *uint256.Int) []byte {
	word := amount.Bytes32()
	input := append(methodInput("approve(address,uint256)"), common.LeftPadBytes(scheduler.Address[:], 32)...)
	return append(input, word[:]...)
}

func methodInput(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }
