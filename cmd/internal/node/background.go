package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// TaskHelp says what each task is for, by its identity, in the inventory's order.
var TaskHelp = [][2]string{
	{"beacon/keys/backfill", "fetches keys of the past, batch by batch, until none is missing"},
	{"beacon/partials/gossip", "sends own partials while there are any"},
	{"beacon/recover/pending-keys", "fetches keys that should be there and are not"},
	{"beacon/slot/ticker", "wakes the beacon four times a second, one of them at the end of each slot"},
	{"chain/blocks/produce", "builds a block in each second while this validator leads the log"},
	{"chain/finality/vote", "votes for each applied block, and again while it is not final"},
	{"chain/transactions/resend", "gossips again what waits for a block too long"},
	{"dkg/ceremony/drive", "sends and proposes ceremony entries until the ceremony is done"},
	{"http/stream/ping", "keeps idle streams open"},
	{"p2p/peers/refresh", "tells who leads and who is connected"},
}

// background is all that the node does again and again by a clock, on one task runtime, so that one inventory tells an operator what
// is idle, armed, running, overdue or failed: TaskHelp lists it.
//
// What must go on even if one run dies is a watchdog; what waits for a peer recurs after completion. Nothing here is stored: each
// start derives what a task should do from keys, head and ceremony files.
type background struct {
	runtime *tasks.Runtime

	ticker, gossip, produce, vote                  *tasks.WatchdogRegistration
	fetch, backfill, resend, ceremony, ping, peers *tasks.AfterCompletionRegistration
}

// shutdownGrace is how long a stop waits for work under way, which ends with the node's context.
const shutdownGrace = 5 * time.Second

// idleBackfill is how often it is looked whether keys of the past are missing once none was.
const idleBackfill = 5 * time.Second

// newBackground makes the runtime. Its tasks do nothing before Node.startTasks.
func (n *Node) newBackground() error {
	n.tasks.runtime = tasks.New(tasks.Config{
		Meter: tasks.ProcessMeter(nil),
		OnPanic: func(id tasks.Identity, value any, stack []byte) {
			n.log.Error("a task panicked", "task", id.String(), "panic", fmt.Sprint(value), "stack", string(stack))
		},
	})
	n.metrics.registry.MustRegister(taskCollector{n.tasks.runtime.Inventory})
	return n.reconcileTasks(desired{})
}

// startTasks wakes what this validator has to do. Everything that tasks use is open by now.
func (n *Node) startTasks() error {
	n.ready.Store(true)
	return n.reconcileTasks(desired{started: true, ceremony: n.ceremony.kept == nil && !n.ceremony.isDone()})
}

// desired is what tasks should do, as far as it depends on what was found at the start.
type desired struct {
	started  bool // everything is open
	ceremony bool // the group has no key yet
}

// reconcileTasks declares the tasks, or moves the declared ones to what is desired. It may be repeated.
func (n *Node) reconcileTasks(d desired) error {
	t, r := &n.tasks, n.tasks.runtime
	now := func(wanted bool) tasks.Desired {
		if d.started && wanted {
			return tasks.ScheduledImmediately()
		}
		return tasks.Inactive()
	}
	watchdog := func(slot **tasks.WatchdogRegistration, owner, subsystem, name string, cadence time.Duration, f tasks.WatchdogFunc) error {
		return r.ReconcileWatchdog(slot, tasks.MustIdentity(owner, subsystem, name), cadence, now(true), f)
	}
	recurring := func(slot **tasks.AfterCompletionRegistration, owner, subsystem, name string, cadence time.Duration, wanted bool, f tasks.AfterCompletionFunc) error {
		return r.ReconcileAfterCompletion(slot, tasks.MustIdentity(owner, subsystem, name), cadence, now(wanted), f)
	}
	return errors.Join(
		watchdog(&t.ticker, "beacon", "slot", "ticker", time.Second, n.tickTask),
		watchdog(&t.gossip, "beacon", "partials", "gossip", 250*time.Millisecond, n.gossipTask),
		watchdog(&t.produce, "chain", "blocks", "produce", blockPatience, n.produceTask),
		watchdog(&t.vote, "chain", "finality", "vote", resendVote, n.voteTask),
		recurring(&t.fetch, "beacon", "recover", "pending-keys", fetchEvery, false, n.fetchTask),
		recurring(&t.backfill, "beacon", "keys", "backfill", idleBackfill, true, n.backfillTask),
		recurring(&t.resend, "chain", "transactions", "resend", rebroadcastEvery, true, n.rebroadcastTask()),
		recurring(&t.ceremony, "dkg", "ceremony", "drive", ceremonyTick, d.ceremony, n.ceremonyTask()),
		recurring(&t.ping, "http", "stream", "ping", streamPing, true, n.pingTask),
		recurring(&t.peers, "p2p", "peers", "refresh", watchEvery, true, n.peersTask()),
	)
}

// waker is a registration that can be woken.
type waker interface{ EnsureScheduledImmediately() error }

// wake makes a task run now, because there is something to do for it. Before the start it does nothing: startTasks wakes all.
func (n *Node) wake(w waker) {
	if !n.ready.Load() {
		return
	}
	if err := w.EnsureScheduledImmediately(); err != nil && !errors.Is(err, tasks.ErrShutdown) {
		n.log.Error("task not woken", "err", err)
	}
}

// atWall decides for a wall time. The wall clock may be stepped: each run asks anew.
func atWall(now tasks.Instant, wall time.Time) tasks.AnyDecision {
	t, err := now.Add(max(0, time.Until(wall)))
	if err != nil {
		return tasks.ContinueImmediately() // the clock is centuries off; the next run sees what it says then
	}
	return tasks.ScheduleAt(t)
}

// stopTasks ends the tasks' context and waits for what runs.
func (n *Node) stopTasks() error {
	if n.tasks.runtime == nil {
		return nil
	}
	return n.tasks.runtime.Shutdown(shutdownGrace)
}

// failedTask is a task that has stopped and should not have, if there is one.
func (n *Node) failedTask() (name, why string, failed bool) {
	for _, t := range n.tasks.runtime.Inventory().Tasks {
		if t.Condition == tasks.ConditionFailed {
			return t.Identity.String(), string(t.Reason), true
		}
	}
	return "", "", false
}

// pingTask keeps idle streams open.
func (n *Node) pingTask(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
	return tasks.NewAfterCompletionResult(tasks.Success(n.events.ping()), tasks.RecurAfterCompletion())
}
