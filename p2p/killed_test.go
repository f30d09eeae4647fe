package p2p_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/p2ptest"
)

// A peer whose process is killed tells nobody. It must be found again when it is back, gossip and streams included, and
// again and again: libp2p's gossip gives up on a peer after a few lost streams.
func TestKilledPeerIsFoundAgain(t *testing.T) {
	for _, pattern := range []string{tcpAny, quicAny} {
		t.Run(pattern, func(t *testing.T) {
			c := newHosts(t, 2, pattern)
			c.hosts[1].Close()
			h := c.hosts[0]
			box := new(p2ptest.Inbox)
			topic, err := h.Join("t", p2p.TopicOptions{MaxSize: 64, Handle: box.Add})
			if err != nil {
				t.Fatal(err)
			}
			for round := range 7 {
				kill := startChild(t, c.cfgs[1], c.cfgs[0].Listen[0])
				want := fmt.Sprint("round ", round)
				p2ptest.Eventually(t, "a stream to the child works", func() bool {
					got, err := p2p.Request(t.Context(), h, idOf(t, 1), "echo", []byte(want), 100)
					return err == nil && string(got) == want
				})
				p2ptest.Eventually(t, "the child hears and is heard", func() bool {
					if err := topic.Publish(t.Context(), []byte(want)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(20 * time.Millisecond)
					return box.Count(idOf(t, 1), "heard "+want) > 0
				})
				kill()
			}
		})
	}
}

const childEnv = "DAYBREAK_P2P_TEST_CHILD"

// startChild runs host 1 in a process of its own, and returns how to kill it.
func startChild(t *testing.T, cfg p2p.Config, other string) (kill func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+cfg.Listen[0]+" "+other)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // the child ends when we do
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	return kill
}

// child is host 1: it echoes requests and says what it hears.
func child(addrs string) error {
	own, other, _ := strings.Cut(addrs, " ")
	id, err := p2p.PeerIDOf(keyOf(0).Public().(ed25519.PublicKey))
	if err != nil {
		return err
	}
	h, err := p2p.New(p2p.Config{
		Key: keyOf(1), Listen: []string{own}, GenesisHash: genesis, Logger: quiet,
		Peers: []p2p.Peer{{ID: id, Addrs: []string{other}}},
	})
	if err != nil {
		return err
	}
	defer h.Close()
	heard := make(chan string, 100)
	topic, err := h.Join("t", p2p.TopicOptions{MaxSize: 64, Handle: func(m *p2p.Message) { heard <- string(m.Data) }})
	if err != nil {
		return err
	}
	_, err = p2p.ServeRequests(h, "echo", p2p.RequestLimits{MaxRequest: 100, PerPeer: p2p.Rate{PerSecond: 1000, Burst: 1000}},
		func(_ context.Context, _ p2p.PeerID, req []byte) ([]byte, error) { return req, nil })
	if err != nil {
		return err
	}
	go func() {
		for s := range heard {
			topic.Publish(context.Background(), []byte("heard "+s))
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
