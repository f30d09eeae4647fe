package node

import (
	"context"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// Timing of blocks.
const (
	// blockOffset is when in second T its block is built: late enough for the keys of slot T-1 to be there, early enough
	// for the block to reach all before second T ends and slot T is signed.
	blockOffset = 400 * time.Millisecond
	// blockPatience bounds how long the proposer waits for its block to commit before it looks at the next second.
	blockPatience = 2 * time.Second
)

// leads tells whether this node may propose entries now.
func (n *Node) leads(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, blockPatience)
	defer cancel()
	lead, err := n.raft.Lead(ctx)
	if err != nil {
		n.log.Debug("leadership unclear", "err", err)
	}
	return lead && err == nil
}

// produceLoop builds a block every second while this node leads the log.
func (n *Node) produceLoop(ctx context.Context) {
	for {
		now := time.Now()
		at := now.Truncate(time.Second).Add(blockOffset)
		if !at.After(now) {
			at = at.Add(time.Second)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(at.Sub(now)):
		}
		if err := n.produce(ctx, at); err != nil && ctx.Err() == nil {
			n.log.Debug("no block", "slot", at.Unix(), "err", err)
		}
	}
}

func (n *Node) produce(ctx context.Context, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, blockPatience)
	defer cancel()
	_, err := n.producer.Produce(ctx, at)
	return err
}

// knownKeys returns those of the slots' keys that this node has, for a block.
func (n *Node) knownKeys(slots []uint64) (keys []scheduler.SlotKey) {
	for _, slot := range slots {
		key, ok, err := n.keys.get(slot)
		if err != nil {
			n.log.Error("key store", "err", err) // the block goes without the key; the next proposer has it
			continue
		}
		if ok {
			keys = append(keys, scheduler.SlotKey{Slot: slot, Key: key})
		}
	}
	return keys
}
