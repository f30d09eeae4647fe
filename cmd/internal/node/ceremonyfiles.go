package node

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// ceremonyFiles keeps what a ceremony needs to survive a restart, and what it leaves:
//
//	seed-EPOCH-ATTEMPT   32 bytes from which all secrets of the attempt derive; erased once the share is safe
//	share-EPOCH          this validator's share of the group key
//	group-EPOCH          the public side
type ceremonyFiles struct {
	dir  Home
	ns   tlock.Namespace
	self uint32 // index of this validator
}

const (
	seedPrefix   = "daybreak-ceremony-seed-v1:"
	maxShareFile = 4 << 10
	maxGroupFile = 1 << 20
)

func newCeremonyFiles(home Home, ns tlock.Namespace, self uint32) (*ceremonyFiles, error) {
	dir := home.Path(dirCeremony)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("ceremony folder: %w", err)
	}
	return &ceremonyFiles{Home(dir), ns, self}, nil
}

func (c *ceremonyFiles) seedPath(epoch, attempt uint64) string {
	return c.dir.Path(fmt.Sprintf("seed-%d-%d", epoch, attempt))
}
func (c *ceremonyFiles) sharePath(epoch uint64) string {
	return c.dir.Path(fmt.Sprintf("share-%d", epoch))
}
func (c *ceremonyFiles) groupPath(epoch uint64) string {
	return c.dir.Path(fmt.Sprintf("group-%d", epoch))
}

// seed returns the seed of an attempt, drawn and safely written before it is used the first time: a dealer that came
// back with another one would end with another key.
func (c *ceremonyFiles) seed(epoch, attempt uint64) (seed dkg.Seed, err error) {
	path := c.seedPath(epoch, attempt)
	data, err := durable.ReadSecret(path, maxShareFile)
	if errors.Is(err, fs.ErrNotExist) {
		rand.Read(seed[:])
		if err := durable.CreateSecret(path, encodeSeed(seed)); err != nil {
			return dkg.Seed{}, err
		}
		return seed, nil
	}
	if err != nil {
		return seed, fmt.Errorf("reading ceremony seed: %w", err)
	}
	seed, ok := decodeSeed(data)
	if !ok {
		return seed, fmt.Errorf("reading ceremony seed: %s is damaged: restore it from a backup; without it this attempt has to fail", path)
	}
	return seed, nil
}

func encodeSeed(seed dkg.Seed) []byte { return []byte(seedPrefix + hex.EncodeToString(seed[:]) + "\n") }

func decodeSeed(data []byte) (seed dkg.Seed, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), seedPrefix)
	raw, err := hex.DecodeString(text)
	if !ok || err != nil || len(raw) != len(seed) {
		return seed, false
	}
	return dkg.Seed(raw), true
}

// store writes share and group. The share comes first: a crash between the two leaves no group, and then the next start
// replays the ceremony from the seed and writes the same again. A group without its share would look like an observer's.
func (c *ceremonyFiles) store(g *partials.Group, s partials.Share) error {
	if !s.IsZero() {
		text, err := s.Encode(g)
		if err != nil {
			return err
		}
		if err := durable.WriteSecret(c.sharePath(g.Epoch()), text); err != nil {
			return err
		}
	}
	return durable.WritePublic(c.groupPath(g.Epoch()), g.Encode())
}

// load reads group and share of an epoch; a nil group if there is none, a zero share if this node has none. A group
// without a share, whose seed is still there, counts as none: the share can be made again.
func (c *ceremonyFiles) load(epoch uint64) (*partials.Group, partials.Share, error) {
	data, err := durable.Read(c.groupPath(epoch), maxGroupFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, partials.Share{}, nil
	}
	if err != nil {
		return nil, partials.Share{}, fmt.Errorf("reading group: %w", err)
	}
	g, err := partials.DecodeGroup(c.ns, data)
	if err != nil {
		return nil, partials.Share{}, fmt.Errorf("reading %s: %w", c.groupPath(epoch), err)
	}
	s, err := c.share(g)
	if err != nil {
		return nil, partials.Share{}, err
	}
	if s.IsZero() {
		if seeds, err := c.seeds(epoch); err != nil || len(seeds) > 0 {
			return nil, partials.Share{}, err
		}
	}
	return g, s, nil
}

// share reads this validator's share of the group; zero if there is none.
func (c *ceremonyFiles) share(g *partials.Group) (partials.Share, error) {
	path := c.sharePath(g.Epoch())
	data, err := durable.ReadSecret(path, maxShareFile)
	if errors.Is(err, fs.ErrNotExist) {
		return partials.Share{}, nil
	}
	if err != nil {
		return partials.Share{}, fmt.Errorf("reading share: %w", err)
	}
	s, err := partials.DecodeShare(g, data)
	if err != nil {
		return partials.Share{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if s.Index() != c.self {
		return partials.Share{}, fmt.Errorf("%s is the share of validator %d, and this is validator %d: put the right file back", path, s.Index(), c.self)
	}
	return s, nil
}

// seeds lists the seed files of an epoch's attempts.
func (c *ceremonyFiles) seeds(epoch uint64) (paths []string, err error) {
	entries, err := os.ReadDir(string(c.dir))
	if err != nil {
		return nil, fmt.Errorf("ceremony folder: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fmt.Sprintf("seed-%d-", epoch)) {
			paths = append(paths, c.dir.Path(e.Name()))
		}
	}
	return paths, nil
}

// erase removes the seeds of an epoch's attempts: whoever had one could compute the dealer's secrets.
func (c *ceremonyFiles) erase(epoch uint64) error {
	paths, err := c.seeds(epoch)
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
