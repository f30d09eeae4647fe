package chain_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

func TestSealedEntryOpensInTheBlockThatCarriesItsKey(t *testing.T) {
	r := newReplica(t, testGenesis(4))
	r.activate(t)
	r.step(t, nil, alice.fund(0))
	slot := r.Head().Time + 3
	applied := r.step(t, nil, [][]byte{alice.scheduleSealed(t, r.Chain, r.app.dealer, 2, slot, "secret")})
	if got := applied.Receipts[0]; got.Status != 1 {
		t.Fatalf("schedule: %s", got.Reason)
	}
	for r.Head().Time < slot {
		if got := r.PendingSlots(r.Head().Time + 1); len(got) != 0 {
			t.Fatalf("slot %d is wanted at %d, before it is over", got[0], r.Head().Time+1)
		}
		r.step(t, nil, nil)
	}
	if got := r.PendingSlots(slot + 1); len(got) != 1 || got[0] != slot {
		t.Fatalf("wanted slots once it is over: %v, want [%d]", got, slot)
	}
	key := r.app.dealer.slotKey(r.Namespace(), slot)
	applied = r.step(t, []scheduler.SlotKey{key}, nil)
	if len(applied.Receipts) != 1 || applied.Receipts[0].Type != scheduler.SystemTxType || applied.Receipts[0].Status != 1 {
		t.Fatalf("receipts of the block with the key: %+v", applied.Receipts)
	}
	if got := applied.Block.Header.Time; got != slot+1 {
		t.Errorf("the entry ran in the block of %d, want %d", got, slot+1)
	}
	id := applied.Receipts[0].Entry
	if got := r.Scheduler().Status(id); got != scheduler.Executed {
		t.Errorf("status %d, want Executed", got)
	}
	if place := r.Runs(id); len(place) != 1 || place[0].Number != applied.Block.Header.Number {
		t.Errorf("runs of entry %d: %v", id, place)
	}
	if string(r.SlotKey(slot)) != string(key.Key[:]) {
		t.Error("the key is not on chain")
	}
}

func TestFailedTransactionSaysWhy(t *testing.T) {
	r := newReplica(t, testGenesis(1))
	applied := r.step(t, nil, [][]byte{alice.scheduleOpen(0, testTime+100, "x")})
	got := applied.Receipts[0]
	if got.Status != 0 || !strings.HasPrefix(got.Reason, "InsufficientEscrow") {
		t.Errorf("got status %d, reason %q; want InsufficientEscrow", got.Status, got.Reason)
	}
	if r.Nonce(alice.addr) != 1 {
		t.Error("a failed transaction must use its nonce")
	}
}

// TestBlockValidity is scenario 45 and the other rules of Apply: what breaks one changes nothing.
func TestBlockValidity(t *testing.T) {
	a, b := newReplica(t, testGenesis(4)), newReplica(t, testGenesis(4))
	a.activate(t, b)
	a.step(t, nil, append(alice.fund(0), bob.fund(0)...), b)
	slot := a.Head().Time + 2
	a.step(t, nil, [][]byte{
		alice.scheduleOpen(2, slot, "one"), alice.scheduleOpen(3, slot, "two"), bob.scheduleOpen(2, slot, "three"),
		bob.scheduleSealed(t, a.Chain, a.app.dealer, 3, slot, "sealed"),
	}, b)
	a.step(t, nil, nil, b) // the open entries run here
	a.step(t, nil, nil, b)
	due := a.Head().Time + 1
	a.step(t, nil, [][]byte{alice.scheduleOpen(4, due+1, "x"), alice.scheduleOpen(5, due+1, "y"), bob.scheduleOpen(4, due+1, "z")}, b)

	userTx, err := a.Mempool().Add(alice.tx(txData{nonce: 6, to: target, data: []byte("hello")}))
	if err != nil {
		t.Fatal(err)
	}
	key := a.app.dealer.slotKey(a.Namespace(), slot)
	good := a.build(t, 2, []scheduler.SlotKey{key}, userTx)
	if n := len(good.Transactions); n != 5 {
		t.Fatalf("%d transactions, want three open runs, one sealed and the user's", n)
	}
	resign := func(b *chain.Block) {
		var err error
		if b.Signature, err = b.Header.Sign(a.GenesisHash(), networkKey(b.Header.Proposer)); err != nil {
			t.Fatal(err)
		}
	}
	// reroot makes the header fit the transactions again, so that the rule under test is the one that notices.
	reroot := func(b *chain.Block) {
		chain.Reroot(b)
		resign(b)
	}
	before := a.Head()
	for name, edit := range map[string]func(*chain.Block){
		"S-SEL-02 a leading transaction is missing":     func(b *chain.Block) { b.Transactions = append(b.Transactions[:0:0], b.Transactions[1:]...); reroot(b) },
		"S-SEL-02 all leading transactions are missing": func(b *chain.Block) { b.Transactions = b.Transactions[4:]; reroot(b) },
		"S-SEL-02 leading transactions are swapped": func(b *chain.Block) {
			b.Transactions[0], b.Transactions[1] = b.Transactions[1], b.Transactions[0]
			reroot(b)
		},
		"S-SEL-02 a leading transaction is altered": func(b *chain.Block) { b.Transactions[2][len(b.Transactions[2])-1] ^= 1; reroot(b) },
		"S-SEL-02 a leading transaction is doubled": func(b *chain.Block) {
			b.Transactions = append([][]byte{b.Transactions[0]}, b.Transactions...)
			reroot(b)
		},
		"S-SEL-03 a 0x7e transaction follows a user's": func(b *chain.Block) { b.Transactions = append(b.Transactions, b.Transactions[0]); reroot(b) },
		"a user transaction is repeated":               func(b *chain.Block) { b.Transactions = append(b.Transactions, b.Transactions[4]); reroot(b) },
		"a user transaction's signature is broken":     func(b *chain.Block) { b.Transactions[4][len(b.Transactions[4])-1] ^= 1; reroot(b) },
		"a user transaction is missing":                func(b *chain.Block) { b.Transactions = b.Transactions[:4]; reroot(b) },
		"the slot key is forged": func(b *chain.Block) {
			b.Update.Slots[0] = a.app.dealer.slotKey(a.Namespace(), slot+1)
			b.Update.Slots[0].Slot = slot
			reroot(b)
		},
		"the slot key is garbage": func(b *chain.Block) { b.Update.Slots[0].Key[95] ^= 1; reroot(b) },
		"the key of a slot that is not over": func(b *chain.Block) {
			b.Update.Slots[0] = a.app.dealer.slotKey(a.Namespace(), b.Header.Time)
			reroot(b)
		},
		"a group key that no ceremony made":    func(b *chain.Block) { k := a.app.dealer.key.Bytes(); b.Update.GroupKey = k[:]; reroot(b) },
		"the state root is another":            func(b *chain.Block) { b.Header.StateRoot[0] ^= 1; resign(b) },
		"the receipts' root is another":        func(b *chain.Block) { b.Header.ReceiptsRoot[0] ^= 1; resign(b) },
		"transactions do not fit the header":   func(b *chain.Block) { b.Transactions = b.Transactions[:4] },
		"the update does not fit the header":   func(b *chain.Block) { b.Update.Slots = nil },
		"the timestamp is the parent's":        func(b *chain.Block) { b.Header.Time = before.Time; resign(b) },
		"the parent is another":                func(b *chain.Block) { b.Header.Parent[0] ^= 1; resign(b) },
		"the height skips one":                 func(b *chain.Block) { b.Header.Number++; resign(b) },
		"the chain id is another":              func(b *chain.Block) { b.Header.ChainID++; resign(b) },
		"a timer manifest":                     func(b *chain.Block) { b.Header.TimersCommit = true; resign(b) },
		"the signature is broken":              func(b *chain.Block) { b.Signature[3] ^= 1 },
		"the signature is another validator's": func(b *chain.Block) { b.Header.Proposer = 3 },
		"the proposer is nobody":               func(b *chain.Block) { b.Header.Proposer = 9 },
		"the proposer takes another's block":   func(b *chain.Block) { b.Header.Proposer = 3; resign(b) },
		"signed for another chain": func(b *chain.Block) {
			var err error
			if b.Signature, err = b.Header.Sign([32]byte{1}, networkKey(2)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			edited, err := chain.DecodeBlock(good.Encode())
			if err != nil {
				t.Fatal(err)
			}
			edit(edited)
			if err := a.apply(chain.BlockEntry(edited)); !errors.Is(err, chain.ErrInvalid) {
				t.Errorf("got %v, want ErrInvalid", err)
			}
			if a.Head() != before {
				t.Fatal("the head moved")
			}
		})
	}
	// Without the keys it is as valid as with them (S-SEA-17), and the good one passes everywhere (I-33).
	without := a.build(t, 3, nil, userTx)
	if err := b.apply(chain.BlockEntry(without)); err != nil {
		t.Errorf("a block that leaves out a key: %v", err)
	}
	if err := a.apply(chain.BlockEntry(good)); err != nil {
		t.Fatal(err)
	}
	if err := a.apply(chain.BlockEntry(good)); !errors.Is(err, chain.ErrStale) {
		t.Errorf("a replayed block: got %v, want ErrStale", err)
	}
	if err := a.apply(chain.BlockEntry(without)); !errors.Is(err, chain.ErrStale) {
		t.Errorf("a second block of one height: got %v, want ErrStale", err)
	}
}

// TestHeaderRulesAlone: blocks that break a rule about number, time, parent or chain and are sound in all else, their roots
// included, so that nothing but the rule can refuse them.
func TestHeaderRulesAlone(t *testing.T) {
	r := newReplica(t, testGenesis(4))
	r.step(t, nil, nil)
	before := r.Head()
	for name, edit := range map[string]func(*chain.Header){
		"nothing":                               func(*chain.Header) {},
		"S-TS-02 the timestamp is the parent's": func(h *chain.Header) { h.Time = before.Time },
		"S-TS-02 the timestamp is older":        func(h *chain.Header) { h.Time = before.Time - 1 },
		"the height skips one":                  func(h *chain.Header) { h.Number++ },
		"the parent is another":                 func(h *chain.Header) { h.Parent[0] ^= 1 },
		"the chain id is another":               func(h *chain.Header) { h.ChainID++ },
		"a timer manifest":                      func(h *chain.Header) { h.TimersCommit = true },
	} {
		t.Run(name, func(t *testing.T) {
			b := r.build(t, 2, nil)
			edit(&b.Header)
			if err := chain.Reexecute(r.Chain, b); err != nil {
				t.Fatal(err)
			}
			var err error
			if b.Signature, err = b.Header.Sign(r.GenesisHash(), networkKey(2)); err != nil {
				t.Fatal(err)
			}
			if name == "nothing" {
				other := newReplica(t, testGenesis(4))
				other.step(t, nil, nil)
				if err := other.apply(chain.BlockEntry(b)); err != nil {
					t.Errorf("a sound block: %v", err)
				}
				return
			}
			if err := r.apply(chain.BlockEntry(b)); !errors.Is(err, chain.ErrInvalid) {
				t.Errorf("got %v, want ErrInvalid", err)
			}
			if r.Head() != before {
				t.Fatal("the head moved")
			}
		})
	}
}

func TestBuildLeavesOutWhatDoesNotVerify(t *testing.T) {
	a, b := newReplica(t, testGenesis(4)), newReplica(t, testGenesis(4))
	a.activate(t, b)
	a.step(t, nil, alice.fund(0), b)
	slot := a.Head().Time + 2
	a.step(t, nil, [][]byte{
		alice.scheduleSealed(t, a.Chain, a.app.dealer, 2, slot, "one"), alice.scheduleSealed(t, a.Chain, a.app.dealer, 3, slot+1, "two"),
	}, b)
	for a.Head().Time <= slot {
		a.step(t, nil, nil, b)
	}
	forged := a.app.dealer.slotKey(a.Namespace(), slot)
	forged.Slot = slot + 1
	keys := []scheduler.SlotKey{forged, a.app.dealer.slotKey(a.Namespace(), slot), a.app.dealer.slotKey(a.Namespace(), slot-1)}
	applied := a.step(t, keys, nil, b)
	if got := applied.Block.Update.Slots; len(got) != 1 || got[0].Slot != slot {
		t.Errorf("update carries %d keys, want that of slot %d alone", len(got), slot)
	}
}

func TestGroupKeyBecomesActiveAtTheHeightTheLogFixes(t *testing.T) {
	a, b := newReplica(t, testGenesis(4)), newReplica(t, testGenesis(4))
	a.step(t, nil, nil, b)
	sub := a.Subscribe(8)
	defer sub.Close()
	for _, r := range []*replica{a, b} {
		for entry, want := range map[string]error{"bad": chain.ErrInvalid} {
			if err := r.apply(chain.CeremonyEntry([]byte(entry))); !errors.Is(err, want) {
				t.Errorf("%q: got %v", entry, err)
			}
		}
		for _, entry := range []string{"deal", "done", "later"} {
			if err := r.apply(chain.CeremonyEntry([]byte(entry))); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.apply(chain.CeremonyEntry([]byte("deal"))); !errors.Is(err, chain.ErrStale) {
			t.Errorf("a repeated entry: got %v, want ErrStale", err)
		}
	}
	want := a.Head().Number + 3
	if got := a.Activations(); len(got) != 1 || got[0].Height != want || got[0].Epoch != 1 {
		t.Fatalf("activations %+v, want one at height %d", got, want)
	}
	for range 4 {
		applied := a.step(t, nil, nil, b)
		if got := len(applied.Block.Update.GroupKey) > 0; got != (applied.Block.Header.Number == want) {
			t.Errorf("block %d carries a group key: %v", applied.Block.Header.Number, got)
		}
	}
	activated := 0
	for range 8 {
		e, _, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Activation != nil {
			activated++
		}
	}
	if activated != 1 {
		t.Errorf("%d activation events, want 1", activated)
	}
	if a.HasCeremonyEntry([]byte("bad")) || !a.HasCeremonyEntry([]byte("deal")) {
		t.Error("HasCeremonyEntry: want the entries that counted")
	}
}

func TestReads(t *testing.T) {
	r := newReplica(t, testGenesis(4))
	raw := alice.tx(txData{to: target, data: []byte("hello")})
	applied := r.step(t, nil, [][]byte{raw})
	tx, err := chain.DecodeTx(testChainID, raw)
	if err != nil {
		t.Fatal(err)
	}
	place, ok := r.FindTx(tx.Hash())
	if !ok || place != (chain.Place{Number: 1, At: 0}) {
		t.Errorf("the transaction is at %+v (found %v)", place, ok)
	}
	if by, ok := r.BlockByHash(applied.Hash); !ok || by != applied {
		t.Error("the block is not found by its hash")
	}
	if _, ok := r.BlockByHash(chain.Hash{}); ok {
		t.Error("an unknown hash finds a block")
	}
	if receipt := applied.Receipts[0]; receipt.Status != 1 || len(receipt.Logs) != 1 || receipt.Logs[0].Address != target {
		t.Errorf("receipt of a call to an echo: %+v", receipt)
	}
	if balance := r.Balance(alice.addr); balance != *r.Genesis().Balances[alice.addr] {
		t.Errorf("balance %s", balance.Dec())
	}
	before := r.Head()
	deposit := scheduler.DepositInput(*uint256.NewInt(1))
	if _, err := r.Call(alice.addr, chain.Addr(scheduler.Address), deposit); !errors.Is(err, scheduler.TransferFailed) {
		t.Errorf("a simulated deposit without allowance: got %v", err)
	}
	if _, err := r.Call(alice.addr, gasToken, approveInput(scheduler.Address, 5)); err != nil {
		t.Error(err)
	}
	if r.Head() != before || r.build(t, 1, nil).Header.Parent != before.Hash {
		t.Error("a simulated call changed the chain")
	}
}

// order is a log of one member that leads or not, as told.
type order struct {
	r     *replica
	leads bool
}

func (o order) Lead(context.Context) (bool, error)            { return o.leads, nil }
func (o order) Propose(_ context.Context, entry []byte) error { return o.r.apply(entry) }
func noKeys([]uint64) []scheduler.SlotKey                     { return nil }

func TestProduceMakesOneBlockASecondAndOnlyForTheLeader(t *testing.T) {
	r := newReplica(t, testGenesis(2))
	p := &chain.Producer{Chain: r.Chain, Log: order{r, true}, Self: 2, Signer: networkKey(2), Keys: noKeys}
	at := func(seconds, millis int64) time.Time { return time.UnixMilli((testTime+seconds)*1000 + millis) }
	for _, c := range []struct {
		now  time.Time
		want uint64 // number of the block; 0: none
	}{
		{at(0, 999), 0}, {at(-100, 0), 0}, {time.Unix(-5, 0), 0}, {at(1, 0), 1}, {at(1, 400), 0}, {at(4, 400), 2}, {at(3, 0), 0},
	} {
		b, err := p.Produce(t.Context(), c.now)
		if err != nil {
			t.Fatal(err)
		}
		if (b != nil) != (c.want != 0) || b != nil && (b.Header.Number != c.want || b.Header.Time != uint64(c.now.Unix()) || b.Header.Proposer != 2) {
			t.Errorf("at %s: block %+v, want number %d", c.now, b, c.want)
		}
	}
	p.Log = order{r, false}
	if b, err := p.Produce(t.Context(), at(9, 0)); b != nil || err != nil {
		t.Errorf("a follower made %+v, error %v", b, err)
	}
	p.Log = order{r, true}
	for range 2 {
		if err := p.ProposeCeremony(t.Context(), []byte("deal")); err != nil {
			t.Errorf("a ceremony entry, or one that is there already: %v", err)
		}
	}
	if err := p.ProposeCeremony(t.Context(), make([]byte, chain.MaxCeremonyEntry+1)); !errors.Is(err, chain.ErrInvalid) {
		t.Errorf("a ceremony entry over the limit: %v", err)
	}
	p.Signer = networkKey(1)
	if _, err := p.Produce(t.Context(), at(20, 0)); !errors.Is(err, chain.ErrInvalid) {
		t.Errorf("a block signed with a key that is not the proposer's: %v", err)
	}
}
