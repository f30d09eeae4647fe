package proctest

import (
	"fmt"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/devnet"
)

// startNetwork starts a network, waits for its keys, and puts audit and load on it.
func startNetwork(t *testing.T) (*cluster, *audit, *load) {
	t.Helper()
	c := newCluster(t, devnet.Options{})
	c.start(c.members[:]...)
	c.ready()
	a := startAudit(c)
	return c, a, startLoad(c, a)
}

// restart starts members and waits until they have shown that they have every block that any validator had.
func (c *cluster) restart(a *audit, members ...*member) {
	c.Helper()
	c.start(members...)
	c.caughtUp(a)
}

// caughtUp waits until all running members have shown that they have every block that any validator had.
func (c *cluster) caughtUp(a *audit) {
	c.Helper()
	height, _, _ := a.newest()
	for i, m := range c.members {
		if m.alive() {
			c.until(fmt.Sprintf("%s has caught up with block %d", m.Name, height), func() error { return a.readTo(i, m, height) })
		}
	}
}

// TestKillOneOfFour kills each validator in turn, the leader first, at any moment, and starts it again. Three of four go on.
// While one is away every key needs the partial of each of the others, so the key of a slot that began after a kill shows
// that those that came back before sign again.
func TestKillOneOfFour(t *testing.T) {
	t.Parallel()
	c, a, l := startNetwork(t)
	l.progress("entries run at all")
	first := c.leader()
	var others []*member
	for _, m := range c.members {
		if m != first {
			others = append(others, m)
		}
	}
	c.rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	for _, m := range append([]*member{first}, others...) {
		c.moment(time.Second)
		c.note("next: %s, leader: %t", m.Name, m == c.leader())
		c.kill(m)
		c.keyFor("the other three make keys")
		l.progress("the other three run entries")
		c.restart(a, m)
	}
	c.keyFor("all four make keys")
	l.settle()
}
