package node

import (
	"context"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// Rhythm of sending waiting transactions again.
const (
	rebroadcastEvery = 3 * time.Second
	maxRebroadcast   = 32 // transactions each time, those first that a block would take first
)

// rebroadcastTask gossips again what waits for a block longer than it should. A validator that was away, or not yet
// connected, when a transaction went round has no other way to hear of it; and if that validator leads the log, the
// transaction would wait until another does. All validators do this, since the one that took the transaction may be gone.
func (n *Node) rebroadcastTask() tasks.AfterCompletionFunc {
	var before map[chain.Hash]bool // what waited the last time
	return func(ctx context.Context, _ *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
		waiting := n.chain.Mempool().Pending(n.genesis.BlockGasLimit, maxRebroadcast*maxTransaction)
		now, sent := make(map[chain.Hash]bool, len(waiting)), uint64(0)
		for _, tx := range waiting {
			now[tx.Hash()] = true
			if !before[tx.Hash()] || sent == maxRebroadcast {
				continue
			}
			sent++
			if err := n.topics.transactions.Publish(ctx, tx.Raw()); err != nil && ctx.Err() == nil {
				n.log.Debug("transaction not sent again", "err", err)
			}
		}
		before = now
		if sent == 0 {
			return tasks.NewAfterCompletionResult(tasks.NoWork(), tasks.RecurAfterCompletion())
		}
		return tasks.NewAfterCompletionResult(tasks.Success(sent), tasks.RecurAfterCompletion())
	}
}
