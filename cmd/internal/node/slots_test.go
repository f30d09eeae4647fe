package node

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// testGroup is a group of n members with its shares.
func testGroup(t interface{ Fatal(...any) }, n int) (tlock.Namespace, *partials.Group, []partials.Share) {
	ns, err := tlock.NewNamespace(big.NewInt(7), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	var coefficients []bls.Scalar
	var commitments []bls.G1
	for range partials.Threshold(n) {
		c, err := bls.RandomScalar()
		if err != nil {
			t.Fatal(err)
		}
		coefficients = append(coefficients, c)
		commitments = append(commitments, bls.MulG1Public(c))
	}
	group, err := partials.NewGroup(ns, firstEpoch, n, commitments)
	if err != nil {
		t.Fatal(err)
	}
	var shares []partials.Share
	for i := range n {
		share, err := partials.NewShare(uint32(i+1), bls.EvalScalar(coefficients, uint32(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, share)
	}
	return ns, group, shares
}

// member is one validator's core with the keys it has, without any edge.
type member struct {
	*slots
	keys map[uint64]tlock.Key
	sent []partials.Envelope
	todo todo // all that was decided so far, jobs and envelopes apart
}

func newMember(ns tlock.Namespace, group *partials.Group, share partials.Share, now time.Time, first uint64) *member {
	m := &member{keys: make(map[uint64]tlock.Key)}
	m.slots = newSlots(ns, func(s uint64) bool { _, ok := m.keys[s]; return ok }, now)
	if group != nil {
		m.setGroup(group, share)
		m.activate(now, first)
	}
	return m
}

// act does what the edge does: jobs run, keys are stored, envelopes are kept for the test to deliver.
func (m *member) act(t interface{ Fatal(...any) }, now time.Time, do todo) {
	for _, raw := range do.send {
		e, err := partials.DecodeEnvelope(raw)
		if err != nil {
			t.Fatal(err)
		}
		m.sent = append(m.sent, e)
	}
	for _, k := range do.keys {
		m.keys[k.slot] = k.key
	}
	m.todo.keys = append(m.todo.keys, do.keys...)
	m.todo.fetch = append(m.todo.fetch, do.fetch...)
	m.todo.missed = append(m.todo.missed, do.missed...)
	m.todo.blamed = append(m.todo.blamed, do.blamed...)
	for _, job := range do.jobs {
		m.act(t, now, m.outcome(now, job.Identity(), job.Run(nil)))
	}
}

// deliver hands an envelope over as gossip does.
func (m *member) deliver(t interface{ Fatal(...any) }, now time.Time, e partials.Envelope) error {
	slot, _ := e.Identity.Slot()
	if err := m.admit(now, slot, e.Partial); err != nil {
		return err
	}
	do, err := m.partial(now, slot, e.Partial)
	m.act(t, now, do)
	return err
}

// signed lists the slots of the envelopes sent, ascending, without repetitions.
func (m *member) signed() (slots []uint64) {
	for _, e := range m.sent {
		s, _ := e.Identity.Slot()
		slots = append(slots, s)
	}
	slices.Sort(slots)
	return slices.Compact(slots)
}

func at(second uint64, ms int) time.Time {
	return time.Unix(int64(second), 0).Add(time.Duration(ms) * time.Millisecond)
}

func TestReleaseNeedsTheClockAndABlock(t *testing.T) {
	for name, c := range map[string]struct {
		slot uint64
		now  time.Time
		head uint64
		want bool
	}{
		"slot is over and a block reached it":         {100, at(101, 0), 100, true},
		"long ago":                                    {100, at(5000, 0), 4000, true},
		"last millisecond of the slot":                {100, at(100, 999), 100, false},
		"block is ahead, clock is not":                {100, at(100, 0), 102, false},
		"clock is ahead, no block reached the slot":   {100, at(200, 0), 99, false},
		"no block at all":                             {100, at(200, 0), 0, false},
		"a clock before 1970 releases nothing":        {0, time.Unix(-5, 0), 100, false},
		"the largest slot is not over":                {1<<64 - 1, at(200, 0), 1<<64 - 1, false},
		"slot 0 is over in second 1":                  {0, at(1, 0), 1, true},
		"clock set back to 1970 releases nothing new": {100, at(3, 0), 100, false},
	} {
		if got := mayRelease(c.slot, c.now, c.head); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestThresholdMembersMakeEverySlotsKey(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	var all []*member
	for _, s := range shares {
		all = append(all, newMember(ns, group, s, at(1000, 0), 1000))
	}
	up := all[:3] // the fourth is down: threshold of 4 is 3
	for second := uint64(1001); second <= 1005; second++ {
		for _, m := range up {
			m.act(t, at(second, 2), m.block(at(second, 2), second-1, nil))
		}
		exchange(t, at(second, 5), up)
		for i, m := range up {
			key, ok := m.keys[second-1]
			if !ok {
				t.Fatalf("member %d has no key of slot %d", i+1, second-1)
			}
			if err := group.Key().Verify(ns, tlock.SlotIdentity(second-1), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(up[0].open) != 0 || len(up[0].todo.missed) != 0 {
		t.Errorf("open %v, missed %v; want nothing", up[0].open, up[0].todo.missed)
	}
}

// exchange delivers everything sent so far to all others. Errors are what gossip would ignore.
func exchange(t *testing.T, now time.Time, all []*member) {
	t.Helper()
	for _, from := range all {
		sent := from.sent
		from.sent = nil
		for _, e := range sent {
			for _, to := range all {
				if to != from {
					if err := to.deliver(t, now, e); err != nil && classOf(err) == invalid {
						t.Fatalf("an honest partial is called invalid: %v", err)
					}
				}
			}
		}
	}
}

func TestTwoOfFourMakeNothingAndTheThirdMakesAll(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	var all []*member
	for _, s := range shares[:3] {
		all = append(all, newMember(ns, group, s, at(1000, 0), 1000))
	}
	two := all[:2]
	for second := uint64(1001); second <= 1004; second++ {
		for _, m := range two {
			m.act(t, at(second, 0), m.block(at(second, 0), second-1, nil))
		}
		exchange(t, at(second, 5), two)
	}
	if len(two[0].keys) != 0 {
		t.Fatalf("two of four made keys: %v", two[0].keys)
	}
	for second := uint64(1005); second <= 1008; second++ { // the third is back; partials are sent again
		for _, m := range all {
			m.act(t, at(second, 0), m.block(at(second, 0), second-1, nil))
		}
		exchange(t, at(second, 5), all)
		fetchAll(t, at(second, 5), all)
	}
	for slot := uint64(1000); slot <= 1007; slot++ {
		for i, m := range all {
			if _, ok := m.keys[slot]; !ok {
				t.Errorf("member %d lacks the key of slot %d", i+1, slot)
			}
		}
	}
}

// fetchAll gives each member the keys it asked for that another has: who has a key sends no more partials.
func fetchAll(t *testing.T, now time.Time, all []*member) {
	for _, m := range all {
		for _, slot := range m.todo.fetch {
			for _, peer := range all {
				if key, ok := peer.keys[slot]; ok {
					m.act(t, now, m.fetched(now, slot, key))
				}
			}
		}
		m.todo.fetch = nil
	}
}

func TestAfterAHaltTheWindowAndWaitingSlotsAreSigned(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(1000, 0), 1000)
	m.act(t, at(5000, 0), m.block(at(5000, 0), 4999, []uint64{4800}))
	want := []uint64{4800}
	for s := uint64(4999 - window + 1); s <= 4999; s++ {
		want = append(want, s)
	}
	if got := m.signed(); !slices.Equal(got, want) {
		t.Fatalf("signed %d slots %v…, want the waiting one and the last %d", len(got), got[:2], window)
	}
}

func TestSlotsBeforeTheGroupAreNotSignedByThemselves(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(1000, 0), 998)
	m.act(t, at(1001, 0), m.block(at(1001, 0), 1000, nil))
	if got := m.signed(); !slices.Equal(got, []uint64{998, 999, 1000}) {
		t.Fatalf("signed %v, want 998 to 1000", got)
	}
}

func TestSlotsWithAKeyAreNotSignedAgain(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(1000, 0), 0)
	for s := uint64(900); s < 1000; s++ {
		m.keys[s] = tlock.Key{}
	}
	m.act(t, at(1001, 0), m.block(at(1001, 0), 1000, nil))
	if got := m.signed(); !slices.Equal(got, []uint64{1000}) {
		t.Fatalf("signed %v, want 1000 alone", got)
	}
}

func TestOldSlotsAreSignedOnRequest(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(5000, 0), 1000)
	m.act(t, at(5000, 0), m.block(at(5000, 0), 4999, nil))
	m.sent = nil
	if err := m.want(at(5000, 100), 2000, 1); err != nil {
		t.Fatal(err)
	}
	m.act(t, at(5000, 100), m.tick(at(5000, 100)))
	if got := m.signed(); !slices.Equal(got, []uint64{2000}) {
		t.Fatalf("signed %v, want 2000", got)
	}
	if err := m.admit(at(5000, 200), 2000, partials.Partial{Index: 2}); err != nil {
		t.Errorf("partial of a wanted slot: %v", err)
	}
	if err := m.want(at(5000, 100), 5000, 1); !errors.Is(err, errNotYet) {
		t.Errorf("a slot that is not over was taken on: %v", err)
	}
	m.act(t, at(5100, 0), m.block(at(5100, 0), 5099, nil))
	if m.open[2000] != nil {
		t.Error("a wanted slot is worked on for ever")
	}
}

func TestWantedSlotsAreBounded(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(50000, 0), 1000)
	m.act(t, at(50000, 0), m.block(at(50000, 0), 49999, nil))
	refused := 0
	for s := uint64(2000); s < 2000+2*maxWanted; s++ {
		if m.want(at(50000, 0), s, uint32(s)) != nil { // each by another one
			refused++
		}
	}
	if refused != maxWanted {
		t.Fatalf("%d of %d refused, want %d", refused, 2*maxWanted, maxWanted)
	}
}

func TestNobodyHoldsAllPlacesOfWantedSlots(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(50000, 0), 1000)
	m.act(t, at(50000, 0), m.block(at(50000, 0), 49999, nil))
	ask := func(from uint64, by uint32) (taken int) {
		for s := from; s < from+2*maxWanted; s++ {
			if m.want(at(50000, 0), s, by) == nil {
				taken++
			}
		}
		return taken
	}
	if got := ask(2000, 2); got != maxWantedByOne {
		t.Errorf("%d slots are signed for one that asks for all, want %d", got, maxWantedByOne)
	}
	if got := ask(2000, 2); got != maxWantedByOne {
		t.Errorf("asked again, %d slots are signed, want the same %d", got, maxWantedByOne)
	}
	if got := ask(3000, 3); got != maxWantedByOne {
		t.Errorf("%d slots are signed for another one after that, want %d", got, maxWantedByOne)
	}
	if err := m.want(at(50031, 0), 4000, 2); err != nil {
		t.Errorf("when its time is over, a place is not free: %v", err)
	}
}

func TestLostPartialsAreSentAgain(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(1000, 0), 1000)
	m.act(t, at(1001, 0), m.block(at(1001, 0), 1000, nil))
	for ms := 250; ms < 2000; ms += 250 {
		m.act(t, at(1001, ms), m.tick(at(1001, ms)))
	}
	if len(m.sent) != 1 {
		t.Fatalf("%d sent within two seconds, want 1", len(m.sent))
	}
	m.act(t, at(1003, 0), m.tick(at(1003, 0)))
	if len(m.sent) != 2 || m.sent[0] != m.sent[1] {
		t.Fatalf("after two seconds: %d sent, want the same one again", len(m.sent))
	}
}

func TestMissingKeysAreAskedFor(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(1000, 0), 1000)
	m.act(t, at(1001, 0), m.block(at(1001, 0), 1000, nil))
	m.act(t, at(1001, 500), m.tick(at(1001, 500)))
	if len(m.todo.fetch) != 0 {
		t.Fatalf("asked for %v half a second after opening the slot", m.todo.fetch)
	}
	m.act(t, at(1002, 0), m.tick(at(1002, 0)))
	m.act(t, at(1002, 500), m.tick(at(1002, 500)))
	if !slices.Equal(m.todo.fetch, []uint64{1000}) {
		t.Fatalf("asked for %v, want 1000 once", m.todo.fetch)
	}
	key := keyOf(t, ns, group, shares, 1000)
	m.act(t, at(1002, 600), m.fetched(at(1002, 600), 1000, key))
	if !m.keys[1000].Equal(key) || len(m.open) != 0 {
		t.Fatalf("the fetched key was not taken: %v", m.keys)
	}
	m.act(t, at(1002, 700), m.fetched(at(1002, 700), 1000, key))
	if len(m.todo.keys) != 1 {
		t.Errorf("key announced %d times", len(m.todo.keys))
	}
}

func keyOf(t testing.TB, ns tlock.Namespace, group *partials.Group, shares []partials.Share, slot uint64) tlock.Key {
	t.Helper()
	p := partials.Prepare(ns, tlock.SlotIdentity(slot))
	var parts []partials.Partial
	for _, s := range shares {
		parts = append(parts, s.Sign(p))
	}
	key, _, err := group.Recover(p, parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAdmission(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(5000, 0), 1000)
	m.keys[4990] = tlock.Key{}
	m.act(t, at(5000, 0), m.block(at(5000, 0), 4999, nil))
	own, err := partials.DecodeEnvelope(m.open[4999].envelope)
	if err != nil {
		t.Fatal(err)
	}
	two := partials.Partial{Index: 2}
	for name, c := range map[string]struct {
		slot uint64
		part partials.Partial
		now  time.Time
		want class
		fine bool
	}{
		"the slot just over":                     {slot: 4999, part: two, now: at(5000, 10), fine: true},
		"a clock that is a little ahead":         {slot: 5000, part: two, now: at(5000, 600), fine: true},
		"too early":                              {slot: 5000, part: two, now: at(5000, 400), want: notYet},
		"far in the future":                      {slot: 1 << 60, part: two, now: at(5000, 0), want: notYet},
		"older than the window, and not waiting": {slot: 4000, part: two, now: at(5000, 0), want: stale},
		"the same partial again":                 {slot: 4999, part: own.Partial, now: at(5000, 0), want: stale},
		"another partial of the same member":     {slot: 4999, part: partials.Partial{Index: 1}, now: at(5000, 0), want: invalid},
		"key is known":                           {slot: 4990, part: two, now: at(5000, 0), want: stale},
	} {
		err := m.admit(c.now, c.slot, c.part)
		if (err == nil) != c.fine || err != nil && classOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	waiting := newMember(ns, nil, partials.Share{}, at(5000, 0), 0)
	waiting.setGroup(group, shares[0])
	if err := waiting.admit(at(5000, 0), 4999, two); err != nil {
		t.Errorf("before the key is on chain here: %v; others may be ahead", err)
	}
	waiting.act(t, at(5000, 0), waiting.block(at(5000, 0), 4999, []uint64{4998}))
	if len(waiting.sent) != 0 {
		t.Errorf("signed %v before the group key was on chain", waiting.signed())
	}
	stranger := newMember(ns, nil, partials.Share{}, at(5000, 0), 0)
	if err := stranger.admit(at(5000, 0), 4999, partials.Partial{Index: 2}); classOf(err) != notYet {
		t.Errorf("before the group is known: %v; nobody is to blame for that", err)
	}
}

func TestEveryMissedSlotHasItsReason(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	for name, c := range map[string]struct {
		group *partials.Group
		share partials.Share
		again bool
		head  uint64
		want  reason
	}{
		"no group yet":           {nil, partials.Share{}, false, 1000, reasonNoGroup},
		"the group is on disk":   {nil, partials.Share{}, true, 1000, reasonBehind},
		"the chain stands still": {group, shares[0], true, 998, reasonNoBlock},
		"nobody else signed":     {group, shares[0], false, 1000, reasonTooFew},
		"no share, nobody":       {group, partials.Share{}, false, 1000, reasonNoShare},
	} {
		m := newMember(ns, c.group, c.share, at(999, 0), 990)
		m.restarted = c.again
		m.act(t, at(1001, 0), m.block(at(1001, 0), c.head, nil))
		m.act(t, at(1002, 990), m.tick(at(1002, 990)))
		if len(m.todo.missed) != 0 {
			t.Errorf("%s: reported before its time", name)
		}
		m.act(t, at(1003, 0), m.tick(at(1003, 0)))
		m.act(t, at(1003, 500), m.tick(at(1003, 500)))
		if len(m.todo.missed) != 1 || m.todo.missed[0].slot != 1000 || m.todo.missed[0].reason != c.want {
			t.Errorf("%s: reported %+v, want slot 1000 once, %s", name, m.todo.missed, c.want)
		}
	}
}

func TestBadPartialsAreBlamedAndDoNotStopTheKey(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	m := newMember(ns, group, shares[0], at(1000, 0), 1000)
	m.act(t, at(1001, 0), m.block(at(1001, 0), 1000, nil))
	right, wrong := partials.Prepare(ns, tlock.SlotIdentity(1000)), partials.Prepare(ns, tlock.SlotIdentity(999))
	bad := shares[1].Sign(wrong)
	for _, part := range []partials.Partial{bad, shares[2].Sign(right), shares[3].Sign(right)} {
		e := group.Seal(tlock.SlotIdentity(1000), part)
		if err := m.deliver(t, at(1001, 10), e); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.todo.blamed) != 1 || !slices.Equal(m.todo.blamed[0].members, []uint32{2}) {
		t.Errorf("blamed %v, want member 2", m.todo.blamed)
	}
	if !m.keys[1000].Equal(keyOf(t, ns, group, shares, 1000)) {
		t.Error("the key was not recovered")
	}
}

// Whatever comes in whatever order: nothing leaves early, no key is taken twice or unverified, and memory stays bounded.
func TestAnyOrderOfEvents(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	parts, keys := make(map[[2]uint64]partials.Partial), make(map[uint64]tlock.Key) // made once: they cost the most
	sign := func(share partials.Share, slot uint64) partials.Partial {
		at := [2]uint64{uint64(share.Index()), slot}
		if _, ok := parts[at]; !ok {
			parts[at] = share.Sign(partials.Prepare(ns, tlock.SlotIdentity(slot)))
		}
		return parts[at]
	}
	key := func(slot uint64) tlock.Key {
		if _, ok := keys[slot]; !ok {
			keys[slot] = keyOf(t, ns, group, shares, slot)
		}
		return keys[slot]
	}
	rapid.Check(t, func(rt *rapid.T) {
		now, head := at(1000, 0), uint64(990)
		m := newMember(ns, group, shares[0], now, uint64(rapid.IntRange(0, 1000).Draw(rt, "first")))
		check := func(do todo) {
			before := len(m.sent)
			m.act(rt, now, do)
			for _, e := range m.sent[before:] {
				slot, _ := e.Identity.Slot()
				if !mayRelease(slot, now, head) {
					rt.Fatalf("partial of slot %d left at %v with head %d", slot, now, head)
				}
			}
		}
		for range rapid.IntRange(1, 40).Draw(rt, "events") {
			slot := uint64(rapid.IntRange(900, 1100).Draw(rt, "slot"))
			switch rapid.SampledFrom([]string{"time", "block", "halt", "partial", "want", "fetched"}).Draw(rt, "event") {
			case "time":
				now = now.Add(time.Duration(rapid.IntRange(-1500, 3000).Draw(rt, "ms")) * time.Millisecond)
				check(m.tick(now))
			case "block":
				head++
				check(m.block(now, head, []uint64{slot}))
			case "halt":
				head += uint64(rapid.IntRange(0, 200).Draw(rt, "seconds"))
				check(m.block(now, head, nil))
			case "partial":
				share := shares[rapid.IntRange(1, 3).Draw(rt, "from")]
				if part := sign(share, slot); m.admit(now, slot, part) == nil {
					do, _ := m.partial(now, slot, part)
					check(do)
				}
			case "want":
				_ = m.want(now, slot, uint32(slot%4)+1)
			case "fetched":
				if !m.hasKey(slot) {
					check(m.fetched(now, slot, key(slot)))
				}
			}
			if len(m.open) > window+lateWindow+maxWanted+1 {
				rt.Fatalf("%d slots open", len(m.open))
			}
		}
		seen := make(map[uint64]bool)
		for _, k := range m.todo.keys {
			if seen[k.slot] {
				rt.Fatalf("key of slot %d taken twice", k.slot)
			}
			seen[k.slot] = true
			if !k.key.Equal(key(k.slot)) {
				rt.Fatalf("wrong key of slot %d", k.slot)
			}
		}
	})
}
