package node

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// Rhythm of a ceremony.
const (
	ceremonyTick     = 100 * time.Millisecond
	ceremonyResend   = 2 * time.Second // own entries that the log lacks go out again
	ceremonyProposal = 3 * time.Second // after which a proposal counts as lost
)

// ceremonyPool holds ceremony entries that wait for the log: every node keeps all of them, since any may come to lead it.
type ceremonyPool struct {
	mu      sync.Mutex // guards waiting and order
	waiting map[[32]byte]*waitingEntry
	order   [][32]byte // by arrival
	limit   int
}

type waitingEntry struct {
	entry    []byte
	member   uint32 // who sent it
	proposed time.Time
}

// waitingPerMember is how many entries an honest member can have waiting: a bundle and a timeout, for two attempts.
const waitingPerMember = 4

// newCeremonyPool holds as many entries as n honest members can have waiting.
func newCeremonyPool(members int) *ceremonyPool {
	return &ceremonyPool{waiting: make(map[[32]byte]*waitingEntry), limit: waitingPerMember * members}
}

// add keeps an entry that a member sent; false if it is there already. A member that has too many waiting loses its own oldest:
// whatever one of them sends, the others' entries have room.
func (p *ceremonyPool) add(member uint32, entry []byte) bool {
	id := sha256.Sum256(entry)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[id] != nil {
		return false
	}
	own := 0
	for _, other := range slices.Backward(p.order) {
		if p.waiting[other].member != member {
			continue
		}
		if own++; own == waitingPerMember {
			p.remove(other)
			break
		}
	}
	if len(p.order) >= p.limit {
		return false
	}
	p.waiting[id] = &waitingEntry{entry: entry, member: member}
	p.order = append(p.order, id)
	return true
}

// remove forgets an entry. p.mu is held.
func (p *ceremonyPool) remove(id [32]byte) {
	delete(p.waiting, id)
	p.order = slices.DeleteFunc(p.order, func(other [32]byte) bool { return other == id })
}

// due drops what is no longer of use and returns what should be proposed now.
func (p *ceremonyPool) due(now time.Time, useless func(entry []byte) bool) (entries [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.order[:0]
	for _, id := range p.order {
		w := p.waiting[id]
		if useless(w.entry) {
			delete(p.waiting, id)
			continue
		}
		kept = append(kept, id)
		if now.Sub(w.proposed) >= ceremonyProposal {
			w.proposed = now
			entries = append(entries, w.entry)
		}
	}
	p.order = kept
	return entries
}

// refused makes room: the log did not take the entry, and it will not later either.
func (p *ceremonyPool) refused(entry []byte) {
	id := sha256.Sum256(entry)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(id)
}

func (n *Node) checkCeremony(m *p2p.Message) error {
	if n.ceremony.isDone() {
		return classed(errStale, "the ceremony is done")
	}
	if n.chain.HasCeremonyEntry(m.Data) {
		return classed(errStale, "ceremony entry is in the log")
	}
	return dkg.CheckEntry(n.dkgMembers, m.Data)
}

func (n *Node) handleCeremony(m *p2p.Message) { n.ceremonyPool.add(n.members[m.Author], m.Data) }

// ceremonyTask sends this member's entries, and proposes everybody's while this node leads the log. It ends with the
// ceremony.
func (n *Node) ceremonyTask() tasks.AfterCompletionFunc {
	sent := make(map[[32]byte]time.Time)
	return func(ctx context.Context, _ *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
		if n.ceremony.isDone() {
			return tasks.NewAfterCompletionResult(tasks.NoWork(), tasks.Stop())
		}
		now := time.Now()
		n.sendCeremony(ctx, now, sent)
		n.proposeCeremony(ctx, now)
		return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.RecurAfterCompletion())
	}
}

func (n *Node) sendCeremony(ctx context.Context, now time.Time, sent map[[32]byte]time.Time) {
	for _, entry := range n.ceremony.wanted(now) {
		n.ceremonyPool.add(n.self, entry)
		id := sha256.Sum256(entry)
		if now.Sub(sent[id]) < ceremonyResend {
			continue
		}
		sent[id] = now
		if err := n.topics.ceremony.Publish(ctx, entry); err != nil && ctx.Err() == nil {
			n.log.Error("ceremony entry not sent", "err", err)
		}
	}
}

func (n *Node) proposeCeremony(ctx context.Context, now time.Time) {
	if !n.leads(ctx) {
		return
	}
	useless := func(entry []byte) bool { return n.chain.HasCeremonyEntry(entry) }
	for _, entry := range n.ceremonyPool.due(now, useless) {
		proposing, cancel := context.WithTimeout(ctx, ceremonyProposal)
		err := n.producer.ProposeCeremony(proposing, entry)
		cancel()
		if c := classOf(err); err != nil && (c == stale || c == invalid) {
			n.ceremonyPool.refused(entry)
		}
		if err != nil {
			n.log.Debug("ceremony entry not taken by the log", "err", err)
		}
	}
}
