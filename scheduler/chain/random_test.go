package chain_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// TestReplicasAgree runs 1,000 random blocks through one replica that builds and applies, one that applies with parallel work in
// another order, and one that starts from a snapshot half way: proposer-built blocks always pass, and all three end in one state (I-33).
func TestReplicasAgree(t *testing.T) {
	t.Parallel()
	const blocks, seed = 1000, 20_270_101
	rng := rand.New(rand.NewPCG(seed, 1))
	g := testGenesis(4)
	a, b, late := newReplica(t, g), newReplicaOn(t, g, backwards), newReplica(t, g)
	replicas := []*replica{b}
	a.activate(t, replicas...)
	a.step(t, nil, append(alice.fund(0), bob.fund(0)...), replicas...)
	kinds := make(map[string]int)
	for i := range blocks {
		if i == blocks/2 {
			snapshot, err := a.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			if err := late.Restore(snapshot); err != nil {
				t.Fatal(err)
			}
			late.index = a.index
			replicas = append(replicas, late)
		}
		for _, r := range append([]*replica{a}, replicas...) {
			disturb(t, r, i)
		}
		block := randomBlock(t, rng, a, kinds)
		for _, r := range append([]*replica{a}, replicas...) {
			if err := r.apply(chain.BlockEntry(block)); err != nil {
				t.Fatalf("seed %d, block %d: %v", seed, block.Header.Number, err)
			}
		}
	}
	want, err := a.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*replica{"second": b, "restored": late} {
		got, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if r.Head() != a.Head() || !bytes.Equal(got, want) {
			t.Errorf("seed %d: the %s replica is at %+v, the first at %+v", seed, name, r.Head(), a.Head())
		}
		if fmt.Sprint(r.app.applied) != fmt.Sprint(a.app.applied) {
			t.Errorf("seed %d: the %s replica saw other ceremony entries", seed, name)
		}
	}
	for _, kind := range []string{"0x7e ok", "user ok", "user failed", "key"} {
		if kinds[kind] < 20 {
			t.Errorf("seed %d: only %d of %q in %d blocks: the run tests little", seed, kinds[kind], kind, blocks)
		}
	}
	t.Logf("seed %d: %v", seed, kinds)
}

// disturb puts entries into the log that change nothing, and some ceremony messages.
func disturb(t *testing.T, r *replica, i int) {
	switch i % 5 {
	case 0:
		if err := r.apply(chain.CeremonyEntry(fmt.Appendf(nil, "message %d", i))); err != nil {
			t.Fatal(err)
		}
	case 1:
		if r.apply([]byte{0x01, 0xc0}) == nil || r.apply([]byte{0x07}) == nil || r.apply(nil) == nil {
			t.Fatal("a garbage entry was taken")
		}
	case 2:
		if last, ok := r.Block(r.Head().Number); ok && r.apply(chain.BlockEntry(last.Block)) == nil {
			t.Fatal("a block was applied twice")
		}
	}
}

func randomBlock(t *testing.T, rng *rand.Rand, r *replica, kinds map[string]int) *chain.Block {
	time := r.Head().Time + 1 + rng.Uint64N(2)
	if rng.IntN(50) == 0 {
		time += 40 // a halt: sealed entries miss their deadline
	}
	var keys []scheduler.SlotKey
	for _, slot := range r.PendingSlots(time) {
		if rng.IntN(10) < 7 {
			keys = append(keys, r.app.dealer.slotKey(r.Namespace(), slot))
			kinds["key"]++
		}
	}
	for _, who := range []account{alice, bob} {
		for range rng.IntN(3) {
			nonce := r.Mempool().NextNonce(who.addr)
			if _, err := r.Mempool().Add(randomTx(t, rng, r, who, nonce, time)); err != nil {
				t.Fatal(err)
			}
		}
	}
	block, err := r.Build(chain.Proposal{
		Time: time, Proposer: 1 + rng.Uint32N(4), Signer: networkKey(0), Keys: keys, Txs: r.Mempool().Pending(60_000_000, 1<<20),
	})
	if err != nil {
		t.Fatal(err)
	}
	if block.Signature, err = block.Header.Sign(r.GenesisHash(), networkKey(block.Header.Proposer)); err != nil {
		t.Fatal(err)
	}
	if last, ok := r.Block(r.Head().Number); ok {
		for _, receipt := range last.Receipts {
			kind, outcome := "user", "ok"
			if receipt.Type == scheduler.SystemTxType {
				kind = "0x7e"
			}
			if receipt.Status == 0 {
				outcome = "failed"
			}
			kinds[kind+" "+outcome]++
		}
	}
	return block
}

func randomTx(t *testing.T, rng *rand.Rand, r *replica, who account, nonce, time uint64) []byte {
	toScheduler := func(input []byte) []byte {
		return who.tx(txData{nonce: nonce, to: chain.Addr(scheduler.Address), data: input, tip: 1 + rng.Int64N(50)})
	}
	someID := func() uint64 { return 1 + rng.Uint64N(r.Scheduler().NextID()+2) }
	slot := time + 1 + rng.Uint64N(12)
	switch rng.IntN(12) {
	case 0, 1, 2:
		return who.scheduleSealed(t, r.Chain, r.app.dealer, nonce, slot, fmt.Sprint("sealed ", nonce))
	case 3, 4, 5:
		return who.scheduleOpen(nonce, slot, fmt.Sprint("open ", nonce))
	case 6:
		return who.schedule(nonce, scheduler.Params{Calls: calls("by height"), Height: r.Head().Number + 2 + rng.Uint64N(5)})
	case 7:
		return toScheduler(scheduler.CancelInput(someID()))
	case 8:
		return toScheduler(scheduler.ExpireInput(someID()))
	case 9:
		return toScheduler(scheduler.WithdrawInput(*uint256.NewInt(rng.Uint64N(1_000_000))))
	case 10:
		return who.tx(txData{nonce: nonce, to: target, data: []byte("echo"), gas: 21_000 + rng.Uint64N(10_000)})
	default: // a sealed entry that does not open: another slot's seal
		raw := who.scheduleSealed(t, r.Chain, r.app.dealer, nonce, slot, "wrong")
		tx, err := chain.DecodeTx(testChainID, raw)
		if err != nil {
			t.Fatal(err)
		}
		params, err := scheduler.DecodeScheduleInput(tx.Inner().Data())
		if err != nil {
			t.Fatal(err)
		}
		params.Slot++
		return who.schedule(nonce, params)
	}
}
