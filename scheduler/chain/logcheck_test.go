package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

func TestLogRefusesADamagedEntry(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 1)
	for i := range 9 {
		c.propose(fmt.Sprintf("entry number %d", i))
	}
	c.stop(1)
	segments, err := filepath.Glob(filepath.Join(c.dir, "1", "log", "*.wal"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("got segments %v, %v", segments, err)
	}
	good, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(good, []byte("entry number 4"))
	if at < 0 {
		t.Fatal("the entry is not in the segment")
	}
	for bit := range 8 {
		bad := bytes.Clone(good)
		bad[at+6] ^= 1 << bit
		if err := os.WriteFile(segments[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := chain.OpenLog(c.config(1))
		if !errors.Is(err, chain.ErrDamaged) || !strings.Contains(err.Error(), filepath.Dir(segments[0])) {
			t.Errorf("bit %d of an entry flipped: got %v, want ErrDamaged naming the folder", bit, err)
		}
	}
	if err := os.WriteFile(segments[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	c.start(1)
	c.propose("last")
	if got, _, _ := c.state[1].state(); !strings.HasPrefix(got, "entry number 0\n") || !strings.HasSuffix(got, "entry number 8\nlast") {
		t.Errorf("after the refusals the log holds %q", got)
	}
}

// A new leader has its followers drop what they stored and nobody committed. A start after that must find a whole log.
func TestLogStartsAfterItsEndWasDropped(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 3)
	for i := range 3 {
		c.propose(fmt.Sprintf("common %d", i))
	}
	c.agree()
	old := c.leader()
	for member := range c.logs {
		if member != old {
			c.stop(member)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for range 2 { // stored by the old leader alone
		if err := c.logs[old].Propose(ctx, []byte("never committed")); err == nil {
			t.Fatal("one of three committed an entry")
		}
	}
	stored := c.logs[old].Status().Last
	c.stop(old)
	for member := uint32(1); member <= 3; member++ {
		if member != old {
			c.start(member)
		}
	}
	for i := range 5 {
		c.propose(fmt.Sprintf("others %d", i))
	}
	c.start(old)
	c.agree()
	if stored < 5 {
		t.Fatalf("the old leader had stored %d entries: there was nothing to drop", stored)
	}
	c.stop(old)
	c.start(old)
	c.propose("last")
	c.agree()
	if got, _, _ := c.state[old].state(); strings.Contains(got, "never") || !strings.HasSuffix(got, "others 4\nlast") {
		t.Errorf("the old leader ends with %q", got)
	}
}
