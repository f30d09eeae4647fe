package proctest

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/devnet"
)

// TestKillDuringCeremony kills one validator in each phase of one and the same ceremony, and starts it again.
func TestKillDuringCeremony(t *testing.T) {
	t.Parallel()
	c := newCluster(t, devnet.Options{PhaseTimeout: 30})
	phases := make(chan string, 64)
	c.book.onLine(func(_, text string) {
		if _, phase, ok := strings.Cut(text, "ceremony: phase "); ok {
			select {
			case phases <- strings.Fields(phase)[0]:
			default: // the test has seen enough
			}
		}
	})
	c.start(c.members[:]...)
	c.moment(1500 * time.Millisecond) // members announce themselves as soon as they run
	c.killAndRestart("announce")
	seen := make(map[string]bool)
	deadline := time.After(patience)
	for !seen["confirm"] {
		select {
		case phase := <-phases:
			if !seen[phase] {
				seen[phase] = true
				c.moment(300 * time.Millisecond)
				c.killAndRestart(phase)
			}
		case <-deadline:
			c.Fatalf("the ceremony did not reach the phase confirm; phases seen: %v", seen)
		}
	}
	c.book.onLine(nil)
	l := startLoad(c, c.afterCeremony())
	l.progress("entries run under the ceremony's key")
	l.settle()
}

// killAndRestart kills a validator now and starts it a moment later.
func (c *cluster) killAndRestart(phase string) {
	m := c.pick(c.members[:])
	c.note("ceremony in phase %s", phase)
	c.kill(m)
	c.moment(time.Second)
	c.start(m)
}

// TestKillAllDuringCeremony kills all validators at some moment of the ceremony.
func TestKillAllDuringCeremony(t *testing.T) {
	t.Parallel()
	c := newCluster(t, devnet.Options{PhaseTimeout: 30})
	c.start(c.members[:]...)
	c.moment(4 * time.Second)
	c.kill(c.members[:]...)
	c.start(c.members[:]...)
	c.afterCeremony()
}

// TestCeremonyWithTooLittleTime lets attempts fail: a phase may last one second, and a validator is away for longer. A later
// attempt, with all of them there, makes the key.
func TestCeremonyWithTooLittleTime(t *testing.T) {
	t.Parallel()
	c := newCluster(t, devnet.Options{PhaseTimeout: 1})
	failed := make(chan struct{}, 64)
	c.book.onLine(func(_, text string) {
		if strings.Contains(text, "ceremony attempt failed") {
			select {
			case failed <- struct{}{}:
			default:
			}
		}
	})
	late := c.pick(c.members[:])
	for _, m := range c.members {
		if m != late {
			c.start(m)
		}
	}
	select {
	case <-failed:
	case <-time.After(patience):
		c.Fatal("no attempt failed with a member missing")
	}
	c.book.onLine(nil)
	c.moment(time.Second)
	c.start(late)
	c.afterCeremony()
}

// afterCeremony waits for the ceremony's end and checks it: one key, a share for each, no seed left, and every share of use.
func (c *cluster) afterCeremony() *audit {
	c.Helper()
	c.ready()
	key := c.sameKey()
	c.note("group key %s…", key[:18])
	for _, m := range c.members {
		info, err := os.Stat(m.Home.Path("ceremony", "share-1"))
		if err != nil || info.Mode().Perm() != 0o600 {
			c.Errorf("share of %s: mode %v, %v; want a file of mode 0600", m.Name, info, err)
		}
		left, err := fs.Glob(os.DirFS(m.Home.Path("ceremony")), "seed-*")
		if err != nil || len(left) > 0 {
			c.Errorf("%s has kept its seeds %v after the ceremony: %v", m.Name, left, err)
		}
	}
	a := startAudit(c)
	// With one away each of the others has to sign.
	for _, m := range c.members {
		c.kill(m)
		c.keyFor(fmt.Sprintf("the shares of all but %s make a key", m.Name))
		c.restart(a, m)
	}
	a.check(c)
	if now := c.sameKey(); now != key {
		c.Errorf("the group key was %s and is %s", key, now)
	}
	return a
}
