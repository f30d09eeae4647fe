package demo

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/tlock"
)

const (
	shownKeys = 5
	// keyInTime is how late a key may come before the demo calls it late. A quiet machine needs some tens of milliseconds.
	keyInTime = 900 * time.Millisecond
	target    = "0x00000000000000000000000000000000000a11ce"
	message   = "good morning"
)

var errEnough = errors.New("enough")

// slotKeys follows the stream of keys for some slots.
func (s *show) slotKeys(ctx context.Context) error {
	s.title("Every second, as soon as it is over, its key")
	var first uint64
	seen := make(map[uint64]bool)
	err := s.clients[0].Stream(ctx, 0, func(e api.Event) error {
		now := time.Now()
		if e.Kind != api.EventKey {
			return nil
		}
		var k api.Key
		if err := json.Unmarshal(e.Data, &k); err != nil {
			return err
		}
		if first == 0 {
			first = k.Slot
		}
		if k.Slot < first {
			return nil // one that came late
		}
		if err := s.showKey(k, now.Sub(tlock.SlotEnd(k.Slot))); err != nil {
			return err
		}
		seen[k.Slot] = true
		for slot := first; slot < first+shownKeys; slot++ {
			if !seen[slot] {
				return nil
			}
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return fmt.Errorf("following the keys: %w", err)
}

// showKey checks a key that came `late` after its slot's end, and shows it.
func (s *show) showKey(k api.Key, late time.Duration) error {
	if late < 0 {
		return fmt.Errorf("the key of slot %d came %s before the slot was over", k.Slot, -late)
	}
	if err := s.verify(k); err != nil {
		return fmt.Errorf("key of slot %d: %w", k.Slot, err)
	}
	note := ""
	if late > keyInTime {
		note = " (this machine is busy)"
	}
	s.say("ok", "slot %d is over, its key is here %s later%s: %s…", k.Slot, late.Round(time.Millisecond), note, k.Key[:20])
	return nil
}

// scheduled is what "tlock schedule --json" prints.
type scheduled struct {
	Entry uint64 `json:"entry"`
	Slot  uint64 `json:"slot"`
}

// sealedEntry schedules a call that nobody can read, and finds it run in the block that carries its key.
func (s *show) sealedEntry(ctx context.Context) error {
	s.title("A call nobody can read runs when its second is over")
	args := []string{"schedule", "--node", s.net.Nodes[1].URL, "--key-file", s.net.KeyFile, "--in", "6s",
		"--call", target + ":50000:0x" + hex.EncodeToString([]byte(message)), "--json"}
	out, err := s.tlock(ctx, cli.ExitOK, args...)
	if err != nil {
		return err
	}
	var sched scheduled
	if err := json.Unmarshal(out, &sched); err != nil {
		return fmt.Errorf("tlock schedule printed %q: %w", out, err)
	}
	e, err := s.clients[2].Entry(ctx, sched.Entry)
	if err != nil {
		return err
	}
	if !e.Sealed || strings.Contains(e.Calls, hex.EncodeToString([]byte(message))) || strings.Contains(e.Calls, target[2:]) {
		return fmt.Errorf("entry %d is readable before its slot is over", sched.Entry)
	}
	s.say("ok", "entry %d for slot %d is on chain: payer %s…, %d bytes of ciphertext, target and data hidden", sched.Entry, sched.Slot, e.Payer[:10], len(e.Calls)/2-1)
	return s.findRun(ctx, sched)
}

// findRun waits for the run on every validator and compares.
func (s *show) findRun(ctx context.Context, sched scheduled) error {
	var first api.Block
	for i, c := range s.clients {
		run, err := waitRun(ctx, c, sched.Entry)
		if err != nil {
			return fmt.Errorf("validator %d: %w", i+1, err)
		}
		b, err := c.Block(ctx, run.Block)
		if err != nil {
			return err
		}
		if i == 0 {
			first = b
		}
		if b.Hash != first.Hash || b.StateRoot != first.StateRoot {
			return fmt.Errorf("validator %d has block %d with hash %s and state %s, validator 1 has %s and %s", i+1, b.Number, b.Hash, b.StateRoot, first.Hash, first.StateRoot)
		}
		if err := s.checkRun(b, run, sched); err != nil {
			return err
		}
	}
	e, err := s.clients[0].Entry(ctx, sched.Entry)
	if err != nil {
		return err
	}
	if e.Status != "executed" {
		return fmt.Errorf("entry %d is %s", sched.Entry, e.Status)
	}
	s.say("ok", "block %d (timestamp %d) carries the key of slot %d: the entry opened and ran in that same block", first.Number, first.Timestamp, sched.Slot)
	s.say("ok", "%s was called with %q, by the scheduler, once", target, message)
	s.say("ok", "all four validators have that block, %s…, and state %s…", first.Hash[:20], first.StateRoot[:20])
	return nil
}

// checkRun checks that the block brought the key and that the run did what was sealed.
func (s *show) checkRun(b api.Block, run api.Receipt, sched scheduled) error {
	at := slices.IndexFunc(b.Keys, func(k api.Key) bool { return k.Slot == sched.Slot })
	if at < 0 {
		return fmt.Errorf("block %d ran entry %d without carrying the key of slot %d", b.Number, sched.Entry, sched.Slot)
	}
	if err := s.verify(b.Keys[at]); err != nil {
		return fmt.Errorf("key of slot %d in block %d: %w", sched.Slot, b.Number, err)
	}
	if b.Timestamp <= sched.Slot {
		return fmt.Errorf("block %d of second %d ran an entry sealed to slot %d", b.Number, b.Timestamp, sched.Slot)
	}
	called := slices.ContainsFunc(run.Logs, func(l api.Log) bool {
		return l.Address == target && strings.Contains(l.Data, hex.EncodeToString([]byte(message)))
	})
	if !run.Success || !called {
		return fmt.Errorf("the run of entry %d in block %d did not call %s as sealed", sched.Entry, b.Number, target)
	}
	return nil
}

// waitRun waits for the one run of an entry.
func waitRun(ctx context.Context, c *api.Client, id uint64) (api.Receipt, error) {
	for {
		runs, err := c.Runs(ctx, id)
		if err != nil {
			return api.Receipt{}, err
		}
		if len(runs) > 1 {
			return api.Receipt{}, fmt.Errorf("entry %d ran %d times", id, len(runs))
		}
		if len(runs) == 1 {
			return runs[0], nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return api.Receipt{}, err
		}
	}
}

// sealedFile seals a file, finds it closed, and opens it.
func (s *show) sealedFile(ctx context.Context) error {
	s.title("A file sealed for five seconds")
	plain, err := os.ReadFile(s.File)
	if err != nil {
		return err
	}
	sealed, opened := filepath.Join(s.dir, "file.sealed"), filepath.Join(s.dir, "file.opened")
	node := s.net.Nodes[3].URL
	if _, err := s.tlock(ctx, cli.ExitOK, "seal", "--node", node, "--in", "5s", "-o", sealed, s.File); err != nil {
		return err
	}
	if _, err := s.tlock(ctx, cli.ExitNotYet, "open", "--node", node, "-o", opened, sealed); err != nil {
		return err
	}
	if _, err := os.Stat(opened); err == nil {
		return fmt.Errorf("a refused opening left a file")
	}
	s.say("ok", "refused with exit code 3, and nothing was written")
	out, err := s.tlock(ctx, cli.ExitOK, "inspect", "--json", sealed)
	if err != nil {
		return err
	}
	var stanza struct {
		Slot uint64 `json:"slot"`
	}
	if err := json.Unmarshal(out, &stanza); err != nil {
		return fmt.Errorf("tlock inspect printed %q: %w", out, err)
	}
	key, err := s.tlock(ctx, cli.ExitOK, "wait", "--node", node, fmt.Sprint(stanza.Slot))
	if err != nil {
		return err
	}
	if _, err := s.tlock(ctx, cli.ExitOK, "verify", "--node", s.net.Nodes[0].URL, fmt.Sprint(stanza.Slot), strings.TrimSpace(string(key))); err != nil {
		return err
	}
	if _, err := s.tlock(ctx, cli.ExitOK, "open", "--node", node, "-o", opened, sealed); err != nil {
		return err
	}
	got, err := os.ReadFile(opened)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, plain) {
		return fmt.Errorf("%s came back with %d bytes that are not the %d sealed", s.File, len(got), len(plain))
	}
	s.say("ok", "%s came back byte for byte, %d bytes", filepath.Base(s.File), len(got))
	return nil
}

// tlock runs the real command line, shows it, and checks its exit code. It returns what it wrote to stdout.
func (s *show) tlock(ctx context.Context, want int, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.Tlock, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	s.say("", "$ tlock %s", shortArgs(args, s.dir))
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return nil, err
	}
	said := strings.TrimSpace(stderr.String())
	if said != "" {
		s.say("", "  %s", said)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		return nil, fmt.Errorf("tlock %s: exit code %d, want %d: %s", args[0], got, want, said)
	}
	return stdout.Bytes(), nil
}

// shortArgs is a command line for people: folders that vary and long hex are cut.
func shortArgs(args []string, dir string) string {
	var out []string
	for _, a := range args {
		a = strings.TrimPrefix(a, dir+"/")
		if len(a) > 60 && !strings.Contains(a, "/") {
			a = a[:57] + "…"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func unhex(s string, n int) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(b) != n {
		return nil, fmt.Errorf("%.40q is not %d bytes of hex", s, n)
	}
	return b, nil
}
