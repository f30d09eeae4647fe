package dkg_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
)

// TestAnIndependentMemberTakesPart: a member written by the documentation, over another curve library, plays a whole ceremony
// among ours, and each side accepts all of the other's bundles.
func TestAnIndependentMemberTakesPart(t *testing.T) {
	c := newCluster(t, 4, nil)
	p := c.puppet(2)
	c.begin()
	p.play(kindAnnounce, p.announcement())
	p.play(kindDeal, p.deal())
	p.play(kindResponse, p.response())
	confirmation := p.entry(kindConfirm, p.confirmation(p.share(t, all(4)), all(4)))
	c.silent[4] = true
	c.pool = c.pool[:2] // the third of three confirmations is the puppet's
	c.flush()
	c.order(confirmation)
	c.catchUp(func(i int, err error) { t.Errorf("machine %d: %v", i+1, err) })
	c.group(1, 3, 4)
}

func faultsOf(t *testing.T, c *cluster, index uint32, reason string) {
	t.Helper()
	for i, m := range c.machines {
		if uint32(i+1) == index {
			continue
		}
		if f := m.Faults(); len(f) != 1 || f[0].Index != index || !strings.Contains(f[0].Reason, reason) {
			t.Errorf("machine %d records %v, want one fault of member %d: %s", i+1, f, index, reason)
		}
	}
}

func TestAnnouncementsThatCountForNothing(t *testing.T) {
	const unproven = "no proof that it knows the secret of its encryption key"
	for name, a := range map[string]struct {
		body  func(c *cluster, p *puppet) []byte
		fault string
	}{
		"another member's announcement": {func(c *cluster, p *puppet) []byte { return c.view().bodies[kindAnnounce][1] }, unproven},
		"another member's key with a proof of its own": {func(c *cluster, p *puppet) []byte {
			key, id := c.view().key(1), c.machines[0].ID()
			return append(enc(key), prove(keyProofTag, id[:], 2, []g1{key}, p.enc)...)
		}, unproven},
		"the identity": {func(c *cluster, p *puppet) []byte {
			return append(append([]byte{0xc0}, make([]byte, 47)...), make([]byte, 64)...)
		}, "identity"},
		"a point outside of the subgroup": {func(c *cluster, p *puppet) []byte {
			return append(outsideSubgroup(t), make([]byte, 64)...)
		}, "subgroup"},
		"no proof": {func(c *cluster, p *puppet) []byte { return append(enc(base(p.enc)), make([]byte, 64)...) }, unproven},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
			p := c.puppet(2)
			c.begin()
			c.flush()
			p.play(kindAnnounce, a.body(c, p))
			faultsOf(t, c, 2, a.fault)
			c.settle()
			c.group(1, 3, 4, 5, 6, 7)
		})
	}
}

// TestACopiedKeyDoesNotDisplaceItsOwner: the thief gets into the log first.
func TestACopiedKeyDoesNotDisplaceItsOwner(t *testing.T) {
	c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
	p := c.puppet(1)
	c.begin()
	victim := c.pool[0] // of member 2
	c.order(p.entry(kindAnnounce, victim[69:len(victim)-64]))
	c.settle()
	faultsOf(t, c, 1, "no proof")
	c.group(2, 3, 4, 5, 6, 7)
}

func TestTwoMembersThatShareASecretCountOnce(t *testing.T) {
	c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
	p, q := c.puppet(1), c.puppet(2)
	q.enc = p.enc
	c.void = 2
	c.begin()
	c.order(p.entry(kindAnnounce, p.announcement()), q.entry(kindAnnounce, q.announcement()))
	c.flush()
	for i, m := range c.machines[2:] {
		if f := m.Faults(); len(f) != 1 || f[0].Index != 2 || f[0].Reason != "encryption key of member 1" {
			t.Errorf("machine %d records %v", i+3, f)
		}
	}
	c.flush()
	p.play(kindDeal, p.deal())
	p.play(kindResponse, p.response())
	c.settle()
	c.group(3, 4, 5, 6, 7)
}

func TestResponses(t *testing.T) {
	for name, r := range map[string]struct {
		body  func(p *puppet) []byte
		fault string
	}{
		"a false complaint is answered and changes nothing":     {body: func(p *puppet) []byte { return p.response(3) }},
		"false complaints about everyone are answered":          {body: func(p *puppet) []byte { return p.response(1, 3, 4) }},
		"a complaint about oneself counts for nothing":          {body: func(p *puppet) []byte { return p.response(2) }, fault: "dealt it nothing"},
		"a complaint about a member that is none":               {body: func(p *puppet) []byte { return []byte{0x10} }, fault: "names dealer 5 of 4"},
		"a good complaint beside one about oneself is void too": {body: func(p *puppet) []byte { return p.response(1, 2) }, fault: "dealt it nothing"},
		"no response in time is no complaint, and no obstacle":  {},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 4, nil)
			p := c.puppet(2)
			c.begin()
			p.play(kindAnnounce, p.announcement())
			p.play(kindDeal, p.deal())
			var body []byte
			if r.body != nil {
				body = r.body(p)
			}
			p.play(kindResponse, body)
			c.settle()
			if r.fault != "" {
				faultsOf(t, c, 2, r.fault)
			}
			c.group(1, 3, 4)
			if got := c.machines[0].Result().Qual; len(got) != 4 {
				t.Errorf("qualified %v, want all", got)
			}
		})
	}
}

// TestSilenceRevealsNoShare: a member whose response does not arrive in time must not find its shares published.
func TestSilenceRevealsNoShare(t *testing.T) {
	c := newCluster(t, 4, nil)
	c.begin()
	c.flush()
	c.flush()
	c.pool = slices.DeleteFunc(c.pool, func(e []byte) bool { return e[68] == 2 })
	c.flush()
	c.timeout()
	c.settle()
	for _, e := range c.log {
		if e[0] == kindJustification {
			t.Errorf("member %d published shares", e[68])
		}
	}
	c.group(1, 2, 3, 4)
}

// TestALateVictimEndsWithoutAShare: it was dealt a bad share and could not complain in time. It must notice.
func TestALateVictimEndsWithoutAShare(t *testing.T) {
	c := newCluster(t, 4, nil)
	p := c.puppet(2)
	c.begin()
	p.play(kindAnnounce, p.announcement())
	p.play(kindDeal, honestExcept(3)(p))
	c.pool = slices.DeleteFunc(c.pool, func(e []byte) bool { return e[68] == 3 })
	p.play(kindResponse, p.response())
	c.timeoutWithoutBundles()
	c.flush()
	c.order(p.entry(kindConfirm, p.confirmation(p.share(t, all(4)), all(4))))
	c.settle()
	c.group(1, 4)
	if err := c.machines[2].Status().Problem; err == nil {
		t.Error("member 3 does not know that it has no share")
	}
}

func TestConfirmationsThatCountForNothing(t *testing.T) {
	for name, a := range map[string]struct {
		body  func(p *puppet) []byte
		fault string
	}{
		"another transcript": {func(p *puppet) []byte {
			b := p.confirmation(p.share(t, all(4)), all(4))
			b[0] ^= 1
			return b
		}, "another transcript or group key"},
		"another group key": {func(p *puppet) []byte {
			b := p.confirmation(p.share(t, all(4)), all(4))
			return slices.Concat(b[:32], enc(base(p.enc)), b[80:])
		}, "another transcript or group key"},
		"the sum of other dealers":      {func(p *puppet) []byte { return p.confirmation(p.share(t, all(3)), all(3)) }, "another transcript or group key"},
		"a share off the polynomial":    {func(p *puppet) []byte { return p.confirmation(number("no share"), all(4)) }, "does not belong to the group"},
		"another member's confirmation": {func(p *puppet) []byte { return p.c.view().bodies[kindConfirm][1] }, "does not belong to the group"},
		"the identity as signature": {func(p *puppet) []byte {
			b := p.confirmation(number("no share"), all(4))
			return slices.Concat(b[:80], []byte{0xc0}, make([]byte, 95))
		}, "does not belong to the group"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 4, nil)
			p := c.puppet(2)
			c.begin()
			p.play(kindAnnounce, p.announcement())
			p.play(kindDeal, p.deal())
			p.play(kindResponse, p.response())
			rest := c.pool[2:]
			c.pool = c.pool[:2]
			c.flush()
			p.play(kindConfirm, a.body(p))
			if c.over() {
				t.Fatal("it counted")
			}
			faultsOf(t, c, 2, a.fault)
			c.pool = rest
			c.flush()
			c.group(1, 3, 4)
		})
	}
}

func TestTooFewConfirmationsFail(t *testing.T) {
	c := newCluster(t, 4, nil)
	c.begin()
	for range 3 {
		c.flush()
	}
	c.pool = c.pool[:2]
	c.flush()
	c.timeoutWithoutBundles()
	c.settle()
	if f := c.failed(); fmt.Sprint(f.Culprits) != "[3 4]" {
		t.Errorf("failure %+v, want culprits 3 and 4", f)
	}
}

// timeoutWithoutBundles publishes the timeouts alone: the bundles stay lost.
func (c *cluster) timeoutWithoutBundles() {
	c.timeout()
	c.pool = slices.DeleteFunc(c.pool, func(e []byte) bool { return e[0] != kindTimeout })
}

func TestAPhaseEndsByThresholdTimeoutsOnly(t *testing.T) {
	c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
	c.silent[7] = true
	c.begin()
	c.flush()
	c.timeoutWithoutBundles()
	timeouts := c.pool
	c.pool = nil
	again := c.machines[0].Timeout()
	if len(again) != 1 || !slices.Equal(again[0], timeouts[0]) {
		t.Error("a second call gives another timeout")
	}
	// Four of seven, and one of them thrice.
	c.order(timeouts[0], timeouts[0], timeouts[1], timeouts[2], timeouts[3], timeouts[0])
	stale := 0
	c.catchUp(func(i int, err error) {
		if !errors.Is(err, dkg.ErrStale) {
			t.Errorf("machine %d: %v", i+1, err)
		}
		stale++
	})
	if want := 2 * len(c.machines); stale != want {
		t.Errorf("%d timeouts refused, want %d", stale, want)
	}
	s := c.machines[7].Status()
	if s.Phase != dkg.PhaseAnnounce || fmt.Sprint(s.Missing, s.Timeouts) != "[7] [1 2 3 4]" {
		t.Errorf("with four of seven timeouts: %+v", s)
	}
	c.order(timeouts[4])
	c.catchUp(nil)
	if s := c.machines[7].Status(); s.Phase != dkg.PhaseDeal || len(s.Timeouts) != 0 {
		t.Errorf("with five of seven timeouts: %+v", s)
	}
	// A timeout of the phase that is over does not shorten the next.
	c.order(timeouts[5])
	c.catchUp(func(i int, err error) {
		if !errors.Is(err, dkg.ErrStale) {
			t.Errorf("machine %d: %v", i+1, err)
		}
	})
	c.settle()
	c.group(1, 2, 3, 4, 5, 6)
}

func TestTimeoutsOfOtherPhases(t *testing.T) {
	c := newCluster(t, 4, nil)
	p := c.puppet(1)
	for phase, want := range map[byte]error{0: dkg.ErrInvalid, 2: dkg.ErrNotYet, 5: dkg.ErrNotYet, 6: dkg.ErrInvalid, 255: dkg.ErrInvalid} {
		e := p.entry(kindTimeout, []byte{1})
		e[69] = phase
		if _, err := c.machines[1].Apply(p.sign(e[:70])); !errors.Is(err, want) {
			t.Errorf("timeout of phase %d: %v, want %v", phase, err, want)
		}
	}
}

// TestALateDealerStillGetsAShare: its deal does not count, and the group's polynomial is without it.
func TestALateDealerStillGetsAShare(t *testing.T) {
	c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
	c.begin()
	c.flush()
	late := c.pool[4]
	c.pool = slices.Delete(c.pool, 4, 5)
	c.flush()
	c.timeoutWithoutBundles()
	c.pool = append(c.pool, late)
	c.settle()
	c.group(all(7)...)
	if got := fmt.Sprint(c.machines[0].Result().Qual); got != "[1 2 3 4 6 7]" {
		t.Errorf("qualified %s", got)
	}
}

// TestALateJustifierStillGetsAShare: someone complained falsely about an honest dealer, whose answer came too late.
func TestALateJustifierStillGetsAShare(t *testing.T) {
	c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
	p := c.puppet(2)
	c.begin()
	p.play(kindAnnounce, p.announcement())
	p.play(kindDeal, p.deal())
	p.play(kindResponse, p.response(5))
	c.pool = nil
	c.timeoutWithoutBundles()
	c.settle()
	c.group(1, 3, 4, 5, 6, 7)
	if got := fmt.Sprint(c.machines[0].Result().Qual); got != "[1 2 3 4 6 7]" {
		t.Errorf("qualified %s", got)
	}
}

func TestAMemberThatDoesNotAnnounceHasNoShare(t *testing.T) {
	c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
	c.silent[3] = true
	c.run()
	c.group(1, 2, 4, 5, 6, 7)
	for i, m := range c.machines {
		if got := fmt.Sprint(m.Result().Holders); got != "[1 2 4 5 6 7]" {
			t.Errorf("machine %d: shares were dealt to %s", i+1, got)
		}
	}
}

func TestTooFewMembersFail(t *testing.T) {
	c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
	c.silent[3], c.silent[6] = true, true
	c.run()
	if f := c.failed(); fmt.Sprint(f.Culprits) != "[3 6]" || f.Reason != "phase announce: 5 encryption keys, and 6 are needed" {
		t.Errorf("failure %+v", f)
	}
	// The next attempt is another ceremony.
	next := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual, cfg.Attempt = 6, 2 })
	next.begin()
	next.order(c.log...)
	next.catchUp(func(i int, err error) {
		if !errors.Is(err, dkg.ErrForeign) || !errors.Is(err, dkg.ErrStale) {
			t.Errorf("machine %d: %v", i+1, err)
		}
	})
	next.settle()
	next.group(all(7)...)
}
