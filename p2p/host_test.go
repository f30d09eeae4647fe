package p2p_test

import (
	"crypto/ed25519"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/p2p"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keyOf returns the i-th key of a test, the same in each run.
func keyOf(i int) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0], seed[1] = byte(i), byte(i>>8)
	return ed25519.NewKeyFromSeed(seed)
}

func idOf(t testing.TB, i int) p2p.PeerID {
	t.Helper()
	id, err := p2p.PeerIDOf(keyOf(i).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// eventually waits until f holds. Its limit is for a test that has failed, not a measure.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after 30 s: %s", what)
		}
	}
}

// freeAddrs asks for n free ports by listening on them for a moment, so that genesis can name them.
func freeAddrs(t testing.TB, n int, pattern string) []string {
	t.Helper()
	var out []string
	for i := range n {
		h, err := p2p.New(p2p.Config{Key: keyOf(60000 + i), Listen: []string{pattern}, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		p, err := p2p.ParsePeer(h.Addrs()...)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p.Addrs[0])
	}
	return out
}

// hosts are n hosts of one genesis on 127.0.0.1.
type hosts struct {
	t     testing.TB
	cfgs  []p2p.Config
	hosts []*p2p.Host
}

func newHosts(t testing.TB, n int, pattern string) *hosts {
	t.Helper()
	c := &hosts{t: t, hosts: make([]*p2p.Host, n)}
	var peers []p2p.Peer
	addrs := freeAddrs(t, n, pattern)
	for i, a := range addrs {
		peers = append(peers, p2p.Peer{ID: idOf(t, i), Addrs: []string{a}})
	}
	for i, a := range addrs {
		c.cfgs = append(c.cfgs, p2p.Config{Key: keyOf(i), Listen: []string{a}, Peers: peers, GenesisHash: [32]byte{1}, Logger: quiet})
		c.start(i)
	}
	t.Cleanup(func() {
		for _, h := range c.hosts {
			if err := h.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
	return c
}

func (c *hosts) start(i int) *p2p.Host {
	c.t.Helper()
	h, err := p2p.New(c.cfgs[i])
	if err != nil {
		c.t.Fatalf("host %d: %v", i, err)
	}
	c.hosts[i] = h
	return h
}

func (c *hosts) connected() {
	c.t.Helper()
	for i, h := range c.hosts {
		eventually(c.t, "all hosts connected", func() bool { return slices.Equal(h.Connected(), h.Peers()) })
		if got, want := len(h.Peers()), len(c.hosts)-1; got != want {
			c.t.Fatalf("host %d knows %d peers, want %d", i, got, want)
		}
	}
}

const (
	tcpAny  = "/ip4/127.0.0.1/tcp/0"
	quicAny = "/ip4/127.0.0.1/udp/0/quic-v1"
)

func TestHostsConnect(t *testing.T) {
	for _, pattern := range []string{tcpAny, quicAny} {
		t.Run(pattern, func(t *testing.T) {
			newHosts(t, 4, pattern).connected()
		})
	}
}
