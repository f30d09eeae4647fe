package node

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// clockTick is how often time is let into the core. It divides a second, and ticks are aligned to it, so that one falls on
// the end of each slot.
const clockTick = 250 * time.Millisecond

// tickTask lets time in, and again at the next tick. If it dies it comes again a second later.
func (n *Node) tickTask(ctx context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
	n.tick(ctx)
	return tasks.NewWatchdogResult(tasks.Success(1), atWall(c.Now(), time.Now().Truncate(clockTick).Add(clockTick)))
}

// tick tells the core what time it is and where the chain stands.
func (n *Node) tick(ctx context.Context) {
	n.loop.do(ctx, func() {
		now := time.Now()
		n.activate(now)
		n.finalize()
		pending, head := n.chain.PendingSlots(uint64(now.Unix())), n.chain.Head()
		n.act(n.slots.block(now, n.finality.head().Time, pending))
		n.metrics.height.Set(float64(head.Number)) // here, for a snapshot moves the head without a block
		n.metrics.headTime.Set(float64(head.Time))
		n.metrics.pool.Set(float64(n.slots.backlog()))
		n.health.judge(n.slots, n.hasKey)
	})
}

// act does at the edge what the core decided. It runs in the loop and waits for nobody.
func (n *Node) act(do todo) {
	for _, envelope := range do.send {
		select {
		case n.outbox <- envelope:
			n.wake(n.tasks.gossip)
		default: // it is sent again in resendEvery
		}
	}
	for _, job := range do.jobs {
		n.recover(job)
	}
	for _, k := range do.keys {
		n.takeKey(k)
	}
	if len(do.fetch) > 0 {
		select {
		case n.fetches <- do.fetch:
			n.wake(n.tasks.fetch)
		default: // asked for again in fetchEvery
		}
	}
	for _, b := range do.blamed {
		n.log.Warn("members sent bad partials", "slot", b.slot, "index", b.members)
	}
	for _, m := range do.missed {
		n.metrics.missed.WithLabelValues(string(m.reason)).Inc()
		if m.reason == reasonNoGroup || m.reason == reasonBehind {
			continue // the ceremony's own lines tell the one better, and that of the start the other
		}
		if m.reason == reasonNoBlock {
			n.tellNoBlock(m.slot)
			continue
		}
		n.log.Warn("slot missed: "+m.reason.sentence(), "slot", m.slot, "reason", string(m.reason), "have", m.have,
			"need", n.genesis.Ceremony.Threshold, "missing", m.missing)
	}
}

// recover runs the heavy part of a recovery on a worker.
func (n *Node) recover(job *partials.Job) {
	onWorker(n, func() partials.Outcome { return job.Run(nil) }, func(out partials.Outcome) {
		n.act(n.slots.outcome(time.Now(), job.Identity(), out))
	})
}

// onWorker does heavy work when a worker is free, and lets the loop take in what it found.
func onWorker[T any](n *Node, work func() T, take func(T)) {
	n.wg.Go(func() {
		select {
		case n.workers <- struct{}{}:
		case <-n.ctx.Done():
			return
		}
		found := work()
		<-n.workers
		n.loop.do(n.ctx, func() { take(found) })
	})
}

// takeKey stores and announces a key.
func (n *Node) takeKey(k newKey) {
	if err := n.keys.put(k.slot, k.key); err != nil {
		n.log.Error("key store", "slot", k.slot, "err", err)
		return
	}
	n.metrics.keys.WithLabelValues(k.source).Inc()
	switch {
	case k.source == sourceFetched:
		n.log.Debug("key fetched", "slot", k.slot)
	case k.fresh && k.late < missedAfter:
		n.metrics.slotToKey.Observe(k.late.Seconds())
		n.log.Info("key recovered", "slot", k.slot, "ms", k.late.Milliseconds(), "partials", k.partials)
	default:
		n.log.Info("key recovered late", "slot", k.slot, "late", k.late.Round(time.Millisecond).String(), "partials", k.partials)
	}
	n.events.publish(api.EventKey, keyJSON(k.slot, k.key.Bytes()))
}

// gossipBatch is how many own partials go out in one run.
const gossipBatch = 64

// gossipTask publishes own partials until there are none. One that could not be sent is sent again in resendEvery.
func (n *Node) gossipTask(ctx context.Context, _ *tasks.WatchdogContext) tasks.WatchdogResult {
	for sent := range uint64(gossipBatch) {
		select {
		case envelope := <-n.outbox:
			if err := n.topics.partials.Publish(ctx, envelope); err != nil {
				if !errors.Is(err, p2p.ErrClosed) && ctx.Err() == nil {
					n.log.Error("partial not sent", "err", err)
				}
				return tasks.NewWatchdogResult(tasks.RetryableFailure(sent).Because(err), tasks.Continue())
			}
		default:
			if sent == 0 {
				return tasks.NewWatchdogResult(tasks.NoWork(), tasks.Stop())
			}
			return tasks.NewWatchdogResult(tasks.Success(sent), tasks.Stop())
		}
	}
	return tasks.NewWatchdogResult(tasks.Success(gossipBatch), tasks.ContinueImmediately())
}

// groupReady takes in the end of the ceremony. Called by the log's state machine.
func (n *Node) groupReady(group *partials.Group, share partials.Share) {
	n.tellHasShare(share)
	n.loop.do(n.ctx, func() {
		n.slots.setGroup(group, share)
		n.group.Store(group)
	})
}

func (n *Node) tellHasShare(share partials.Share) {
	n.metrics.share.Set(map[bool]float64{false: 1}[share.IsZero()])
}

// activate begins to sign once the group key is on chain.
func (n *Node) activate(now time.Time) {
	if n.slots.group == nil || n.slots.active() || len(n.chain.GroupKey()) == 0 {
		return
	}
	first, err := n.firstSlot()
	if err != nil {
		n.stop(err)
		return
	}
	n.slots.activate(now, first)
}

// firstSlot is the slot of the block that installed the group key. Who came too late to know looks for keys from the
// network's beginning on.
func (n *Node) firstSlot() (uint64, error) {
	first, err := n.keys.first()
	if err != nil || first > 0 {
		return first, err
	}
	first = n.genesis.Time
	if a := n.chain.Activations(); len(a) > 0 {
		if block, ok := n.chain.Block(a[0].Height); ok {
			first = block.Block.Header.Time
		}
	}
	return first, n.keys.setFirst(first)
}

// backfillRange is the group and the slots to look for keys in; the group is nil while there is none.
func (n *Node) backfillRange() (group *partials.Group, from, to uint64) {
	group = n.group.Load()
	first, err1 := n.keys.first()
	done, err2 := n.keys.backfilled()
	head := n.chain.Head().Time
	if group == nil || first == 0 || err1 != nil || err2 != nil || head < 2*window {
		return nil, 0, 0
	}
	return group, max(first, done+1), head - window - lateWindow
}

// dialLog connects to another member's log.
func (n *Node) dialLog(ctx context.Context, member uint32) (net.Conn, error) {
	return n.net.Open(ctx, n.peerIDs[member], protocolLog)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// spread runs f for 0..n-1 on all cores.
func spread(n int, f func(i int)) {
	workers := min(n, runtime.NumCPU())
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	wg.Wait()
}
