package node

import (
	"context"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
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

// produceTask builds the block of this second if this node leads the log, and comes again at the next one's time.
func (n *Node) produceTask(ctx context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
	now := time.Now()
	slot := now.Add(-blockOffset).Truncate(time.Second)
	done, err := n.produce(ctx, slot.Add(blockOffset))
	if err != nil && ctx.Err() == nil {
		n.log.Debug("no block", "slot", slot.Unix(), "err", err)
	}
	next := atWall(c.Now(), time.Now().Add(-blockOffset).Truncate(time.Second).Add(time.Second+blockOffset))
	switch {
	case err != nil:
		return tasks.NewWatchdogResult(tasks.RetryableFailure(0).Because(err), next)
	case !done:
		return tasks.NewWatchdogResult(tasks.NoWork(), next) // another validator's turn
	}
	return tasks.NewWatchdogResult(tasks.Success(1), next)
}

func (n *Node) produce(ctx context.Context, at time.Time) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, blockPatience)
	defer cancel()
	block, err := n.producer.Produce(ctx, at)
	return block != nil, err
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
