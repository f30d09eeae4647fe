package p2p

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/prometheus/client_golang/prometheus"
)

// Config says who we are and whom we talk to.
type Config struct {
	// Key is the node's network key. Its public half is what genesis lists for this node.
	Key ed25519.PrivateKey
	// Listen are the addresses to listen on, as CheckAddr wants them; port 0 takes a free one. At least one.
	Listen []string
	// Peers are the members of genesis. The node itself may be among them. A peer without addresses is not dialled.
	Peers []Peer
	// GenesisHash separates this network from every other.
	GenesisHash [32]byte
	// Logger gets lifecycle lines; nil means slog.Default().
	Logger *slog.Logger
	// Registerer gets the metrics; nil means none.
	Registerer prometheus.Registerer
}

// Host is the Network over libp2p.
type Host struct {
	self    PeerID
	genesis string // hex
	log     *slog.Logger
	metrics *metrics
	members map[peer.ID]*member // all peers but self; never changes
	gate    *gate
	host    host.Host
	gossip  *gossip

	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup // every goroutine of ours, handlers included
	closing sync.Once
	closed  error

	mu       sync.Mutex
	streams  map[*stream]struct{}
	services map[protocol.ID]*service
	down     bool // no new streams, services or goroutines
}

var _ Network = (*Host)(nil)

// New starts a host: it listens before New returns and connects in the background until Close.
func New(cfg Config) (*Host, error) {
	if len(cfg.Key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("network key of %d bytes: want an ed25519 private key", len(cfg.Key))
	}
	if len(cfg.Listen) == 0 {
		return nil, errors.New("no address to listen on: want at least one, like /ip4/0.0.0.0/tcp/4001")
	}
	for _, a := range cfg.Listen {
		if err := CheckAddr(a); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	self, err := PeerIDOf(cfg.Key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	log := cfg.Logger
	if log == nil {
		log = slog.Default()
	}
	members, err := newMembers(self, cfg.Peers)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, fmt.Errorf("network metrics: %w", err)
	}
	h := &Host{
		self: self, genesis: hex.EncodeToString(cfg.GenesisHash[:]), log: log, metrics: m, members: members,
		gate:    newGate(members, log, m),
		streams: make(map[*stream]struct{}), services: make(map[protocol.ID]*service),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	if err := h.start(cfg); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) start(cfg Config) (err error) {
	key, err := crypto.UnmarshalEd25519PrivateKey(cfg.Key)
	if err != nil {
		return fmt.Errorf("network key: %w", err)
	}
	limits, err := resourceLimits(len(h.members) + 1)
	if err != nil {
		return fmt.Errorf("network limits: %w", err)
	}
	h.host, err = libp2p.New(
		libp2p.Identity(key),
		libp2p.NoListenAddrs, // listened on one by one below, so that each error is seen and names its address
		// Port reuse would let a second daemon take the port in silence.
		libp2p.Transport(tcp.NewTCPTransport, tcp.DisableReuseport()),
		libp2p.Transport(quic.NewTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ConnectionGater(h.gate),
		libp2p.ResourceManager(limits),
		libp2p.DialRanker(tcpFirst),
		// These give up on a transport after a hundred failed dials; peers may be away for days.
		libp2p.UDPBlackHoleSuccessCounter(nil),
		libp2p.IPv6BlackHoleSuccessCounter(nil),
		libp2p.ProtocolVersion(h.version()),
		libp2p.UserAgent("daybreak"),
		// All addresses come from genesis: nothing is to be discovered, relayed or mapped.
		libp2p.DisableRelay(),
		libp2p.Ping(false),
		libp2p.ForceReachabilityPublic(),
		libp2p.DisableIdentifyAddressDiscovery(),
		libp2p.DisableMetrics(),
	)
	if err != nil {
		return fmt.Errorf("network host: %w", err)
	}
	if err := h.watch(); err != nil {
		return err
	}
	if h.gossip, err = newGossip(h); err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	for _, s := range cfg.Listen {
		if err := h.listen(s); err != nil {
			return err
		}
	}
	for _, m := range h.members {
		if len(m.addrs) > 0 {
			h.wg.Go(func() { h.keepConnected(m) })
		}
	}
	return nil
}

func (h *Host) listen(s string) error {
	a, err := ma.NewMultiaddr(s)
	if err != nil {
		return err // CheckAddr has seen it
	}
	if err := h.host.Network().Listen(a); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
			return fmt.Errorf("listen on %s: port in use by another process; stop it or choose another port", s)
		}
		return fmt.Errorf("listen on %s: %s", s, oneLine(err))
	}
	return nil
}

// Addrs are the addresses the host listens on, each ending in /p2p/ and its id, as ParsePeer reads them.
func (h *Host) Addrs() []string {
	var out []string
	for _, a := range h.host.Network().ListenAddresses() {
		out = append(out, a.String()+"/p2p/"+string(h.self))
	}
	slices.Sort(out)
	return out
}

// Self implements Network.
func (h *Host) Self() PeerID { return h.self }

// Peers implements Network.
func (h *Host) Peers() []PeerID {
	var out []PeerID
	for _, m := range h.members {
		out = append(out, m.pid)
	}
	slices.Sort(out)
	return out
}

// Connected implements Network.
func (h *Host) Connected() []PeerID {
	var out []PeerID
	for _, m := range h.members {
		if m.isVerified() && h.host.Network().Connectedness(m.id) == network.Connected {
			out = append(out, m.pid)
		}
	}
	slices.Sort(out)
	return out
}

// Close implements Network.
func (h *Host) Close() error {
	h.closing.Do(func() { h.closed = h.close() })
	return h.closed
}

func (h *Host) close() error {
	h.mu.Lock()
	h.down = true
	open := slices.Collect(maps.Keys(h.streams))
	h.mu.Unlock()
	for _, s := range open {
		s.Reset()
	}
	h.cancel()
	var err error
	if h.host != nil {
		err = h.host.Close()
	}
	h.wg.Wait()
	h.metrics.close()
	if err != nil {
		return fmt.Errorf("close network: %w", err)
	}
	return nil
}

// isDown reports whether Close has begun.
func (h *Host) isDown() bool { return h.ctx.Err() != nil }

// prefix starts every protocol id and topic of this genesis.
func (h *Host) prefix() string { return "/daybreak/" + h.genesis + "/" }

// version is what identify tells the other side.
func (h *Host) version() string { return versionPrefix + h.genesis }

const versionPrefix = "daybreak/1/"

// CheckName bounds topic and protocol names.
func CheckName(kind, s string) error {
	if len(s) == 0 || len(s) > 64 {
		return fmt.Errorf("%s name of %d characters: want 1 to 64", kind, len(s))
	}
	return nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

var errNetClosed = errors.Join(ErrClosed, net.ErrClosed)
