package chain_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// feeTx is an EIP-1559 transaction to the echo target, with an edit.
func feeTx(chainID int64, edit func(*types.DynamicFeeTx)) []byte {
	to := target
	tx := &types.DynamicFeeTx{ChainID: big.NewInt(chainID), To: &to, Gas: 50_000, GasFeeCap: big.NewInt(100), GasTipCap: big.NewInt(100)}
	if edit != nil {
		edit(tx)
	}
	return alice.sign(chainID, tx)
}

func legacyTx(signer types.Signer) []byte {
	to := target
	tx, err := types.SignNewTx(alice.key, signer, &types.LegacyTx{Nonce: 5, To: &to, Gas: 50_000, GasPrice: big.NewInt(1)})
	if err != nil {
		panic(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		panic(err)
	}
	return raw
}

func TestMempoolTakesAndRefuses(t *testing.T) {
	good := feeTx(testChainID, nil)
	to := target
	r := newReplica(t, testGenesis(1))
	for _, c := range []struct {
		name string
		raw  []byte
		want error
	}{
		{"empty", nil, chain.ErrInvalid},
		{"not a transaction", []byte("hello"), chain.ErrInvalid},
		{"cut short", good[:len(good)-1], chain.ErrInvalid},
		{"trailing byte", append(good[:len(good):len(good)], 0), chain.ErrInvalid},
		{"too large", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.Data = make([]byte, chain.MaxTxSize) }), chain.ErrTooLarge},
		{"S-SEL-03 type 0x7e", []byte{0x7e, 0xc0}, chain.ErrSystemTx},
		{"another chain's", feeTx(7, nil), chain.ErrWrongChain},
		{"another chain's, legacy", legacyTx(types.NewEIP155Signer(big.NewInt(7))), chain.ErrWrongChain},
		{"for no chain", legacyTx(types.HomesteadSigner{}), chain.ErrInvalid},
		{"of the access list type", alice.sign(testChainID, &types.AccessListTx{ChainID: big.NewInt(testChainID), To: &to, Gas: 50_000, GasPrice: big.NewInt(1)}), chain.ErrInvalid},
		{"with an access list", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.AccessList = types.AccessList{{}} }), chain.ErrInvalid},
		{"contract creation", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.To = nil }), chain.ErrInvalid},
		{"with native value", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(1) }), chain.ErrInvalid},
		{"tip above its cap", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.GasTipCap = big.NewInt(101) }), chain.ErrInvalid},
		{"too little gas", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.Gas = 20_999 }), chain.ErrGasLimit},
		{"more gas than a block", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.Gas = chain.DefaultBlockGasLimit + 1 }), chain.ErrGasLimit},
		{"nonce too far ahead", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.Nonce = 64 }), chain.ErrNonceGap},
		{"the last nonce of all", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.Nonce = 1<<64 - 1 }), chain.ErrNonceGap},
		{"a good one", good, nil},
		{"the same again", good, chain.ErrKnown},
		{"replacement at the same price", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.Data = []byte{1} }), chain.ErrUnderpriced},
		{"replacement at 9% more", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.GasFeeCap, tx.GasTipCap = big.NewInt(109), big.NewInt(109) }), chain.ErrUnderpriced},
		{"replacement with more cap only", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.GasFeeCap = big.NewInt(200) }), chain.ErrUnderpriced},
		{"replacement at 10% more", feeTx(testChainID, func(tx *types.DynamicFeeTx) { tx.GasFeeCap, tx.GasTipCap = big.NewInt(110), big.NewInt(110) }), nil},
		{"the replaced one again", good, chain.ErrUnderpriced},
		{"legacy with EIP-155", legacyTx(types.NewEIP155Signer(big.NewInt(testChainID))), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := r.Mempool().Add(c.raw); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	if n, _ := r.Mempool().Len(); n != 2 {
		t.Errorf("%d transactions wait, want 2", n)
	}
	r.step(t, nil, nil)
	if _, err := r.Mempool().Add(good); !errors.Is(err, chain.ErrNonceTooLow) {
		t.Errorf("a used nonce: got %v", err)
	}
	if got := r.Mempool().NextNonce(alice.addr); got != 1 {
		t.Errorf("next nonce %d, want 1: the legacy one waits at 5 behind a gap", got)
	}
}

// TestMempoolProperties: whatever is added, what is pending could all be included in this order, within the given bounds, and the
// pool never holds more than its limits; blocks empty it.
func TestMempoolProperties(t *testing.T) {
	senders := accounts("sender", 4)
	rapid.Check(t, func(t *rapid.T) {
		c, err := chain.New(chain.Config{Genesis: richGenesis(senders...)})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 60).Draw(t, "adds") {
			_, _ = c.Mempool().Add(rapid.SampledFrom(senders).Draw(t, "sender").tx(txData{
				nonce: rapid.Uint64Range(0, 12).Draw(t, "nonce"), to: target, gas: rapid.Uint64Range(20_000, 90_000).Draw(t, "gas"),
				tip: rapid.Int64Range(1, 40).Draw(t, "tip"), data: make([]byte, rapid.IntRange(0, 200).Draw(t, "size")),
			}))
		}
		gas, size := rapid.Uint64Range(0, 2_000_000).Draw(t, "gas bound"), rapid.IntRange(0, 8000).Draw(t, "size bound")
		pending := c.Mempool().Pending(gas, size)
		next := make(map[chain.Addr]uint64)
		var usedGas uint64
		var usedSize int
		for _, tx := range pending {
			if tx.Nonce() != next[tx.Sender()] {
				t.Fatalf("nonce %d of %s, want %d", tx.Nonce(), tx.Sender(), next[tx.Sender()])
			}
			next[tx.Sender()]++
			usedGas, usedSize = usedGas+tx.Gas(), usedSize+len(tx.Raw())
		}
		if usedGas > gas || usedSize > size {
			t.Fatalf("%d gas and %d bytes, bounds are %d and %d", usedGas, usedSize, gas, size)
		}
		for previous, i := c.Mempool().Pending(gas, size), 0; i < len(pending); i++ {
			if previous[i].Hash() != pending[i].Hash() {
				t.Fatal("the order is not the same twice")
			}
		}
		for range 100 {
			before := c.Head()
			b, err := c.Build(chain.Proposal{Time: before.Time + 1, Proposer: 1, Signer: networkKey(1), Txs: c.Mempool().Pending(60_000_000, 1<<20)})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Apply(b.Header.Number, chain.BlockEntry(b), false); err != nil {
				t.Fatal(err)
			}
			if len(b.Transactions) == 0 {
				break
			}
		}
		if left := c.Mempool().Pending(60_000_000, 1<<20); len(left) != 0 {
			t.Fatalf("%d transactions could be included and were not", len(left))
		}
	})
}

func TestMempoolOrdersByPriceThenArrival(t *testing.T) {
	r := newReplica(t, testGenesis(1))
	for _, tx := range [][]byte{
		alice.tx(txData{nonce: 0, to: target, tip: 5}),
		bob.tx(txData{nonce: 0, to: target, tip: 5}),
		alice.tx(txData{nonce: 1, to: target, tip: 50}),
		bob.tx(txData{nonce: 1, to: target, tip: 1}),
	} {
		if _, err := r.Mempool().Add(tx); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, tx := range r.Mempool().Pending(60_000_000, 1<<20) {
		name := map[chain.Addr]string{alice.addr: "alice", bob.addr: "bob"}[tx.Sender()]
		got = append(got, fmt.Sprint(name, tx.Nonce()))
	}
	if fmt.Sprint(got) != "[alice0 alice1 bob0 bob1]" {
		t.Errorf("got %v", got)
	}
}

func TestFullMempoolKeepsTheHigherPrices(t *testing.T) {
	cheap, asCheap, dear := accounts("cheap", 16), newAccount("as cheap"), newAccount("dear")
	c, err := chain.New(chain.Config{Genesis: richGenesis(append(cheap, asCheap, dear)...)})
	if err != nil {
		t.Fatal(err)
	}
	pool := c.Mempool()
	fill := func(a account, tip int64) (refused error) {
		for n := range uint64(32) { // of 64 KiB less framing: 2 MiB a sender
			if _, err := pool.Add(a.tx(txData{nonce: n, to: target, tip: tip, gas: 2_000_000, data: make([]byte, 65_000)})); err != nil {
				return err
			}
		}
		return nil
	}
	for _, a := range cheap {
		if err := fill(a, 10); err != nil && !errors.Is(err, chain.ErrPoolFull) {
			t.Fatal(err)
		}
	}
	if err := fill(asCheap, 10); !errors.Is(err, chain.ErrPoolFull) {
		t.Errorf("a full pool takes another at the same price: %v", err)
	}
	if err := fill(dear, 11); err != nil {
		t.Errorf("a full pool refuses a higher price: %v", err)
	}
	if _, size := pool.Len(); size > 32<<20 {
		t.Errorf("the pool holds %d bytes", size)
	}
	if got := pool.Pending(60_000_000, 70_000); len(got) != 1 || got[0].Sender() != dear.addr {
		t.Errorf("the higher price does not come first")
	}
}

// TestFullMempoolPrefersWhatBlocksCanInclude: a price is paid only in a block, so what waits behind a missing nonce may name any. A
// pool full of it must not keep out a transaction that can run.
func TestFullMempoolPrefersWhatBlocksCanInclude(t *testing.T) {
	strangers, another := accounts("stranger", 20), newAccount("another stranger")
	c, err := chain.New(chain.Config{Genesis: richGenesis(append(strangers, another)...)})
	if err != nil {
		t.Fatal(err)
	}
	pool := c.Mempool()
	stranded := func(a account, nonce uint64) error {
		_, err := pool.Add(a.tx(txData{nonce: nonce, to: target, tip: 1 << 60, gas: 2_000_000, data: make([]byte, 65_000)}))
		return err
	}
	var full error
	for _, a := range strangers {
		for n := uint64(1); n < 64 && full == nil; n++ { // never nonce 0
			full = stranded(a, n)
		}
	}
	if !errors.Is(full, chain.ErrPoolFull) {
		t.Fatal(full)
	}
	for n := range uint64(3) {
		if _, err := pool.Add(alice.tx(txData{nonce: n, to: target, tip: 1, gas: 2_000_000, data: make([]byte, 65_000)})); err != nil {
			t.Fatalf("nonce %d at a low price: %v", n, err)
		}
	}
	if err := stranded(another, 1); !errors.Is(err, chain.ErrPoolFull) {
		t.Errorf("one more behind a missing nonce: %v", err)
	}
	if got := pool.Pending(60_000_000, 1<<20); len(got) != 3 {
		t.Errorf("%d transactions can be included, want alice's 3", len(got))
	}
}

// TestReplacementsKeepThePoolWithinItsBytes: a longer transaction in the place of a shorter one needs room too.
func TestReplacementsKeepThePoolWithinItsBytes(t *testing.T) {
	senders := accounts("sender", 10)
	c, err := chain.New(chain.Config{Genesis: richGenesis(senders...)})
	if err != nil {
		t.Fatal(err)
	}
	pool := c.Mempool()
	send := func(sender account, nonce uint64, tip int64, size int) error {
		_, err := pool.Add(sender.tx(txData{nonce: nonce, to: target, tip: tip, gas: 2_000_000, data: make([]byte, size)}))
		return err
	}
	for _, a := range senders {
		for n := range uint64(64) {
			if err := send(a, n, 10, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	var full error
	for _, a := range senders {
		for n := range uint64(64) {
			full = errors.Join(full, send(a, n, 20, 65_000))
		}
	}
	if _, size := pool.Len(); size > 32<<20 || !errors.Is(full, chain.ErrPoolFull) {
		t.Errorf("the pool holds %d bytes (%v)", size, full)
	}
}
