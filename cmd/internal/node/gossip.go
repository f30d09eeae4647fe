package node

import (
	"errors"
	"log/slog"
	"time"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// Topics. Their names carry the genesis hash on the wire (package p2p).
const (
	topicPartials     = "partials"
	topicTransactions = "transactions"
	topicCeremony     = "ceremony"
	topicWants        = "wants"
	topicVotes        = "votes"
)

// verifyUpTo is the size of network up to which each partial is verified before it is relayed. Above it, the author's
// signature on the message has to do, and recovery finds who cheats.
const verifyUpTo = 32

// maxTransaction bounds a raw transaction, in bytes. The longest useful one schedules 4268 bytes of ciphertext.
const maxTransaction = 16 << 10

// maxWants bounds the slots of one request to sign.
const maxWants = 16

// topics are the joined ones.
type topics struct {
	partials, transactions, ceremony, wants, votes p2p.Topic
}

// joinTopics takes part in gossip. What was joined before an error is left when the network closes.
func (n *Node) joinTopics() (err error) {
	join := func(name string, o p2p.TopicOptions, check func(*p2p.Message) error, handle func(*p2p.Message)) p2p.Topic {
		if err != nil {
			return nil
		}
		o.Validate = func(m *p2p.Message) p2p.Verdict { return n.verdict(m, check(m)) }
		o.Handle = handle
		var t p2p.Topic
		t, err = n.net.Join(name, o)
		return t
	}
	members := len(n.genesis.Validators)
	n.topics.partials = join(topicPartials, p2p.TopicOptions{MaxSize: partials.MaxEnvelope, PerAuthor: p2p.Rate{PerSecond: 128, Burst: 512}},
		n.checkPartial, n.handlePartial)
	n.topics.transactions = join(topicTransactions, p2p.TopicOptions{MaxSize: maxTransaction, PerAuthor: p2p.Rate{PerSecond: 128, Burst: 1024}},
		n.checkTransaction, func(*p2p.Message) {})
	n.topics.ceremony = join(topicCeremony, p2p.TopicOptions{MaxSize: dkg.MaxEntrySize(members)},
		n.checkCeremony, n.handleCeremony)
	n.topics.wants = join(topicWants, p2p.TopicOptions{MaxSize: 8 * maxWants, PerAuthor: p2p.Rate{PerSecond: 4, Burst: 16}},
		n.checkWants, n.handleWants)
	n.topics.votes = join(topicVotes, p2p.TopicOptions{MaxSize: finality.VoteSize, PerAuthor: p2p.Rate{PerSecond: 8, Burst: 64}},
		n.checkVote, n.handleVote)
	return err
}

// verdict turns the result of a check into what gossip does with the message, and says aloud what somebody should know.
func (n *Node) verdict(m *p2p.Message, err error) p2p.Verdict {
	v := p2p.Accept
	if err != nil {
		c := classOf(err)
		v = edge[c].gossip
		switch c {
		case invalid:
			n.log.Warn("a member sent what is wrong", "index", n.members[m.Author], "topic", m.Topic, "err", err)
		case ours:
			n.log.Error("message not checked", "topic", m.Topic, "err", err)
		default:
			n.log.Debug("message ignored", "topic", m.Topic, "index", n.members[m.Author], "err", err)
		}
	}
	if m.Topic == topicPartials {
		n.metrics.partials.WithLabelValues(v.String()).Inc()
	}
	return v
}

// checkPartial goes from cheap to dear: shape, chain and epoch, author, window and duplicate, and the pairing last.
func (n *Node) checkPartial(m *p2p.Message) error {
	e, err := partials.DecodeEnvelope(m.Data)
	if err != nil {
		return err
	}
	if e.GenesisHash != n.hash {
		return classed(errInvalid, "partial of another chain")
	}
	if e.Partial.Index != n.members[m.Author] {
		return classed(errInvalid, "partial of index %d sent by member %d", e.Partial.Index, n.members[m.Author])
	}
	group := n.group.Load()
	if group == nil {
		return classed(errNotYet, "partial before the group is known here")
	}
	if err := group.Admit(e); err != nil {
		return err
	}
	slot, ok := e.Identity.Slot()
	if !ok {
		return classed(errNotYet, "partial of a condition")
	}
	if err := n.admit(slot, e.Partial); err != nil {
		return err
	}
	if group.N() <= verifyUpTo {
		if err := group.VerifyPartial(n.prepared.get(slot), e.Partial); err != nil {
			return err
		}
	}
	m.Parsed = e
	return nil
}

// admit asks the loop whether the partial is of use.
func (n *Node) admit(slot uint64, part partials.Partial) (err error) {
	if !n.loop.call(n.ctx, func() { err = n.slots.admit(time.Now(), slot, part) }) {
		return classed(errNotYet, "stopping")
	}
	return err
}

func (n *Node) handlePartial(m *p2p.Message) {
	e := m.Parsed.(partials.Envelope)
	slot, _ := e.Identity.Slot()
	n.loop.do(n.ctx, func() {
		do, err := n.slots.partial(time.Now(), slot, e.Partial)
		level := slog.LevelDebug
		if err != nil && classOf(err) == invalid {
			level = slog.LevelWarn
		}
		if err != nil {
			n.log.Log(n.ctx, level, "partial not taken in", "slot", slot, "index", e.Partial.Index, "err", err)
		}
		n.act(do)
	})
}

// checkTransaction adds it to the pool: what the pool takes is worth handing on. A replacement that is priced too low says
// nothing about its sender, who may not know the transaction it would replace.
func (n *Node) checkTransaction(m *p2p.Message) error {
	_, err := n.chain.Mempool().Add(m.Data)
	if errors.Is(err, chain.ErrUnderpriced) {
		return classed(errStale, "%v", err)
	}
	return err
}

func (n *Node) checkWants(m *p2p.Message) error {
	_, err := decodeSlots(m.Data, maxWants)
	return err
}

// handleWants signs old slots that somebody asks for. Those it has a key of are fetched from it instead.
func (n *Node) handleWants(m *p2p.Message) {
	want, err := decodeSlots(m.Data, maxWants)
	if err != nil {
		return // checkWants has told
	}
	n.loop.do(n.ctx, func() {
		for _, slot := range want {
			if err := n.slots.want(time.Now(), slot, n.members[m.Author]); err != nil {
				n.log.Debug("slot not signed on request", "index", n.members[m.Author], "err", err)
			}
		}
		n.act(n.slots.tick(time.Now()))
	})
}
