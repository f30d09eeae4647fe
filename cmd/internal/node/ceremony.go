package node

import (
	"context"
	"crypto"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// firstEpoch is the epoch of the group that the first ceremony makes.
const firstEpoch = 1

// maxDoublings bounds how often the phase timeout doubles after failed attempts.
const maxDoublings = 4

// ceremony drives the machine of package dkg: entries come in from the log, this member's own entries go out to whoever
// leads it, and phases that last too long are timed out by this machine's clock.
//
// What the entries lead to is the same on every node, whatever this one's clock, files and share are like (chain.App).
type ceremony struct {
	genesis *chain.Genesis
	ns      tlock.Namespace
	self    uint32
	signer  crypto.Signer
	files   *ceremonyFiles
	log     *slog.Logger
	ready   func(*partials.Group, partials.Share) // the log holds the end of the ceremony
	fatal   func(error)                           // what makes it unsafe to go on

	kept *partials.Group // the group that an earlier run left in files; nil if there was none. Set by open

	mu      sync.Mutex // guards what follows: the log applies in one goroutine, the clock ticks in another
	attempt uint64
	machine *dkg.Machine // nil once the ceremony is done
	group   *partials.Group
	share   partials.Share
	dealt   bool // once the ceremony is done: this validator was dealt a share
	phase   dkg.Phase
	since   time.Time // when the phase began, by this machine's clock
}

var _ chain.App = (*ceremony)(nil)

// open begins the first attempt, or takes up what an earlier run left in files.
func (c *ceremony) open() error {
	group, share, err := c.files.load(firstEpoch)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept, c.group, c.share = group, group, share
	return c.begin(0)
}

// begin starts an attempt. A node that has the group on disk follows the log as an observer: its part was done.
func (c *ceremony) begin(attempt uint64) error {
	cfg := dkg.Config{
		Namespace: c.ns, Epoch: firstEpoch, Attempt: attempt,
		Threshold: c.genesis.Ceremony.Threshold, MinQual: c.genesis.Ceremony.MinQual, Members: membersOf(c.genesis),
	}
	if c.group == nil {
		seed, err := c.files.seed(firstEpoch, attempt)
		if err != nil {
			return fmt.Errorf("ceremony seed: %w", err)
		}
		cfg.Self, cfg.Seed, cfg.Signer = c.self, seed, c.signer
	}
	machine, err := dkg.New(cfg)
	if err != nil {
		return err
	}
	c.attempt, c.machine = attempt, machine
	c.phase, c.since = machine.Status().Phase, time.Now()
	return nil
}

func membersOf(g *chain.Genesis) []dkg.Member {
	members := make([]dkg.Member, 0, len(g.Validators))
	for _, v := range g.Validators {
		members = append(members, dkg.Member{Index: v.Index, NetworkKey: v.NetworkKey.Public()})
	}
	return members
}

// ApplyCeremony implements chain.App.
func (c *ceremony) ApplyCeremony(_ uint64, entry []byte, replay bool) (*chain.CeremonyResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.apply(entry, replay)
}

// RestoreCeremony implements chain.App.
func (c *ceremony) RestoreCeremony(entries []chain.CeremonyRecord) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(0); err != nil {
		c.fatal(err)
		return
	}
	for _, e := range entries {
		// The entries counted when they came; here they lead to the same.
		if _, err := c.apply(e.Entry, true); err != nil {
			c.fatal(fmt.Errorf("ceremony entry %d of a snapshot does not count here: %w", e.Index, err))
			return
		}
	}
}

func (c *ceremony) apply(entry []byte, replay bool) (*chain.CeremonyResult, error) {
	if c.machine == nil {
		return nil, fmt.Errorf("the ceremony is done: %w", dkg.ErrStale)
	}
	step, err := c.machine.Apply(entry)
	if err != nil {
		return nil, err
	}
	// What is replayed was told when it happened.
	tell := func(level slog.Level, text string, args ...any) {
		if replay {
			level = slog.LevelDebug
		}
		c.log.Log(context.Background(), level, text, args...)
	}
	for _, f := range step.Faults {
		tell(slog.LevelWarn, "ceremony: a member did wrong", "index", f.Index, "phase", f.Phase.String(), "reason", f.Reason)
	}
	switch {
	case step.Done != nil:
		return c.done(step.Done), nil
	case step.Failed != nil:
		tell(slog.LevelWarn, "ceremony attempt failed; a new one follows", "attempt", c.attempt, "culprits", step.Failed.Culprits, "reason", step.Failed.Reason)
		if err := c.begin(c.attempt + 1); err != nil {
			c.fatal(err)
		}
	case step.Phase != c.phase:
		c.phase, c.since = step.Phase, time.Now()
		tell(slog.LevelInfo, "ceremony: phase "+step.Phase.String(), "attempt", c.attempt)
	}
	return nil, nil
}

// done stores what the ceremony made. A share that cannot be stored stops the node: the seed is still there, so the next
// start replays the log and comes to the same share.
func (c *ceremony) done(r *dkg.Result) *chain.CeremonyResult {
	c.machine = nil
	result := &chain.CeremonyResult{Epoch: r.Group.Epoch(), GroupKey: r.Group.Key().Bytes()}
	if c.group == nil {
		share := r.Share
		if share.IsZero() {
			// The seed is gone, but the share may be there all the same: only the group file was lost.
			kept, err := c.files.share(r.Group)
			if err != nil {
				c.fatal(err)
				return result
			}
			share = kept
		}
		if err := c.files.store(r.Group, share); err != nil {
			c.fatal(fmt.Errorf("the ceremony made a share that cannot be stored; make room or mend the folder's rights and start again, nothing is lost: %w", err))
			return result
		}
		c.group, c.share = r.Group, share
		text := "ceremony done: share stored"
		if share.IsZero() {
			text = "ceremony done, without a share for this validator"
		}
		c.log.Info(text, "attempt", c.attempt, "dealers", len(r.Qual), "group_key", r.Group.Key().String()[:18]+"…")
	} else if !c.group.Equal(r.Group) {
		c.fatal(fmt.Errorf("the group in %s is not the one the log leads to: the folder is another network's or was altered", c.files.groupPath(firstEpoch)))
		return result
	}
	// Only now, with the share on disk or none to be had, are the seeds of no more use.
	if err := c.files.erase(firstEpoch); err != nil {
		c.log.Error("ceremony seeds not erased: remove the seed files by hand", "folder", c.files.dir, "err", err)
	}
	c.dealt = slices.Contains(r.Holders, c.self)
	switch c.shareState() {
	case api.ShareLost:
		c.log.Warn("this validator has no share of the group key: it follows, but does not sign; " + shareRemedy)
	case api.ShareNone:
		c.log.Warn("this validator was dealt no share of the group key, since it came too late: it follows, but does not sign; it takes part again when the key is dealt anew")
	}
	c.ready(c.group, c.share)
	return result
}

// wanted returns the own entries that the log lacks, a timeout included if the present phase lasts too long.
func (c *ceremony) wanted(now time.Time) [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machine == nil {
		return nil
	}
	patience := time.Duration(c.genesis.Ceremony.PhaseTimeoutSeconds) * time.Second << min(c.attempt, maxDoublings)
	if now.Sub(c.since) < patience {
		return c.machine.Pending()
	}
	return c.machine.Timeout()
}

// describe is the ceremony's state in a few words.
func (c *ceremony) describe() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machine == nil {
		return "done"
	}
	if c.kept != nil {
		return "done, and this validator is catching up to its end"
	}
	s := c.machine.Status()
	text := fmt.Sprintf("in phase %s", s.Phase)
	if len(s.Missing) > 0 {
		text += fmt.Sprintf(", waiting for %v", s.Missing)
	}
	if s.Problem != nil {
		text += fmt.Sprintf(" (%v)", s.Problem)
	}
	return text
}

// shareRemedy is what to do about a share that was dealt and is not there.
var shareRemedy = fmt.Sprintf("stop it, put %s/share-%d back from the backup, and start it again", dirCeremony, firstEpoch)

// tellShare is what api.Info says of the share.
func (c *ceremony) tellShare() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shareState()
}

func (c *ceremony) shareState() string {
	switch {
	case !c.share.IsZero():
		return api.ShareHeld
	case c.machine != nil:
		return ""
	case c.dealt:
		return api.ShareLost
	}
	return api.ShareNone
}

// behind tells whether the ceremony is known to be done, and this validator's log is not there yet.
func (c *ceremony) behind() bool { return c.kept != nil && !c.isDone() }

// isDone tells whether the log holds the end of the ceremony.
func (c *ceremony) isDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.machine == nil
}
