package chain_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

var carol = newAccount("carol")

// poorChain gives carol 1,000,000 gas tokens: two transactions of 500,000 gas at a price of 1.
func poorChain(t *testing.T) *replica {
	g := testGenesis(1)
	g.Balances[carol.addr] = uint256.NewInt(1_000_000)
	return newReplica(t, g)
}

// transferInput is transfer(to, amount) of the gas token.
func transferInput(to chain.Addr, amount uint64) []byte {
	input := append(ethcrypto.Keccak256([]byte("transfer(address,uint256)"))[:4], make([]byte, 64)...)
	copy(input[4+12:], to[:])
	word := uint256.NewInt(amount).Bytes32()
	copy(input[4+32:], word[:])
	return input
}

func TestSendersMustOwnWhatTheyCouldCost(t *testing.T) {
	add := func(t *testing.T, r *replica, raw []byte, want error) {
		t.Helper()
		if _, err := r.Mempool().Add(raw); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	waits := func(t *testing.T, r *replica, want int) {
		t.Helper()
		if n, _ := r.Mempool().Len(); n != want {
			t.Errorf("%d transactions wait, want %d", n, want)
		}
	}

	t.Run("an account that owns nothing", func(t *testing.T) {
		r := poorChain(t)
		_, err := r.Mempool().Add(newAccount("nobody").tx(txData{to: target, gas: 21_000, tip: 1}))
		if !errors.Is(err, chain.ErrFunds) || !errors.Is(err, chain.ErrNotYet) || !strings.Contains(err.Error(), "asks for 21000 (gas limit times maxFeePerGas)") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a price of nothing", func(t *testing.T) {
		add(t, poorChain(t), feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.GasFeeCap, tx.GasTipCap = new(big.Int), new(big.Int) }), chain.ErrInvalid)
	})
	t.Run("a cost beyond 256 bits", func(t *testing.T) {
		most := uint256.NewInt(0)
		most.SetAllOne()
		add(t, poorChain(t), feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.GasFeeCap = most.ToBig() }), chain.ErrFunds)
	})
	t.Run("to the last token, and one more", func(t *testing.T) {
		r := poorChain(t)
		add(t, r, carol.tx(txData{to: target, tip: 2, gas: 500_000}), nil)
		add(t, r, carol.tx(txData{to: target, tip: 3, gas: 333_334}), chain.ErrFunds)
		waits(t, r, 1)
	})
	t.Run("what waits counts, what is replaced does not", func(t *testing.T) {
		r := poorChain(t)
		add(t, r, carol.tx(txData{nonce: 0, to: target, tip: 1}), nil)
		add(t, r, carol.tx(txData{nonce: 1, to: target, tip: 1}), nil)
		add(t, r, carol.tx(txData{nonce: 2, to: target, tip: 1, gas: 21_000}), chain.ErrFunds)
		add(t, r, carol.tx(txData{nonce: 1, to: target, tip: 2, gas: 250_000}), nil)
		waits(t, r, 2)
	})
	t.Run("escrow counts, available and locked", func(t *testing.T) {
		r := poorChain(t)
		r.step(t, nil, [][]byte{
			carol.tx(txData{nonce: 0, to: gasToken, data: approveInput(scheduler.Address, 1_000_000), tip: 1}),
			carol.tx(txData{nonce: 1, to: chain.Addr(scheduler.Address), data: scheduler.DepositInput(*uint256.NewInt(1_000_000)), tip: 1}),
		})
		owned := r.Scheduler().Balance(scheduler.Addr(carol.addr))
		if owned.Uint64() != 1_000_000 {
			t.Fatalf("escrow is %s", owned.Dec())
		}
		add(t, r, carol.tx(txData{nonce: 2, to: target, tip: 2}), nil)
		waits(t, r, 1)
	})
	t.Run("a block leaves out what its sender can no longer pay, and the pool drops it", func(t *testing.T) {
		r := poorChain(t)
		add(t, r, carol.tx(txData{nonce: 0, to: gasToken, data: transferInput(bob.addr, 900_000), tip: 1}), nil)
		add(t, r, carol.tx(txData{nonce: 1, to: target, tip: 1, gas: 100_000}), nil)
		add(t, r, carol.tx(txData{nonce: 2, to: target, tip: 1, gas: 100_001}), nil)
		applied := r.step(t, nil, nil)
		if n := len(applied.Block.Transactions); n != 2 {
			t.Errorf("%d transactions in the block, want 2", n)
		}
		waits(t, r, 0)
	})
	t.Run("no block may hold it", func(t *testing.T) {
		r := poorChain(t)
		b := r.build(t, 1, nil)
		b.Transactions = append(b.Transactions, newAccount("nobody").tx(txData{to: target, gas: 21_000, tip: 1}))
		chain.Reroot(b)
		var err error
		if b.Signature, err = b.Header.Sign(r.GenesisHash(), networkKey(1)); err != nil {
			t.Fatal(err)
		}
		if err := r.apply(chain.BlockEntry(b)); !errors.Is(err, chain.ErrFunds) || !errors.Is(err, chain.ErrInvalid) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a run's fee is its payer's no longer", func(t *testing.T) {
		r := poorChain(t)
		toScheduler := func(nonce uint64, input []byte) []byte {
			return carol.tx(txData{nonce: nonce, to: chain.Addr(scheduler.Address), data: input, tip: 1, gas: 300_000})
		}
		price := scheduler.DefaultPolicy().MinGasPrice
		p := scheduler.Params{Calls: calls(""), GasLimit: 60_000, GasPrice: price, Class: scheduler.BestEffort, Slot: r.Head().Time + 3}
		cost, _ := scheduler.Cost(p.GasLimit, 224, 0, false, false)
		fee := cost * price
		r.step(t, nil, [][]byte{alice.tx(txData{nonce: 0, to: gasToken, data: transferInput(carol.addr, fee)})})
		applied := r.step(t, nil, [][]byte{
			carol.tx(txData{nonce: 0, to: gasToken, data: approveInput(scheduler.Address, fee), tip: 1, gas: 100_000}),
			toScheduler(1, scheduler.DepositInput(*uint256.NewInt(fee))),
			toScheduler(2, scheduler.ScheduleInput(p)),
		})
		if locked := r.Scheduler().Locked(scheduler.Addr(carol.addr)); locked.Uint64() != fee {
			t.Fatalf("locked is %s, want %d; %+v", locked.Dec(), fee, applied.Receipts[2])
		}
		add(t, r, carol.tx(txData{nonce: 4, to: target, tip: 1, gas: 1_000_000}), nil) // behind a missing nonce
		add(t, r, carol.tx(txData{nonce: 5, to: target, tip: int64(price), gas: 100_000}), nil)
		waits(t, r, 2)
		r.step(t, nil, nil)
		r.step(t, nil, nil)
		if locked := r.Scheduler().Locked(scheduler.Addr(carol.addr)); !locked.IsZero() {
			t.Fatalf("the entry did not run: locked is %s", locked.Dec())
		}
		waits(t, r, 1)
	})
}
