package scheduler

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
)

// Inventory lists what the contract's words speak of, in ascending order: a View of all of it misses nothing that is stored, not even
// what should not be there.
type Inventory struct {
	Payers []Addr   // with available escrow
	Keys   []uint64 // with a queue or reserved gas
	Slots  []uint64 // with pending sealed entries
}

// TakeInventory reads the keys of a contract's words, in any order.
func TakeInventory(words iter.Seq[Word]) Inventory {
	payers, keys, slots := map[Addr]bool{}, map[uint64]bool{}, map[uint64]bool{}
	for k := range words {
		id := binary.BigEndian.Uint64(k[16:])
		switch k[0] {
		case tagAvailable:
			payers[Addr(k[12:])] = true
		case tagQueue:
			keys[id] = true
		case tagPending:
			slots[id] = true
		}
	}
	byBytes := func(a, b Addr) int { return bytes.Compare(a[:], b[:]) }
	return Inventory{
		Payers: slices.SortedFunc(maps.Keys(payers), byBytes),
		Keys:   slices.SortedFunc(maps.Keys(keys), cmp.Compare[uint64]),
		Slots:  slices.SortedFunc(maps.Keys(slots), cmp.Compare[uint64]),
	}
}
