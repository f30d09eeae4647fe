package proctest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// TestTwoDown kills two of four. The two that are left are one too few: no key, no block, nothing opens. Nothing is lost
// either: with a third one back, what was due meanwhile opens.
func TestTwoDown(t *testing.T) {
	t.Parallel()
	c, a, l := startNetwork(t)
	l.progress("entries run at all")
	victims := append([]*member(nil), c.members[:]...)
	c.rng.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	victims = victims[:2]
	c.moment(time.Second)
	c.note("next: %s, leader: %s", names(victims), c.leader().Name)
	c.kill(victims...)
	// What a validator does for a slot or block it does when that second is over or has come, so the dead ones did nothing
	// for these and those after.
	firstSlot := uint64(time.Now().Unix())
	l.standstill(firstSlot)
	c.health(http.StatusServiceUnavailable)
	c.restart(a, victims[0])
	c.keyFor("three make keys")
	c.health(http.StatusOK)
	l.progress("three run entries")
	c.restart(a, victims[1])
	l.settle()
}

// standstill watches, for some slots that sealed entries wait for, that no key of a slot from first on and no later block
// appears.
func (l *load) standstill(first uint64) {
	c := l.c
	c.Helper()
	var due []*entry // sealed and accepted, of slots that end while the network stands still
	for _, e := range l.accepted(c.began) {
		if e.sealed && e.slot >= first {
			due = append(due, e)
		}
	}
	last := first + 5
	for _, e := range due {
		last = max(last, e.slot+1)
	}
	c.note("two of four: nothing may open from slot %d on; %d sealed entries are due by slot %d", first, len(due), last)
	c.until("some slots have passed", func() error {
		l.audit.check(c)
		_, timestamp, newest := l.audit.newest()
		if timestamp > first {
			c.Fatalf("two of four made a block of second %d, after two were killed in second %d", timestamp, first)
		}
		if newest >= first {
			c.Fatalf("two of four made the key of slot %d, and two were killed before it was over", newest)
		}
		for _, m := range c.alive() {
			for _, e := range due {
				l.stillSealed(m, e)
			}
		}
		if now := uint64(time.Now().Unix()); now <= last {
			return fmt.Errorf("it is second %d, want %d", now, last+1)
		}
		return nil
	})
}

// health waits until every running validator tells its operator how it is, by this status.
func (c *cluster) health(want int) {
	c.Helper()
	for _, m := range c.alive() {
		c.until(fmt.Sprintf("%s answers /healthz with %d", m.Name, want), func() error {
			resp, err := http.Get(m.OperatorURL + "/healthz")
			if err != nil {
				return err
			}
			text, err := io.ReadAll(resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil {
				return err
			}
			if resp.StatusCode != want {
				return fmt.Errorf("%s: %s", resp.Status, text)
			}
			return nil
		})
	}
}

// stillSealed asks for the entry and, as a client may, for its slot's key.
func (l *load) stillSealed(m *member, e *entry) {
	c := l.c
	c.Helper()
	if got, err := m.client.Entry(c.ctx, e.id); err == nil && (got.Status != "scheduled" || !got.Sealed) {
		c.Fatalf("entry %d sealed to slot %d is %s (sealed: %t) at %s while two of four are down", e.id, e.slot, got.Status, got.Sealed, m.Name)
	}
	if _, err := m.client.Key(c.ctx, e.slot); err == nil {
		c.Fatalf("%s has the key of slot %d while two of four are down", m.Name, e.slot)
	} else if e, ok := errors.AsType[*api.Error](err); ok && !api.NotYet(err) {
		c.Fatalf("%s was asked for a key and answered %d: %v", m.Name, e.Status, err)
	}
}

// TestAllKilled kills all validators at once, twice, the second time while they are starting. They go on with the same key
// and the same shares.
func TestAllKilled(t *testing.T) {
	t.Parallel()
	c, a, l := startNetwork(t)
	l.progress("entries run at all")
	before := c.secrets()
	c.moment(time.Second)
	c.kill(c.members[:]...)
	c.start(c.members[:]...)
	c.moment(2 * time.Second)
	c.kill(c.members[:]...)
	c.restart(a, c.members[:]...)
	c.keyFor("all four make keys again")
	l.progress("entries run again")
	c.sameKey()
	for path, was := range before {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, was) {
			c.Errorf("%s is not what it was before the kill: %v", path, err)
		}
	}
	l.settle()
}

// secrets reads every validator's key, share and group file.
func (c *cluster) secrets() map[string][]byte {
	c.Helper()
	out := make(map[string][]byte)
	for _, m := range c.members {
		for _, name := range []string{"network.key", "ceremony/share-1", "ceremony/group-1"} {
			path := m.Home.Path(filepath.FromSlash(name))
			data, err := os.ReadFile(path)
			if err != nil {
				c.Fatal(err)
			}
			out[path] = data
		}
	}
	return out
}

// sameKey checks that all running validators tell the same group key, and returns it.
func (c *cluster) sameKey() (key string) {
	c.Helper()
	for _, m := range c.alive() {
		info, err := m.client.Info(c.ctx)
		if err != nil {
			c.Fatal(err)
		}
		if info.GroupKey == "" || key != "" && info.GroupKey != key {
			c.Fatalf("%s has group key %q, another validator %q", m.Name, info.GroupKey, key)
		}
		key = info.GroupKey
	}
	return key
}
