package p2p_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/p2ptest"
)

func TestMain(m *testing.M) {
	if addrs := os.Getenv(childEnv); addrs != "" {
		if err := child(addrs); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

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
		c.cfgs = append(c.cfgs, p2p.Config{Key: keyOf(i), Listen: []string{a}, Peers: peers, GenesisHash: genesis, Logger: quiet})
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
		p2ptest.Eventually(c.t, "all hosts connected", func() bool { return slices.Equal(h.Connected(), h.Peers()) })
		if got, want := len(h.Peers()), len(c.hosts)-1; got != want {
			c.t.Fatalf("host %d knows %d peers, want %d", i, got, want)
		}
	}
}

var genesis = [32]byte{1}

const (
	tcpAny  = "/ip4/127.0.0.1/tcp/0"
	quicAny = "/ip4/127.0.0.1/udp/0/quic-v1"
)

func TestForeignGenesisIsNamedOnce(t *testing.T) {
	addrs := freeAddrs(t, 2, tcpAny)
	var logs [2]logBook
	var hs [2]*p2p.Host
	for i := range hs {
		cfg := p2p.Config{
			Key: keyOf(i), Listen: addrs[i : i+1], GenesisHash: [32]byte{byte(10 + i)},
			Peers:  []p2p.Peer{{ID: idOf(t, 0), Addrs: addrs[:1]}, {ID: idOf(t, 1), Addrs: addrs[1:]}},
			Logger: slog.New(slog.NewTextHandler(&logs[i], nil)),
		}
		var err error
		if hs[i], err = p2p.New(cfg); err != nil {
			t.Fatal(err)
		}
		defer hs[i].Close()
	}
	for i := range hs {
		p2ptest.Eventually(t, "the other genesis is named", func() bool { return len(logs[i].with("another genesis")) > 0 })
	}
	time.Sleep(time.Second) // both have dialled and been dialled by now
	for i, h := range hs {
		lines := logs[i].with("level=WARN")
		want := []string{"another genesis", string(idOf(t, 1-i)), hex.EncodeToString([]byte{byte(11 - i), 0, 0}), hex.EncodeToString([]byte{byte(10 + i), 0, 0})}
		if len(lines) != 1 {
			t.Errorf("host %d warns %d times, want once: %q", i, len(lines), lines)
			continue
		}
		for _, w := range want {
			if !strings.Contains(lines[0], w) {
				t.Errorf("host %d: %q does not name %q", i, lines[0], w)
			}
		}
		if got := h.Connected(); len(got) != 0 {
			t.Errorf("host %d is connected to %v", i, got)
		}
	}
}

func TestPortInUse(t *testing.T) {
	for _, pattern := range []string{tcpAny, quicAny} {
		first, err := p2p.New(p2p.Config{Key: keyOf(0), Listen: []string{pattern}, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		at, err := p2p.ParsePeer(first.Addrs()...)
		if err != nil {
			t.Fatal(err)
		}
		second, err := p2p.New(p2p.Config{Key: keyOf(1), Listen: at.Addrs, Logger: quiet})
		if err == nil {
			second.Close()
			t.Errorf("%s: two hosts on one port", at.Addrs[0])
		} else if want := "listen on " + at.Addrs[0] + ": port in use"; !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %q, want one line that begins with %q", err, want)
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNewRefusesNonsense(t *testing.T) {
	good := func() p2p.Config { return p2p.Config{Key: keyOf(0), Listen: []string{tcpAny}, Logger: quiet} }
	tests := map[string]struct {
		spoil func(*p2p.Config)
		want  string
	}{
		"no key":               {func(c *p2p.Config) { c.Key = nil }, "ed25519 private key"},
		"nowhere to listen":    {func(c *p2p.Config) { c.Listen = nil }, "at least one"},
		"no multiaddress":      {func(c *p2p.Config) { c.Listen = []string{"127.0.0.1:4001"} }, "/ip4/0.0.0.0/tcp/4001"},
		"websocket":            {func(c *p2p.Config) { c.Listen = []string{"/ip4/127.0.0.1/tcp/1/ws"} }, "/ip4/0.0.0.0/tcp/4001"},
		"peer twice":           {func(c *p2p.Config) { c.Peers = []p2p.Peer{{ID: idOf(t, 1)}, {ID: idOf(t, 1)}} }, "listed twice"},
		"peer with bad id":     {func(c *p2p.Config) { c.Peers = []p2p.Peer{{ID: "12D3nonsense"}} }, "peer 1"},
		"peer with bad addr":   {func(c *p2p.Config) { c.Peers = []p2p.Peer{{ID: idOf(t, 1), Addrs: []string{"example.org"}}} }, "peer 1"},
		"address of no host":   {func(c *p2p.Config) { c.Listen = []string{"/ip4/203.0.113.1/tcp/4001"} }, "listen on /ip4/203.0.113.1/tcp/4001"},
		"metrics in use twice": {func(c *p2p.Config) { c.Registerer = taken(t) }, "metrics"},
	}
	for name, tt := range tests {
		cfg := good()
		tt.spoil(&cfg)
		h, err := p2p.New(cfg)
		if err == nil {
			h.Close()
			t.Errorf("%s: accepted", name)
		} else if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %q, want one line with %q", name, err, tt.want)
		}
	}
}

// taken is a registry where another collector has one of our names.
func taken(t *testing.T) prometheus.Registerer {
	reg := prometheus.NewRegistry()
	if err := reg.Register(prometheus.NewGauge(prometheus.GaugeOpts{Name: "daybreak_p2p_messages_total"})); err != nil {
		t.Fatal(err)
	}
	return reg
}

func TestMetricsAndLog(t *testing.T) {
	c := newHosts(t, 2, tcpAny)
	c.hosts[0].Close()
	reg, log := prometheus.NewRegistry(), new(logBook)
	c.cfgs[0].Registerer, c.cfgs[0].Logger = reg, slog.New(slog.NewTextHandler(log, nil))
	c.start(0)
	c.connected()
	cl := &p2ptest.Cluster{T: t, Nets: []p2p.Network{c.hosts[0], c.hosts[1]}}
	topics, _ := cl.Join("t", p2p.TopicOptions{MaxSize: 64, PerAuthor: p2p.Rate{PerSecond: 0.001, Burst: 20}, Validate: func(m *p2p.Message) p2p.Verdict {
		switch string(m.Data) {
		case "ignore":
			return p2p.Ignore
		case "reject":
			return p2p.Reject
		}
		return p2p.Accept
	}})
	for _, data := range []string{"ignore", "reject"} {
		cl.Publish(topics[1], data)
	}
	for range 40 {
		cl.Publish(topics[1], "flood")
	}
	value := func(line string) bool {
		var b bytes.Buffer
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			expfmt.MetricFamilyToText(&b, f)
		}
		return strings.Contains(b.String(), line)
	}
	for _, line := range []string{
		"daybreak_p2p_connected_peers 1\n",
		`daybreak_p2p_messages_total{topic="t",verdict="accept"} `,
		`daybreak_p2p_messages_total{topic="t",verdict="ignore"} 1`,
		`daybreak_p2p_messages_total{topic="t",verdict="reject"} 1`,
		`daybreak_p2p_dropped_total{reason="author-quota"} `,
	} {
		p2ptest.Eventually(t, line, func() bool { return value(line) })
	}
	c.hosts[1].Close()
	p2ptest.Eventually(t, "nobody is connected", func() bool { return value("daybreak_p2p_connected_peers 0\n") })
	for _, what := range []string{"peer connected", "peer disconnected"} {
		if got := log.with(what); len(got) != 1 || !strings.Contains(got[0], string(idOf(t, 1))) {
			t.Errorf("log says %q, want one line %q with the peer's id", got, what)
		}
	}
	c.hosts[0].Close()
	if families, err := reg.Gather(); err != nil || len(families) != 0 {
		t.Errorf("metrics left after Close: %v, %v", families, err)
	}
}
