package p2p_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-varint"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/p2ptest"
)

func TestStrangerIsRefused(t *testing.T) {
	c := newHosts(t, 2, tcpAny)
	c.connected()
	r := newRaw(t, 99)
	// Noise lets the dialler finish its handshake before the other side has looked at its key.
	err := r.connect(c.hosts[0])
	if err == nil {
		p2ptest.Eventually(t, "the stranger is thrown out", func() bool { return r.Network().Connectedness(r.target) != network.Connected })
	}
	if _, err := r.open("meshsub/1.2.0"); err == nil {
		t.Error("a stranger opened a gossip stream")
	}
	c.connected()
}

func TestForgedAuthorIsRefused(t *testing.T) {
	v := newVictims(t, p2p.TopicOptions{MaxSize: 64})
	honest := v.hosts.hosts[1].Self()
	author, err := peer.Decode(string(honest))
	if err != nil {
		t.Fatal(err)
	}
	v.banned(t, "forged", func() error { return v.raw.flood(30, author, v.raw.key, []byte("forged")) })
	v.unharmed(t)
	for _, b := range v.boxes {
		if b.Count(honest, "forged") != 0 {
			t.Error("a forged message was handled")
		}
	}
}

func TestUnknownAuthorIsRefused(t *testing.T) {
	v := newVictims(t, p2p.TopicOptions{MaxSize: 64})
	stranger := newRaw(t, 99)
	v.banned(t, "unknown-author", func() error { return v.raw.flood(30, stranger.ID(), stranger.key, []byte("hi")) })
	v.unharmed(t)
}

func TestOversizeIsRefused(t *testing.T) {
	v := newVictims(t, p2p.TopicOptions{MaxSize: 64})
	big := make([]byte, 65)
	v.banned(t, "oversize", func() error { return v.raw.flood(30, v.raw.ID(), v.raw.key, big) })
	v.unharmed(t)
	for _, b := range v.boxes {
		if b.Count(idOf(t, attacker), string(big)) != 0 {
			t.Error("an oversize message was handled")
		}
	}
}

func TestGarbageFramesAreRefused(t *testing.T) {
	const again = "again and again"
	for name, tt := range map[string]struct {
		garbage []byte
		reason  string
	}{
		"not a frame":      {append([]byte{20}, "GET / HTTP/1.1\r\n\r\nxx"...), again},
		"endless length":   {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, again},
		"huge frame":       {varint.ToUvarint(1 << 30), again},
		"not an rpc":       {[]byte{4, 0xff, 0xff, 0xff, 0xff}, again},
		"message of zeros": {bytes.Repeat(frame(t, &pb.RPC{Publish: []*pb.Message{{}}}), 30), "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictims(t, p2p.TopicOptions{MaxSize: 64})
			v.banned(t, tt.reason, func() error { return v.raw.send(tt.garbage) })
			v.unharmed(t)
		})
	}
}

func TestFloodIsContained(t *testing.T) {
	v := newVictims(t, p2p.TopicOptions{MaxSize: 64, PerAuthor: p2p.Rate{PerSecond: 0.001, Burst: 20}})
	v.banned(t, "flood", func() error { return v.raw.flood(300, v.raw.ID(), v.raw.key, []byte("flood")) })
	v.unharmed(t)
	for i, b := range v.boxes {
		if n := b.Count(idOf(t, attacker), "flood"); n > 40 {
			t.Errorf("host %d handled %d messages of the flood, want at most 40", i, n)
		}
	}
}

func TestEndlessControlIsRefused(t *testing.T) {
	v := newVictims(t, p2p.TopicOptions{MaxSize: 64})
	topic := prefix() + "t"
	have := &pb.ControlIHave{TopicID: &topic}
	for i := range 5000 {
		have.MessageIDs = append(have.MessageIDs, string([]byte{byte(i), byte(i >> 8), 'x'}))
	}
	f := frame(t, &pb.RPC{Control: &pb.ControlMessage{Ihave: []*pb.ControlIHave{have}}})
	v.banned(t, "flood", func() error { return v.raw.send(f, f, f, f, f, f, f, f) })
	v.unharmed(t)
}

func TestThousandStreamsAreBounded(t *testing.T) {
	v := newVictims(t, p2p.TopicOptions{MaxSize: 64})
	const perPeer = 4
	var mu sync.Mutex
	open, most := map[p2p.PeerID]int{}, 0
	_, err := v.hosts.hosts[0].Serve("work", p2p.StreamLimits{PerPeer: perPeer}, func(s p2p.Stream) {
		mu.Lock()
		open[s.Peer()]++
		most = max(most, open[s.Peer()])
		mu.Unlock()
		io.Copy(s, s)
		mu.Lock()
		open[s.Peer()]--
		mu.Unlock()
	})
	if err != nil {
		t.Fatal(err)
	}
	var streams []network.Stream
	for range 1000 {
		if s, err := v.raw.open("work"); err == nil {
			s.Write([]byte("x"))
			streams = append(streams, s)
		}
	}
	honest, err := v.hosts.hosts[1].Open(t.Context(), v.hosts.hosts[0].Self(), "work")
	if err != nil {
		t.Fatal(err)
	}
	honest.SetDeadline(time.Now().Add(20 * time.Second))
	honest.Write([]byte("x"))
	if _, err := io.ReadFull(honest, make([]byte, 1)); err != nil {
		t.Errorf("an honest peer's stream beside a thousand: %v", err)
	}
	honest.Close()
	for _, s := range streams {
		s.Reset()
	}
	mu.Lock()
	defer mu.Unlock()
	if most != perPeer {
		t.Errorf("at most %d streams of one peer were served at the same time, want %d", most, perPeer)
	}
}

func TestHalfOpenStreamsDoNotStay(t *testing.T) {
	v := newVictims(t, p2p.TopicOptions{MaxSize: 64})
	// A request that is begun and not ended holds a place until its time is over, and no longer than its stream.
	_, err := p2p.ServeRequests(v.hosts.hosts[0], "q", p2p.RequestLimits{MaxRequest: 100, Streams: p2p.StreamLimits{PerPeer: 2}},
		func(_ context.Context, _ p2p.PeerID, req []byte) ([]byte, error) { return req, nil })
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if s, err := v.raw.open("q"); err == nil {
			s.Write([]byte{0, 0})
			defer s.Reset()
		}
	}
	if _, err := p2p.Request(t.Context(), v.hosts.hosts[1], v.hosts.hosts[0].Self(), "q", []byte("x"), 10); err != nil {
		t.Errorf("an honest peer's request: %v", err)
	}
	for name, b := range map[string][]byte{"huge length": {0xff, 0xff, 0xff, 0xff}, "over the limit": {0, 0, 0, 101}} {
		s, err := v.raw.open("q")
		if err != nil {
			continue // its places are taken; then that is what it gets
		}
		s.Write(b)
		s.SetReadDeadline(time.Now().Add(20 * time.Second))
		if n, err := s.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: answered with %d bytes", name, n)
		}
		s.Reset()
	}
	v.unharmed(t)
}

// Rejected messages cost their author, not those who handed them on in good faith. The hosts stand in a line: 0 and 2
// know no address of each other, so what 0 says reaches 2 through 1 alone.
func TestRejectDoesNotBlameTheForwarder(t *testing.T) {
	addrs := freeAddrs(t, 3, tcpAny)
	c := &hosts{t: t, hosts: make([]*p2p.Host, 3)}
	for i := range 3 {
		cfg := p2p.Config{Key: keyOf(i), Listen: []string{addrs[i]}, GenesisHash: genesis, Logger: quiet}
		for j := range 3 {
			p := p2p.Peer{ID: idOf(t, j)}
			if i == 1 || j == 1 {
				p.Addrs = []string{addrs[j]}
			}
			cfg.Peers = append(cfg.Peers, p)
		}
		c.cfgs = append(c.cfgs, cfg)
		c.start(i)
	}
	t.Cleanup(func() {
		for _, h := range c.hosts {
			h.Close()
		}
	})
	author, forwarder := c.hosts[0].Self(), c.hosts[1].Self()
	var mu sync.Mutex
	from := map[p2p.PeerID]int{}
	box := new(p2ptest.Inbox)
	var topics []p2p.Topic
	for i, h := range c.hosts {
		o := p2p.TopicOptions{MaxSize: 64, Handle: func(*p2p.Message) {}}
		if i == 2 {
			o.Handle = box.Add
			o.Validate = func(m *p2p.Message) p2p.Verdict {
				mu.Lock()
				defer mu.Unlock()
				from[m.From]++
				if m.Author == author {
					return p2p.Reject
				}
				return p2p.Accept
			}
		}
		tp, err := h.Join("t", o)
		if err != nil {
			t.Fatal(err)
		}
		topics = append(topics, tp)
	}
	p2ptest.Eventually(t, "more than enough to ban someone was rejected", func() bool {
		if err := topics[0].Publish(t.Context(), []byte("bad")); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		return from[forwarder] >= 17
	})
	if !connectedTo(c.hosts[2], forwarder) {
		t.Error("the forwarder was disconnected")
	}
	if err := topics[1].Publish(t.Context(), []byte("good")); err != nil {
		t.Fatal(err)
	}
	p2ptest.Eventually(t, "the forwarder is heard", func() bool { return box.Count(forwarder, "good") >= 1 })
	mu.Lock()
	defer mu.Unlock()
	if from[author] != 0 {
		t.Errorf("%d messages came from the author directly: the hosts do not stand in a line", from[author])
	}
}
