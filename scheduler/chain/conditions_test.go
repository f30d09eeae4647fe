package chain_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

var item = scheduler.Word{0: 0x17}

// conditionWorld is two replicas on which alice has sealed n entries to conditions of item: value at least 1, 2, … n, no write before
// notBefore. Their conditions are in the order of the ids.
type conditionWorld struct {
	a, b       *replica
	conditions []scheduler.Word
	notBefore  uint64
}

func newConditionWorld(t *testing.T, n int) *conditionWorld {
	t.Helper()
	w := &conditionWorld{a: newReplica(t, testGenesis(4)), b: newReplica(t, testGenesis(4))}
	w.a.activate(t, w.b)
	w.write(0)
	w.notBefore = w.a.Head().Time + 4
	txs := alice.fund(0)
	for i := range n {
		when := scheduler.Condition{Item: item, Kind: scheduler.WhenValueAtLeast, Operand: scheduler.Word{31: byte(i + 1)}}
		c := tlock.Condition{Payer: alice.addr, Item: when.Item, Kind: when.Kind, Operand: when.Operand, NotBefore: w.notBefore}
		to, err := tlock.ConditionSeal(c)
		if err != nil {
			t.Fatal(err)
		}
		condition, _ := to.Identity().Condition()
		w.conditions = append(w.conditions, condition)
		ciphertext, commitment, err := tlock.SealCalls(w.a.Namespace(), w.a.app.dealer.key, to, tlock.EncodeCalls(calls("secret")))
		if err != nil {
			t.Fatal(err)
		}
		txs = append(txs, alice.schedule(uint64(2+i), scheduler.Params{Slot: w.notBefore, Ciphertext: ciphertext, Commitment: commitment, When: when}))
	}
	for batch := range slices.Chunk(txs, 16) { // as many as may wait from one sender
		for _, r := range w.a.step(t, nil, batch, w.b).Receipts {
			if r.Status != 1 {
				t.Fatalf("schedule: %s", r.Reason)
			}
		}
	}
	for w.a.Head().Time < w.notBefore {
		w.a.step(t, nil, nil, w.b)
	}
	return w
}

// write writes the item on both replicas in their head's block.
func (w *conditionWorld) write(value byte) {
	chain.WriteItem(w.a.Chain, item, scheduler.Word{31: value})
	chain.WriteItem(w.b.Chain, item, scheduler.Word{31: value})
}

func (w *conditionWorld) keys(conditions ...scheduler.Word) (keys []scheduler.ConditionKey) {
	for _, c := range conditions {
		keys = append(keys, scheduler.ConditionKey{Condition: c, Key: w.a.Namespace().Point(tlock.ConditionIdentity(c)).Mul(w.a.app.dealer.secret).Bytes()})
	}
	return keys
}

// step builds the next block with condition keys and applies it on both.
func (w *conditionWorld) step(t *testing.T, keys []scheduler.ConditionKey) *chain.Block {
	t.Helper()
	block, err := w.a.Build(chain.Proposal{Time: w.a.Head().Time + 1, Proposer: 1, Signer: networkKey(1), ConditionKeys: keys})
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, block)
	return block
}

func (w *conditionWorld) apply(t *testing.T, block *chain.Block) {
	t.Helper()
	decoded, err := chain.DecodeBlock(block.Encode())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*replica{w.a, w.b} {
		if err := r.apply(chain.BlockEntry(decoded)); err != nil {
			t.Fatalf("block %d: %v", block.Header.Number, err)
		}
	}
	if w.a.Head() != w.b.Head() {
		t.Fatalf("heads %+v and %+v", w.a.Head(), w.b.Head())
	}
}

func carried(b *chain.Block) (conditions []scheduler.Word) {
	for _, k := range b.Update.Conditions {
		conditions = append(conditions, k.Condition)
	}
	return conditions
}

func TestConditionKeys(t *testing.T) {
	t.Run("S-SCO-05 S-SCO-06 the block that carries a fired condition's key opens and runs its entry", func(t *testing.T) {
		w := newConditionWorld(t, 1)
		condition := w.conditions[0]
		w.write(1)
		if got := carried(w.step(t, w.keys(condition))); len(got) != 0 {
			t.Error("a block carries the key of a condition that nothing had fired before it")
		}
		if got := w.a.PendingConditions(w.a.Head().Time + 1); !slices.Equal(got, w.conditions) {
			t.Fatalf("pending: %x", got)
		}
		w.step(t, nil) // its slot
		block := w.step(t, w.keys(condition))
		if got := carried(block); !slices.Equal(got, w.conditions) {
			t.Errorf("carried: %x", got)
		}
		if got := w.b.Scheduler().Status(1); got != scheduler.Executed {
			t.Errorf("status %d, want Executed", got)
		}
		if key := w.keys(condition)[0].Key; !bytes.Equal(w.b.ConditionKey(condition), key[:]) {
			t.Error("the key is not on chain")
		}
		if got := w.a.PendingConditions(w.a.Head().Time + 1); len(got) != 0 {
			t.Errorf("still pending: %x", got)
		}
	})

	t.Run("A-38 of more than 32 conditions the lowest ids come first, in the update's order", func(t *testing.T) {
		w := newConditionWorld(t, 40)
		w.write(40)
		w.step(t, nil)
		backwards := slices.Clone(w.conditions)
		slices.Reverse(backwards)
		block := w.step(t, w.keys(backwards...))
		want := slices.Clone(w.conditions[:32])
		slices.SortFunc(want, func(a, b scheduler.Word) int { return bytes.Compare(a[:], b[:]) })
		if got := carried(block); !slices.Equal(got, want) {
			t.Errorf("carried %d conditions: %x", len(got), got)
		}
		if got := w.a.PendingConditions(w.a.Head().Time + 1); !slices.Equal(got, w.conditions[32:]) {
			t.Errorf("pending: %x", got)
		}
	})

	t.Run("a key that does not verify is left out, and costs the others nothing", func(t *testing.T) {
		w := newConditionWorld(t, 3)
		w.write(3)
		w.step(t, nil)
		keys := w.keys(w.conditions...)
		keys[1].Key = keys[0].Key
		want := []scheduler.Word{w.conditions[0], w.conditions[2]}
		got := carried(w.step(t, keys))
		if len(got) != 2 || !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) {
			t.Errorf("carried: %x", got)
		}
	})

	t.Run("S-BEA-03 an update with its condition keys out of order makes the block invalid", func(t *testing.T) {
		w := newConditionWorld(t, 2)
		w.write(2)
		w.step(t, nil)
		block, err := w.a.Build(chain.Proposal{Time: w.a.Head().Time + 1, Proposer: 1, Signer: networkKey(1), ConditionKeys: w.keys(w.conditions...)})
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(block.Update.Conditions)
		chain.Reroot(block)
		if block.Signature, err = block.Header.Sign(w.a.GenesisHash(), networkKey(1)); err != nil {
			t.Fatal(err)
		}
		if err := w.b.apply(chain.BlockEntry(block)); !errors.Is(err, scheduler.ErrUpdate) {
			t.Errorf("got error %v", err)
		}
	})

	t.Run("a producer asks its key source for what is pending", func(t *testing.T) {
		w := newConditionWorld(t, 1)
		w.write(1)
		w.step(t, nil)
		var asked []scheduler.Word
		p := &chain.Producer{
			Chain: w.a.Chain, Log: atOnce(func(entry []byte) error { return w.a.apply(entry) }), Self: 1, Signer: networkKey(1),
			Keys: noKeys,
			ConditionKeys: func(conditions []scheduler.Word) []scheduler.ConditionKey {
				asked = conditions
				return w.keys(conditions...)
			},
		}
		block, err := p.Produce(t.Context(), time.Unix(int64(w.a.Head().Time+1), 0))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(asked, w.conditions) || !slices.Equal(carried(block), w.conditions) {
			t.Errorf("asked for %x, carried %x", asked, carried(block))
		}
	})
}

// atOnce is a log of one member that leads.
type atOnce func(entry []byte) error

func (atOnce) Lead(context.Context) (bool, error)                { return true, nil }
func (log atOnce) Propose(_ context.Context, entry []byte) error { return log(entry) }
