package proctest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/devnet"
)

const (
	validators = 4
	// patience is how long anything may take that a quiet machine does in seconds. It says nothing about speed: it is
	// there so that a test that waits in vain ends.
	patience  = 90 * time.Second
	pollEvery = 50 * time.Millisecond
)

// cluster is a network under test. Its methods are the test goroutine's; what others read is atomic.
type cluster struct {
	*testing.T
	ctx     context.Context // ends with the test
	seed    uint64
	rng     *rand.Rand
	net     *devnet.Network
	book    *logBook
	members [validators]*member
	began   time.Time
	bg      sync.WaitGroup // the auditor's and the load's goroutines
}

// member is a validator's process and folder.
type member struct {
	*devnet.Node
	client *api.Client
	// life counts starts and kills: it is odd while the process should run.
	life atomic.Uint64
}

func (m *member) alive() bool { return m.life.Load()%2 == 1 }

// newCluster makes the network's folders. Nothing runs yet.
func newCluster(t *testing.T, o devnet.Options) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "daybreak-kills-*")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &cluster{T: t, ctx: ctx, seed: seedOf(t), began: time.Now()}
	c.rng = random(c.seed, t.Name())
	logs := filepath.Join(dir, "all.log")
	if c.book, err = newLogBook(logs); err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Validators, o.Exe, o.Output, o.LogLevel = filepath.Join(dir, "net"), validators, beacond, c.book, "debug"
	if c.net, err = devnet.New(o); err != nil {
		t.Fatal(err)
	}
	for i, v := range c.net.Nodes {
		client, err := api.NewClient(v.URL)
		if err != nil {
			t.Fatal(err)
		}
		c.members[i] = &member{Node: v, client: client}
	}
	t.Cleanup(func() {
		c.end(cancel)
		if t.Failed() {
			t.Logf("SEED=%d; the whole log and the folders are kept in %s", c.seed, dir)
			t.Logf("what was done:\n    %s", c.book.tail("test"))
			for _, m := range c.members {
				t.Logf("end of the log of %s:\n    %s", m.Name, c.book.tail(m.Name))
			}
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return c
}

// end stops everything. Validators that a passing test left running have to stop cleanly.
func (c *cluster) end(cancel func()) {
	cancel()
	c.bg.Wait()
	for _, m := range c.members {
		m.client.Close()
		if c.Failed() {
			if err := m.Kill(); err != nil {
				c.Errorf("killing %s: %v", m.Name, err)
			}
		}
	}
	if err := c.net.Close(); err != nil && !c.Failed() {
		c.Errorf("stopping: %v", err)
	}
}

// note tells what the test does, in its own output and among the validators' lines.
func (c *cluster) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.book.note(text)
	c.Logf("%6.2fs %s", time.Since(c.began).Seconds(), text)
}

// start starts validators that do not run.
func (c *cluster) start(members ...*member) {
	c.Helper()
	c.note("start %s", names(members))
	for _, m := range members {
		c.startWith(m)
	}
}

// startWith starts a validator with more flags.
func (c *cluster) startWith(m *member, flags ...string) {
	c.Helper()
	if err := c.net.Start(m.Node, flags...); err != nil {
		c.Fatal(err)
	}
	m.life.Add(1)
}

// kill ends validators as a crash would: kill -9.
func (c *cluster) kill(members ...*member) {
	c.Helper()
	c.note("kill -9 %s", names(members))
	var wg sync.WaitGroup
	errs := make([]error, len(members))
	for i, m := range members {
		m.life.Add(1)
		wg.Go(func() { errs[i] = m.Kill() })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		c.Fatal(err)
	}
}

func names(members []*member) string {
	var out []string
	for _, m := range members {
		out = append(out, m.Name)
	}
	return strings.Join(out, " ")
}

// alive returns the members that should run.
func (c *cluster) alive() (out []*member) {
	for _, m := range c.members {
		if m.alive() {
			out = append(out, m)
		}
	}
	return out
}

// until polls f until it returns nil; the test fails with its last error if that takes too long. A validator that ends by
// itself fails the test at once.
func (c *cluster) until(what string, f func() error) {
	c.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := f()
		if err == nil {
			return
		}
		for _, m := range c.members {
			if m.alive() && !m.Running() {
				c.Fatalf("waiting until %s: %s has ended by itself", what, m.Name)
			}
		}
		if time.Now().After(deadline) {
			c.Fatalf("waited %s in vain until %s: %v", patience, what, err)
		}
		c.pause(pollEvery)
	}
}

// pause lets d pass, or what is left of the test.
func (c *cluster) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.ctx.Done():
	}
}

// moment lets a random part of d pass: a kill may fall anywhere within a second.
func (c *cluster) moment(d time.Duration) { c.pause(time.Duration(c.rng.Int64N(int64(d)))) }

// ready waits until all running members have the group key and keys of slots.
func (c *cluster) ready() {
	c.Helper()
	for _, m := range c.alive() {
		c.until(m.Name+" has the group key and a slot's key", func() error {
			info, err := m.client.Info(c.ctx)
			if err != nil {
				return err
			}
			if info.GroupKey == "" || info.LatestKey == 0 || info.CatchingUp {
				return fmt.Errorf("ceremony %s, latest key %d, catching up %t", info.Ceremony, info.LatestKey, info.CatchingUp)
			}
			return nil
		})
	}
	c.note("ready")
}

// leader returns the member that leads the log by the word of a running one that is connected to it.
func (c *cluster) leader() (leader *member) {
	c.Helper()
	c.until("a running member leads the log", func() error {
		for _, m := range c.alive() {
			info, err := m.client.Info(c.ctx)
			if err == nil && info.Leader > 0 && c.members[info.Leader-1].alive() {
				leader = c.members[info.Leader-1]
				return nil
			}
		}
		return errors.New("no leader is known")
	})
	return leader
}

// pick chooses one of the members.
func (c *cluster) pick(from []*member) *member { return from[c.rng.IntN(len(from))] }

// keyFor waits until a running member serves the key of a slot that began not before this call: so threshold of those that
// run now have signed it.
func (c *cluster) keyFor(what string) {
	c.Helper()
	slot := uint64(time.Now().Unix()) + 1
	c.until(what, func() error {
		var all error
		for _, m := range c.alive() {
			k, err := m.client.LatestKey(c.ctx)
			if err == nil && k.Slot >= slot {
				return nil
			}
			all = errors.Join(all, fmt.Errorf("%s: latest key %d, want %d: %w", m.Name, k.Slot, slot, err))
		}
		return all
	})
}
