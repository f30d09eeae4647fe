package p2p

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/proto"
)

// Frames of requests and answers, whatever comes.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0}, 10)
	f.Add([]byte{0, 0, 0, 2, 'h', 'i', '!'}, 2)
	f.Add([]byte{0, 0, 0, 3, 'h', 'i'}, 10)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, 10)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = min(max(limit, 0), 1<<20)
		r := bytes.NewReader(in)
		got, err := readFrame(r, limit)
		var n uint32
		if len(in) >= 4 {
			n = binary.BigEndian.Uint32(in)
		}
		switch {
		case len(in) < 4:
			if err == nil {
				t.Fatalf("frame of %d bytes: %q", len(in), got)
			}
		case int64(n) > int64(limit):
			if !errors.Is(err, ErrTooLarge) {
				t.Fatalf("frame over the limit: %v", err)
			}
		case len(in)-4 < int(n):
			if err == nil || err == io.EOF {
				t.Fatalf("frame cut short: %v", err)
			}
		default:
			if err != nil || !bytes.Equal(got, in[4:4+n]) {
				t.Fatalf("got %q, %v", got, err)
			}
			var out bytes.Buffer
			if err := writeFrame(&out, nil, got); err != nil || !bytes.Equal(out.Bytes(), in[:4+n]) {
				t.Fatalf("written again: %x, %v", out.Bytes(), err)
			}
		}
	})
}

// startGuard starts a host with one member that is not running.
func startGuard(t testing.TB) (*Host, peer.ID) {
	t.Helper()
	key := func(i byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{i}, 32)) }
	id, err := PeerIDOf(key(2).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Config{
		Key: key(1), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Peers: []Peer{{ID: id}},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	member, err := decodeID(id)
	if err != nil {
		t.Fatal(err)
	}
	return h, member
}

// Whatever frame a member sends: the guard does not fall over, and what it lets through has the shape and the size that
// the rest relies on.
func FuzzInspect(f *testing.F) {
	h, member := startGuard(f)
	if _, err := h.Join("t", TopicOptions{MaxSize: 10, PerAuthor: Rate{PerSecond: 1e9, Burst: 1e9}, Handle: func(*Message) {}}); err != nil {
		f.Fatal(err)
	}
	topic := h.prefix() + "t"
	add := func(rpc *pb.RPC) {
		b, err := proto.Marshal(rpc)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(&pb.RPC{})
	add(&pb.RPC{Publish: []*pb.Message{{}}})
	for _, size := range []int{10, 11} {
		add(&pb.RPC{Publish: []*pb.Message{{
			From: []byte(member), Topic: &topic, Data: make([]byte, size), Seqno: make([]byte, 8), Signature: make([]byte, 64),
		}}})
	}
	add(&pb.RPC{Control: &pb.ControlMessage{
		Prune: []*pb.ControlPrune{{TopicID: &topic, Peers: []*pb.PeerInfo{{PeerID: []byte("x")}}}},
		Ihave: []*pb.ControlIHave{{TopicID: &topic, MessageIDs: []string{"a", "b"}}},
	}})
	f.Fuzz(func(t *testing.T, b []byte) {
		rpc := new(pubsub.RPC)
		if proto.Unmarshal(b, &rpc.RPC) != nil {
			return
		}
		if h.gossip.inspect(member, rpc) != nil {
			return
		}
		for _, m := range rpc.GetPublish() {
			author := peer.ID(m.GetFrom())
			if author != member && author != h.host.ID() || len(m.GetSeqno()) != 8 || len(m.GetSignature()) != 64 {
				t.Errorf("let through: %v", m)
			}
			if m.GetTopic() == topic && len(m.GetData()) > 10 {
				t.Errorf("let through %d bytes", len(m.GetData()))
			}
		}
		for _, p := range rpc.GetControl().GetPrune() {
			if len(p.GetPeers()) != 0 {
				t.Error("let through an offer of peers")
			}
		}
	})
}

func TestStrangersFramesAreRefused(t *testing.T) {
	h, _ := startGuard(t)
	if h.gossip.inspect("stranger", new(pubsub.RPC)) == nil {
		t.Error("let through")
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	h, member := startGuard(t)
	f := subFilter{h.gossip}
	sub := func(name string, yes bool) *pb.RPC_SubOpts { return &pb.RPC_SubOpts{Topicid: &name, Subscribe: &yes} }
	var many []*pb.RPC_SubOpts
	for i := range 1000 {
		many = append(many, sub(fmt.Sprint(h.prefix(), i), true))
	}
	count := func(subs ...*pb.RPC_SubOpts) int {
		out, err := f.FilterIncomingSubscriptions(member, subs)
		if err != nil {
			t.Fatal(err)
		}
		return len(out)
	}
	if got := count(many...); got != maxTopics {
		t.Errorf("%d of 1000 topics are kept, want %d", got, maxTopics)
	}
	if got := count(many[maxTopics:]...); got != 0 {
		t.Errorf("%d more topics are kept, want none", got)
	}
	if got := count(many[:5]...); got != 5 {
		t.Errorf("%d of five known topics pass again, want all", got)
	}
	if got := count(sub(h.prefix()+"0", false), sub(h.prefix()+"new", true)); got != 2 {
		t.Errorf("one topic for another: %d pass, want both", got)
	}
	h.gossip.forget(member)
	if got := count(many[100:105]...); got != 5 {
		t.Errorf("after a new connection %d of five pass, want all", got)
	}
	if got := count(sub("/elsewhere/t", true), sub(h.prefix()+strings.Repeat("x", 65), true)); got != 0 {
		t.Errorf("%d foreign or overlong topics pass, want none", got)
	}
}

func TestTCPIsDialledFirst(t *testing.T) {
	addr := func(s string) ma.Multiaddr {
		a, err := ma.NewMultiaddr(s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	q, tc := addr("/ip4/127.0.0.1/udp/1/quic-v1"), addr("/ip4/127.0.0.1/tcp/1")
	got := tcpFirst([]ma.Multiaddr{q, tc})
	if !got[0].Addr.Equal(tc) || got[0].Delay != 0 || !got[1].Addr.Equal(q) || got[1].Delay <= 0 {
		t.Errorf("got %v, want TCP at once and QUIC later", got)
	}
	if got := tcpFirst([]ma.Multiaddr{q}); got[0].Delay != 0 {
		t.Errorf("QUIC alone waits %v", got[0].Delay)
	}
}

func TestLibraryLogIsDemoted(t *testing.T) {
	var b bytes.Buffer
	log := func(level slog.Level) *slog.Logger {
		b.Reset()
		return slog.New(demoted{slog.NewTextHandler(&b, &slog.HandlerOptions{Level: level})})
	}
	log(slog.LevelInfo).Error("loud", "k", "v")
	if b.Len() != 0 {
		t.Errorf("at level info the library says %q", b.String())
	}
	l := log(slog.LevelDebug)
	l.Debug("chatter")
	l.With("a", 1).WithGroup("g").Warn("worth a look", "k", "v")
	got := b.String()
	for _, want := range []string{"level=DEBUG", "libp2p: worth a look", "a=1", "g.k=v"} {
		if !strings.Contains(got, want) {
			t.Errorf("at level debug the library says %q, want %q in it", got, want)
		}
	}
	if strings.Contains(got, "chatter") {
		t.Errorf("its own debugging is in our log: %q", got)
	}
	if !(demoted{}).Enabled(context.Background(), slog.LevelError) == slog.Default().Enabled(context.Background(), slog.LevelDebug) {
		t.Error("without a handler of its own it does not ask the default logger")
	}
}

func TestForeignGenesisIsNewsOnce(t *testing.T) {
	var m member
	now := time.Unix(1000, 0)
	for _, step := range []struct {
		what, version string
		want          bool
	}{
		{"first seen", "a", true}, {"seen again", "a", false}, {"another one", "b", true}, {"back to the first", "a", true},
	} {
		now = now.Add(time.Hour)
		if got := m.setForeign(step.version, now); got != step.want {
			t.Errorf("%s: news is %v, want %v", step.what, got, step.want)
		}
		if got := m.faults.Refused(now); got != foreignTime {
			t.Errorf("%s: refused for %v, want %v", step.what, got, foreignTime)
		}
	}
	if !m.setVerified(true, now) || m.setVerified(true, now) || !m.setForeign("a", now) {
		t.Error("a peer that had our genesis in between is not news")
	}
}

func TestRetriesStayInBounds(t *testing.T) {
	for failed := 1; failed < 200; failed++ {
		d := retryAfter(failed)
		if d < firstRetry/2 || d > lastRetry {
			t.Fatalf("retry %d after %v", failed, d)
		}
	}
}
