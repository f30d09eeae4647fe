package dkg_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/big"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// cluster is n members, an observer, and the log they share.
type cluster struct {
	t        testing.TB
	cfg      dkg.Config // of all members; Self, Seed and Signer are each one's own
	keys     []ed25519.PrivateKey
	machines []*dkg.Machine // index i at i-1; the observer last
	log      [][]byte
	applied  []int    // entries of the log that each machine has applied
	pool     [][]byte // published and not yet in the log
	silent   map[uint32]bool
	void     uint32 // a member whose announcement is worth nothing, for view
}

func namespace(t testing.TB) tlock.Namespace {
	t.Helper()
	ns, err := tlock.NewNamespace(big.NewInt(4217), sha256.Sum256([]byte("genesis")))
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

func seedOf(parts ...any) dkg.Seed { return sha256.Sum256([]byte(fmt.Sprint(parts...))) }

func newCluster(t testing.TB, n int, change func(*dkg.Config)) *cluster {
	t.Helper()
	c := &cluster{t: t, cfg: dkg.Config{Namespace: namespace(t), Epoch: 1, Attempt: 1}, silent: map[uint32]bool{}}
	for i := range n {
		seed := seedOf("network key", i)
		key := ed25519.NewKeyFromSeed(seed[:])
		c.keys = append(c.keys, key)
		c.cfg.Members = append(c.cfg.Members, dkg.Member{Index: uint32(i + 1), NetworkKey: key.Public().(ed25519.PublicKey)})
	}
	if change != nil {
		change(&c.cfg)
	}
	for i := range n + 1 {
		c.machines = append(c.machines, c.start(i))
	}
	c.applied = make([]int, n+1)
	return c
}

func (c *cluster) n() int { return len(c.cfg.Members) }

// config returns the configuration of machine i, a member or, for n, the observer.
func (c *cluster) config(i int) dkg.Config {
	cfg := c.cfg
	if i < c.n() {
		cfg.Self, cfg.Seed, cfg.Signer = uint32(i+1), seedOf("seed", i, c.cfg.Attempt), c.keys[i]
	}
	return cfg
}

// start makes machine i anew.
func (c *cluster) start(i int) *dkg.Machine {
	c.t.Helper()
	m, err := dkg.New(c.config(i))
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// publish takes entries into the pool, unless their author is silent.
func (c *cluster) publish(i int, entries [][]byte) {
	if !c.silent[uint32(i+1)] {
		c.pool = append(c.pool, entries...)
	}
}

// order puts an entry into the log.
func (c *cluster) order(entries ...[]byte) { c.log = append(c.log, entries...) }

// step lets machine i apply its next entry.
func (c *cluster) step(i int) error {
	step, err := c.machines[i].Apply(c.log[c.applied[i]])
	c.applied[i]++
	c.publish(i, step.Publish)
	return err
}

// catchUp lets all machines apply the whole log; every error is passed to check, if there is one.
func (c *cluster) catchUp(check func(i int, err error)) {
	for i := range c.machines {
		for c.applied[i] < len(c.log) {
			if err := c.step(i); err != nil && check != nil {
				check(i, err)
			}
		}
	}
}

// settle orders and applies whatever is published until nothing is left.
func (c *cluster) settle() {
	c.t.Helper()
	for len(c.pool) > 0 {
		c.flush()
	}
}

// flush orders what is published so far and applies it.
func (c *cluster) flush() {
	pool := c.pool
	c.pool = nil
	c.order(pool...)
	c.catchUp(nil)
}

// begin publishes the first entries.
func (c *cluster) begin() {
	for i, m := range c.machines {
		c.publish(i, m.Pending())
	}
}

// timeout lets all members that are not silent sign the timeout of the present phase.
func (c *cluster) timeout() {
	for i, m := range c.machines {
		c.publish(i, m.Timeout())
	}
}

// run plays the ceremony to its end, with as many timeouts as it takes.
func (c *cluster) run() {
	c.t.Helper()
	c.begin()
	c.finish()
}

// finish goes on to the end.
func (c *cluster) finish() {
	c.t.Helper()
	c.settle()
	for range 5 {
		if c.over() {
			return
		}
		c.timeout()
		c.settle()
	}
	if !c.over() {
		c.t.Fatalf("not over after five timeouts: %+v", c.machines[0].Status())
	}
}

func (c *cluster) over() bool {
	phase := c.machines[c.n()].Status().Phase
	return phase == dkg.PhaseDone || phase == dkg.PhaseFailed
}

// group checks that all machines ended with one group, that the members named, and no others, have a share of it, and that
// whichever threshold of these make its keys. It returns the group.
func (c *cluster) group(withShare ...uint32) *partials.Group {
	c.t.Helper()
	g, have := c.outcome()
	if fmt.Sprint(have) != fmt.Sprint(withShare) {
		c.t.Errorf("members %v have shares, want %v", have, withShare)
	}
	return g
}

func (c *cluster) outcome() (*partials.Group, []uint32) {
	c.t.Helper()
	want := c.machines[c.n()].Result()
	if want == nil {
		c.t.Fatalf("the observer has no result: failure %+v, status %+v", c.machines[c.n()].Failure(), c.machines[c.n()].Status())
	}
	if !want.Share.IsZero() {
		c.t.Error("the observer has a share")
	}
	id := tlock.SlotIdentity(7)
	q := partials.Prepare(want.Group.Namespace(), id)
	var sigs []partials.Partial
	var have []uint32
	for i, m := range c.machines[:c.n()] {
		r := m.Result()
		if r == nil {
			c.t.Fatalf("member %d has no result: failure %+v, status %+v", i+1, m.Failure(), m.Status())
		}
		if !r.Group.Equal(want.Group) || r.Transcript != want.Transcript || fmt.Sprint(r.Qual) != fmt.Sprint(want.Qual) {
			c.t.Errorf("member %d has another group, transcript or list of dealers", i+1)
		}
		if r.Share.IsZero() {
			continue
		}
		have = append(have, r.Share.Index())
		sigs = append(sigs, r.Share.Sign(q))
	}
	if bad := want.Group.VerifyBatch(q, sigs, nil); len(bad) != 0 {
		c.t.Errorf("bad partials of members %v", bad)
	}
	t := want.Group.Threshold()
	for from := 0; from+t <= len(sigs); from++ {
		key, _, err := want.Group.Recover(q, sigs[from:from+t], nil)
		if err != nil {
			c.t.Fatalf("recovering from members %v: %v", have[from:from+t], err)
		}
		if err := want.Group.Key().Verify(want.Group.Namespace(), id, key); err != nil {
			c.t.Error(err)
		}
	}
	return want.Group, have
}

// failed checks that all machines failed alike, and returns the failure.
func (c *cluster) failed() *dkg.Failure {
	c.t.Helper()
	want := c.machines[c.n()].Failure()
	if want == nil {
		c.t.Fatalf("the observer has no failure: %+v", c.machines[c.n()].Status())
	}
	for i, m := range c.machines {
		got := m.Failure()
		if got == nil || fmt.Sprint(*got) != fmt.Sprint(*want) {
			c.t.Errorf("machine %d: failure %+v, want %+v", i+1, got, want)
		}
	}
	return want
}

func all(n int) (out []uint32) {
	for i := range n {
		out = append(out, uint32(i+1))
	}
	return out
}
