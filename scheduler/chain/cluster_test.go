package chain_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// validator is one member of a cluster: chain, log and producer.
type validator struct {
	*replica
	log      *chain.Log
	producer *chain.Producer
}

// cluster runs whole validators over loopback connections. The test is their clock.
type cluster struct {
	t       *testing.T
	genesis *chain.Genesis
	net     *network
	dir     string
	now     uint64
	up      map[uint32]*validator
}

func newCluster(t *testing.T, n int) *cluster {
	c := &cluster{t: t, genesis: testGenesis(n), net: newNetwork(), dir: t.TempDir(), now: testTime, up: make(map[uint32]*validator)}
	for i := range n {
		c.start(uint32(i + 1))
	}
	t.Cleanup(func() {
		for index := range c.up {
			c.stop(index)
		}
	})
	return c
}

func (c *cluster) start(index uint32) {
	c.t.Helper()
	v := &validator{replica: newReplica(c.t, c.genesis)}
	log, err := chain.OpenLog(chain.LogConfig{
		Dir: filepath.Join(c.dir, fmt.Sprint(index)), Genesis: c.genesis, Self: index, Machine: v.Chain,
		Listener: c.net.listen(c.t, index), Dial: c.net.dial, SnapshotEvery: 50, TrailingLogs: 1,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	v.log = log
	v.producer = &chain.Producer{Chain: v.Chain, Log: log, Self: index, Signer: networkKey(index), Keys: func(slots []uint64) (keys []scheduler.SlotKey) {
		for _, slot := range slots {
			keys = append(keys, v.app.dealer.slotKey(v.Namespace(), slot))
		}
		return keys
	}}
	c.up[index] = v
}

func (c *cluster) stop(index uint32) {
	c.t.Helper()
	if err := c.up[index].log.Close(); err != nil {
		c.t.Fatal(err)
	}
	delete(c.up, index)
}

// tick lets a second pass: whoever leads makes its block.
func (c *cluster) tick() *chain.Block {
	c.t.Helper()
	c.now++
	var block *chain.Block
	eventually(c.t, fmt.Sprintf("someone makes the block of %d", c.now), func() bool {
		for _, v := range c.up {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			b, err := v.producer.Produce(ctx, time.Unix(int64(c.now), 400_000_000))
			cancel()
			if err != nil {
				c.t.Logf("block of %d: %v", c.now, err)
			}
			if b != nil {
				block = b
				return true
			}
		}
		return false
	})
	return block
}

func (c *cluster) proposeCeremony(entry string) {
	c.t.Helper()
	eventually(c.t, "a ceremony entry is taken", func() bool {
		for _, v := range c.up {
			if v.producer.ProposeCeremony(c.t.Context(), []byte(entry)) == nil {
				return true
			}
		}
		return false
	})
}

func (c *cluster) send(raw ...[]byte) {
	c.t.Helper()
	for _, v := range c.up {
		for _, tx := range raw {
			if _, err := v.Mempool().Add(tx); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// agree waits until every validator that is up has the newest head, and returns it.
func (c *cluster) agree() chain.Head {
	c.t.Helper()
	var head chain.Head
	eventually(c.t, "all validators have one head", func() bool {
		heads := make(map[chain.Head]bool)
		for _, v := range c.up {
			head = v.Head()
			heads[head] = true
		}
		return len(heads) == 1 && head.Time == c.now
	})
	return head
}

func (c *cluster) leader() uint32 {
	for index, v := range c.up {
		if v.log.Status().Leading {
			return index
		}
	}
	return 0
}

func TestClusterKeepsItsPromisesWhileMembersComeAndGo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4)
	c.tick()
	c.proposeCeremony("deal")
	c.proposeCeremony("done")
	for range 3 {
		c.tick()
	}
	c.send(alice.fund(0)...)
	c.tick()
	c.agree()
	for _, v := range c.up {
		if v.GroupKey() == nil {
			t.Fatal("no group key three blocks after the ceremony")
		}
	}
	runs := make(map[uint64]int) // of each entry, in any block
	tick := func() {
		c.t.Helper()
		b := c.tick()
		for _, raw := range b.Transactions {
			if raw[0] == scheduler.SystemTxType {
				runs[1+uint64(len(runs))]++
			}
		}
	}
	scheduleSealed := func(nonce uint64) {
		c.t.Helper()
		var any *validator
		for _, v := range c.up {
			any = v
		}
		c.send(alice.scheduleSealed(t, any.Chain, any.app.dealer, nonce, c.now+3, fmt.Sprint("entry ", nonce)))
	}

	scheduleSealed(2)
	tick()
	c.agree()
	first := c.leader()
	c.stop(first) // the leader dies with an entry waiting
	for range 4 {
		tick()
	}
	c.agree()
	scheduleSealed(3)
	tick()
	c.start(first)
	c.agree()
	second := c.leader()
	for second == 0 {
		second = c.leader()
	}
	c.stop(second)
	for range 6 {
		tick()
	}
	for _, v := range c.up { // a member that is away now must come back by a snapshot
		if err := v.log.Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
	scheduleSealed(4)
	for range 5 {
		tick()
	}
	c.start(second)
	tick()
	head := c.agree()
	for id := uint64(1); id <= 3; id++ {
		for index, v := range c.up {
			if got := v.Scheduler().Status(id); got != scheduler.Executed {
				t.Errorf("validator %d: entry %d has status %d, want Executed", index, id, got)
			}
		}
	}
	if len(runs) != 3 {
		t.Errorf("%d runs of three entries", len(runs))
	}
	for index, v := range c.up {
		if got := v.app.applied; !slices.Equal(got, []string{"deal", "done"}) {
			t.Errorf("validator %d saw the ceremony entries %q", index, got)
		}
	}

	for index := range c.up { // all at once: everything comes from disk
		c.stop(index)
	}
	for i := range 4 {
		c.start(uint32(i + 1))
	}
	if again := c.agree(); again != head {
		t.Errorf("after a restart of all the head is %+v, it was %+v", again, head)
	}
	tick()
	c.agree()
}

func TestClusterWaitsForAMajority(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4)
	c.tick()
	c.agree()
	c.stop(1)
	c.stop(2)
	c.now++
	for _, v := range c.up {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		b, err := v.producer.Produce(ctx, time.Unix(int64(c.now), 0))
		cancel()
		if b != nil {
			t.Fatalf("two of four made block %d (error %v)", b.Header.Number, err)
		}
	}
	c.start(1)
	c.tick()
	c.agree()
}

func TestReplayedBlocksAreMarked(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	for range 3 {
		c.tick()
	}
	c.stop(1)
	g := c.genesis
	fresh, err := chain.New(chain.Config{Genesis: g})
	if err != nil {
		t.Fatal(err)
	}
	sub := fresh.Subscribe(16)
	defer sub.Close()
	log, err := chain.OpenLog(chain.LogConfig{
		Dir: filepath.Join(c.dir, "1"), Genesis: g, Self: 1, Machine: fresh, Listener: c.net.listen(t, 1), Dial: c.net.dial,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	eventually(t, "it leads again", func() bool { ok, err := log.Lead(t.Context()); return ok && err == nil })
	producer := &chain.Producer{Chain: fresh, Log: log, Self: 1, Signer: networkKey(1), Keys: func([]uint64) []scheduler.SlotKey { return nil }}
	if b, err := producer.Produce(t.Context(), time.Unix(testTime+9, 0)); b == nil || err != nil {
		t.Fatalf("block %v, error %v", b, err)
	}
	for want := uint64(1); want <= 4; want++ {
		e, dropped, err := sub.Next(t.Context())
		if err != nil || dropped != 0 || e.Block == nil || e.Block.Block.Header.Number != want {
			t.Fatalf("event %+v, %d dropped, error %v; want block %d", e, dropped, err, want)
		}
		if e.Replay != (want <= 3) {
			t.Errorf("block %d: replay %v", want, e.Replay)
		}
	}
}

func TestSlowSubscriberLosesTheOldest(t *testing.T) {
	r := newReplica(t, testGenesis(1))
	slow := r.Subscribe(2)
	defer slow.Close()
	for range 5 {
		r.step(t, nil, nil)
	}
	e, dropped, err := slow.Next(t.Context())
	if err != nil || dropped != 3 || e.Block.Block.Header.Number != 4 {
		t.Errorf("got block %d, %d dropped, error %v; want block 4 and 3 dropped", e.Block.Block.Header.Number, dropped, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, dropped, err := slow.Next(ctx); err != nil || dropped != 0 {
		t.Errorf("what is there comes even after the end of the context: %d dropped, error %v", dropped, err)
	}
	if _, _, err := slow.Next(ctx); err == nil {
		t.Error("an empty queue must return with the context")
	}
}
