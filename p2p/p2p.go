// Package p2p connects the validators of one genesis with each other: signed gossip by topic, and byte streams between
// two of them. It is the only package that knows libp2p; nothing of libp2p shows in its API. Package simnet implements
// the same [Network] in memory, seeded, for tests of whole clusters.
//
// # Concept
//
// Who may take part is fixed: the peers of genesis, each named by its ed25519 network key. A [PeerID] is that key in
// another spelling ([PeerIDOf]), so an authenticated peer, or the author of a message, is a member of genesis, and its
// index can be looked up by its id. Protocol ids and topics carry the genesis hash: two networks cannot mix.
//
//  1. Every host listens on TCP (noise, yamux) and QUIC (TLS 1.3), dials every other peer of genesis, and goes on
//     trying for ever: a first retry at once, then after 100 ms, doubling to 2 s, with jitter.
//  2. A connection of any other identity is refused as soon as the handshake has proven who it is.
//  3. Each side tells its genesis hash (libp2p's identify exchange). A genesis peer that runs another genesis is named
//     in one warning, disconnected, and tried again every 10 s.
//  4. A message is published on a topic: signed by its author, sent to every connected peer that joined the topic, and
//     handed on through gossipsub's mesh, so that it also reaches peers with no connection to the author.
//  5. A receiver checks from cheap to dear: shape, size, known author, flood; then (after the signature) replay and the
//     author's quota; then the topic's own Validate. Only what it accepts is handled and handed on.
//  6. Streams carry the rest: [Network.Open] and [Network.Serve], [Listen] for code that wants a net.Listener, and
//     [Request] with [ServeRequests] for one question and one answer.
//
// # Verdicts and penalties
//
// [Accept] handles a message and hands it on. [Ignore] drops it and blames nobody: stale, early, not ours to judge.
// [Reject] drops it and blames its author, who has signed it: whoever forwarded it is not blamed, because a forwarder
// may know less than we do. A forwarder is blamed only for what it should have seen itself without any state of ours:
// broken signature, unknown author, oversize, malformed frame, flood. A peer that collects 16 penalties faster than one
// per 10 s pays them off is banned: disconnected, its connections refused and its messages ignored for a minute.
//
// # Quotas
//
// An author has two token buckets per topic: one for messages that come from itself, one for messages that others
// forward. The first cannot be touched by anybody else, so replaying an author's old messages cannot silence it where it
// is connected. Replays are found by the author's own sequence numbers (a window of the last 1024) and cost it nothing.
//
// # Security
//
// Peers are authenticated by their network key; connections are encrypted. Gossip is signed by the author. A validator
// can refuse to forward, delay, or send to some and not to others; it cannot speak for another. Delivery is best effort:
// a message may be lost, arrive twice (published again) or out of order. Whoever can delay packets can delay messages.
//
// # Limits
//
// A topic's messages are at most [MaxMessageSize]. Streams are bounded per peer and in total, by protocol. A peer has at
// most 8 connections and 512 streams. A peer whose machine vanishes without a word counts as connected until keepalives
// fail, after 30 to 40 s; one whose process dies is missed at once over TCP, which is therefore dialled before QUIC.
//
// Why not gossipsub's direct peers: they switch the mesh off and every message is sent by everyone to everyone. Why not
// its peer scores: with a closed, known membership a penalty is for a cause that can be named; scores also punish slow
// links. Why publish to all instead of the mesh alone: one hop for every message at any size of the network, at the cost
// of n sends by its author; the mesh stays as the detour around broken links.
package p2p

import (
	"context"
	"errors"
	"net"
)

// MaxMessageSize bounds the data of one gossip message, in bytes, whatever a topic allows.
const MaxMessageSize = 512 << 10

// PeerID names a peer: the text form of a libp2p peer id, which holds the peer's whole ed25519 public key.
type PeerID string

// Peer is a member of genesis: its id and the multiaddresses where it can be dialled, without their /p2p part.
type Peer struct {
	ID    PeerID
	Addrs []string
}

// Errors that callers tell apart.
var (
	ErrClosed       = errors.New("p2p: network closed")
	ErrUnknownPeer  = errors.New("p2p: not a peer of this genesis")
	ErrNotConnected = errors.New("p2p: peer not connected")
	ErrNotServed    = errors.New("p2p: peer does not serve this protocol")
	ErrTooLarge     = errors.New("p2p: too large")
)

// Verdict is a topic's judgement of one message.
type Verdict int

const (
	Accept Verdict = iota // handle it and hand it on
	Ignore                // drop it, blame nobody
	Reject                // drop it, blame its author
)

// String returns the verdict in lower case.
func (v Verdict) String() string {
	switch v {
	case Accept:
		return "accept"
	case Ignore:
		return "ignore"
	case Reject:
		return "reject"
	}
	return "unknown"
}

// Message is one gossip message. Its Data is shared with the network: read it, never write it.
type Message struct {
	Author PeerID // who signed it; always a peer of genesis
	From   PeerID // who handed it to us; the author itself or a forwarder
	Topic  string // as given to Join
	Data   []byte
	// Parsed is free for Validate to fill, so that Handle need not decode and check again.
	Parsed any
}

// Rate is a token bucket: at most Burst at once, refilled with PerSecond.
type Rate struct {
	PerSecond float64
	Burst     int
}

// TopicOptions say what a topic carries and who judges it.
type TopicOptions struct {
	// MaxSize bounds Data in bytes; 1..MaxMessageSize.
	MaxSize int
	// PerAuthor bounds the messages of one author. Zero means 32 a second and a burst of 128. It should be several
	// times what an honest author sends when it catches up: what exceeds it is ignored.
	PerAuthor Rate
	// Validate judges messages of others, never our own. It is called concurrently, by as many goroutines as there are
	// processors. Nil accepts everything. A verdict other than the three counts as Ignore.
	Validate func(*Message) Verdict
	// Handle gets what Validate accepted, one message at a time per topic (topics run side by side). Messages wait in
	// a queue of 1024; what does not fit is dropped and counted. The first may come before Join has returned.
	Handle func(*Message)
}

// Topic is a joined topic.
type Topic interface {
	// Publish signs data and sends it to the peers of the topic. It does not come back to the publisher: neither
	// Validate nor Handle sees it. Without connected peers it succeeds and reaches nobody. Publishing equal data again
	// makes a new message, so a message that was lost can be repeated. ErrTooLarge, ErrClosed.
	Publish(ctx context.Context, data []byte) error
	// Close leaves the topic. Handle is not running any more when Close returns; do not call Close from Handle.
	Close() error
}

// StreamLimits bound the streams of one protocol that are open at the same time.
type StreamLimits struct {
	PerPeer int // of one peer; zero means 16
	Total   int // of all peers; zero means 16 per peer of genesis
}

// Stream is a connection to one peer for one protocol: authenticated, encrypted, ordered. Close flushes and ends both
// directions; Reset tears it down so that the other side sees an error. A deadline that passes gives an error that is
// os.ErrDeadlineExceeded.
type Stream interface {
	net.Conn
	// Peer is the authenticated other side.
	Peer() PeerID
	// Protocol is the name given to Open or Serve.
	Protocol() string
	// CloseWrite ends our direction: the other side reads the rest and then io.EOF.
	CloseWrite() error
	// Reset drops the stream at once.
	Reset() error
	// Done is closed once Close or Reset was called on this side, be it by the network's own Close.
	Done() <-chan struct{}
}

// Network is one node's view of the network. All methods may be called concurrently.
type Network interface {
	// Self is this node's id.
	Self() PeerID
	// Peers are the other members of genesis, sorted.
	Peers() []PeerID
	// Connected are the peers that are connected now and have proven to run our genesis, sorted.
	Connected() []PeerID
	// Join takes part in a topic. Joining one that is joined already is an error. Topic names are 1 to 64 characters.
	Join(topic string, o TopicOptions) (Topic, error)
	// Open opens a stream to a connected peer; it never dials. ctx bounds the opening only. A peer that has too many
	// of our streams resets this one, which shows when it is used. ErrUnknownPeer, ErrNotConnected, ErrNotServed,
	// ErrClosed.
	Open(ctx context.Context, peer PeerID, protocol string) (Stream, error)
	// Serve runs h in a goroutine of its own for each stream that a peer opens, and closes the stream when h returns.
	// What exceeds limits is reset at once. stop ends the service and resets its streams. The network's Close waits
	// for the handlers, whose streams it has reset. Protocol names are 1 to 64 characters.
	Serve(protocol string, limits StreamLimits, h func(Stream)) (stop func(), err error)
	// Close disconnects from all peers and waits until nothing of the network runs any more.
	Close() error
}

// Addr is the net.Addr of a stream's end: a peer id.
type Addr PeerID

// Network returns "p2p".
func (Addr) Network() string { return "p2p" }

// String returns the peer id.
func (a Addr) String() string { return string(a) }
