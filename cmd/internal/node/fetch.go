package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// protocolKeys asks a peer for finished keys. The request is 1 to maxFetch slots of 8 bytes; the answer holds, for each of
// them that the peer has a key of, the slot and the key: 8 and 96 bytes. Numbers are big-endian.
const protocolKeys = "keys/1"

const (
	maxFetch     = 64
	keyRecord    = 8 + tlock.KeySize
	backfillWait = 250 * time.Millisecond // between two batches, so that peers and this node have time for the present
)

// serveKeys answers peers' requests for keys.
func (n *Node) serveKeys() error {
	_, err := p2p.ServeRequests(n.net, protocolKeys, p2p.RequestLimits{MaxRequest: 8 * maxFetch},
		func(_ context.Context, _ p2p.PeerID, request []byte) ([]byte, error) {
			want, err := decodeSlots(request, maxFetch)
			if err != nil {
				return nil, err
			}
			var out []byte
			for _, slot := range want {
				key, ok, err := n.keys.get(slot)
				if err != nil {
					n.log.Error("key not read", "err", err)
					return nil, fmt.Errorf("this node could not answer")
				}
				if ok {
					out = append(binary.BigEndian.AppendUint64(out, slot), key[:]...)
				}
			}
			return out, nil
		})
	return err
}

// fetch asks a peer for the keys of at most maxFetch slots and returns the good ones.
func (n *Node) fetch(ctx context.Context, group *partials.Group, peer p2p.PeerID, want []uint64) (map[uint64]tlock.Key, error) {
	var request []byte
	for _, slot := range want {
		request = binary.BigEndian.AppendUint64(request, slot)
	}
	answer, err := p2p.Request(ctx, n.net, peer, protocolKeys, request, maxFetch*keyRecord)
	if err != nil {
		return nil, err
	}
	return decodeKeys(n.ns, group, want, answer)
}

// decodeSlots reads slots of 8 bytes each, one at least and `most` at most.
func decodeSlots(data []byte, most int) (slots []uint64, err error) {
	if len(data) == 0 || len(data)%8 != 0 || len(data) > 8*most {
		return nil, classed(errInvalid, "request of %d bytes: it holds 1 to %d slots of 8 bytes each", len(data), most)
	}
	for slot := range slices.Chunk(data, 8) {
		slots = append(slots, binary.BigEndian.Uint64(slot))
	}
	return slots, nil
}

// decodeKeys reads a peer's answer to a request for keys: slots and keys, none of which was not asked for, each verified. With an
// error it returns the good ones before the fault.
func decodeKeys(ns tlock.Namespace, group *partials.Group, want []uint64, answer []byte) (map[uint64]tlock.Key, error) {
	if len(answer)%keyRecord != 0 {
		return nil, classed(errInvalid, "answer of %d bytes", len(answer))
	}
	keys := make(map[uint64]tlock.Key)
	for record := range slices.Chunk(answer, keyRecord) {
		slot := binary.BigEndian.Uint64(record)
		if !slices.Contains(want, slot) {
			return keys, classed(errInvalid, "key of slot %d, which was not asked for", slot)
		}
		key, err := tlock.ParseKey(record[8:])
		if err != nil {
			return keys, err
		}
		if err := group.Key().Verify(ns, tlock.SlotIdentity(slot), key); err != nil {
			return keys, err
		}
		keys[slot] = key
	}
	return keys, nil
}

// fetchTask fetches the keys that the core asks for, one peer a time: slots still missing are asked for again, of the next one.
func (n *Node) fetchTask(ctx context.Context, _ *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
	select {
	case want := <-n.fetches:
		peers := n.net.Connected()
		if len(peers) == 0 {
			return tasks.NewAfterCompletionResult(tasks.RetryableFailure(0), tasks.Stop()) // the core asks again
		}
		n.fetchTurn++
		n.fetchFrom(ctx, peers[n.fetchTurn%len(peers)], want)
		return tasks.NewAfterCompletionResult(tasks.Success(uint64(len(want))), tasks.ContinueImmediately())
	default:
		return tasks.NewAfterCompletionResult(tasks.NoWork(), tasks.Stop())
	}
}

// backfillTask fetches older keys one batch after the other, and looks again now and then once none is missing.
func (n *Node) backfillTask(ctx context.Context, _ *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
	more, err := n.backfill(ctx)
	switch {
	case err != nil:
		n.log.Error("key store", "err", err)
		return tasks.NewAfterCompletionResult(tasks.RetryableFailure(0).Because(err), tasks.RecurAfterCompletion())
	case more:
		return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.RetryAfter(backfillWait))
	}
	return tasks.NewAfterCompletionResult(tasks.NoWork(), tasks.RecurAfterCompletion())
}

// fetchFrom fetches keys and hands them to the loop. It tells whether the peer has answered.
func (n *Node) fetchFrom(ctx context.Context, peer p2p.PeerID, want []uint64) (answered bool) {
	group := n.group.Load()
	if group == nil {
		return false
	}
	answered = true
	for batch := range slices.Chunk(want, maxFetch) {
		keys, err := n.fetch(ctx, group, peer, batch)
		answered = answered && err == nil
		if err != nil && ctx.Err() == nil {
			if classOf(err) == invalid {
				n.log.Warn("a member answered with what is wrong", "index", n.members[peer], "err", err)
			} else {
				n.log.Debug("keys not fetched", "index", n.members[peer], "err", err)
			}
		}
		n.loop.call(ctx, func() {
			for _, slot := range batch {
				if key, ok := keys[slot]; ok {
					n.act(n.slots.fetched(time.Now(), slot, key))
				}
			}
		})
	}
	return answered
}

// backfill fetches one batch of keys older than the window, from where it stopped last time. What no connected peer has
// is passed over: such slots are signed if somebody asks for them.
func (n *Node) backfill(ctx context.Context) (more bool, err error) {
	peers := n.net.Connected()
	group, from, to := n.backfillRange()
	if group == nil || len(peers) == 0 || from > to {
		return false, nil
	}
	batch, err := n.keys.missing(from, to, maxFetch)
	if err != nil {
		return false, err
	}
	missing, answered := slices.Clone(batch), false
	for _, peer := range peers {
		if len(missing) == 0 {
			break
		}
		answered = n.fetchFrom(ctx, peer, missing) || answered
		missing = slices.DeleteFunc(missing, n.hasKey)
	}
	if ctx.Err() != nil || len(missing) > 0 && !answered {
		return true, nil // the same batch comes again
	}
	return len(batch) > 0, n.keys.setBackfilled(backfilledTo(batch, to))
}

// backfilledTo is the slot up to which nothing is left to ask for, after a batch of the missing keys up to slot to: a full
// batch may have left out some.
func backfilledTo(batch []uint64, to uint64) uint64 {
	if len(batch) < maxFetch {
		return to
	}
	return batch[len(batch)-1]
}
