package node

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Rules of signing and collecting.
const (
	// window is how many of the last slots a validator signs by itself when it finds them without a key, after a halt or
	// an absence. Older ones are signed if an entry waits for them or somebody asks.
	window = 64
	// lateWindow is how much older than that a partial of somebody else may be: its sender may lag behind.
	lateWindow = 32
	// clockSkew is how far ahead the clock of an honest sender may be.
	clockSkew = 500 * time.Millisecond
	// resendEvery is how often an own partial goes out again while its slot has no key: gossip may lose messages.
	resendEvery = 2 * time.Second
	// fetchAfter is how long a slot may lack its key before peers are asked for it, and fetchEvery how often they are.
	fetchAfter = 1 * time.Second
	fetchEvery = 3 * time.Second
	// missedAfter is how long after its end a slot counts as missed.
	missedAfter = 2 * time.Second
	// maxWanted bounds the slots signed on request at one time, maxWantedByOne those for one validator, and wantedFor how
	// long each is worked on.
	maxWanted      = 64
	maxWantedByOne = 16
	wantedFor      = 30 * time.Second
)

// openSlot is a slot that is over, has no key here, and is worked on.
type openSlot struct {
	opened   time.Time
	wanted   time.Time // until then, because somebody asked for it; zero if nobody did
	wantedBy uint32    // the validator that asked last
	envelope []byte    // own partial; nil until it may be released
	sent     time.Time
	asked    time.Time // peers, for the finished key
}

// slots decides what this validator signs, collects and asks for. It is serial and has no clock: facts come in with the
// time at which they hold, and what is to be done comes out. Its owner is the node's loop.
type slots struct {
	ns      tlock.Namespace
	hasKey  func(slot uint64) bool
	started uint64 // slots before it were not watched: they are not reported as missed

	restarted bool // an earlier run knew the group: until it is here again, this node is catching up

	group *partials.Group // nil until the ceremony is done
	share partials.Share  // zero if this node has none
	pool  *partials.Pool

	final    uint64   // timestamp of the newest final block
	pending  []uint64 // slots that entries on chain wait for
	fresh    uint64   // slots before it ended before this node could sign
	first    uint64   // oldest slot signed without being asked, as the group key was not on chain before; notSigning until it is
	next     uint64   // slots below are opened or passed
	reported uint64   // slots up to here were judged as kept or missed
	last     reason   // of the last missed one
	open     map[uint64]*openSlot
}

// todo is what slots wants done.
type todo struct {
	send   [][]byte        // envelopes to publish
	jobs   []*partials.Job // recoveries to run
	keys   []newKey        // keys to store and announce
	fetch  []uint64        // slots to ask peers for
	missed []missedSlot
	blamed []blame
}

// newKey is a key this node did not have.
type newKey struct {
	slot     uint64
	key      tlock.Key
	source   string        // recovered or fetched
	late     time.Duration // after the end of the slot
	fresh    bool          // this node could have had it in time: it ran, and the group existed, when the slot ended
	partials int           // how many members' partials had come, own included
}

type missedSlot struct {
	slot    uint64
	reason  reason
	have    int
	missing []uint32
}

type blame struct {
	slot    uint64
	members []uint32
}

func newSlots(ns tlock.Namespace, hasKey func(uint64) bool, now time.Time) *slots {
	t := uint64(max(now.Unix(), 0))
	return &slots{ns: ns, hasKey: hasKey, started: t, reported: t, first: notSigning, open: make(map[uint64]*openSlot)}
}

// notSigning is the first slot before the group key is on chain.
const notSigning = math.MaxUint64

// setGroup takes the group in, and this node's share of it, zero if it has none. Others' partials can be collected from now
// on.
func (s *slots) setGroup(g *partials.Group, share partials.Share) {
	s.group, s.share, s.first = g, share, notSigning
	s.pool = partials.NewPool(g, partials.DefaultLimits)
	s.next = 0
	s.open = make(map[uint64]*openSlot)
}

// activate takes in that the group key is on chain, since the block of slot first: slots from it on are signed.
func (s *slots) activate(now time.Time, first uint64) {
	s.first, s.fresh = first, max(first, uint64(max(now.Unix(), 0)))
}

// active tells whether slots are signed.
func (s *slots) active() bool { return s.group != nil && s.first != notSigning }

// block takes in that a block with this timestamp is final, and that entries wait for the keys of these slots.
func (s *slots) block(now time.Time, final uint64, pending []uint64) todo {
	s.final = max(s.final, final)
	s.pending = pending
	return s.tick(now)
}

// released is the newest slot that may be released; false if there is none.
func (s *slots) released(now time.Time) (uint64, bool) {
	if now.Unix() < 1 || s.final == 0 {
		return 0, false
	}
	return min(uint64(now.Unix())-1, s.final), true
}

// oldestOfUse is the oldest slot of which others take a partial that they did not ask for. Whoever replays the chain's past
// signs no older ones either: their keys are to be fetched.
func oldestOfUse(now time.Time) uint64 {
	slot := uint64(max(now.Unix(), 0))
	return slot - min(slot, window+lateWindow)
}

// tick takes in that time has passed.
func (s *slots) tick(now time.Time) (do todo) {
	s.judge(now, &do)
	newest, ok := s.released(now)
	if !s.active() || !ok {
		return do
	}
	from := max(s.next, s.first, newest-min(newest, window-1), oldestOfUse(now))
	for slot := from; slot <= newest; slot++ {
		s.openSlot(now, slot)
	}
	s.next = max(s.next, newest+1)
	for _, slot := range s.pending {
		if slot <= newest {
			s.openSlot(now, slot)
		}
	}
	s.shut(now, newest)
	for _, slot := range slices.Sorted(maps.Keys(s.open)) {
		s.work(now, slot, s.open[slot], &do)
	}
	s.forget(newest)
	return do
}

// forget bounds what the pool remembers of old slots.
func (s *slots) forget(newest uint64) {
	oldest := newest - min(newest, 4*window)
	for slot := range s.open {
		oldest = min(oldest, slot)
	}
	s.pool.Forget(oldest)
}

// openSlot begins work on a slot that is over, unless its key is there.
func (s *slots) openSlot(now time.Time, slot uint64) *openSlot {
	if o := s.open[slot]; o != nil {
		return o
	}
	if s.hasKey(slot) {
		return nil
	}
	o := &openSlot{opened: now}
	s.open[slot] = o
	return o
}

// shut ends work on slots that are old and that nobody waits for.
func (s *slots) shut(now time.Time, newest uint64) {
	oldest := newest - min(newest, window+lateWindow)
	for slot, o := range s.open {
		if slot < oldest && now.After(o.wanted) && !slices.Contains(s.pending, slot) {
			delete(s.open, slot)
			s.pool.Drop(tlock.SlotIdentity(slot))
		}
	}
}

// work signs, sends again and asks, whatever is due for a slot.
func (s *slots) work(now time.Time, slot uint64, o *openSlot, do *todo) {
	switch {
	case o.envelope == nil && !s.share.IsZero() && mayRelease(slot, now, s.final):
		id := tlock.SlotIdentity(slot)
		part := s.share.Sign(partials.Prepare(s.ns, id))
		o.envelope = s.group.Seal(id, part).Encode()
		s.send(now, o, do)
		if job, err := s.pool.Add(id, part); err == nil && job != nil {
			do.jobs = append(do.jobs, job)
		}
	case o.envelope != nil && now.Sub(o.sent) >= resendEvery:
		s.send(now, o, do)
	}
	if now.Sub(o.opened) >= fetchAfter && now.Sub(o.asked) >= fetchEvery {
		o.asked = now
		do.fetch = append(do.fetch, slot)
	}
}

func (s *slots) send(now time.Time, o *openSlot, do *todo) {
	o.sent = now
	do.send = append(do.send, o.envelope)
}

// admit judges, before its costly verification, whether a member's partial of a slot is of use. The caller has checked
// that the envelope is of this group and its author the member.
func (s *slots) admit(now time.Time, slot uint64, part partials.Partial) error {
	if now.Add(clockSkew).Unix() < 1 || slot >= uint64(now.Add(clockSkew).Unix()) {
		return classed(errNotYet, "partial of slot %d, which is not over", slot)
	}
	if s.group == nil {
		return classed(errNotYet, "partial before the group is known here")
	}
	if s.open[slot] == nil {
		if slot < oldestOfUse(now) {
			return classed(errStale, "partial of slot %d, long ago", slot)
		}
		if s.hasKey(slot) {
			return partials.ErrDone
		}
	}
	id := tlock.SlotIdentity(slot)
	if slices.Contains(s.pool.Missing(id), part.Index) {
		return nil
	}
	// The pool has met this member here. It takes no second partial, and tells one sent twice from two that differ.
	_, err := s.pool.Add(id, part)
	return err
}

// partial takes in a member's partial that was admitted and verified.
func (s *slots) partial(now time.Time, slot uint64, part partials.Partial) (do todo, err error) {
	if s.group == nil {
		return do, errNotYet
	}
	if s.open[slot] == nil && s.hasKey(slot) {
		return do, partials.ErrDone
	}
	job, err := s.pool.Add(tlock.SlotIdentity(slot), part)
	if job != nil {
		do.jobs = append(do.jobs, job)
	}
	return do, err
}

// outcome takes in what a recovery of an identity found.
func (s *slots) outcome(now time.Time, id tlock.Identity, out partials.Outcome) (do todo) {
	if s.pool == nil {
		return do
	}
	had := s.group.N() - len(s.pool.Missing(id))
	res, job := s.pool.Finish(out)
	if job != nil {
		do.jobs = append(do.jobs, job)
	}
	slot, ok := res.Identity.Slot()
	if !ok {
		return do
	}
	if len(res.Blamed) > 0 {
		do.blamed = append(do.blamed, blame{slot, res.Blamed})
	}
	if res.Key != nil {
		s.take(now, newKey{slot: slot, key: *res.Key, source: sourceRecovered, partials: had}, &do)
	}
	return do
}

// fetched takes in a key that came whole and was verified.
func (s *slots) fetched(now time.Time, slot uint64, key tlock.Key) (do todo) {
	s.take(now, newKey{slot: slot, key: key, source: sourceFetched}, &do)
	if s.pool != nil {
		s.pool.Drop(tlock.SlotIdentity(slot))
	}
	return do
}

// Sources of a key.
const (
	sourceRecovered = "recovered"
	sourceFetched   = "fetched"
)

func (s *slots) take(now time.Time, k newKey, do *todo) {
	delete(s.open, k.slot)
	if s.hasKey(k.slot) {
		return
	}
	k.late, k.fresh = now.Sub(tlock.SlotEnd(k.slot)), k.slot >= s.fresh
	do.keys = append(do.keys, k)
}

// want takes in that a validator asks for the key of an old slot. It returns errNotYet if the slot may not be released, or
// too many are wanted already, by it or by all.
func (s *slots) want(now time.Time, slot uint64, by uint32) error {
	if !s.active() || !mayRelease(slot, now, s.final) {
		return classed(errNotYet, "slot %d may not be released yet", slot)
	}
	count, own := 0, 0
	for other, o := range s.open {
		if !now.Before(o.wanted) {
			continue
		}
		count++
		if o.wantedBy == by && other != slot {
			own++
		}
	}
	if own >= maxWantedByOne {
		return classed(errNotYet, "%d old slots are being signed already for validator %d", own, by)
	}
	if o := s.open[slot]; count >= maxWanted && o == nil {
		return classed(errNotYet, "%d old slots are being signed already", count)
	}
	if o := s.openSlot(now, slot); o != nil {
		o.wanted, o.wantedBy = now.Add(wantedFor), by
	}
	return nil
}

// judge reports slots without a key missedAfter their end, once each.
func (s *slots) judge(now time.Time, do *todo) {
	end := now.Add(-missedAfter).Unix() - 1 // newest slot to judge
	if end < 0 || uint64(end) <= s.reported {
		return
	}
	from := max(s.reported+1, uint64(end)-min(uint64(end), window-1))
	for slot := from; slot <= uint64(end); slot++ {
		if !s.hasKey(slot) {
			m := s.why(now, slot)
			s.last = m.reason
			do.missed = append(do.missed, m)
		}
	}
	s.reported = uint64(end)
}

// why finds the reason for a missing key.
func (s *slots) why(now time.Time, slot uint64) missedSlot {
	m := missedSlot{slot: slot}
	if !s.active() || slot < s.fresh {
		m.reason = reasonNoGroup
		if s.restarted {
			m.reason = reasonBehind
		}
		return m
	}
	m.missing = s.pool.Missing(tlock.SlotIdentity(slot))
	m.have = s.group.N() - len(m.missing)
	bad := 0
	for _, index := range s.pool.Suspects() {
		if !slices.Contains(m.missing, index) {
			bad++
		}
	}
	switch {
	case !mayRelease(slot, now, s.final):
		m.reason = reasonNoBlock
	case m.have < s.group.Threshold() && s.share.IsZero():
		m.reason = reasonNoShare
	case m.have < s.group.Threshold():
		m.reason = reasonTooFew
	case m.have-bad < s.group.Threshold():
		m.reason = reasonBad
	default:
		m.reason = reasonNotTimed
	}
	return m
}

// backlog is how many slots are being worked on.
func (s *slots) backlog() int { return len(s.open) }
