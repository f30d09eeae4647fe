package chain

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// Order is what a producer needs of the log; *Log is one.
type Order interface {
	// Lead says whether this member may propose blocks now, having applied all earlier ones.
	Lead(ctx context.Context) (bool, error)
	// Propose appends an entry and returns once it is applied here.
	Propose(ctx context.Context, entry []byte) error
}

// Producer makes this validator's blocks. Its methods are called by one goroutine.
type Producer struct {
	Chain  *Chain
	Log    Order
	Self   uint32        // index of this validator
	Signer crypto.Signer // its ed25519 network key
	// Keys returns those of the slots' keys that are known here.
	Keys func(slots []uint64) []scheduler.SlotKey
	// ConditionKeys returns those of the conditions' keys that are known here; nil: none are.
	ConditionKeys func(conditions []scheduler.Word) []scheduler.ConditionKey
}

// Produce builds, signs and proposes the block of the second in which now lies, if this validator leads the log and the head is
// older. It returns the block once it is applied, or nil if there was nothing to do. The key of a slot becomes known shortly
// after the slot ends, so a caller that calls some tenths of a second into each second gets the key of the last slot into it.
func (p *Producer) Produce(ctx context.Context, now time.Time) (*Block, error) {
	leads, err := p.Log.Lead(ctx)
	if err != nil || !leads {
		return nil, err
	}
	slot := uint64(max(now.Unix(), 0))
	if slot <= p.Chain.Head().Time {
		return nil, nil
	}
	block, err := p.Chain.Build(Proposal{
		Time: slot, Proposer: p.Self, Signer: p.Signer,
		Keys: p.Keys(p.Chain.PendingSlots(slot)), ConditionKeys: p.conditionKeys(slot),
		Txs: p.Chain.Mempool().Pending(p.Chain.Genesis().BlockGasLimit, maxUserBytes),
	})
	if errors.Is(err, ErrNotYet) {
		return nil, nil // another block was applied meanwhile
	}
	if err != nil {
		return nil, err
	}
	if err := p.Log.Propose(ctx, BlockEntry(block)); err != nil {
		return nil, fmt.Errorf("block %d: %w", block.Header.Number, err)
	}
	return block, nil
}

func (p *Producer) conditionKeys(slot uint64) []scheduler.ConditionKey {
	if p.ConditionKeys == nil {
		return nil
	}
	return p.ConditionKeys(p.Chain.PendingConditions(slot))
}

// ProposeCeremony puts a member's ceremony entry into the log, unless it is there already.
func (p *Producer) ProposeCeremony(ctx context.Context, entry []byte) error {
	if len(entry) == 0 || len(entry) > MaxCeremonyEntry {
		return fmt.Errorf("ceremony entry: %w: %d bytes; want 1..%d", ErrInvalid, len(entry), MaxCeremonyEntry)
	}
	if p.Chain.HasCeremonyEntry(entry) {
		return nil
	}
	return p.Log.Propose(ctx, CeremonyEntry(entry))
}
