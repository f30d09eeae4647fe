package scheduler

import (
	"encoding/binary"

	"github.com/holiman/uint256"
)

// Status of an entry (S-ITF-02).
type Status uint8

// The statuses of document 002, "Interface".
const (
	None      Status = iota // no such entry
	Scheduled               // waits for its slot, height, write, key or dependencies
	Executed                // its calls worked
	Failed                  // its calls did not, and no retry is left; or a dependency failed
	Cancelled               // by its payer
	Expired                 // it could run no more, and somebody cleared it away
	Paused                  // a series after a failed period; resume goes on with it
)

// Classes of an entry (document 002, "Scheduling an entry").
const (
	Guaranteed uint8 = 0
	BestEffort uint8 = 1
)

// Bits of Entry.Flags (S-ITF-06). Only 16 is given by the document; the others are decision A-11.
const (
	FlagBestEffort  = 1  // BestEffort now: scheduled so, moved, or a retry
	FlagLateExecute = 2  // runs past its deadline
	FlagPauseOnFail = 4  // a failed period pauses the series
	FlagGuaranteed  = 8  // scheduled as Guaranteed
	FlagSealed      = 16 // the calls are not revealed
	FlagDetached    = 32 // selected by a block and taken out of its queue
)

// Entry is what entry(id) returns, in the order of the ABI struct (S-ITF-03). A finished entry keeps Payer to Flags, all else
// reads zero.
type Entry struct {
	Payer             Addr
	Key               uint64 // it stands in the queue of: a slot, a height with HeightKey set, or WatchKey while it watches its item
	Status            Status
	Attempts          uint8 // runs that failed and were tried again
	MaxRetries        uint8
	Flags             uint8
	GasLimit          uint64
	GasPrice          uint64 // base units of the gas token
	DeadlineSlot      uint64 // last slot it may run in without FlagLateExecute; 0 for none
	PeriodSlots       uint64
	ReserveToken      Addr
	ReserveAmount     [12]byte // uint96, big-endian
	Remaining         uint32   // periods after this one
	BackoffSlots      uint32
	DependsOnFinished uint8  // bit i is Dependency.Finished of DependsOn[i]
	DueSlot           uint64 // as scheduled, whatever Key has moved to; of a condition, the not-before slot; 0 with a height
	DataLen           uint32 // of Calls as they were scheduled, in bytes
	WhenKind          uint8
	Calls             []byte // encoded calls; the ciphertext while sealed; empty after a payload that did not open
	DependsOn         []uint64
	Commitment        Word
	WhenItem          Word
	WhenOperand       Word
}

// An entry's words, by index under (tagEntry, id). Words 1 and on are zero once the entry is finished.
const (
	wordHead       = 0 // payer 20, key 8, status 1, attempts 1, maxRetries 1, flags 1: exactly S-ITF-04
	wordTerms      = 1 // gasLimit 8, gasPrice 8, deadlineSlot 8, dueSlot 8
	wordShape      = 2 // dataLen 4, dependencies 1, dependsOnFinished 1, whenKind 1, zero 1, backoffSlots 4, remaining 4, periodSlots 8, zero 8
	wordReserve    = 3 // reserveToken 20, reserveAmount 12
	wordDependsOn  = 4 // four ids of 8 bytes, and four in the next word
	wordCommitment = 6
	wordItem       = 7 // whenItem
	wordOperand    = 8 // whenOperand
	wordsPerEntry  = 9
)

// head is an entry's first word: all that is left of a finished one.
type head struct {
	payer      Addr
	key        uint64
	status     Status
	attempts   uint8
	maxRetries uint8
	flags      uint8
}

func readHead(r Reader, id uint64) head {
	w := r.Get(keyOf(tagEntry, id, wordHead))
	return head{Addr(w[:20]), binary.BigEndian.Uint64(w[20:]), Status(w[28]), w[29], w[30], w[31]}
}

func writeHead(s State, id uint64, h head) {
	var w Word
	copy(w[:], h.payer[:])
	binary.BigEndian.PutUint64(w[20:], h.key)
	w[28], w[29], w[30], w[31] = byte(h.status), h.attempts, h.maxRetries, h.flags
	s.Set(keyOf(tagEntry, id, wordHead), w)
}

// entry is an entry's fixed fields, the few words that selection reads (S-CUR-09).
type entry struct {
	id uint64
	head
	gasLimit, gasPrice    uint64
	deadlineSlot, dueSlot uint64
	dataLen               uint32
	dependencies          uint8
	dependsOnFinished     uint8
	backoffSlots          uint32
	whenKind              uint8 // 0 unless conditional
	remaining             uint32
	periodSlots           uint64
	reserve               reserve
}

func readEntry(r Reader, id uint64) *entry {
	terms, shape := r.Get(keyOf(tagEntry, id, wordTerms)), r.Get(keyOf(tagEntry, id, wordShape))
	return &entry{
		id:                id,
		head:              readHead(r, id),
		gasLimit:          binary.BigEndian.Uint64(terms[0:]),
		gasPrice:          binary.BigEndian.Uint64(terms[8:]),
		deadlineSlot:      binary.BigEndian.Uint64(terms[16:]),
		dueSlot:           binary.BigEndian.Uint64(terms[24:]),
		dataLen:           binary.BigEndian.Uint32(shape[0:]),
		dependencies:      shape[4],
		dependsOnFinished: shape[5],
		backoffSlots:      binary.BigEndian.Uint32(shape[8:]),
		whenKind:          shape[6],
		remaining:         binary.BigEndian.Uint32(shape[12:]),
		periodSlots:       binary.BigEndian.Uint64(shape[16:]),
		reserve:           readReserve(r, id),
	}
}

func (e *entry) write(s State) {
	var terms, shape Word
	binary.BigEndian.PutUint64(terms[0:], e.gasLimit)
	binary.BigEndian.PutUint64(terms[8:], e.gasPrice)
	binary.BigEndian.PutUint64(terms[16:], e.deadlineSlot)
	binary.BigEndian.PutUint64(terms[24:], e.dueSlot)
	binary.BigEndian.PutUint32(shape[0:], e.dataLen)
	shape[4], shape[5], shape[6] = e.dependencies, e.dependsOnFinished, e.whenKind
	binary.BigEndian.PutUint32(shape[8:], e.backoffSlots)
	binary.BigEndian.PutUint32(shape[12:], e.remaining)
	binary.BigEndian.PutUint64(shape[16:], e.periodSlots)
	writeHead(s, e.id, e.head)
	s.Set(keyOf(tagEntry, e.id, wordTerms), terms)
	s.Set(keyOf(tagEntry, e.id, wordShape), shape)
	writeReserve(s, e.id, e.reserve)
}

func (e *entry) dependsOn(r Reader) []uint64 {
	ids := make([]uint64, e.dependencies)
	for i := range ids {
		w := r.Get(keyOf(tagEntry, e.id, wordDependsOn+uint64(i)/idsPerWord))
		ids[i] = binary.BigEndian.Uint64(w[8*(i%idsPerWord):])
	}
	return ids
}

func writeDependsOn(s State, id uint64, deps []Dependency) {
	for i := 0; i < len(deps); i += idsPerWord {
		var w Word
		for j, d := range deps[i:min(i+idsPerWord, len(deps))] {
			binary.BigEndian.PutUint64(w[8*j:], d.ID)
		}
		s.Set(keyOf(tagEntry, id, wordDependsOn+uint64(i)/idsPerWord), w)
	}
}

// cost is constant over an entry's life (I-36). It was checked not to overflow when the entry was scheduled.
func (e *entry) cost() uint64 {
	c, _ := Cost(e.gasLimit, uint64(e.dataLen), uint64(e.dependencies), e.recurs(), e.reserve != reserve{})
	return c
}

// fee is cost * gasPrice (S-COST-05).
func (e *entry) fee() (f uint256.Int) {
	f.Mul(uint256.NewInt(e.cost()), uint256.NewInt(e.gasPrice))
	return f
}

func (e *entry) recurs() bool     { return e.periodSlots != 0 } // to the last period (S-COST-04)
func (e *entry) sealed() bool     { return e.flags&FlagSealed != 0 }
func (e *entry) guaranteed() bool { return e.flags&FlagBestEffort == 0 }
func (h head) byHeight() bool     { return h.key&HeightKey != 0 }

// reserved is what the entry takes of its key's Guaranteed budget while it is queued.
func (e *entry) reserved() uint64 {
	if e.guaranteed() {
		return e.cost()
	}
	return 0
}

// due says whether block (height, time) has reached the entry's key (S-SEL-01).
func (h head) due(height, time uint64) bool {
	switch {
	case h.key == WatchKey:
		return false
	case h.byHeight():
		return h.key&^HeightKey <= height
	default:
		return h.key <= time
	}
}

// dead: the entry can never run again, though it is still Scheduled. Past its deadline without lateExecute, or its key is missing
// GraceSlots after its slot has ended: then the flag decides, not the key. Boundaries are strict (S-CXL-07).
func (e *entry) dead(time uint64) bool {
	if e.byHeight() || e.key == WatchKey {
		return false
	}
	late := time > e.deadlineSlot && e.flags&FlagLateExecute == 0
	return late || e.sealed() && time > e.key+missedAfterSlots
}

// passed: no block will look at the entry again, because a block selected it or its cursor is past its key (S-DEP-05).
func (h head) passed(r Reader) bool {
	switch {
	case h.flags&FlagDetached != 0:
		return true
	case h.key == WatchKey:
		return false
	case h.byHeight():
		return h.key&^HeightKey < cursorHeight(r)
	default:
		return h.key < cursorSlot(r)
	}
}

// settled: the outcome of h, a dependency, is final for its dependents.
func (h head) settled(r Reader) bool { return h.status != Scheduled || h.passed(r) }

// finish gives an entry its final status and prunes it to its first word (S-RUN-18, A-60).
func (c *call) finish(e *entry, final Status) {
	e.status = final
	writeHead(c.State, e.id, e.head)
	for i := uint64(wordTerms); i < wordsPerEntry; i++ {
		c.State.Set(keyOf(tagEntry, e.id, i), Word{})
	}
	c.State.SetBlob(keyOf(tagCalls, e.id, 0), nil)
}

// readEntryABI is entry(id). An unknown id is all zero.
func readEntryABI(r Reader, id uint64) Entry {
	e := readEntry(r, id)
	return Entry{
		Payer: e.payer, Key: e.key, Status: e.status, Attempts: e.attempts, MaxRetries: e.maxRetries, Flags: e.flags,
		GasLimit: e.gasLimit, GasPrice: e.gasPrice, DeadlineSlot: e.deadlineSlot, DueSlot: e.dueSlot,
		PeriodSlots: e.periodSlots, ReserveToken: e.reserve.token, ReserveAmount: e.reserve.amount,
		Remaining: e.remaining, BackoffSlots: e.backoffSlots, DependsOnFinished: e.dependsOnFinished,
		DataLen: e.dataLen, WhenKind: e.whenKind,
		Calls:       r.Blob(keyOf(tagCalls, id, 0)),
		DependsOn:   e.dependsOn(r),
		Commitment:  r.Get(keyOf(tagEntry, id, wordCommitment)),
		WhenItem:    r.Get(keyOf(tagEntry, id, wordItem)),
		WhenOperand: r.Get(keyOf(tagEntry, id, wordOperand)),
	}
}
