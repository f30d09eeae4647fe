package proctest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestSoakKills does to the validators whatever comes up, again and again: DAYBREAK_SOAK says for how long. Without it, it
// does one thing.
func TestSoakKills(t *testing.T) {
	t.Parallel()
	var soak time.Duration
	if text := os.Getenv("DAYBREAK_SOAK"); text != "" {
		var err error
		if soak, err = time.ParseDuration(text); err != nil {
			t.Fatalf("DAYBREAK_SOAK: %v", err)
		}
	}
	c, a, l := startNetwork(t)
	l.progress("entries run at all")
	end := time.Now().Add(soak)
	for round := 1; ; round++ {
		height, _, _ := a.newest()
		c.note("round %d, block %d, %d entries accepted", round, height, len(l.accepted(c.began)))
		c.trouble(soak > 0)
		c.caughtUp(a)
		c.keyFor("keys are made again")
		l.progress("entries run again")
		if time.Now().After(end) {
			break
		}
	}
	l.settle()
}

// trouble does one bad thing and undoes it.
func (c *cluster) trouble(long bool) {
	c.Helper()
	c.moment(time.Second)
	switch n := c.rng.IntN(20); {
	case n < 1 && long:
		c.killSome(2, 30*time.Second, 50*time.Second) // beyond the grace of sealed entries
	case n < 8:
		c.killSome(1, 0, 6*time.Second)
	case n < 13:
		c.killSome(2, 0, 8*time.Second)
	case n < 15:
		c.killSome(validators, 0, 2*time.Second)
	case n < 16:
		c.crashLoop(c.pick(c.members[:]))
	case n < 17:
		m := c.pick(c.members[:])
		c.kill(m)
		c.note("%s loses its store of keys", m.Name)
		c.remove(m, "keys")
		c.start(m)
	default:
		c.freeze(c.pick(c.members[:]), time.Duration(c.rng.Int64N(int64(6*time.Second))))
	}
}

// killSome kills some validators together and starts them again, one by one, after a time between the given ones.
func (c *cluster) killSome(n int, least, most time.Duration) {
	c.Helper()
	victims := append([]*member(nil), c.members[:]...)
	c.rng.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	c.kill(victims[:n]...)
	c.pause(least)
	c.moment(most - least)
	for _, m := range victims[:n] {
		c.start(m)
		c.moment(500 * time.Millisecond)
	}
}

// crashLoop kills a validator several times while it is starting.
func (c *cluster) crashLoop(m *member) {
	c.Helper()
	for range 3 {
		c.kill(m)
		c.start(m)
		c.moment(1500 * time.Millisecond)
	}
}

// freeze stops a validator's clock hands for a while: to the others it is gone, and it does not know. The shell that lets
// it go on does so even if this test is killed meanwhile.
func (c *cluster) freeze(m *member, d time.Duration) {
	c.Helper()
	c.note("freeze %s for %s, leader: %t", m.Name, d, m == c.leader())
	script := fmt.Sprintf("kill -STOP %d; sleep %.3f; kill -CONT %[1]d", m.PID(), d.Seconds())
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		c.Fatalf("freezing %s: %v: %s", m.Name, err, out)
	}
	c.note("%s goes on", m.Name)
}
