package vectorcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// groupsByKey finds the group that a recovery is about: recover cases give a group key only, and the threshold cases of
// the same file the commitments behind it.
type groupsByKey map[string]*partials.Group

func thresholdGroups(raw []byte) (groupsByKey, error) {
	cases, err := rawCases(raw)
	if err != nil {
		return nil, err
	}
	groups := groupsByKey{}
	for _, rawCase := range cases {
		var c thresholdCase
		if json.Unmarshal(rawCase, &c) != nil || c.Type != "threshold" {
			continue // whatever it is, its own check says
		}
		if g, err := c.group(); err == nil {
			groups[string(c.GroupKey)] = g
		}
	}
	return groups, nil
}

type recoverCase struct {
	head
	target
	Threshold    int           `json:"threshold"`
	Participants int           `json:"participants"`
	GroupKey     hexBytes      `json:"group_key"`
	PublicKeys   []hexBytes    `json:"public_keys"`
	Partials     []wirePartial `json:"partials"`
	BadIndices   []uint32      `json:"bad_indices"`
	Recovered    hexBytes      `json:"recovered"`
	Key          hexBytes      `json:"key"`
}

// open decodes the case and finds its group.
func (gs groupsByKey) open(raw json.RawMessage) (c recoverCase, g *partials.Group, p *partials.Prepared, err error) {
	if err = strict(raw, &c); err != nil {
		return c, nil, nil, err
	}
	ns, id, err := c.resolvePoint()
	if err != nil {
		return c, nil, nil, err
	}
	if g = gs[string(c.GroupKey)]; g == nil || g.Namespace() != ns {
		return c, nil, nil, errors.New("no threshold case of this file has this group")
	}
	if g.Threshold() != c.Threshold || g.N() != c.Participants {
		return c, nil, nil, fmt.Errorf("threshold %d of %d, the group has %d of %d", c.Threshold, c.Participants, g.Threshold(), g.N())
	}
	return c, g, partials.Prepare(ns, id), nil
}

func (gs groupsByKey) checkRecover(raw json.RawMessage) error {
	c, g, p, err := gs.open(raw)
	if err != nil {
		return err
	}
	if c.Stage == "verify" {
		if err := c.checkUnverified(g, p); err != nil {
			return err
		}
	}
	key, _, err := recoverKey(g, p, c.Partials)
	if err == nil {
		err = same("key", key, c.Key)
	}
	return c.expect(err)
}

// checkUnverified shows that interpolation alone gives the recorded point, and that this point is not the key.
func (c *recoverCase) checkUnverified(g *partials.Group, p *partials.Prepared) error {
	sum, _, err := interpolate(c.Partials)
	if err != nil {
		return err
	}
	if err := same("recovered", sum[:], c.Recovered); err != nil {
		return err
	}
	k, err := tlock.ParseKey(sum[:])
	if err != nil {
		return err
	}
	if g.Key().Verify(g.Namespace(), p.Identity(), k) == nil {
		return errors.New("the recovered point verifies as key")
	}
	return nil
}

func (gs groupsByKey) checkRecoverSkipping(raw json.RawMessage) error {
	c, g, p, err := gs.open(raw)
	if err != nil {
		return err
	}
	for i, recorded := range c.PublicKeys {
		share, ok := g.PublicShare(uint32(i) + 1)
		if b := share.Bytes(); !ok || same("", b[:], recorded) != nil {
			return fmt.Errorf("public key %d is not the group's", i)
		}
	}
	if len(c.PublicKeys) != g.N() {
		return fmt.Errorf("%d public keys for %d participants", len(c.PublicKeys), g.N())
	}
	parts, err := ours(c.Partials)
	if err != nil {
		return err
	}
	want := slices.Clone(c.BadIndices)
	for i := range want {
		want[i]++
	}
	slices.Sort(want)
	if got := g.VerifyBatch(p, parts, nil); !slices.Equal(got, want) {
		return fmt.Errorf("members %v sent bad partials, recorded are %v", got, want)
	}
	key, _, err := recoverKey(g, p, c.Partials)
	if err == nil {
		err = same("key", key, c.Key)
	}
	return c.expect(err)
}
