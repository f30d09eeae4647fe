package chain_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// childDir names the variable that makes this test binary a validator that appends to the log in a folder until it is killed.
const childDir = "CHAIN_TEST_LOG_DIR"

// aloneConfig is the log of a chain with one validator.
func aloneConfig(dir string, l net.Listener, machine chain.StateMachine) chain.LogConfig {
	return chain.LogConfig{
		Dir: dir, Genesis: testGenesis(1), Self: 1, Listener: l, Machine: machine, SnapshotEvery: 8, TrailingLogs: 1,
		Dial: func(context.Context, uint32) (net.Conn, error) { return nil, net.ErrClosed },
	}
}

// logUntilKilled prints each entry once the log has acknowledged it, and never returns.
func logUntilKilled(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	machine := new(recorder)
	log, err := chain.OpenLog(aloneConfig(dir, l, machine))
	fail(err)
	for leads := false; !leads; {
		leads, err = log.Lead(context.Background())
		fail(err)
	}
	for i := 0; ; i++ {
		entry := fmt.Sprintf("%d.%d", os.Getpid(), i)
		fail(log.Propose(context.Background(), []byte(entry)))
		fmt.Println(entry)
		if i%10 == 9 {
			fail(log.Snapshot())
		}
	}
}

// TestLogSurvivesKill kills a process in the middle of appending and snapshotting, again and again, the first time while it
// creates the log: what it acknowledged is there afterwards, once and in order.
func TestLogSurvivesKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "log")
	var acknowledged []string
	for round := range 6 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childDir+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; n < 9*round && lines.Scan(); n++ { // the kill falls on another step of the cycle each time
			acknowledged = append(acknowledged, lines.Text())
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it said before it died
			acknowledged = append(acknowledged, lines.Text())
		}
		_ = child.Wait() // killed
	}
	machine := new(recorder)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log, err := chain.OpenLog(aloneConfig(dir, l, machine))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	eventually(t, "the log leads again", func() bool { ok, err := log.Lead(t.Context()); return ok && err == nil })
	all, _, _ := machine.state()
	var kept []string
	for entry := range strings.SplitSeq(all, "\n") {
		if entry != "" {
			kept = append(kept, entry)
		}
	}
	at := make(map[string]int)
	for i, entry := range kept {
		if _, twice := at[entry]; twice {
			t.Errorf("entry %s is there twice", entry)
		}
		at[entry] = i
	}
	last := -1
	for _, entry := range acknowledged {
		i, ok := at[entry]
		if !ok || i <= last {
			t.Fatalf("acknowledged entry %s is at %d (found %v), behind one at %d", entry, i, ok, last)
		}
		last = i
	}
	if len(acknowledged) < 100 {
		t.Errorf("only %d acknowledged entries: nothing was tested", len(acknowledged))
	}
}
