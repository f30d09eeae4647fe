package scheduler

import (
	"encoding/binary"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/sha3"
)

// The state is words under plain keys `tag | id | index`, so that a Merkle proof of an entry needs no knowledge of a layout
// beyond this file:
//
//	byte 0       tag
//	bytes 1..11  zero
//	bytes 12..31 an address, or
//	bytes 16..23 id: an entry's id, a queue key, a slot (big-endian)
//	bytes 24..31 index: the word within it (big-endian)
//
// What is named by a word, an item or a condition, lies under `tag | 29 bytes of a keccak256 | index 2`.
//
// Numbers of one word are right-aligned, as in the ABI; packed words are described where they are packed.
const (
	tagMeta      = 0x01 // index metaPolicy, metaNextID, metaCursorSlot, metaCursorHeight
	tagAvailable = 0x02 // address: balance(payer), the available escrow
	tagLocked    = 0x03 // address: fees of the account's Scheduled entries
	tagEntry     = 0x04 // id, index: see entry.go
	tagCalls     = 0x05 // id: blob; encoded calls, or the ciphertext while sealed
	tagQueue     = 0x06 // queue key: see queue.go
	tagPending   = 0x07 // slot: sealedPending
	tagSweep     = 0x08 // ids that wait for the opening sweep, see opening.go
	tagRunning   = 0x09 // transient: nonzero while a system transaction executes
	tagWatchers  = 0x0a // keccak256(item): watchersOf and watchedHeight, see watchers.go
	tagWatched   = 0x0b // index 0: count of the items that have watchers; 1 and on: those items
	tagFired     = 0x0c // condition: fired entries that wait for its key, see sealedconditional.go
)

const (
	metaPolicy = iota // keccak256 of the policy's ABI encoding
	metaNextID
	metaCursorSlot
	metaCursorHeight
)

func keyOf(tag byte, id, index uint64) (k Word) {
	k[0] = tag
	binary.BigEndian.PutUint64(k[16:], id)
	binary.BigEndian.PutUint64(k[24:], index)
	return k
}

func keyOfAddr(tag byte, a Addr) (k Word) {
	k[0] = tag
	copy(k[12:], a[:])
	return k
}

// keyOfHash is the key of word 0 of what a hash names. Two bytes of index leave room for every list there is.
func keyOfHash(tag byte, hash Word) (k Word) {
	k[0] = tag
	copy(k[1:30], hash[:])
	return k
}

// word is the key of word i of what has its word 0 at k.
func (k Word) word(i uint64) Word {
	binary.BigEndian.PutUint64(k[24:], binary.BigEndian.Uint64(k[24:])+i)
	return k
}

func wordOf(v uint64) (w Word) {
	binary.BigEndian.PutUint64(w[24:], v)
	return w
}

func (w Word) uint64() uint64 { return binary.BigEndian.Uint64(w[24:]) }

func keccak(parts ...[]byte) (w Word) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(w[:0])
	return w
}

func getUint64(r Reader, tag byte, id, index uint64) uint64 {
	return r.Get(keyOf(tag, id, index)).uint64()
}

func setUint64(s State, tag byte, id, index, v uint64) { s.Set(keyOf(tag, id, index), wordOf(v)) }

func getAmount(r Reader, tag byte, a Addr) (v uint256.Int) {
	w := r.Get(keyOfAddr(tag, a))
	v.SetBytes32(w[:])
	return v
}

func setAmount(s State, tag byte, a Addr, v uint256.Int) { s.Set(keyOfAddr(tag, a), v.Bytes32()) }

func nextID(r Reader) uint64       { return getUint64(r, tagMeta, 0, metaNextID) }
func cursorSlot(r Reader) uint64   { return getUint64(r, tagMeta, 0, metaCursorSlot) }
func cursorHeight(r Reader) uint64 { return getUint64(r, tagMeta, 0, metaCursorHeight) }

func sealedPending(r Reader, slot uint64) uint64 { return getUint64(r, tagPending, slot, 0) }

func addSealedPending(s State, slot uint64, by int) {
	setUint64(s, tagPending, slot, 0, uint64(int64(sealedPending(s, slot))+int64(by)))
}
