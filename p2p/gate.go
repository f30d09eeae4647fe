package p2p

import (
	"log/slog"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	libp2prate "github.com/libp2p/go-libp2p/x/rate"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// gate refuses every connection but those of members that are not banned. Self is no member.
type gate struct {
	members map[peer.ID]*member
	log     *slog.Logger
	metrics *metrics
	say     *rate.Limiter // strangers are free to come by the thousand; our log is not theirs
}

func newGate(members map[peer.ID]*member, log *slog.Logger, m *metrics) *gate {
	return &gate{members: members, log: log, metrics: m, say: rate.NewLimiter(rate.Every(10*time.Second), 4)}
}

func (g *gate) welcome(p peer.ID) bool {
	m := g.members[p]
	return m != nil && m.faults.Refused(time.Now()) == 0
}

func (g *gate) InterceptPeerDial(p peer.ID) bool             { return g.welcome(p) }
func (g *gate) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }
func (g *gate) InterceptAccept(network.ConnMultiaddrs) bool  { return true } // who it is shows in the handshake only
func (g *gate) InterceptUpgraded(c network.Conn) (bool, control.DisconnectReason) {
	return g.welcome(c.RemotePeer()), 0
}

// InterceptSecured runs when the handshake has proven who the other side is, before it can open a stream.
func (g *gate) InterceptSecured(dir network.Direction, p peer.ID, at network.ConnMultiaddrs) bool {
	if g.welcome(p) {
		return true
	}
	if g.members[p] != nil {
		g.metrics.drop("banned-connection")
		return false
	}
	g.metrics.drop("stranger-connection")
	if dir == network.DirInbound && g.say.Allow() {
		g.log.Warn("refused a connection: not a peer of this genesis", "peer", p.String(), "from", at.RemoteMultiaddr().String())
	}
	return false
}

const (
	connsPerPeer   = 8
	streamsPerPeer = 512
)

// resourceLimits bound what libp2p spends: on peers that have proven who they are by their number, and on connections
// still in handshake by a fixed number, so that strangers cannot use up our files and memory.
func resourceLimits(n int) (network.ResourceManager, error) {
	conns := rcmgr.LimitVal(64 + connsPerPeer*n)
	streams := rcmgr.LimitVal(streamsPerPeer * n)
	cfg := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{
			Conns: conns, ConnsInbound: conns, ConnsOutbound: conns,
			Streams: 2 * streams, StreamsInbound: streams, StreamsOutbound: streams,
			FD: 2 * conns, Memory: 1 << 30,
		},
		Transient: rcmgr.ResourceLimits{
			Conns: 128, ConnsInbound: 64, ConnsOutbound: 128, FD: 128,
			Streams: 1024, StreamsInbound: 512, StreamsOutbound: 1024, Memory: 64 << 20,
		},
		PeerDefault: rcmgr.ResourceLimits{
			Conns: 2 * connsPerPeer, ConnsInbound: connsPerPeer, ConnsOutbound: connsPerPeer, FD: 2 * connsPerPeer,
			Streams: 2 * streamsPerPeer, StreamsInbound: streamsPerPeer, StreamsOutbound: streamsPerPeer,
		},
	}
	// Several validators may share an address behind one router, and a restarted one comes back at once.
	perIP := []rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: int(conns)}}
	perIP6 := []rcmgr.ConnLimitPerSubnet{{PrefixLength: 64, ConnCount: int(conns)}}
	burst := libp2prate.Limit{RPS: float64(n), Burst: int(conns)}
	return rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(cfg.Build(rcmgr.InfiniteLimits)),
		rcmgr.WithLimitPerSubnet(perIP, perIP6),
		rcmgr.WithConnRateLimiters(&libp2prate.Limiter{
			SubnetRateLimiter: libp2prate.SubnetLimiter{
				IPv4SubnetLimits: []libp2prate.SubnetLimit{{PrefixLength: 32, Limit: burst}},
				IPv6SubnetLimits: []libp2prate.SubnetLimit{{PrefixLength: 64, Limit: burst}},
			},
		}),
		rcmgr.WithMetricsDisabled(),
	)
}

// tcpFirst dials TCP, and QUIC a little later where TCP gives no connection. When a peer's process dies, its kernel
// tells us over TCP at once; over QUIC we would find out by silence.
func tcpFirst(addrs []ma.Multiaddr) []network.AddrDelay {
	out := make([]network.AddrDelay, 0, len(addrs))
	for _, a := range addrs {
		d := network.AddrDelay{Addr: a}
		if _, err := a.ValueForProtocol(ma.P_QUIC_V1); err == nil {
			d.Delay = 250 * time.Millisecond
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b network.AddrDelay) int { return int(a.Delay - b.Delay) })
	// Should all be QUIC there is nothing to wait for.
	for first, i := out[0].Delay, 0; i < len(out); i++ {
		out[i].Delay -= first
	}
	return out
}
