package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// keptChainEvents is how many events of the chain may wait to be told. What is lost is only told, never decided by.
const keptChainEvents = 1024

// watchEvery is how often leader and peers are looked at.
const watchEvery = 250 * time.Millisecond

// follow tells what the chain does: log lines, metrics, the event stream. And it wakes the core, so that a slot is signed as
// soon as the block that reaches it is there.
func (n *Node) follow(ctx context.Context, events *chain.Subscription) {
	defer events.Close()
	for {
		e, dropped, err := events.Next(ctx)
		if err != nil {
			return
		}
		if dropped > 0 {
			n.log.Warn("too slow to tell all that the chain does", "lost", dropped)
		}
		switch {
		case e.Block != nil:
			n.tellBlock(e.Block, e.Replay)
			n.wake(n.tasks.vote)
			n.tick(ctx)
		case e.Activation != nil:
			level := slog.LevelInfo
			if e.Replay {
				level = slog.LevelDebug
			}
			n.log.Log(ctx, level, "group key agreed on", "epoch", e.Activation.Epoch, "active_from_block", e.Activation.Height)
		case e.Skipped != nil && !e.Replay && classOf(e.Skipped) != stale:
			n.log.Warn("log entry skipped", "entry", e.Index, "err", e.Skipped)
		}
	}
}

func (n *Node) tellBlock(a *chain.Applied, replay bool) {
	h := &a.Block.Header
	txs, _ := n.chain.Mempool().Len()
	n.metrics.mempool.Set(float64(txs))
	if replay {
		return // it was told before the restart
	}
	n.log.Debug("block", "height", h.Number, "slot", h.Time, "proposer", h.Proposer, "transactions", len(a.Block.Transactions), "keys", len(a.Block.Update.Slots))
	for _, k := range a.Block.Update.Slots {
		n.log.Info("key on chain", "slot", k.Slot, "height", h.Number)
	}
	n.events.publish(api.EventBlock, blockJSON(a))
	for _, r := range a.Receipts {
		n.tellReceipt(h, r)
	}
}

// peersTask tells when another validator leads the log, and keeps what others may ask about peers.
func (n *Node) peersTask() tasks.AfterCompletionFunc {
	var told uint32
	return func(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
		leader, ok := n.raft.Leader()
		if !ok {
			leader = 0
		}
		if leader != told {
			told = leader
			n.tellLeader(leader)
		}
		n.metrics.leader.Set(map[bool]float64{true: 1}[leader == n.self])
		n.metrics.peers.Set(float64(len(n.net.Connected())))
		return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.RecurAfterCompletion())
	}
}

func (n *Node) tellLeader(leader uint32) {
	if leader == 0 {
		n.log.Warn("no validator leads the log")
		return
	}
	n.log.Info("leader changed", "index", leader, "name", n.nameOf(leader), "self", leader == n.self)
}

func (n *Node) nameOf(index uint32) string {
	v, _ := n.genesis.Validator(index)
	return v.Name
}
