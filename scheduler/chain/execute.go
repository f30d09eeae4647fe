package chain

import (
	"fmt"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// leastGas is what any transaction uses.
const leastGas = 21_000

// execution runs one block on a fork of the head's state.
type execution struct {
	chainID  uint64
	gasLimit uint64
	host     *memory.Host
	runs     []scheduler.Run // the leading transactions, as derived from the state
	receipts []*Receipt
	txs      [][]byte
	senders  []Addr // of user transactions, and payers of runs: those who may own less than before
	gas      uint64 // used so far
}

// execute starts a block on host: its beacon update and the derivation of its leading transactions (pipeline steps 2 to 9).
func (c *Chain) execute(host *memory.Host, number, time uint64, proposer Validator, u *Update) (*execution, error) {
	env := scheduler.Env{Height: number, Time: time, Proposer: scheduler.Addr(proposer.Proposer)}
	runs, err := host.BeginBlock(env, *u, c.run)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return &execution{chainID: c.genesis.ChainID, gasLimit: c.genesis.BlockGasLimit, host: host, runs: runs}, nil
}

// leading executes the block's first transactions, one for each due entry that was chosen (step 10).
func (x *execution) leading() {
	for i, run := range x.runs {
		r := x.host.ExecuteRun(i)
		receipt := &Receipt{
			Type: scheduler.SystemTxType, TxHash: Hash(run.Hash(x.chainID)), GasUsed: r.GasUsed, Logs: logsOf(r.Logs), Entry: run.ID,
		}
		switch r.Outcome {
		case scheduler.Success:
			receipt.Status = 1
		case scheduler.Reverted:
			receipt.Reason = "execute reverted: the fee stays in escrow and expire returns it"
		default:
			receipt.Reason = "skipped: an earlier run canceled the entry, or escrow cannot cover the fee"
		}
		x.senders = append(x.senders, Addr(run.Payer))
		x.add(run.Encode(x.chainID), receipt)
	}
}

// user executes a user transaction. An error means that it cannot stand in this block, and that nothing happened.
func (x *execution) user(tx *Tx) error {
	accounts := x.host.Space(accountsAddress)
	switch next := getNonce(accounts, tx.sender); {
	case tx.Nonce() != next:
		return fmt.Errorf("%w: transaction %s has nonce %d, its sender's next is %d", ErrInvalid, tx.Hash(), tx.Nonce(), next)
	case tx.Gas() < leastGas || tx.Gas() > x.gasLimit-min(x.gas, x.gasLimit):
		return fmt.Errorf("%w %d of transaction %s: it needs %d, the block has %d left",
			ErrGasLimit, tx.Gas(), tx.Hash(), leastGas, x.gasLimit-min(x.gas, x.gasLimit))
	}
	if err := checkFunds(tx, fundsOf(x.host, tx.sender), uint256.Int{}); err != nil {
		return fmt.Errorf("%w: transaction %s: %w", ErrInvalid, tx.Hash(), err)
	}
	setNonce(accounts, tx.sender, tx.Nonce()+1)
	r := x.host.Transact(scheduler.Addr(tx.sender), scheduler.Addr(*tx.inner.To()), tx.Gas(), tx.inner.Data())
	receipt := &Receipt{Type: tx.inner.Type(), TxHash: tx.Hash(), Status: 1, GasUsed: r.GasUsed, Logs: logsOf(r.Logs)}
	if !r.Success {
		receipt.Status, receipt.Reason, receipt.Logs = 0, r.Err.Error(), nil
	}
	x.senders = append(x.senders, tx.sender)
	x.add(tx.raw, receipt)
	return nil
}

func (x *execution) add(raw []byte, r *Receipt) {
	x.gas += r.GasUsed
	r.CumulativeGas = x.gas
	x.txs = append(x.txs, raw)
	x.receipts = append(x.receipts, r)
}

// end finishes the block (step 11) and returns the root of the state it leaves.
func (x *execution) end(run scheduler.Runner) Hash {
	x.host.EndBlock(run)
	return x.host.StateHash()
}

func logsOf(logs []memory.Log) []*types.Log {
	out := make([]*types.Log, len(logs))
	for i, l := range logs {
		out[i] = &types.Log{Address: Addr(l.Address), Data: l.Data}
		for _, topic := range l.Topics {
			out[i].Topics = append(out[i].Topics, Hash(topic))
		}
	}
	return out
}
