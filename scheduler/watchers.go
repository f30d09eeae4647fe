package scheduler

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The watchers of an item are a list of ids, oldest first, under tagWatchers and the item's hash. In word 0 bytes 8..15 hold the
// item's place among the watched items, bytes 16..23 watchedHeight and bytes 24..31 the count; the following words hold four ids each.
//
// The watched items, those that have a watcher, are a list under tagWatched: word 0 holds their count, word i the item whose place is
// i. A new item goes to the end, and the last one into the place of one that leaves, so that scheduling and canceling write a few
// words however many items are watched. When the last watcher leaves, watchedHeight stays: it never falls (I-27).
type watchList struct {
	key                  Word // of word 0: a hash of the item, made once
	place, height, count uint64
}

func readWatchList(r Reader, item Word) watchList {
	key := keyOfHash(tagWatchers, keccak(item[:]))
	w := r.Get(key)
	return watchList{key, binary.BigEndian.Uint64(w[8:]), binary.BigEndian.Uint64(w[16:]), binary.BigEndian.Uint64(w[24:])}
}

// writeHead writes word 0.
func (l watchList) writeHead(s State) {
	var w Word
	binary.BigEndian.PutUint64(w[8:], l.place)
	binary.BigEndian.PutUint64(w[16:], l.height)
	binary.BigEndian.PutUint64(w[24:], l.count)
	s.Set(l.key, w)
}

// ids are the watchers, oldest first.
func (l watchList) ids(r Reader) []uint64 { return readIDs(r, l.key, l.count) }

// watchedItems are the items that have watchers, ascending.
func watchedItems(r Reader) []Word {
	items := make([]Word, getUint64(r, tagWatched, 0, 0))
	for i := range items {
		items[i] = r.Get(keyOf(tagWatched, 0, uint64(i)+1))
	}
	slices.SortFunc(items, func(a, b Word) int { return bytes.Compare(a[:], b[:]) })
	return items
}

// watch adds an entry to the watchers of an item, which has room for it. An item's first watcher has seen its latest write (S-CON-15).
func (c *call) watch(item Word, id uint64) {
	h := readWatchList(c.State, item)
	if h.count == 0 {
		it, _ := c.Oracle.Item(item)
		h.height = it.Height
		h.place = getUint64(c.State, tagWatched, 0, 0) + 1
		c.State.Set(keyOf(tagWatched, 0, h.place), item)
		setUint64(c.State, tagWatched, 0, 0, h.place)
	}
	appendID(c.State, h.key, h.count, id)
	h.count++
	h.writeHead(c.State)
}

// unwatch takes the ids for which leaves is true off the watchers of an item, keeping the others' order (S-CON-11).
func (c *call) unwatch(item Word, leaves func(id uint64) bool) {
	h := readWatchList(c.State, item)
	kept := slices.DeleteFunc(h.ids(c.State), leaves)
	writeIDs(c.State, h.key, h.count, kept)
	h.count = uint64(len(kept))
	if h.count == 0 {
		c.dropWatched(h.place)
		h.place = 0
	}
	h.writeHead(c.State)
}

// dropWatched takes the item at a place off the watched items and fills the gap with the last one.
func (c *call) dropWatched(place uint64) {
	last := getUint64(c.State, tagWatched, 0, 0)
	if place != last {
		moved := c.State.Get(keyOf(tagWatched, 0, last))
		c.State.Set(keyOf(tagWatched, 0, place), moved)
		h := readWatchList(c.State, moved)
		h.place = place
		h.writeHead(c.State)
	}
	c.State.Set(keyOf(tagWatched, 0, last), Word{})
	setUint64(c.State, tagWatched, 0, 0, last-1)
}
