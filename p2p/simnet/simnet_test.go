package simnet_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/p2ptest"
	"github.com/daybreak-beacon/daybreak/p2p/simnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func peerIDs(t testing.TB, n int) []p2p.PeerID {
	t.Helper()
	var out []p2p.PeerID
	for i := range n {
		key := ed25519.NewKeyFromSeed(append([]byte{byte(i), byte(i >> 8)}, make([]byte, 30)...))
		id, err := p2p.PeerIDOf(key.Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, id)
	}
	return out
}

func newNet(t testing.TB, seed uint64, n int, o simnet.Options) (*simnet.Net, []p2p.PeerID) {
	t.Helper()
	ids := peerIDs(t, n)
	sim, err := simnet.New(seed, ids, o)
	if err != nil {
		t.Fatal(err)
	}
	return sim, ids
}

func start(t testing.TB, sim *simnet.Net, id p2p.PeerID) p2p.Network {
	t.Helper()
	h, err := sim.Start(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func simEnv(t *testing.T, n int, body func(*p2ptest.Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		sim, ids := newNet(t, 1, n, simnet.Options{})
		defer sim.Close()
		c := &p2ptest.Cluster{T: t}
		for _, id := range ids {
			c.Nets = append(c.Nets, start(t, sim, id))
		}
		c.Restart = func(i int) { c.Nets[i] = start(t, sim, ids[i]) }
		body(c)
	})
}

func TestConformance(t *testing.T) { p2ptest.Run(t, simEnv) }

// inBubble runs f in virtual time.
func inBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// chatter is a busy network of five under a seed, with a partition, a crash and requests; it returns the digest.
//
// What is done to the network is done at odd instants: when a peer is taken down in the very instant in which it speaks,
// either may come first.
func chatter(t *testing.T, seed uint64) (digest [32]byte) {
	const odd = time.Second + 13
	inBubble(t, func(t *testing.T) {
		sim, ids := newNet(t, seed, 5, simnet.Options{MinLatency: time.Millisecond, MaxLatency: 80 * time.Millisecond, Loss: 0.1})
		var talking sync.WaitGroup
		defer talking.Wait()
		defer sim.Close()
		up := func(i int) {
			n := start(t, sim, ids[i])
			serve(t, n)
			talking.Go(func() { talk(t, n, ids[(i+1)%5]) })
		}
		for i := range ids {
			up(i)
		}
		time.Sleep(odd)
		sim.Partition(ids[:2])
		time.Sleep(odd)
		sim.Crash(ids[4])
		time.Sleep(odd)
		sim.Heal()
		up(4)
		time.Sleep(2 * odd)
		digest = sim.Digest()
	})
	return digest
}

func serve(t *testing.T, n p2p.Network) {
	_, err := p2p.ServeRequests(n, "echo", p2p.RequestLimits{MaxRequest: 1 << 10},
		func(_ context.Context, _ p2p.PeerID, req []byte) ([]byte, error) { return req, nil })
	if err != nil {
		t.Error(err)
	}
}

// talk publishes, answers what it hears up to three times, and asks a peer, until its network closes.
func talk(t *testing.T, n p2p.Network, peer p2p.PeerID) {
	var topic p2p.Topic
	ready := make(chan struct{})
	topic, err := n.Join("chat", p2p.TopicOptions{MaxSize: 100, Handle: func(m *p2p.Message) {
		if <-ready; len(m.Data) < 3 {
			topic.Publish(context.Background(), append(slices.Clone(m.Data), 'x'))
		}
	}})
	if err != nil {
		t.Error(err)
		return
	}
	close(ready)
	for {
		time.Sleep(100 * time.Millisecond)
		if topic.Publish(context.Background(), nil) != nil {
			return
		}
		p2p.Request(context.Background(), n, peer, "echo", make([]byte, 1000), 1000)
	}
}

func TestOneSeedIsOneHistory(t *testing.T) {
	first := chatter(t, 1)
	for range 4 {
		if got := chatter(t, 1); got != first {
			t.Fatalf("seed 1 gave %x, then %x", first, got)
		}
	}
	if chatter(t, 2) == first {
		t.Error("seed 2 gave the history of seed 1")
	}
}

// box collects messages.
type box struct {
	mu   sync.Mutex
	msgs []*p2p.Message
}

func (b *box) add(m *p2p.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.msgs = append(b.msgs, m)
}

func (b *box) data() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []int
	for _, m := range b.msgs {
		out = append(out, int(m.Data[0])<<8|int(m.Data[1]))
	}
	return out
}

// joined starts all peers of a net, joins them to one topic and waits until they are connected.
func joined(t *testing.T, sim *simnet.Net, ids []p2p.PeerID) (nets []p2p.Network, topics []p2p.Topic, boxes []*box) {
	for _, id := range ids {
		n, b := start(t, sim, id), new(box)
		topic, err := n.Join("t", p2p.TopicOptions{MaxSize: 100, PerAuthor: p2p.Rate{PerSecond: 1e6, Burst: 1e6}, Handle: b.add})
		if err != nil {
			t.Fatal(err)
		}
		nets, topics, boxes = append(nets, n), append(topics, topic), append(boxes, b)
	}
	time.Sleep(time.Second)
	return nets, topics, boxes
}

func publish(t *testing.T, topic p2p.Topic, k int) {
	t.Helper()
	if err := topic.Publish(t.Context(), []byte{byte(k >> 8), byte(k)}); err != nil {
		t.Fatal(err)
	}
}

func TestLossAndReordering(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		sim, ids := newNet(t, 7, 2, simnet.Options{MinLatency: 0, MaxLatency: 50 * time.Millisecond, Loss: 0.25})
		defer sim.Close()
		_, topics, boxes := joined(t, sim, ids)
		const sent = 4000
		for k := range sent {
			publish(t, topics[0], k)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		got := boxes[1].data()
		if n := len(got); n < sent*70/100 || n > sent*80/100 {
			t.Errorf("%d of %d arrived, want about three quarters", n, sent)
		}
		if slices.IsSorted(got) {
			t.Error("all arrived in order")
		}
		slices.Sort(got)
		if n := len(slices.Compact(got)); n != len(boxes[1].data()) {
			t.Errorf("%d messages arrived twice", len(boxes[1].data())-n)
		}
	})
}

func TestPartitionAndHeal(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		sim, ids := newNet(t, 7, 4, simnet.Options{})
		defer sim.Close()
		nets, topics, boxes := joined(t, sim, ids)
		serve(t, nets[3])
		s, err := nets[0].Open(t.Context(), ids[3], "echo")
		if err != nil {
			t.Fatal(err)
		}
		publish(t, topics[0], 1) // still under way when the network splits
		sim.Partition(ids[:2], ids[2:])
		if _, err := s.Read(make([]byte, 1)); err == nil || err == io.EOF {
			t.Errorf("stream across the partition: %v", err)
		}
		s.Close()
		time.Sleep(time.Second)
		publish(t, topics[0], 2)
		time.Sleep(time.Second)
		for i, want := range [][]int{nil, {1, 2}, nil, nil} {
			if got := boxes[i].data(); !slices.Equal(got, want) {
				t.Errorf("peer %d of the split network got %v, want %v", i, got, want)
			}
		}
		if got := nets[0].Connected(); !slices.Equal(got, ids[1:2]) {
			t.Errorf("connected in the partition: %v", got)
		}
		if _, err := nets[0].Open(t.Context(), ids[3], "echo"); !errors.Is(err, p2p.ErrNotConnected) {
			t.Errorf("open across the partition: %v", err)
		}
		sim.Heal()
		time.Sleep(time.Second)
		publish(t, topics[0], 3)
		if _, err := p2p.Request(t.Context(), nets[0], ids[3], "echo", []byte("x"), 1); err != nil {
			t.Errorf("request after healing: %v", err)
		}
		time.Sleep(time.Second)
		for _, i := range []int{2, 3} {
			if got := boxes[i].data(); !slices.Equal(got, []int{3}) {
				t.Errorf("peer %d after healing got %v, want only 3", i, got)
			}
		}
	})
}

func TestCrashAndRestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		sim, ids := newNet(t, 7, 3, simnet.Options{})
		defer sim.Close()
		nets, topics, boxes := joined(t, sim, ids)
		publish(t, topics[2], 1) // under way when it crashes, and lost with it
		sim.Crash(ids[2])
		sim.Crash(ids[2])
		publish(t, topics[0], 2)
		if err := topics[2].Publish(t.Context(), []byte{0, 9}); !errors.Is(err, p2p.ErrClosed) {
			t.Errorf("publish of a crashed peer: %v", err)
		}
		time.Sleep(time.Second)
		if got := nets[0].Connected(); !slices.Equal(got, ids[1:2]) {
			t.Errorf("connected after the crash: %v", got)
		}
		if got := boxes[2].data(); len(got) != 0 {
			t.Errorf("the crashed peer got %v", got)
		}
		if _, err := sim.Start(ids[0]); err == nil {
			t.Error("a peer that is up was started")
		}
		again := start(t, sim, ids[2])
		b := new(box)
		if _, err := again.Join("t", p2p.TopicOptions{MaxSize: 100, Handle: b.add}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		publish(t, topics[0], 3)
		time.Sleep(time.Second)
		if got := b.data(); !slices.Equal(got, []int{3}) {
			t.Errorf("the restarted peer got %v, want only 3", got)
		}
		if got := boxes[1].data(); !slices.Equal(got, []int{2, 3}) {
			t.Errorf("another peer got %v, want 2 and 3: what a crashed peer sent breaks with its connection", got)
		}
	})
}

func TestABanEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		sim, ids := newNet(t, 7, 2, simnet.Options{})
		defer sim.Close()
		a, b := start(t, sim, ids[0]), start(t, sim, ids[1])
		from, err := a.Join("t", p2p.TopicOptions{MaxSize: 1, Handle: func(*p2p.Message) {}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Join("t", p2p.TopicOptions{MaxSize: 1, Handle: func(*p2p.Message) {}, Validate: func(*p2p.Message) p2p.Verdict { return p2p.Reject }})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for range 17 {
			if err := from.Publish(t.Context(), []byte{1}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if got := b.Connected(); len(got) != 0 {
			t.Errorf("connected to %v, want nobody: it was rejected 17 times", got)
		}
		time.Sleep(time.Minute)
		if got := b.Connected(); len(got) != 1 {
			t.Errorf("connected to %v a minute later, want one", got)
		}
	})
}

func TestRealTime(t *testing.T) {
	sim, ids := newNet(t, 7, 2, simnet.Options{MaxLatency: time.Millisecond})
	defer sim.Close()
	a, b := start(t, sim, ids[0]), start(t, sim, ids[1])
	serve(t, b)
	p2ptest.Eventually(t, "connected", func() bool { return len(a.Connected()) == 1 })
	if got, err := p2p.Request(t.Context(), a, ids[1], "echo", []byte("x"), 1); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNewAndPartitionRefuseNonsense(t *testing.T) {
	ids := peerIDs(t, 2)
	for name, o := range map[string]simnet.Options{
		"latencies crossed": {MinLatency: 2, MaxLatency: 1},
		"negative latency":  {MinLatency: -1, MaxLatency: 1},
		"loss above one":    {Loss: 1.1},
		"negative loss":     {Loss: -0.1},
	} {
		if _, err := simnet.New(1, ids, o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := simnet.New(1, append(ids, ids[0]), simnet.Options{}); err == nil {
		t.Error("a peer twice: accepted")
	}
	sim, _ := newNet(t, 1, 2, simnet.Options{})
	defer sim.Close()
	if _, err := sim.Start("nobody"); !errors.Is(err, p2p.ErrUnknownPeer) {
		t.Errorf("start of a stranger: %v", err)
	}
	for name, groups := range map[string][][]p2p.PeerID{"twice": {ids, ids[:1]}, "stranger": {{"nobody"}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			sim.Partition(groups...)
		}()
	}
	sim.Close()
	if _, err := sim.Start(ids[0]); !errors.Is(err, p2p.ErrClosed) {
		t.Errorf("start on a closed network: %v", err)
	}
}
