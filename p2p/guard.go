package p2p

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/time/rate"
)

// allowance is what one peer may send us by gossip, its own and forwarded, before anything of it is worked on.
type allowance struct {
	streams  *rate.Limiter                 // gossip streams opened: one that sends garbage loses its stream and opens another
	entries  *rate.Limiter                 // control entries
	messages *atomic.Pointer[rate.Limiter] // follows the topics joined
	bytes    *rate.Limiter                 // of messages
}

func newAllowance() allowance {
	a := allowance{
		streams:  rate.NewLimiter(1, 32),
		entries:  rate.NewLimiter(5000, 2*maxEntries),
		messages: new(atomic.Pointer[rate.Limiter]),
		bytes:    rate.NewLimiter(4<<20, 16<<20),
	}
	a.forTopics(nil, 0)
	return a
}

// forTopics allows twice what all authors together may write on the topics, by their own hands and through others.
func (a allowance) forTopics(topics map[string]*topic, authors int) {
	perSecond, burst := 0.0, 0
	for _, t := range topics {
		perSecond += t.o.PerAuthor.PerSecond
		burst += t.o.PerAuthor.Burst
	}
	a.messages.Store(rate.NewLimiter(rate.Limit(4*perSecond*float64(authors)), 4*burst*authors))
}

var errRefused = errors.New("refused")

// inspect sees each frame before anything of it is worked on. It runs in pubsub's only loop: it must be quick. It
// refuses what no honest forwarder sends, and blames the forwarder for it.
func (g *gossip) inspect(from peer.ID, rpc *pubsub.RPC) error {
	m := g.h.members[from]
	if m == nil {
		return errRefused
	}
	entries, bytes := len(rpc.GetSubscriptions()), 0
	if c := rpc.GetControl(); c != nil {
		for _, p := range c.GetPrune() {
			p.Peers = nil // offers of other peers to connect to
		}
		entries += controlEntries(c)
	}
	for _, msg := range rpc.GetPublish() {
		if reason := g.inspectMessage(msg); reason != "" {
			return g.refuse(from, reason)
		}
		bytes += len(msg.GetData())
	}
	now := time.Now()
	if !m.entries.AllowN(now, entries) || !m.messages.Load().AllowN(now, len(rpc.GetPublish())) || !m.bytes.AllowN(now, bytes) {
		return g.refuse(from, "flood")
	}
	rpc.Publish = slices.DeleteFunc(rpc.Publish, func(msg *pb.Message) bool { return g.overQuota(from, msg, now) })
	return nil
}

// overQuota takes a peer's own messages from its quota here, so that they do not fill the queue of the validators.
func (g *gossip) overQuota(from peer.ID, msg *pb.Message, now time.Time) bool {
	if peer.ID(msg.GetFrom()) != from {
		return false
	}
	name, ours := strings.CutPrefix(msg.GetTopic(), g.h.prefix())
	if ours && g.authors[from].Take(name, now) {
		return false
	}
	g.h.metrics.drop("author-quota")
	return true
}

func (g *gossip) refuse(from peer.ID, reason string) error {
	g.h.metrics.drop(reason)
	g.h.penalize(from, reason)
	return errRefused
}

// inspectMessage returns what is wrong with a message, or nothing.
func (g *gossip) inspectMessage(msg *pb.Message) (reason string) {
	if len(msg.GetSeqno()) != 8 || len(msg.GetSignature()) != 64 || len(msg.GetKey()) != 0 {
		return "malformed"
	}
	author := peer.ID(msg.GetFrom())
	if g.h.members[author] == nil && author != g.h.host.ID() {
		return "unknown-author"
	}
	limit := MaxMessageSize
	g.mu.Lock()
	if t := g.topics[msg.GetTopic()]; t != nil {
		limit = t.o.MaxSize
	}
	g.mu.Unlock()
	if len(msg.GetData()) > limit {
		return "oversize"
	}
	return ""
}

func controlEntries(c *pb.ControlMessage) int {
	n := len(c.GetGraft()) + len(c.GetPrune()) + len(c.GetIhave()) + len(c.GetIwant()) + len(c.GetIdontwant())
	for _, x := range c.GetIhave() {
		n += len(x.GetMessageIDs())
	}
	for _, x := range c.GetIwant() {
		n += len(x.GetMessageIDs())
	}
	for _, x := range c.GetIdontwant() {
		n += len(x.GetMessageIDs())
	}
	return n
}

// subFilter keeps peers from filling our memory with topics they invent.
type subFilter struct{ g *gossip }

func (f subFilter) CanSubscribe(topic string) bool {
	return strings.HasPrefix(topic, f.g.h.prefix()) && len(topic) <= len(f.g.h.prefix())+64
}

func (f subFilter) FilterIncomingSubscriptions(p peer.ID, subs []*pb.RPC_SubOpts) ([]*pb.RPC_SubOpts, error) {
	f.g.mu.Lock()
	defer f.g.mu.Unlock()
	mine := f.g.subs[p]
	if mine == nil {
		mine = make(map[string]struct{})
		f.g.subs[p] = mine
	}
	var out []*pb.RPC_SubOpts
	for _, s := range subs {
		name := s.GetTopicid()
		if !f.CanSubscribe(name) {
			continue
		}
		if !s.GetSubscribe() {
			delete(mine, name)
		} else if _, ok := mine[name]; !ok && len(mine) >= maxTopics {
			continue
		} else {
			mine[name] = struct{}{}
		}
		out = append(out, s)
	}
	return out, nil
}

// tracer counts what pubsub drops by itself. It is called from pubsub's loop.
type tracer struct{ g *gossip }

func (t tracer) RejectMessage(msg *pubsub.Message, reason string) {
	switch reason {
	case pubsub.RejectInvalidSignature, pubsub.RejectMissingSignature:
		// Every forwarder checks the signature before it forwards.
		t.g.refuse(msg.ReceivedFrom, "forged")
	case pubsub.RejectValidationQueueFull, pubsub.RejectValidationThrottled:
		t.g.h.metrics.drop("validation-queue")
	case pubsub.RejectSelfOrigin:
		// A node that has just started may be handed what it sent before.
		t.g.h.metrics.drop("own")
	}
}

func (t tracer) UndeliverableMessage(*pubsub.Message) { t.g.h.metrics.drop("handle-queue") }

func (t tracer) DropRPC(rpc *pubsub.RPC, _ peer.ID) {
	if len(rpc.GetPublish()) > 0 {
		t.g.h.metrics.drop("send-queue")
	}
}

func (tracer) OnNewOutboundStream(peer.ID, protocol.ID)             {}
func (tracer) OnClosedOutboundStream(peer.ID)                       {}
func (tracer) Join(string)                                          {}
func (tracer) Leave(string)                                         {}
func (tracer) Graft(peer.ID, string)                                {}
func (tracer) Prune(peer.ID, string)                                {}
func (tracer) ValidateMessage(*pubsub.Message)                      {}
func (tracer) DeliverMessage(*pubsub.Message)                       {}
func (tracer) DuplicateMessage(*pubsub.Message)                     {}
func (tracer) ThrottlePeer(peer.ID)                                 {}
func (tracer) RecvRPC(*pubsub.RPC)                                  {}
func (tracer) SendRPC(*pubsub.RPC, peer.ID)                         {}
func (tracer) SendRPCCompleted(*pubsub.RPC, peer.ID, time.Duration) {}
