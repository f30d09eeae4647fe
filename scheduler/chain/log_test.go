package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		logUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

// recorder is a state machine that remembers what it was given.
type recorder struct {
	mu       sync.Mutex
	entries  []string
	replays  int
	restored int
}

func (r *recorder) Apply(_ uint64, entry []byte, replay bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes.HasPrefix(entry, []byte("bad")) {
		return fmt.Errorf("%w: bad entry", chain.ErrInvalid)
	}
	r.entries = append(r.entries, string(entry))
	if replay {
		r.replays++
	}
	return nil
}

func (r *recorder) Snapshot() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return []byte(strings.Join(r.entries, "\n")), nil
}

func (r *recorder) Restore(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = strings.Split(string(b), "\n")
	r.restored++
	return nil
}

func (r *recorder) state() (all string, replays, restored int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.entries, "\n"), r.replays, r.restored
}

// network connects members' logs over TCP on the loopback interface.
type network struct {
	mu    sync.Mutex
	addrs map[uint32]string
}

func newNetwork() *network { return &network{addrs: make(map[uint32]string)} }

func (n *network) listen(t *testing.T, member uint32) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addrs[member] = l.Addr().String()
	return l
}

func (n *network) dial(ctx context.Context, member uint32) (net.Conn, error) {
	n.mu.Lock()
	addr := n.addrs[member]
	n.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// logCluster is a set of members' logs that are stopped and started.
type logCluster struct {
	t       *testing.T
	net     *network
	genesis *chain.Genesis
	dir     string
	logs    map[uint32]*chain.Log
	state   map[uint32]*recorder
}

func newLogCluster(t *testing.T, n int) *logCluster {
	g := &chain.Genesis{ChainID: 7, Time: 1}
	for i := range n {
		g.Validators = append(g.Validators, chain.Validator{Index: uint32(i + 1)})
	}
	c := &logCluster{t: t, net: newNetwork(), genesis: g, dir: t.TempDir(), logs: make(map[uint32]*chain.Log), state: make(map[uint32]*recorder)}
	for i := range n {
		c.start(uint32(i + 1))
	}
	t.Cleanup(func() {
		for member := range c.logs {
			c.stop(member)
		}
	})
	return c
}

func (c *logCluster) config(member uint32) chain.LogConfig {
	return chain.LogConfig{
		Dir: filepath.Join(c.dir, fmt.Sprint(member)), Genesis: c.genesis, Self: member,
		Listener: c.net.listen(c.t, member), Dial: c.net.dial, Machine: c.state[member], TrailingLogs: 1,
	}
}

func (c *logCluster) start(member uint32) {
	c.t.Helper()
	c.state[member] = new(recorder)
	log, err := chain.OpenLog(c.config(member))
	if err != nil {
		c.t.Fatal(err)
	}
	c.logs[member] = log
}

func (c *logCluster) stop(member uint32) {
	c.t.Helper()
	if err := c.logs[member].Close(); err != nil {
		c.t.Fatal(err)
	}
	delete(c.logs, member)
}

// leader waits until a member leads and has applied everything before its term.
func (c *logCluster) leader() uint32 {
	c.t.Helper()
	var leader uint32
	eventually(c.t, "a member leads", func() bool {
		for member, log := range c.logs {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			ok, err := log.Lead(ctx)
			cancel()
			if err == nil && ok {
				leader = member
				return true
			}
		}
		return false
	})
	return leader
}

func (c *logCluster) propose(entry string) {
	c.t.Helper()
	eventually(c.t, "an entry is taken", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return c.logs[c.leader()].Propose(ctx, []byte(entry)) == nil
	})
}

func (c *logCluster) agree() {
	c.t.Helper()
	want, _, _ := c.state[c.leader()].state()
	eventually(c.t, "all members agree", func() bool {
		for member := range c.logs {
			if got, _, _ := c.state[member].state(); got != want {
				return false
			}
		}
		return true
	})
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("waited in vain until %s", what)
}

func TestLogGoesOnWithoutItsLeader(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 4)
	for i := range 5 {
		c.propose(fmt.Sprintf("before %d", i))
	}
	c.agree()
	dead := c.leader()
	c.stop(dead)
	for i := range 5 {
		c.propose(fmt.Sprintf("without %d: %d", dead, i))
	}
	c.start(dead)
	c.agree()
	if _, replays, _ := c.state[dead].state(); replays < 5 {
		t.Errorf("restarted member was told of %d replayed entries, want at least the 5 it had stored", replays)
	}
	if _, replays, _ := c.state[c.leader()].state(); c.leader() != dead && replays != 0 {
		t.Errorf("a member that never stopped was told of %d replayed entries", replays)
	}
}

func TestLogSendsASnapshotToAMemberThatLags(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 3)
	c.propose("first")
	lagging := c.leader()%3 + 1
	c.stop(lagging)
	// The log gives entries up until a snapshot covers whole segments of it: fill more than one.
	for i := range 12 {
		c.propose(fmt.Sprint(i) + strings.Repeat("x", 1<<20))
	}
	c.agree() // whoever leads later, its snapshot covers them
	for _, log := range c.logs {
		if err := log.Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
	c.propose("after the snapshot")
	c.start(lagging)
	c.agree()
	if _, _, restored := c.state[lagging].state(); restored == 0 {
		t.Error("the lagging member caught up without a snapshot: nothing was tested")
	}
	for member := range c.logs { // a start from a snapshot and the entries behind it
		c.stop(member)
		c.start(member)
	}
	c.agree()
}

func TestLogOfOneMember(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 1)
	c.propose("alone")
	c.stop(1)
	c.start(1)
	c.propose("again")
	if got, _, _ := c.state[1].state(); got != "alone\nagain" {
		t.Errorf("got %q", got)
	}
}

func TestProposeReturnsWhatTheStateMachineSays(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 3)
	leader := c.leader()
	if err := c.logs[leader].Propose(t.Context(), []byte("bad one")); !errors.Is(err, chain.ErrInvalid) {
		t.Errorf("got %v, want the state machine's error", err)
	}
	for member, log := range c.logs {
		if member == leader {
			continue
		}
		if err := log.Propose(t.Context(), []byte("x")); !errors.Is(err, chain.ErrNotLeader) {
			t.Errorf("a follower's proposal: got %v, want ErrNotLeader", err)
		}
		eventually(t, "a follower knows the leader", func() bool { l, ok := log.Leader(); return ok && l == leader })
	}
}

func TestLogRefusesAFolderThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 1)
	c.propose("x")
	second := c.config(1)
	if _, err := chain.OpenLog(second); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("second log in one folder: got %v", err)
	}
	c.stop(1)
	foreign := *c.genesis
	foreign.ChainID++
	second = c.config(1)
	second.Genesis = &foreign
	if _, err := chain.OpenLog(second); !errors.Is(err, chain.ErrInvalid) || !strings.Contains(err.Error(), "genesis") {
		t.Errorf("folder of another chain: got %v", err)
	}
	c.start(1)
	if c.propose("y"); c.logs[1].Status().Last < 3 {
		t.Error("the refusals damaged the log")
	}
}

func TestDamagedLogsAreRefusedWithoutAPanic(t *testing.T) {
	t.Parallel()
	one := func(pattern string) func(dir string) error {
		return func(dir string) error {
			names, err := filepath.Glob(filepath.Join(dir, pattern))
			for _, name := range names {
				err = errors.Join(err, os.Remove(name))
			}
			return err
		}
	}
	for name, spoil := range map[string]func(dir string) error{
		"meta data gone":  one("wal-meta.db"),
		"marker gone":     one("genesis-hash"),
		"meta data empty": func(dir string) error { return os.Truncate(filepath.Join(dir, "wal-meta.db"), 0) },
		"meta data cut":   func(dir string) error { return os.Truncate(filepath.Join(dir, "wal-meta.db"), 16<<10) },
		"meta data's pages overwritten": func(dir string) error {
			return overwrite(filepath.Join(dir, "wal-meta.db"), 8<<10, bytes.Repeat([]byte{0xa5}, 24<<10))
		},
		"snapshots gone": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "snapshots")) },
		"snapshots torn": func(dir string) error {
			names, err := filepath.Glob(filepath.Join(dir, "snapshots", "*", "meta.json"))
			for _, name := range names {
				err = errors.Join(err, os.Truncate(name, 1))
			}
			return err
		},
	} {
		c := newLogCluster(t, 1)
		for i := range 40 {
			c.propose(fmt.Sprint(i))
			if i == 20 || i == 30 {
				if err := c.logs[1].Snapshot(); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.stop(1)
		if err := spoil(filepath.Join(c.dir, "1", "log")); err != nil {
			t.Fatal(err)
		}
		log, err := chain.OpenLog(c.config(1))
		if !errors.Is(err, chain.ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
		if err == nil {
			c.logs[1] = log
			c.stop(1)
		}
	}
}

// overwrite changes what a file holds from an offset on.
func overwrite(name string, at int64, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	return errors.Join(err, f.Close())
}

func TestLogWhoseEntriesAreGoneIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(segment string) error{
		"segment gone":   os.Remove,
		"segment empty":  func(segment string) error { return os.Truncate(segment, 0) },
		"segment zeroed": func(segment string) error { return overwrite(segment, 0, make([]byte, 100_000)) },
	} {
		c := newLogCluster(t, 1)
		c.propose("x")
		c.stop(1)
		segments, err := filepath.Glob(filepath.Join(c.dir, "1", "log", "*.wal"))
		if err != nil || len(segments) != 1 {
			t.Fatalf("got segments %v, %v", segments, err)
		}
		if err := spoil(segments[0]); err != nil {
			t.Fatal(err)
		}
		log, err := chain.OpenLog(c.config(1))
		if !errors.Is(err, chain.ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
		if err == nil {
			c.logs[1] = log
			c.stop(1)
		}
	}
}

func TestLogIgnoresAHalfCreatedOne(t *testing.T) {
	t.Parallel()
	c := newLogCluster(t, 0)
	c.genesis.Validators = []chain.Validator{{Index: 1}}
	half := filepath.Join(c.dir, "1", "log.new")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "wal-meta.db"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start(1)
	c.propose("x")
}
