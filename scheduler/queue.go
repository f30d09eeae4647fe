package scheduler

import "encoding/binary"

// A queue lists the ids waiting at one key in the order they came. Word 0 holds reservedGas in bytes 16..23 and the count
// in bytes 24..31; the following words hold four ids each.
const idsPerWord = 4

type queueHead struct{ reserved, count uint64 }

func readQueueHead(r Reader, key uint64) queueHead {
	w := r.Get(keyOf(tagQueue, key, 0))
	return queueHead{binary.BigEndian.Uint64(w[16:]), binary.BigEndian.Uint64(w[24:])}
}

func writeQueueHead(s State, key uint64, h queueHead) {
	var w Word
	binary.BigEndian.PutUint64(w[16:], h.reserved)
	binary.BigEndian.PutUint64(w[24:], h.count)
	s.Set(keyOf(tagQueue, key, 0), w)
}

// readIDs reads the first n ids of the list whose word 0 lies at list; the ids start at word 1.
func readIDs(r Reader, list Word, n uint64) []uint64 {
	ids := make([]uint64, 0, n)
	for i := uint64(0); i < n; i += idsPerWord {
		w := r.Get(list.word(1 + i/idsPerWord))
		for j := range min(idsPerWord, n-i) {
			ids = append(ids, binary.BigEndian.Uint64(w[8*j:]))
		}
	}
	return ids
}

// writeIDs replaces a list of had ids by ids, clearing the words that are no longer used.
func writeIDs(s State, list Word, had uint64, ids []uint64) {
	for i := 0; i < len(ids); i += idsPerWord {
		var w Word
		for j, id := range ids[i:min(i+idsPerWord, len(ids))] {
			binary.BigEndian.PutUint64(w[8*j:], id)
		}
		s.Set(list.word(uint64(1+i/idsPerWord)), w)
	}
	used := (uint64(len(ids)) + idsPerWord - 1) / idsPerWord
	for i := used; i < (had+idsPerWord-1)/idsPerWord; i++ {
		s.Set(list.word(1+i), Word{})
	}
}

func queueAt(r Reader, key uint64) []uint64 {
	return readIDs(r, keyOf(tagQueue, key, 0), readQueueHead(r, key).count)
}

// appendID adds an id to a list of count ids; the caller counts it.
func appendID(s State, list Word, count, id uint64) {
	at := list.word(1 + count/idsPerWord)
	w := s.Get(at)
	binary.BigEndian.PutUint64(w[8*(count%idsPerWord):], id)
	s.Set(at, w)
}

// enqueue appends id to the queue of key and takes reserve from the key's Guaranteed budget.
func enqueue(s State, key, id, reserve uint64) {
	h := readQueueHead(s, key)
	appendID(s, keyOf(tagQueue, key, 0), h.count, id)
	writeQueueHead(s, key, queueHead{h.reserved + reserve, h.count + 1})
}

// dequeue takes the ids for which leaves is true out of the queue of key, keeping the others' order, and gives release back to
// the key's Guaranteed budget. Ids that are not in the queue are no error.
func dequeue(s State, key, release uint64, leaves func(id uint64) bool) {
	h := readQueueHead(s, key)
	ids := readIDs(s, keyOf(tagQueue, key, 0), h.count)
	kept := ids[:0]
	for _, id := range ids {
		if !leaves(id) {
			kept = append(kept, id)
		}
	}
	if uint64(len(kept)) == h.count {
		return
	}
	writeIDs(s, keyOf(tagQueue, key, 0), h.count, kept)
	writeQueueHead(s, key, queueHead{h.reserved - release, uint64(len(kept))})
}

// clearQueue empties the queue and the Guaranteed reserve of a key that its cursor passes (S-CUR-07).
func clearQueue(s State, key uint64) {
	h := readQueueHead(s, key)
	if h == (queueHead{}) {
		return
	}
	writeIDs(s, keyOf(tagQueue, key, 0), h.count, nil)
	writeQueueHead(s, key, queueHead{})
}
