// Package demo shows a whole network at work and checks each thing it shows: four validator processes make a key, sign
// every slot, open a sealed entry in the block that carries its key, and a file sealed with the real command line opens
// when its time has come and not before. Whatever deviates is an error.
package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/devnet"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Options of Run.
type Options struct {
	Beacond string    // path of the daemon
	Tlock   string    // path of the command line
	File    string    // sealed and opened
	Out     io.Writer // the story
	Colour  bool
}

const (
	validators = 4
	// patience bounds the whole demo: it takes about half a minute, and a machine under load may need more.
	patience = 3 * time.Minute
)

// show is a demo under way.
type show struct {
	Options
	dir     string
	began   time.Time
	net     *devnet.Network
	clients []*api.Client
	ns      tlock.Namespace
	key     tlock.GroupKey
}

// Run tells the story. The folder with the validators' logs is kept if something goes wrong.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the demo took longer than %s", patience))
	defer cancel()
	dir, err := os.MkdirTemp("", "daybreak-demo-*")
	if err != nil {
		return err
	}
	s := &show{Options: o, dir: dir, began: time.Now()}
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("%w\nthe validators' log is in %s; its last lines:\n%s", err, s.logPath(), s.lastLines())
	}
	s.say("", "All of this took %s, and every validator stopped cleanly.", time.Since(s.began).Round(time.Second))
	return os.RemoveAll(dir)
}

func (s *show) logPath() string { return filepath.Join(s.dir, "validators.log") }

func (s *show) run(ctx context.Context) (err error) {
	log, err := os.Create(s.logPath())
	if err != nil {
		return err
	}
	defer log.Close()
	s.net, err = devnet.New(devnet.Options{Dir: filepath.Join(s.dir, "net"), Validators: validators, Exe: s.Beacond, Output: log})
	if err != nil {
		return err
	}
	err = s.acts(ctx)
	for _, c := range s.clients {
		c.Close()
	}
	if stopped := s.net.Close(); err == nil && stopped != nil {
		err = fmt.Errorf("stopping the validators: %w", stopped)
	}
	return err
}

func (s *show) acts(ctx context.Context) error {
	for _, act := range []func(context.Context) error{s.ceremony, s.slotKeys, s.sealedEntry, s.sealedFile, s.costs} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ceremony starts the validators and waits for their key.
func (s *show) ceremony(ctx context.Context) error {
	s.title("Four validators make a key that nobody knows")
	if err := s.net.StartAll(); err != nil {
		return err
	}
	for _, v := range s.net.Nodes {
		s.say("", "validator %d is process %d, %s", v.Index, v.PID(), v.URL)
		c, err := api.NewClient(v.URL)
		if err != nil {
			return err
		}
		s.clients = append(s.clients, c)
	}
	if err := s.net.WaitReady(ctx); err != nil {
		return err
	}
	var first api.Info
	for i, c := range s.clients {
		info, err := c.Info(ctx)
		if err != nil {
			return err
		}
		if i == 0 {
			first = info
		}
		if info.GroupKey != first.GroupKey || info.GenesisHash != first.GenesisHash {
			return fmt.Errorf("validator %d has group key %s, validator 1 has %s", i+1, info.GroupKey, first.GroupKey)
		}
	}
	s.say("ok", "ceremony done after %s: all four have group key %s…", time.Since(s.began).Round(100*time.Millisecond), first.GroupKey[:20])
	s.say("", "each holds one share; any %d of %d make a key, fewer learn nothing", first.Threshold, first.Validators)
	return s.remember(first)
}

// remember takes the network's public data in, with which every key is checked below.
func (s *show) remember(info api.Info) (err error) {
	hash, err := unhex(info.GenesisHash, 32)
	if err != nil {
		return err
	}
	if s.ns, err = tlock.NewNamespace(new(big.Int).SetUint64(info.ChainID), [32]byte(hash)); err != nil {
		return err
	}
	raw, err := unhex(info.GroupKey, tlock.GroupKeySize)
	if err != nil {
		return err
	}
	s.key, err = tlock.ParseGroupKey(raw)
	return err
}

// verify checks a slot's key against the group key, as any client can.
func (s *show) verify(k api.Key) error {
	raw, err := unhex(k.Key, tlock.KeySize)
	if err != nil {
		return err
	}
	key, err := tlock.ParseKey(raw)
	if err != nil {
		return err
	}
	return s.key.Verify(s.ns, tlock.SlotIdentity(k.Slot), key)
}

// lastLines is the end of the validators' log.
func (s *show) lastLines() string {
	data, err := os.ReadFile(s.logPath())
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-40):], []byte("\n")))
}

func (s *show) title(text string) {
	if s.Colour {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	fmt.Fprintf(s.Out, "\n%s\n", text)
}

// say tells one thing; mark is "ok" for what was checked.
func (s *show) say(mark, format string, args ...any) {
	prefix := "   "
	if mark != "" {
		prefix = " ✓ "
		if s.Colour {
			prefix = "\x1b[32m ✓ \x1b[0m"
		}
	}
	fmt.Fprintf(s.Out, "%s%s\n", prefix, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n     "))
}
