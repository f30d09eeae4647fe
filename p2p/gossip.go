package p2p

import (
	"encoding/binary"
	"log/slog"
	"runtime"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/daybreak-beacon/daybreak/p2p/internal/quota"
)

const (
	handleQueue   = 1024
	validateQueue = 256       // messages waiting for a validator, for each peer
	maxTopics     = 32        // that one peer may be subscribed to
	frameOverhead = 1024      // what a message's author, number, topic and signature take around its data
	maxControl    = 256 << 10 // bytes of control entries in one frame
	maxEntries    = 6000      // control entries at once: a frame may name 5000 messages
)

// gossip is the host's pubsub with what guards it.
type gossip struct {
	h  *Host
	ps *pubsub.PubSub

	authors map[peer.ID]*quota.Author // one for each member; the map never changes

	mu     sync.Mutex
	topics map[string]*topic               // by full name
	subs   map[peer.ID]map[string]struct{} // what each peer is subscribed to
}

func newGossip(h *Host) (*gossip, error) {
	g := &gossip{
		h: h, authors: make(map[peer.ID]*quota.Author),
		topics: make(map[string]*topic), subs: make(map[peer.ID]map[string]struct{}),
	}
	for id := range h.members {
		g.authors[id] = new(quota.Author)
	}
	log := slog.New(demoted{h.log.Handler()})
	params := pubsub.DefaultGossipSubParams()
	// Six to twelve mesh links give enough detours; up to seven nodes that is everybody.
	params.D, params.Dlo, params.Dhi, params.Dscore, params.Dout = 8, 6, 12, 4, 2
	params.Connectors, params.MaxPendingConnections = 0, 0 // who is connected is not the mesh's to decide
	params.HeartbeatInitialDelay = 50 * time.Millisecond
	proto := protocol.ID(h.prefix() + "meshsub/1.2.0")
	var err error
	g.ps, err = pubsub.NewGossipSub(h.ctx, gossipHost{Host: h.host, h: h},
		pubsub.WithGossipSubParams(params),
		pubsub.WithGossipSubProtocols([]protocol.ID{proto}, func(f pubsub.GossipSubFeature, _ protocol.ID) bool {
			return f == pubsub.GossipSubFeatureMesh || f == pubsub.GossipSubFeatureIdontwant
		}),
		pubsub.WithFloodPublish(true),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictSign),
		pubsub.WithMaxMessageSize(MaxMessageSize+frameOverhead+maxControl),
		pubsub.WithMaxControlMessageSize(maxControl),
		pubsub.WithPeerOutboundQueueSize(256),
		pubsub.WithValidateQueueSize(validateQueue*max(1, len(h.members))),
		pubsub.WithValidateWorkers(runtime.NumCPU()),
		pubsub.WithSubscriptionFilter(subFilter{g}),
		pubsub.WithAppSpecificRpcInspector(g.inspect),
		pubsub.WithRawTracer(tracer{g}),
		pubsub.WithLogger(log),
		pubsub.WithRPCLogger(log),
	)
	return g, err
}

// gossipHost bounds the gossip streams a peer opens.
type gossipHost struct {
	host.Host
	h *Host
}

func (g gossipHost) SetStreamHandler(id protocol.ID, f network.StreamHandler) {
	g.Host.SetStreamHandler(id, func(s network.Stream) {
		m := g.h.members[s.Conn().RemotePeer()]
		if m == nil || !m.streams.Allow() {
			s.Reset()
			g.h.metrics.drop("gossip-streams")
			g.h.penalize(s.Conn().RemotePeer(), "opens gossip streams again and again")
			return
		}
		f(s)
	})
}

// has reports whether a gossip stream to the peer is open or being opened.
func (g *gossip) has(p peer.ID) bool {
	for _, q := range g.ps.ListPeers("") {
		if q == p {
			return true
		}
	}
	return false
}

// forget drops what a peer was subscribed to; it says so again when it comes back.
func (g *gossip) forget(p peer.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.subs, p)
}

// judge is the validator of every topic; pubsub has checked that the signature is the author's.
func (g *gossip) judge(t *topic, from peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	if from == g.h.host.ID() {
		return pubsub.ValidationAccept // ours, being published
	}
	id := msg.GetFrom()
	author, account := g.h.members[id], g.authors[id]
	if author == nil {
		return pubsub.ValidationIgnore
	}
	now := time.Now()
	if author.faults.Refused(now) > 0 {
		g.h.metrics.drop("banned-author")
		return pubsub.ValidationIgnore
	}
	switch account.Admit(t.name, binary.BigEndian.Uint64(msg.GetSeqno()), from == id, now) {
	case quota.Replayed:
		// Whoever forwards it may have believed it new, as a node does that has just started.
		g.h.metrics.drop("replay")
		return pubsub.ValidationIgnore
	case quota.Exceeded:
		g.h.metrics.drop("author-quota")
		return pubsub.ValidationIgnore
	}
	m := &Message{Author: author.pid, From: PeerID(from.String()), Topic: t.name, Data: msg.GetData()}
	v := Accept
	if t.o.Validate != nil {
		v = t.o.Validate(m)
	}
	g.h.metrics.messages.WithLabelValues(t.name, v.String()).Inc()
	switch v {
	case Accept:
		msg.ValidatorData = m
		return pubsub.ValidationAccept
	case Reject:
		g.h.penalize(id, "message rejected on topic "+t.name)
		return pubsub.ValidationReject
	}
	return pubsub.ValidationIgnore
}

// setAllowances follows the topics joined. g.mu is held.
func (g *gossip) setAllowances() {
	for _, m := range g.h.members {
		m.forTopics(g.topics, len(g.h.members))
	}
}
