package node

import (
	"context"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// Rhythm of sending waiting transactions again.
const (
	rebroadcastEvery = 3 * time.Second
	maxRebroadcast   = 32 // transactions each time, those first that a block would take first
)

// rebroadcastLoop gossips again what waits for a block longer than it should. A validator that was away, or not yet
// connected, when a transaction went round has no other way to hear of it; and if that validator leads the log, the
// transaction would wait until another does. All validators do this, since the one that took the transaction may be gone.
func (n *Node) rebroadcastLoop(ctx context.Context) {
	ticks := time.NewTicker(rebroadcastEvery)
	defer ticks.Stop()
	var before map[chain.Hash]bool // what waited the last time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		waiting := n.chain.Mempool().Pending(n.genesis.BlockGasLimit, maxRebroadcast*maxTransaction)
		now, sent := make(map[chain.Hash]bool, len(waiting)), 0
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
	}
}
