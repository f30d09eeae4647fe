package p2p_test

import (
	"context"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-varint"
	"google.golang.org/protobuf/proto"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/p2ptest"
)

// raw is a libp2p host without any of our manners.
type raw struct {
	host.Host
	t      testing.TB
	key    crypto.PrivKey
	target peer.ID
}

func prefix() string { return "/daybreak/" + hex.EncodeToString(genesis[:]) + "/" }

// newRaw makes a raw host with a key of ours, or a stranger's.
func newRaw(t testing.TB, i int) *raw {
	t.Helper()
	key, err := crypto.UnmarshalEd25519PrivateKey(keyOf(i))
	if err != nil {
		t.Fatal(err)
	}
	h, err := libp2p.New(libp2p.Identity(key), libp2p.NoListenAddrs, libp2p.DisableMetrics(),
		libp2p.ProtocolVersion("daybreak/1/"+hex.EncodeToString(genesis[:])), libp2p.ForceReachabilityPublic(),
		libp2p.ResourceManager(&network.NullResourceManager{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &raw{Host: h, t: t, key: key}
}

func (r *raw) connect(h *p2p.Host) error {
	info, err := peer.AddrInfoFromString(h.Addrs()[0])
	if err != nil {
		r.t.Fatal(err)
	}
	r.target = info.ID
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	return r.Connect(ctx, *info)
}

// open opens a stream to the target under one of our protocols.
func (r *raw) open(name string) (network.Stream, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	return r.NewStream(ctx, r.target, protocol.ID(prefix()+name))
}

// frame is a gossip frame on the wire.
func frame(t testing.TB, rpc *pb.RPC) []byte {
	t.Helper()
	b, err := proto.Marshal(rpc)
	if err != nil {
		t.Fatal(err)
	}
	return append(varint.ToUvarint(uint64(len(b))), b...)
}

// message makes a gossip message of an author, signed by a key that may not be the author's.
func message(t testing.TB, author peer.ID, key crypto.PrivKey, seqno uint64, data []byte) *pb.Message {
	t.Helper()
	topic := prefix() + "t"
	m := &pb.Message{From: []byte(author), Data: data, Topic: &topic, Seqno: []byte{
		byte(seqno >> 56), byte(seqno >> 48), byte(seqno >> 40), byte(seqno >> 32), byte(seqno >> 24), byte(seqno >> 16), byte(seqno >> 8), byte(seqno)}}
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if m.Signature, err = key.Sign(append([]byte(pubsub.SignPrefix), b...)); err != nil {
		t.Fatal(err)
	}
	return m
}

// send writes frames on one gossip stream; an error means that the target has had enough.
func (r *raw) send(frames ...[]byte) error {
	s, err := r.open("meshsub/1.2.0")
	if err != nil {
		return err
	}
	defer s.Close()
	for _, f := range frames {
		s.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := s.Write(f); err != nil {
			return err
		}
	}
	return nil
}

// flood sends many messages of an author on one stream.
func (r *raw) flood(n int, author peer.ID, key crypto.PrivKey, data []byte) error {
	var frames [][]byte
	for range n {
		seqno := uint64(time.Now().UnixNano())
		frames = append(frames, frame(r.t, &pb.RPC{Publish: []*pb.Message{message(r.t, author, key, seqno, data)}}))
	}
	return r.send(frames...)
}

// victims are three connected hosts with a topic; the fourth member of their genesis is not running: the attacker has
// its key.
type victims struct {
	*hosts
	topics []p2p.Topic
	boxes  []*p2ptest.Inbox
	raw    *raw
	log    *logBook
}

// logBook keeps the lines of a host's log.
type logBook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	return len(b), nil
}

// with returns the lines that contain a text.
func (l *logBook) with(text string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}

const attacker = 3

func newVictims(t *testing.T, o p2p.TopicOptions) *victims {
	t.Helper()
	v := &victims{hosts: newHosts(t, 4, tcpAny), raw: newRaw(t, attacker), log: new(logBook)}
	v.hosts.hosts[attacker].Close()
	v.hosts.hosts[0].Close()
	v.cfgs[0].Logger = slog.New(slog.NewTextHandler(v.log, nil))
	v.start(0)
	v.hosts.hosts = v.hosts.hosts[:attacker]
	p2ptest.Eventually(t, "the attacker's own host is gone", func() bool {
		for _, h := range v.hosts.hosts {
			if len(h.Connected()) != 2 {
				return false
			}
		}
		return true
	})
	c := &p2ptest.Cluster{T: t}
	for _, h := range v.hosts.hosts {
		c.Nets = append(c.Nets, h)
	}
	v.topics, v.boxes = c.Join("t", o)
	if err := v.raw.connect(v.hosts.hosts[0]); err != nil {
		t.Fatal(err)
	}
	p2ptest.Eventually(t, "the attacker is connected", func() bool { return v.sees(attacker) })
	return v
}

// sees reports whether host 0 is connected to member i.
func (v *victims) sees(i int) bool {
	for _, p := range v.hosts.hosts[0].Connected() {
		if p == idOf(v.t, i) {
			return true
		}
	}
	return false
}

// unharmed checks that the honest still talk to each other.
func (v *victims) unharmed(t *testing.T) {
	t.Helper()
	for i, tp := range v.topics {
		if err := tp.Publish(t.Context(), []byte("unharmed")); err != nil {
			t.Fatal(err)
		}
		for j, b := range v.boxes {
			if i != j {
				p2ptest.Eventually(t, "the honest hear each other", func() bool {
					return b.Count(v.hosts.hosts[i].Self(), "unharmed") >= 1
				})
			}
		}
	}
	for i := range v.hosts.hosts {
		for j := range v.hosts.hosts {
			if i != j && !connectedTo(v.hosts.hosts[i], idOf(t, j)) {
				t.Errorf("host %d has lost host %d", i, j)
			}
		}
	}
}

func connectedTo(h *p2p.Host, id p2p.PeerID) bool {
	for _, p := range h.Connected() {
		if p == id {
			return true
		}
	}
	return false
}

// banned attacks until host 0 throws the attacker out for a given reason.
func (v *victims) banned(t *testing.T, reason string, attack func() error) {
	t.Helper()
	p2ptest.Eventually(t, "the attacker is banned", func() bool {
		attack()
		return !v.sees(attacker)
	})
	if got := v.log.with("banned"); len(got) != 1 || !strings.Contains(got[0], reason) || !strings.Contains(got[0], string(idOf(t, attacker))) {
		t.Errorf("log of the ban: %q, want one line with the attacker's id and %q", got, reason)
	}
	if err := v.raw.connect(v.hosts.hosts[0]); err == nil && v.sees(attacker) {
		t.Error("the attacker came back at once")
	}
}
