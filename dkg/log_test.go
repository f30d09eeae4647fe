package dkg_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
	"pgregory.net/rapid"
)

// complained is a ceremony of four with a false complaint in it, so that it has all phases. Member 2 is a puppet.
func complained(t testing.TB) *cluster {
	c := newCluster(t, 4, nil)
	p := c.puppet(2)
	c.begin()
	p.play(kindAnnounce, p.announcement())
	p.play(kindDeal, p.deal())
	p.play(kindResponse, p.response(3))
	c.settle()
	c.group(1, 3, 4)
	return c
}

// TestRestartAtEveryStep: a member that restarts after any entry of the log asks for the same bytes as one that did not, and
// ends with the same group and a share of it.
func TestRestartAtEveryStep(t *testing.T) {
	for name, c := range map[string]*cluster{
		"without complaints": func() *cluster { c := newCluster(t, 4, nil); c.run(); return c }(),
		"with a complaint":   complained(t),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.n() {
				if c.silent[uint32(i+1)] {
					continue
				}
				steady := c.start(i)
				for k := 0; k <= len(c.log); k++ {
					restarted := c.start(i)
					for _, e := range c.log[:k] {
						restarted.Apply(e)
					}
					if got, want := restarted.Pending(), steady.Pending(); fmt.Sprintf("%x", got) != fmt.Sprintf("%x", want) {
						t.Fatalf("member %d after %d entries wants other entries than before it restarted", i+1, k)
					}
					if k == len(c.log) {
						r := restarted.Result()
						if want := c.machines[i].Result(); r == nil || !r.Group.Equal(want.Group) || r.Transcript != want.Transcript || r.Share.Check(want.Group) != nil {
							t.Errorf("member %d ends with another result", i+1)
						}
						break
					}
					steady.Apply(c.log[k])
				}
			}
		})
	}
}

// TestEntriesRebuildTheState: what a snapshot keeps is enough.
func TestEntriesRebuildTheState(t *testing.T) {
	c := complained(t)
	for k := range c.log {
		m := c.start(0)
		for _, e := range c.log[:k] {
			m.Apply(e)
			m.Apply(e[:len(e)-1])
		}
		again := c.start(0)
		for _, e := range m.Entries() {
			if _, err := again.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := fmt.Sprintf("%x %+v", again.Pending(), again.Status()), fmt.Sprintf("%x %+v", m.Pending(), m.Status()); got != want {
			t.Fatalf("after %d entries: %s, want %s", k, got, want)
		}
	}
}

// TestALostSeedSilencesItsMember, in whatever phase it restarts without it; the others finish.
func TestALostSeedSilencesItsMember(t *testing.T) {
	for phase := range 3 {
		c := newCluster(t, 4, nil)
		c.begin()
		for range phase + 1 {
			c.flush()
		}
		cfg := c.config(1)
		cfg.Seed = seedOf("another")
		m, err := dkg.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.log {
			m.Apply(e)
		}
		c.machines[1] = m
		if s := m.Status(); s.Problem == nil || !strings.Contains(s.Problem.Error(), "seed") {
			t.Errorf("after phase %d: no problem told: %+v", phase, s)
		}
		if p := m.Pending(); len(p) != 0 {
			t.Errorf("after phase %d: wants %d entries", phase, len(p))
		}
		c.finish()
		c.group(1, 3, 4)
	}
}

func TestEquivocation(t *testing.T) {
	for kind, second := range map[int]func(p *puppet) []byte{
		kindAnnounce: func(p *puppet) []byte { q := *p; q.enc = number("second key"); return q.announcement() },
		kindDeal: func(p *puppet) []byte {
			q := *p
			q.poly = []scalar{number("a"), number("b"), number("c")}
			return q.deal()
		},
		kindResponse:      func(p *puppet) []byte { return p.response(1) },
		kindJustification: func(p *puppet) []byte { return bytes32(number("a lie")) },
		kindConfirm:       func(p *puppet) []byte { return p.confirmation(number("no share"), all(4)) },
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("kind %d, after the phase: %v", kind, late), func(t *testing.T) {
				if late && kind == kindConfirm {
					return // nothing comes after the last phase
				}
				c := newCluster(t, 4, nil)
				p := c.puppet(2)
				c.begin()
				var contradiction []byte
				for k, first := range []func() []byte{
					kindAnnounce: p.announcement,
					kindDeal:     p.deal,
					kindResponse: func() []byte { return p.response() },
					kindJustification: func() []byte {
						if c.machines[0].Status().Phase != dkg.PhaseJustification {
							return nil
						}
						return p.justification(3)
					},
					kindConfirm: func() []byte { return p.confirmation(p.share(t, all(4)), all(4)) },
				} {
					if first == nil {
						continue
					}
					held := c.pool
					c.pool = nil
					if k == kindDeal && kind == kindJustification {
						first = func() []byte { return honestExcept(3)(p) }
					}
					body := first()
					if body == nil {
						c.pool = held
						continue
					}
					c.order(p.entry(k, body))
					if k == kind {
						contradiction = p.entry(k, second(p))
						if !late {
							c.order(contradiction, contradiction)
						}
					}
					c.order(held...)
					c.catchUp(nil)
					if k == kind && late {
						c.order(contradiction)
						c.catchUp(nil)
					}
				}
				c.settle()
				c.group(1, 3, 4)
				faultsOf(t, c, 2, "two different bundles")
				f := c.machines[0].Faults()[0]
				if len(f.Evidence) != 2 || bytes.Equal(f.Evidence[0], f.Evidence[1]) || !bytes.Equal(f.Evidence[1], contradiction) {
					t.Fatalf("evidence %x", f.Evidence)
				}
				for _, e := range f.Evidence {
					if err := dkg.CheckEntry(c.cfg.Members, e); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestEntriesThatChangeNothing gives a machine in phase deal what does not belong there.
func TestEntriesThatChangeNothing(t *testing.T) {
	c := newCluster(t, 4, nil)
	c.begin()
	c.flush()
	deal := c.pool[0]
	change := func(at int, to byte) []byte {
		e := slices.Clone(deal)
		e[at] = to
		return e
	}
	other := newCluster(t, 4, func(cfg *dkg.Config) { cfg.Attempt = 2 })
	p := c.puppet(2)
	response := p.entry(kindResponse, p.response())
	for name, e := range map[string]struct {
		entry []byte
		class error
	}{
		"nothing":                         {nil, dkg.ErrInvalid},
		"a short entry":                   {deal[:100], dkg.ErrInvalid},
		"a cut entry":                     {deal[:len(deal)-1], dkg.ErrInvalid},
		"a longer entry":                  {append(slices.Clone(deal), 0), dkg.ErrInvalid},
		"a long entry":                    {make([]byte, 1<<20), dkg.ErrInvalid},
		"kind 0":                          {change(0, 0), dkg.ErrInvalid},
		"kind 7":                          {change(0, 7), dkg.ErrInvalid},
		"index 0":                         {change(68, 0), dkg.ErrInvalid},
		"index 5":                         {change(68, 5), dkg.ErrInvalid},
		"a huge index":                    {change(65, 0xff), dkg.ErrInvalid},
		"another author's index":          {change(68, 2), dkg.ErrInvalid},
		"a changed body":                  {change(69, 0xff), dkg.ErrInvalid},
		"a changed signature":             {change(len(deal)-1, deal[len(deal)-1]^1), dkg.ErrInvalid},
		"a changed context":               {change(40, deal[40]^1), dkg.ErrInvalid},
		"an announcement already there":   {c.log[0], dkg.ErrStale},
		"another attempt's announcement":  {other.machines[0].Pending()[0], dkg.ErrForeign},
		"a response before its time":      {response, dkg.ErrNotYet},
		"a justification before its time": {p.entry(kindJustification, p.justification(1)), dkg.ErrNotYet},
		"a deal made upon another log": {func() []byte {
			unsigned := slices.Clone(deal[:len(deal)-64])
			unsigned[40] ^= 1
			unsigned[68] = 2
			return p.sign(unsigned)
		}(), dkg.ErrFork},
	} {
		m := c.machines[0]
		before := fmt.Sprintf("%+v %x %x", m.Status(), m.Pending(), m.Entries())
		step, err := m.Apply(e.entry)
		if !errors.Is(err, e.class) {
			t.Errorf("%s: error %v, want class %v", name, err, e.class)
		}
		if fmt.Sprint(step) != fmt.Sprint(dkg.Step{}) {
			t.Errorf("%s: step %+v", name, step)
		}
		if after := fmt.Sprintf("%+v %x %x", m.Status(), m.Pending(), m.Entries()); after != before {
			t.Errorf("%s: it changed the state", name)
		}
		if err := dkg.CheckEntry(c.cfg.Members, e.entry); (err != nil) != errors.Is(e.class, dkg.ErrInvalid) {
			t.Errorf("%s: CheckEntry: %v", name, err)
		}
	}
}

func TestNothingCountsAfterTheEnd(t *testing.T) {
	c := newCluster(t, 4, nil)
	c.run()
	for _, e := range c.log {
		if _, err := c.machines[0].Apply(e); !errors.Is(err, dkg.ErrStale) {
			t.Errorf("entry after the end: %v", err)
		}
	}
}

// TestALogThatForks: the leader shows member 1 a log in which member 7 did not announce, and the others one in which it did.
// What is signed in the one counts for nothing in the other, so no deal is judged by those it was not made for.
func TestALogThatForks(t *testing.T) {
	change := func(cfg *dkg.Config) { cfg.MinQual = 6 }
	with, without := newCluster(t, 7, change), newCluster(t, 7, change)
	with.begin()
	with.flush()
	without.silent[7] = true
	without.begin()
	without.flush()
	without.timeout()
	without.flush()
	for _, e := range without.pool {
		if e[0] != kindDeal {
			t.Fatalf("entry of kind %d", e[0])
		}
		if _, err := with.machines[6].Apply(e); !errors.Is(err, dkg.ErrFork) {
			t.Errorf("deal of member %d from another log: %v", e[68], err)
		}
		own := with.machines[e[68]-1]
		if _, err := own.Apply(e); !errors.Is(err, dkg.ErrFork) || own.Status().Problem == nil || len(own.Pending()) != 0 {
			t.Errorf("member %d is shown its own entry of another log: error %v, status %+v", e[68], err, own.Status())
		}
	}
}

// TestAnyLog: a leader that orders as it likes, repeats, mangles and delays, members that lag, restart and lose patience. All
// end alike, and if they end well their shares fit.
func TestAnyLog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(rt, "n")
		c := newCluster(t, n, nil)
		if rt.Failed() {
			return
		}
		c.begin()
		var published [][]byte
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			published = append(published, c.pool...)
			c.pool = nil
			i := rapid.IntRange(0, n).Draw(rt, "machine")
			switch rapid.SampledFrom([]string{"order", "order", "order", "mangle", "apply", "apply", "apply", "apply", "restart", "timeout"}).Draw(rt, "what") {
			case "order":
				c.order(rapid.SampledFrom(published).Draw(rt, "entry"))
			case "mangle":
				e := slices.Clone(rapid.SampledFrom(published).Draw(rt, "entry"))
				e[rapid.IntRange(0, len(e)-1).Draw(rt, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
				c.order(e)
			case "apply":
				for c.applied[i] < len(c.log) {
					c.step(i)
				}
			case "restart":
				c.machines[i] = c.start(i)
				c.applied[i] = 0
			case "timeout":
				c.publish(i, c.machines[i].Timeout())
			}
		}
		c.pool = append(published, c.pool...)
		for range 10 {
			c.settle()
			if c.over() {
				break
			}
			c.timeout()
		}
		c.catchUp(nil)
		if c.machines[n].Failure() != nil {
			c.failed()
		} else {
			c.outcome()
		}
		if t.Failed() {
			rt.Fatalf("log %x", c.log)
		}
	})
}

func TestCheckEntryKnowsItsMembers(t *testing.T) {
	c := newCluster(t, 4, nil)
	c.begin()
	strangers := slices.Clone(c.cfg.Members)
	for i := range strangers {
		seed := seedOf("stranger", i)
		strangers[i].NetworkKey = ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	}
	for _, e := range c.pool {
		if err := dkg.CheckEntry(c.cfg.Members, e); err != nil {
			t.Error(err)
		}
		if err := dkg.CheckEntry(strangers, e); !errors.Is(err, dkg.ErrInvalid) {
			t.Errorf("among strangers: %v", err)
		}
		if err := dkg.CheckEntry(c.cfg.Members[:1], e); e[68] > 1 && !errors.Is(err, dkg.ErrInvalid) {
			t.Errorf("among fewer: %v", err)
		}
	}
}
