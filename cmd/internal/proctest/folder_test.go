package proctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
)

// TestLostFiles takes parts of a validator's folder away, as a bad disk or a hasty operator does, while the network runs.
func TestLostFiles(t *testing.T) {
	t.Parallel()
	c, a, l := startNetwork(t)
	l.progress("entries run at all")
	members := append([]*member(nil), c.members[:]...)
	c.rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	lost, fresh, other := members[0], members[1], members[2]

	c.note("%s has a log with a changed bit", lost.Name)
	e, number := l.openBlock()
	c.until("more blocks follow", func() error { return a.readTo(lost.Index-1, lost, number+2) })
	c.kill(lost)
	l.flipBit(lost, e)
	c.refused(lost, nil, "the log is damaged", "--lost-log")

	c.note("%s loses its log", lost.Name)
	c.remove(lost, "log")
	c.refused(lost, nil, "has lost its log", "--lost-log")
	c.startWith(lost, "--lost-log")
	c.caughtUp(a)
	c.signs(a, lost, other)
	c.kill(lost)
	c.refused(lost, []string{"--lost-log"}, "is there", "start without --lost-log")
	c.restart(a, lost)

	c.note("%s comes back in a new folder, with nothing but its network key", fresh.Name)
	c.kill(fresh)
	old := c.newFolder(fresh, "config.json", "genesis.json", "network.key", "voting.key")
	c.restart(a, fresh)
	c.until("it says that it does not vote", func() error { return c.said(fresh, "this validator does not vote") })
	c.until("it says that it has no share", func() error { return c.said(fresh, "this validator has no share of the group key") })
	l.progress("entries run while one validator only follows")

	c.note("%s gets its share back from a copy", fresh.Name)
	c.kill(fresh)
	c.remove(fresh, "ceremony")
	c.copy(old, fresh, "ceremony")
	c.startWith(fresh, "--lost-votes")
	c.caughtUp(a)
	c.votes(fresh)
	c.signs(a, fresh, other)
	c.kill(fresh)
	c.refused(fresh, []string{"--lost-votes"}, "is there", "start without --lost-votes")

	c.note("%s moves to a new folder with copies of its keys, and its log is left behind", fresh.Name)
	c.newFolder(fresh, "config.json", "genesis.json", "network.key", "voting.key", "ceremony")
	c.refused(fresh, nil, "has lost its log", "--lost-log")
	c.startWith(fresh, "--lost-log", "--lost-votes")
	c.caughtUp(a)
	c.votes(fresh)
	c.signs(a, fresh, other)

	c.note("%s loses its store of keys", other.Name)
	c.kill(other)
	c.remove(other, "keys")
	c.restart(a, other)

	c.note("%s has a damaged share", lost.Name)
	c.kill(lost)
	share := lost.Home.Path("ceremony", "share-1")
	good, err := os.ReadFile(share)
	if err != nil {
		t.Fatal(err)
	}
	c.write(share, bytes.Replace(good, good[len(good)/2:len(good)/2+4], []byte("zzzz"), 1))
	c.refused(lost, nil, share)
	wrong, err := os.ReadFile(other.Home.Path("ceremony", "share-1"))
	if err != nil {
		t.Fatal(err)
	}
	c.write(share, wrong)
	c.note("%s has another validator's share", lost.Name)
	c.refused(lost, nil, share)
	c.write(share, good)
	c.restart(a, lost)
	l.settle()
}

// openBlock is the block that accepted the first open entry, and the entry.
func (l *load) openBlock() (e *entry, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.id != 0 && !e.sealed {
			return e, e.block
		}
	}
	l.c.Fatal("no open entry was accepted")
	return nil, 0
}

// flipBit changes what a block says in the member's log: a bit of an open entry's call. The last entry of a log will not do:
// there, a changed bit is taken for a write that a crash tore, and the entry comes again from the others.
func (l *load) flipBit(m *member, e *entry) {
	c := l.c
	c.Helper()
	segments, err := filepath.Glob(m.Home.Path("log", "log", "*.wal"))
	if err != nil || len(segments) != 1 {
		c.Fatalf("got segments %v, %v", segments, err)
	}
	marker, err1 := unhex(e.marker, 32)
	data, err2 := os.ReadFile(segments[0])
	if err := errors.Join(err1, err2); err != nil {
		c.Fatal(err)
	}
	at := bytes.Index(data, marker)
	if at < 0 {
		c.Fatal("the log does not hold the entry's call")
	}
	data[at+len(marker)-1] ^= 1
	c.write(segments[0], data)
}

// signs shows that a member signs: without another one every key needs it.
func (c *cluster) signs(a *audit, m, without *member) {
	c.Helper()
	c.kill(without)
	c.keyFor(m.Name + " signs")
	c.restart(a, without)
}

// votes waits until blocks become final with a member's vote.
func (c *cluster) votes(m *member) {
	c.Helper()
	c.until(m.Name+" votes", func() error {
		cert, err := m.client.Certificate(c.ctx, 0)
		if err == nil && !slices.Contains(cert.Voters, m.Index) {
			err = fmt.Errorf("block %d is final with votes of %v", cert.Number, cert.Voters)
		}
		return err
	})
}

// refused runs a validator that must end by itself with exit code 1, and say each of the texts.
func (c *cluster) refused(m *member, flags []string, texts ...string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, beacond, append([]string{"run", "--home", string(m.Home)}, flags...)...)
	out, err := cmd.CombinedOutput()
	c.note("%s says: %s", m.Name, bytes.TrimSpace(out))
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitError {
		c.Fatalf("%s ended with %v, want exit code %d: %s", m.Name, err, cli.ExitError, out)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			c.Fatalf("%s does not say %q: %s", m.Name, text, out)
		}
	}
}

func (c *cluster) remove(m *member, name string) {
	c.Helper()
	if err := os.RemoveAll(m.Home.Path(name)); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) write(path string, data []byte) {
	c.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		c.Fatal(err)
	}
}

// newFolder puts the member's folder aside and makes a new one with copies of some of its parts. It returns the old one.
func (c *cluster) newFolder(m *member, keep ...string) (old string) {
	c.Helper()
	old = string(m.Home) + ".old"
	if err := os.RemoveAll(old); err != nil {
		c.Fatal(err)
	}
	if err := os.Rename(string(m.Home), old); err != nil {
		c.Fatal(err)
	}
	if err := os.Mkdir(string(m.Home), 0o700); err != nil {
		c.Fatal(err)
	}
	for _, name := range keep {
		c.copy(old, m, name)
	}
	return old
}

// copy copies a file or a folder of files from an old folder, modes included.
func (c *cluster) copy(old string, m *member, name string) {
	c.Helper()
	from := filepath.Join(old, name)
	files := []string{name}
	if info, err := os.Stat(from); err != nil {
		c.Fatal(err)
	} else if info.IsDir() {
		if err := os.Mkdir(m.Home.Path(name), 0o700); err != nil {
			c.Fatal(err)
		}
		entries, err := os.ReadDir(from)
		if err != nil {
			c.Fatal(err)
		}
		files = nil
		for _, e := range entries {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(old, file))
		if err != nil {
			c.Fatal(err)
		}
		c.write(m.Home.Path(file), data)
	}
}
