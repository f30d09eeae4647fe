package vectorcheck

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// ceremonyCase is a whole ceremony: its configuration, the log, and what it ends with.
type ceremonyCase struct {
	head
	network
	Epoch     decimal `json:"epoch"`
	Attempt   decimal `json:"attempt"`
	Threshold int     `json:"threshold"`
	MinQual   int     `json:"min_qual"`
	Members   []struct {
		Index         uint32   `json:"index"`
		NetworkSecret hexBytes `json:"network_secret"`
		NetworkKey    hexBytes `json:"network_key"`
		Seed          hexBytes `json:"seed"`
	} `json:"members"`
	Scripted    []int      `json:"scripted"` // positions of entries that their author's seed does not give
	CeremonyID  hexBytes   `json:"ceremony_id"`
	Entries     []hexBytes `json:"entries"`
	Qual        []uint32   `json:"qual"`
	Transcript  hexBytes   `json:"transcript"`
	Commitments []hexBytes `json:"commitments"`
	GroupKey    hexBytes   `json:"group_key"`
	Shares      []hexBytes `json:"shares"`
	Culprits    []uint32   `json:"culprits"`
}

// ceremonyFile reads cases of type ceremony, and those of type refused, which name a ceremony of the same file.
func ceremonyFile(raw []byte) ([]testCase, error) {
	byName := map[string]*ceremonyCase{}
	cases, err := rawCases(raw)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		var h head
		if err := json.Unmarshal(c, &h); err != nil || h.Type != "ceremony" {
			continue // caseFile says what is wrong
		}
		ceremony := new(ceremonyCase)
		if err := strict(c, ceremony); err != nil {
			return nil, err
		}
		byName[h.Name] = ceremony
	}
	return caseFile(raw, checks{
		"ceremony": func(raw json.RawMessage) error {
			var c ceremonyCase
			if err := strict(raw, &c); err != nil {
				return err
			}
			return c.check()
		},
		"refused": func(raw json.RawMessage) error { return checkRefused(raw, byName) },
	})
}

// config returns what the member of index self, or an observer for 0, is configured with.
func (c *ceremonyCase) config(self uint32) (cfg dkg.Config, err error) {
	cfg.Self, cfg.Threshold, cfg.MinQual = self, c.Threshold, c.MinQual
	if cfg.Namespace, err = c.namespace(); err != nil {
		return cfg, err
	}
	if cfg.Epoch, err = c.Epoch.uint64(); err != nil {
		return cfg, err
	}
	if cfg.Attempt, err = c.Attempt.uint64(); err != nil {
		return cfg, err
	}
	for _, m := range c.Members {
		cfg.Members = append(cfg.Members, dkg.Member{Index: m.Index, NetworkKey: ed25519.PublicKey(m.NetworkKey)})
	}
	if self == 0 {
		return cfg, nil
	}
	m := c.Members[self-1]
	seed, err := array[[32]byte]("seed", m.Seed)
	if err != nil {
		return cfg, err
	}
	secret, err := array[[32]byte]("network_secret", m.NetworkSecret)
	cfg.Seed, cfg.Signer = seed, ed25519.NewKeyFromSeed(secret[:])
	return cfg, err
}

// check plays the log to an observer and to every member. Each member must want the entries of its index before it sees them.
func (c *ceremonyCase) check() error {
	for self := range uint32(len(c.Members) + 1) {
		cfg, err := c.config(self)
		if err != nil {
			return err
		}
		m, err := dkg.New(cfg)
		if err != nil {
			return err
		}
		id := m.ID()
		if err := same("ceremony_id", id[:], c.CeremonyID); err != nil {
			return err
		}
		for i, e := range c.Entries {
			wanted := m.Pending()
			if _, err := m.Apply(e); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			if m.Status().Problem != nil && slices.Contains(c.Scripted, i) {
				break // by its own entry, which is not its seed's, the member sees that something is wrong
			}
			own := uint32(e[68]) == self
			if wants := slices.ContainsFunc(wanted, func(p []byte) bool { return bytes.Equal(p, e) }); wants != own {
				return fmt.Errorf("entry %d: that member %d wants it is %v", i, self, wants)
			}
			if own && slices.Contains(c.Scripted, i) {
				return fmt.Errorf("entry %d is scripted, and member %d wants it", i, self)
			}
		}
		if m.Status().Problem != nil {
			continue
		}
		if err := c.checkEnd(m); err != nil {
			return err
		}
		if r := m.Result(); r != nil && self != 0 {
			if err := r.Share.Check(r.Group); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *ceremonyCase) checkEnd(m *dkg.Machine) error {
	r, f := m.Result(), m.Failure()
	if !c.Valid {
		if f == nil || !slices.Equal(f.Culprits, c.Culprits) {
			return fmt.Errorf("culprits: got %+v, recorded %v", f, c.Culprits)
		}
		return nil
	}
	if r == nil {
		return fmt.Errorf("ends in phase %s", m.Status().Phase)
	}
	if !slices.Equal(r.Qual, c.Qual) {
		return fmt.Errorf("qual: got %v, recorded %v", r.Qual, c.Qual)
	}
	key := r.Group.Key().Bytes()
	if err := errors.Join(same("transcript", r.Transcript[:], c.Transcript), same("group_key", key[:], c.GroupKey)); err != nil {
		return err
	}
	commitments := r.Group.Commitments()
	if len(commitments) != len(c.Commitments) || len(c.Shares) != len(c.Members) {
		return fmt.Errorf("%d commitments and %d shares of %d members", len(c.Commitments), len(c.Shares), len(c.Members))
	}
	for k, point := range commitments {
		b := point.Bytes()
		if err := same("commitments", b[:], c.Commitments[k]); err != nil {
			return err
		}
	}
	for k, b := range c.Shares {
		secret, err := bls.ScalarFromBytes(b)
		if err != nil {
			return fmt.Errorf("shares: %w", err)
		}
		share, err := partials.NewShare(uint32(k+1), secret)
		if err != nil {
			return err
		}
		if err := share.Check(r.Group); err != nil {
			return err
		}
	}
	return nil
}

// checkRefused gives a ceremony, at some place of its log, an entry that must change nothing.
func checkRefused(raw json.RawMessage, ceremonies map[string]*ceremonyCase) error {
	var c struct {
		head
		Ceremony string   `json:"ceremony"`
		After    int      `json:"after"`
		Entry    hexBytes `json:"entry"`
		Class    string   `json:"class"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	class := map[string]error{"invalid": dkg.ErrInvalid, "stale": dkg.ErrStale, "not_yet": dkg.ErrNotYet}[c.Class]
	of := ceremonies[c.Ceremony]
	if class == nil || of == nil || c.After < 0 || c.After > len(of.Entries) {
		return fmt.Errorf("after %d entries of %q, class %q: no such thing", c.After, c.Ceremony, c.Class)
	}
	cfg, err := of.config(0)
	if err != nil {
		return err
	}
	m, err := dkg.New(cfg)
	if err != nil {
		return err
	}
	for i, e := range of.Entries[:c.After] {
		if _, err := m.Apply(e); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	_, err = m.Apply(c.Entry)
	if err != nil && !errors.Is(err, class) {
		return fmt.Errorf("refused as %v, recorded class %s", err, c.Class)
	}
	return c.expect(err)
}
