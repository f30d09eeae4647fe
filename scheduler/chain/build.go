package chain

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// maxUserBytes leaves room in a block for its update, leading transactions and framing.
const maxUserBytes = MaxBlockSize / 2

// Proposal is what a proposer puts into a block besides what the chain itself decides.
type Proposal struct {
	Time          uint64                   // Unix seconds, above the head's
	Proposer      uint32                   // index of the validator that signs
	Signer        crypto.Signer            // its ed25519 network key
	Keys          []scheduler.SlotKey      // of slots; those that no entry waits for are left out
	ConditionKeys []scheduler.ConditionKey // likewise, of conditions
	Txs           []*Tx                    // in order; those that do not fit are left out
}

// Build makes the next block and signs it. The chain does not change: the block counts once it is applied.
func (c *Chain) Build(p Proposal) (*Block, error) {
	proposer, ok := c.genesis.Validator(p.Proposer)
	if !ok {
		return nil, fmt.Errorf("building a block: proposer %d is not a validator", p.Proposer)
	}
	b, err := c.buildUnsigned(p, proposer)
	if err != nil {
		return nil, fmt.Errorf("building block %d: %w", b.Header.Number, err)
	}
	b.Signature, err = b.Header.Sign(c.genesisHash, p.Signer)
	return b, err
}

func (c *Chain) buildUnsigned(p Proposal, proposer Validator) (*Block, error) {
	c.mu.RLock()
	host, head, groupKey := c.host.Fork(), c.head, c.ceremony.at(c.head.Number+1)
	c.mu.RUnlock()
	b := &Block{Header: Header{
		ChainID: c.genesis.ChainID, Number: head.Number + 1, Time: p.Time, Parent: head.Hash, Proposer: proposer.Index,
	}}
	if p.Time <= head.Time {
		return b, fmt.Errorf("%w: timestamp %d is not above the head's %d", ErrNotYet, p.Time, head.Time)
	}
	b.Update = chooseUpdate(host, groupKey, p)
	x, err := c.execute(host, b.Header.Number, p.Time, proposer, &b.Update)
	if errors.Is(err, scheduler.ErrUpdate) {
		// Some given key is wrong. It must not cost the block: keep those that verify alone.
		b.Update = c.verifiedUpdate(host, b.Update)
		x, err = c.execute(host, b.Header.Number, p.Time, proposer, &b.Update)
	}
	if err != nil {
		return b, err
	}
	x.leading()
	size := 0
	for _, tx := range p.Txs {
		if size+len(tx.raw) > maxUserBytes {
			break
		}
		if x.user(tx) == nil {
			size += len(tx.raw)
		}
	}
	b.Transactions = x.txs
	b.Header.StateRoot = x.end(c.run)
	b.Header.ReceiptsRoot = receiptsRoot(x.receipts)
	b.Header.TxRoot = b.txRoot()
	b.Header.BeaconRoot = updateRoot(&b.Update)
	if n := len(b.Encode()); n > MaxBlockSize {
		return b, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, MaxBlockSize)
	}
	return b, nil
}

// chooseUpdate takes the keys that entries wait for, oldest slot first (S-BEA-04, A-38), and the group key that is due.
func chooseUpdate(host *memory.Host, groupKey []byte, p Proposal) Update {
	u := Update{GroupKey: groupKey}
	bySlot := make(map[uint64]scheduler.SlotKey, len(p.Keys))
	for _, k := range p.Keys {
		bySlot[k.Slot] = k
	}
	for _, slot := range pendingSlots(host, p.Time) {
		if k, ok := bySlot[slot]; ok && len(u.Slots) < scheduler.MaxSlotKeys {
			u.Slots = append(u.Slots, k)
		}
	}
	u.Conditions = chooseConditionKeys(pendingConditions(host, p.Time), p.ConditionKeys)
	return u
}

// chooseConditionKeys takes the keys of the first pending conditions, as many as an update may have, and puts them into its order.
func chooseConditionKeys(pending []scheduler.Word, keys []scheduler.ConditionKey) (chosen []scheduler.ConditionKey) {
	byCondition := make(map[scheduler.Word]scheduler.ConditionKey, len(keys))
	for _, k := range keys {
		byCondition[k.Condition] = k
	}
	for _, condition := range pending {
		if k, ok := byCondition[condition]; ok && len(chosen) < scheduler.MaxConditionKeys {
			chosen = append(chosen, k)
		}
	}
	slices.SortFunc(chosen, func(a, b scheduler.ConditionKey) int { return bytes.Compare(a.Condition[:], b.Condition[:]) })
	return chosen
}

// verifiedUpdate keeps the keys of a refused update that verify under the group key of its block.
func (c *Chain) verifiedUpdate(host *memory.Host, u Update) Update {
	good := Update{GroupKey: u.GroupKey}
	encoded := u.GroupKey
	if len(encoded) == 0 {
		encoded = host.Beacon().GroupKey()
	}
	groupKey, err := tlock.ParseGroupKey(encoded)
	if err != nil {
		return good
	}
	verifies := func(id tlock.Identity, encoded [tlock.KeySize]byte) bool {
		key, err := tlock.ParseKey(encoded[:])
		return err == nil && groupKey.Verify(c.namespace, id, key) == nil
	}
	good.Slots = keep(c.run, u.Slots, func(k scheduler.SlotKey) bool { return verifies(tlock.SlotIdentity(k.Slot), k.Key) })
	good.Conditions = keep(c.run, u.Conditions, func(k scheduler.ConditionKey) bool { return verifies(tlock.ConditionIdentity(k.Condition), k.Key) })
	return good
}

// keep is what of a list passes a test, in its order. The test may run in parallel.
func keep[T any](run scheduler.Runner, list []T, test func(T) bool) (kept []T) {
	ok := make([]bool, len(list))
	spread(run, len(list), func(i int) { ok[i] = test(list[i]) })
	for i, v := range list {
		if ok[i] {
			kept = append(kept, v)
		}
	}
	return kept
}
