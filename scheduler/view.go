package scheduler

import "github.com/holiman/uint256"

// View reads the contract's state without a call: what the read functions of document 002, "Interface", return. Unknown ids and keys
// read zero, never an error.
type View struct{ Reader Reader }

// Status is status(id).
func (v View) Status(id uint64) Status { return readHead(v.Reader, id).status }

// Entry is entry(id).
func (v View) Entry(id uint64) Entry { return readEntryABI(v.Reader, id) }

// QueueAt is queueAt(key): the ids queued at a slot or, with HeightKey, at a height, in the order they came.
func (v View) QueueAt(key uint64) []uint64 { return queueAt(v.Reader, key) }

// ReservedGas is reservedGas(key), the Guaranteed budget taken at a key.
func (v View) ReservedGas(key uint64) uint64 { return readQueueHead(v.Reader, key).reserved }

// Balance is balance(payer), the available escrow.
func (v View) Balance(payer Addr) uint256.Int { return getAmount(v.Reader, tagAvailable, payer) }

// Locked is the escrow locked for the payer's Scheduled entries; it has no read function.
func (v View) Locked(payer Addr) uint256.Int { return getAmount(v.Reader, tagLocked, payer) }

// NextID is nextId(), the id the next schedule gets.
func (v View) NextID() uint64 { return nextID(v.Reader) }

// CursorSlot is cursorSlot().
func (v View) CursorSlot() uint64 { return cursorSlot(v.Reader) }

// CursorHeight is cursorHeight().
func (v View) CursorHeight() uint64 { return cursorHeight(v.Reader) }

// WatchersOf is watchersOf(item): the entries that wait for a write of the item, oldest first.
func (v View) WatchersOf(item Word) []uint64 { return readWatchList(v.Reader, item).ids(v.Reader) }

// WatchedHeight is watchedHeight(item): the height of the write that the item's watchers last saw. It stays when the last one leaves.
func (v View) WatchedHeight(item Word) uint64 { return readWatchList(v.Reader, item).height }

// FiredEntries lists the entries that have fired and are still sealed to the condition. It has no read function.
func (v View) FiredEntries(condition Word) []uint64 { return firedEntries(v.Reader, condition) }

// SealedPending is sealedPending(slot): Scheduled entries sealed to the slot and not revealed (S-SEA-08). Those sealed to a condition
// do not count (S-SCO-08).
func (v View) SealedPending(slot uint64) uint64 { return sealedPending(v.Reader, slot) }

// WantedSlots lists the slots whose keys a block at time should carry, oldest first: over, with pending entries that can still open,
// and without a key on chain (document 002, "Opening").
func (v View) WantedSlots(b Beacon, time uint64) (slots []uint64) {
	for slot := time - min(time, missedAfterSlots); slot < time; slot++ {
		if v.SealedPending(slot) > 0 && len(b.KeyAt(slot)) == 0 {
			slots = append(slots, slot)
		}
	}
	return slots
}
