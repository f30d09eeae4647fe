package memory

import (
	"encoding/binary"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// catalog is the oracle catalog: a scheduler.Oracle over the words of 0x…fd. An item has two, under tagItem and 30 bytes of its
// keccak256: word 0 is its record, word 1 its value. A record holds flags in byte 0, and of the latest write the height in bytes
// 16..23 and the time in bytes 24..31. It stays when the item leaves the catalog.
type catalog struct{ h *Host }

const tagItem = 0x01

const (
	itemListed   = 1
	itemWritten  = 2
	itemHalted   = 4
	itemDisputed = 8
)

func (c catalog) words() scheduler.State { return c.h.Space(scheduler.OracleAddress) }

func itemKey(item scheduler.Word, index byte) scheduler.Word {
	k := keccak256(item[:])
	copy(k[1:], k[:30])
	k[0], k[31] = tagItem, index
	return k
}

// Item implements scheduler.Oracle.
func (c catalog) Item(item scheduler.Word) (it scheduler.Item, listed bool) {
	at := itemKey(item, 0)
	record := c.words().Get(at)
	flag := func(bit byte) bool { return record[0]&bit != 0 }
	if flag(itemWritten) {
		it.Written = true
		it.Height, it.Time = binary.BigEndian.Uint64(record[16:]), binary.BigEndian.Uint64(record[24:])
		at[31] = 1
		it.Value = c.words().Get(at)
	}
	it.Halted, it.Disputed = flag(itemHalted), flag(itemDisputed)
	return it, flag(itemListed)
}

// change sets and clears flags of an item's record.
func (c catalog) change(item scheduler.Word, set, clear byte) {
	at := itemKey(item, 0)
	record := c.words().Get(at)
	record[0] = record[0]&^clear | set
	c.words().Set(at, record)
}

// The following set up a chain and its tests; catalogContract does the same for transactions.

// List lists an item, with the record it left behind if it was listed before.
func (h *Host) List(item scheduler.Word) { catalog{h}.change(item, itemListed, 0) }

// Delist takes an item out of the catalog.
func (h *Host) Delist(item scheduler.Word) { catalog{h}.change(item, 0, itemListed) }

// Write writes an item in the present block, and lists it if it is not listed.
func (h *Host) Write(item, value scheduler.Word, halted, disputed bool) {
	var record scheduler.Word
	record[0] = itemListed | itemWritten | flagIf(halted, itemHalted) | flagIf(disputed, itemDisputed)
	now := h.Env()
	binary.BigEndian.PutUint64(record[16:], now.Height)
	binary.BigEndian.PutUint64(record[24:], now.Time)
	words := catalog{h}.words()
	words.Set(itemKey(item, 0), record)
	words.Set(itemKey(item, 1), value)
}

// SetFlags changes an item's flags without a write, as a control item does; nil leaves a flag as it is.
func (h *Host) SetFlags(item scheduler.Word, halted, disputed *bool) {
	for _, f := range []struct {
		to  *bool
		bit byte
	}{{halted, itemHalted}, {disputed, itemDisputed}} {
		if f.to != nil {
			catalog{h}.change(item, flagIf(*f.to, f.bit), f.bit)
		}
	}
}

// Item is what the catalog knows of an item, and whether it lists it.
func (h *Host) Item(item scheduler.Word) (it scheduler.Item, listed bool) {
	return catalog{h}.Item(item)
}

func flagIf(b bool, flag byte) byte {
	if b {
		return flag
	}
	return 0
}
