package replay

import (
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// BlockLine is what a block did.
type BlockLine struct {
	Height, Time uint64
	Leading      []Leading
	Events       []Event
	Errors       []string // of each transaction: the contract's error by name, or "" if it succeeded
	CursorSlot   uint64
	CursorHeight uint64
	State        scheduler.Word // the host's own hash of its state
}

// Leading is the receipt of one leading transaction.
type Leading struct {
	ID      uint64
	Attempt uint8
	Hash    scheduler.Word
	Outcome Outcome
}

// Outcome is how a leading transaction ended, as the output names it.
type Outcome string

// The outcomes (document 002, "What a run looks like").
const (
	Success  Outcome = "success"
	Reverted Outcome = "reverted"
	Skipped  Outcome = "skipped"
)

// Event is one log of the scheduler: integers in decimal, addresses in hex, booleans as words.
type Event struct {
	Name string
	Args []string
}

// FinalLine is the state after the last block. Its maps hold nothing that is zero or empty.
type FinalLine struct {
	Entries       []scheduler.Entry // of ids 1, 2, … in their order
	Available     map[scheduler.Addr]uint256.Int
	GasToken      map[scheduler.Addr]uint256.Int
	Tokens        map[scheduler.Addr]map[scheduler.Addr]TokenAccount // by token, then holder
	Queues        map[uint64][]uint64
	ReservedGas   map[uint64]uint64
	Watchers      map[scheduler.Word][]uint64
	WatchedHeight map[scheduler.Word]uint64
	SealedPending map[uint64]uint64
	NextID        uint64
}

// Encode is the line, with its line feed.
func (l BlockLine) Encode() []byte {
	return encodeLine(func(w *writer) {
		put(w, "height", l.Height, (*writer).uint64)
		put(w, "time", l.Time, (*writer).uint64)
		w.field("leading")
		writeList(w, l.Leading, writeLeading)
		w.field("events")
		writeList(w, l.Events, writeEvent)
		w.field("errors")
		writeList(w, l.Errors, writeError)
		put(w, "cursor_slot", l.CursorSlot, (*writer).uint64)
		put(w, "cursor_height", l.CursorHeight, (*writer).uint64)
		put(w, "state", l.State, (*writer).word)
	})
}

func writeLeading(w *writer, l Leading) {
	w.object(func() {
		put(w, "id", l.ID, (*writer).uint64)
		put(w, "attempt", uint32(l.Attempt), (*writer).small)
		put(w, "hash", l.Hash, (*writer).word)
		put(w, "outcome", string(l.Outcome), (*writer).string)
	})
}

func writeEvent(w *writer, e Event) {
	w.object(func() {
		put(w, "name", e.Name, (*writer).string)
		w.field("args")
		writeList(w, e.Args, (*writer).string)
	})
}

func writeError(w *writer, name string) {
	if name == "" {
		w.raw("null")
		return
	}
	w.string(name)
}

// Encode is the line, with its line feed.
func (l FinalLine) Encode() []byte {
	return encodeLine(func(w *writer) { put(w, "final", l, writeFinal) })
}

func writeFinal(w *writer, l FinalLine) {
	entries := make(map[uint64]scheduler.Entry, len(l.Entries))
	for i, e := range l.Entries {
		entries[uint64(i)+1] = e
	}
	w.object(func() {
		w.field("entries")
		writeMap(w, uintKeys(entries), writeEntry)
		w.field("available")
		writeMap(w, addrKeys(l.Available), (*writer).amount)
		w.field("gas_token")
		writeMap(w, addrKeys(l.GasToken), (*writer).amount)
		w.field("tokens")
		writeMap(w, addrKeys(l.Tokens), func(w *writer, m map[scheduler.Addr]TokenAccount) { writeMap(w, addrKeys(m), writeTokenAccount) })
		w.field("queues")
		writeMap(w, uintKeys(l.Queues), writeUints)
		w.field("reserved_gas")
		writeMap(w, uintKeys(l.ReservedGas), (*writer).uint64)
		w.field("watchers")
		writeMap(w, wordKeys(l.Watchers), writeUints)
		w.field("watched_height")
		writeMap(w, wordKeys(l.WatchedHeight), (*writer).uint64)
		w.field("sealed_pending")
		writeMap(w, uintKeys(l.SealedPending), (*writer).uint64)
		put(w, "next_id", l.NextID, (*writer).uint64)
	})
}

func writeUints(w *writer, v []uint64) { writeList(w, v, (*writer).uint64) }

// writeEntry writes every field of the ABI's Entry, the zero ones too.
func writeEntry(w *writer, e scheduler.Entry) {
	w.object(func() {
		put(w, "payer", e.Payer, (*writer).addr)
		put(w, "key", e.Key, (*writer).uint64)
		put(w, "status", uint32(e.Status), (*writer).small)
		put(w, "attempts", uint32(e.Attempts), (*writer).small)
		put(w, "max_retries", uint32(e.MaxRetries), (*writer).small)
		put(w, "flags", uint32(e.Flags), (*writer).small)
		put(w, "gas_limit", e.GasLimit, (*writer).uint64)
		put(w, "gas_price", e.GasPrice, (*writer).uint64)
		put(w, "deadline_slot", e.DeadlineSlot, (*writer).uint64)
		put(w, "period_slots", e.PeriodSlots, (*writer).uint64)
		put(w, "reserve_token", e.ReserveToken, (*writer).addr)
		put(w, "reserve_amount", *new(uint256.Int).SetBytes(e.ReserveAmount[:]), (*writer).amount)
		put(w, "remaining", e.Remaining, (*writer).small)
		put(w, "backoff_slots", e.BackoffSlots, (*writer).small)
		put(w, "depends_on_finished", uint32(e.DependsOnFinished), (*writer).small)
		put(w, "due_slot", e.DueSlot, (*writer).uint64)
		put(w, "data_len", e.DataLen, (*writer).small)
		put(w, "when_kind", uint32(e.WhenKind), (*writer).small)
		put(w, "calls", e.Calls, (*writer).bytes)
		put(w, "depends_on", e.DependsOn, writeUints)
		put(w, "commitment", e.Commitment, (*writer).word)
		put(w, "when_item", e.WhenItem, (*writer).word)
		put(w, "when_operand", *new(uint256.Int).SetBytes(e.WhenOperand[:]), (*writer).amount)
	})
}
