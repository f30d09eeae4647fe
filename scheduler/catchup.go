package scheduler

import (
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// scan is what a block reads of its queues (document 002, "Halts and catch-up"; pipeline step 4).
type scan struct {
	candidates []*candidate
	queues     []uint64        // keys whose queue was read, in scan order
	held       map[uint64]bool // keys whose queue keeps a waiting entry, so that the cursor stays there
	reads      uint64          // queue elements that may still be read
	nextHeight uint64          // first key with an unread entry, or the one behind the last key scanned
	nextSlot   uint64

	fired    []firing                // watchers that fire in this block
	keyKnown map[tlock.Identity]bool // looked up once
}

// scanQueues reads the due queues: heights first, then slots, each oldest first (S-CUR-02, S-CUR-03).
func (c *call) scanQueues() *scan {
	s := &scan{held: map[uint64]bool{}, reads: c.limits.Reads, keyKnown: map[tlock.Identity]bool{}}
	s.nextHeight = c.scanKeys(s, HeightKey|cursorHeight(c.State), HeightKey|c.Height)
	s.nextSlot = c.scanKeys(s, cursorSlot(c.State), c.Time)
	return s
}

// scanKeys reads the queues from to last, at most limits.Scan of them, and returns the key where the next scan goes on. It stops
// at the first entry that the read limit cannot cover; empty keys take no read (S-CUR-08).
func (c *call) scanKeys(s *scan, from, last uint64) (next uint64) {
	for key := from; key <= last && key-from < c.limits.Scan; key++ {
		count := readQueueHead(c.State, key).count
		if count == 0 {
			continue
		}
		n := min(count, s.reads)
		s.queues = append(s.queues, key)
		for _, id := range readIDs(c.State, keyOf(tagQueue, key, 0), n) {
			c.scanEntry(s, readEntry(c.State, id))
		}
		s.reads -= n
		if n < count {
			return key // unread
		}
	}
	return max(from, min(last, from+c.limits.Scan-1)+1)
}

// scanEntry sorts an entry that was read: dead ones are skipped and hold nothing, a sealed one without its key holds its
// place (S-SEA-09), all others are candidates.
func (c *call) scanEntry(s *scan, e *entry) {
	switch {
	case e.dead(c.Time):
	case e.sealed() && !c.keyKnown(s, e):
		s.held[e.key] = true
	default:
		s.candidates = append(s.candidates, &candidate{entry: e, dependsOn: e.dependsOn(c.State)})
	}
}

func (c *call) keyKnown(s *scan, e *entry) bool {
	id := c.sealedTo(e).Identity()
	known, seen := s.keyKnown[id]
	if !seen {
		known = len(keyFor(c.Beacon, id)) > 0
		s.keyKnown[id] = known
	}
	return known
}

// advance moves the cursors to the first key that still holds a waiting or unread entry and clears what they pass (document 002,
// "Halts and catch-up"; S-CUR-01, S-CUR-05, S-CUR-07).
func (c *call) advance(s *scan) {
	height, slot := s.nextHeight, s.nextSlot
	for _, key := range slices.Backward(s.queues) {
		switch {
		case !s.held[key]:
		case key&HeightKey != 0:
			height = key
		default:
			slot = key
		}
	}
	for _, key := range s.queues {
		if key < slot || key&HeightKey != 0 && key < height {
			clearQueue(c.State, key)
		}
	}
	setUint64(c.State, tagMeta, 0, metaCursorHeight, height&^HeightKey)
	setUint64(c.State, tagMeta, 0, metaCursorSlot, slot)
}
