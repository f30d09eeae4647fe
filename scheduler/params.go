package scheduler

import (
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Call is one call of an entry (document 002, "Scheduling an entry").
type Call = tlock.Call

// Dependency is an earlier entry that must have succeeded or, with Finished, merely ended.
type Dependency struct {
	ID       uint64
	Finished bool
}

// Condition is the oracle predicate of a conditional entry; all zero means none.
type Condition struct {
	Item    Word  // of the oracle's catalog
	Kind    uint8 // WhenValueAtLeast, WhenValueAtMost or WhenNotHalted
	Operand Word  // uint256, big-endian, in the item's own units
}

// Params is the argument of schedule, in the ABI's order (document 002, "Scheduling an entry"; S-ITF-12). A zero field is left out:
// a plain entry has Calls, Slot, GasLimit, GasPrice and Class.
type Params struct {
	Calls         []Call       // run in order, all or none; 1 to MaxCalls, none if sealed
	Slot          uint64       // when it is due; with When, from when on a write counts. Exactly one of Slot and Height is given
	Height        uint64       // of the block it is due in
	GasLimit      uint64       // of a run: the calls' own, 10,000 for making each, 150,000 for a reserve
	GasPrice      uint64       // base units of the gas token for each gas; the policy has a least one
	Class         uint8        // Guaranteed or BestEffort; Guaranteed is the zero
	LateExecute   bool         // run it even after its deadline, the policy's MaxLateSlots after Slot
	MaxRetries    uint8        // how often failed calls are tried again, each time for another fee
	BackoffSlots  uint32       // from a failure to its retry, in slots; 0 is the next one
	PeriodSlots   uint64       // of a series: from one due slot to the next
	Remaining     uint32       // of a series: periods after this one
	PauseOnFail   bool         // of a series: a failed period pauses it until resume or cancel
	ReserveToken  Addr         // MIP20 token, of which every run gives ReserveAmount to the first call's target; held until then
	ReserveAmount [12]byte     // uint96, big-endian
	DependsOn     []Dependency // earlier entries, at most MaxDependencies
	Ciphertext    []byte       // of a sealed entry: what tlock.SealCalls returns, MinCiphertext to MaxCiphertext bytes
	Commitment    Word         // of a sealed entry: what tlock.SealCalls returns
	When          Condition    // of a conditional entry, which is BestEffort and no series
}

// paramsHead is the length of Params' head: 17 words and the three of When, which is static and stands in line.
const paramsHead = 20 * abiWord

// calls appends Call[] as it stands behind its offset.
func (w *abiWriter) calls(calls []Call) { *w = append(*w, tlock.EncodeCalls(calls)[abiWord:]...) }

func (w *abiWriter) params(p Params) {
	var calls abiWriter
	calls.calls(p.Calls)
	at := uint64(paramsHead)
	w.uint(at)
	w.uint(p.Slot)
	w.uint(p.Height)
	w.uint(p.GasLimit)
	w.uint(p.GasPrice)
	w.uint(uint64(p.Class))
	w.bool(p.LateExecute)
	w.uint(uint64(p.MaxRetries))
	w.uint(uint64(p.BackoffSlots))
	w.uint(p.PeriodSlots)
	w.uint(uint64(p.Remaining))
	w.bool(p.PauseOnFail)
	w.addr(p.ReserveToken)
	w.uint96(p.ReserveAmount)
	at += uint64(len(calls))
	w.uint(at)
	at += abiWord + 2*abiWord*uint64(len(p.DependsOn))
	w.uint(at)
	w.word(p.Commitment)
	w.word(p.When.Item)
	w.uint(uint64(p.When.Kind))
	w.word(p.When.Operand)
	*w = append(*w, calls...)
	w.uint(uint64(len(p.DependsOn)))
	for _, d := range p.DependsOn {
		w.uint(d.ID)
		w.bool(d.Finished)
	}
	w.bytes(p.Ciphertext)
}

// scheduleArgs reads the arguments of schedule, all there is.
func (r *abiReader) scheduleArgs() (Params, error) {
	r.offset(abiWord)
	p := r.params()
	if !r.done() {
		return Params{}, ErrCalldata
	}
	return p, nil
}

// params reads the Params tuple; r must stand at its first word.
func (r *abiReader) params() (p Params) {
	start := r.read
	r.offset(paramsHead)
	p.Slot = r.uint(64)
	p.Height = r.uint(64)
	p.GasLimit = r.uint(64)
	p.GasPrice = r.uint(64)
	p.Class = uint8(r.uint(8))
	p.LateExecute = r.bool()
	p.MaxRetries = uint8(r.uint(8))
	p.BackoffSlots = uint32(r.uint(32))
	p.PeriodSlots = r.uint(64)
	p.Remaining = uint32(r.uint(32))
	p.PauseOnFail = r.bool()
	p.ReserveToken = r.addr()
	p.ReserveAmount = r.uint96()
	atDependsOn := r.uint(64)
	atCiphertext := r.uint(64)
	p.Commitment = r.word()
	p.When.Item = r.word()
	p.When.Kind = uint8(r.uint(8))
	p.When.Operand = r.word()
	p.Calls = r.calls()
	r.bad = r.bad || r.read-start != atDependsOn
	for range r.count(2 * abiWord) {
		p.DependsOn = append(p.DependsOn, Dependency{r.uint(64), r.bool()})
	}
	r.bad = r.bad || r.read-start != atCiphertext
	p.Ciphertext = r.bytes()
	return p
}

// calls reads Call[] from behind its offset. tlock.DecodeCalls is not used: it refuses what schedule answers with DataTooLarge.
func (r *abiReader) calls() []Call {
	n := r.count(5 * abiWord) // an offset and four words at least
	start := r.read
	offsets := make([]uint64, n)
	for i := range offsets {
		offsets[i] = r.uint(64)
	}
	calls := make([]Call, 0, n)
	for _, at := range offsets {
		r.bad = r.bad || r.read-start != at
		target := r.addr()
		gas := r.uint(64)
		r.offset(3 * abiWord)
		calls = append(calls, Call{Target: target, GasLimit: gas, Data: r.bytes()})
		if r.bad {
			return nil
		}
	}
	return calls
}

// abiEntry is the return value of entry(id).
func abiEntry(e Entry) []byte {
	var w abiWriter
	w.uint(abiWord)
	w.entry(e)
	return w
}

// entry appends the Entry tuple (S-ITF-03).
func (w *abiWriter) entry(e Entry) {
	const fixed = 23 * abiWord
	w.addr(e.Payer)
	w.uint(e.Key)
	w.uint(uint64(e.Status))
	w.uint(uint64(e.Attempts))
	w.uint(uint64(e.MaxRetries))
	w.uint(uint64(e.Flags))
	w.uint(e.GasLimit)
	w.uint(e.GasPrice)
	w.uint(e.DeadlineSlot)
	w.uint(e.PeriodSlots)
	w.addr(e.ReserveToken)
	w.uint96(e.ReserveAmount)
	w.uint(uint64(e.Remaining))
	w.uint(uint64(e.BackoffSlots))
	w.uint(uint64(e.DependsOnFinished))
	w.uint(e.DueSlot)
	w.uint(uint64(e.DataLen))
	w.uint(uint64(e.WhenKind))
	w.uint(fixed)
	w.uint(fixed + encodedBytesSize(len(e.Calls)))
	w.word(e.Commitment)
	w.word(e.WhenItem)
	w.word(e.WhenOperand)
	w.bytes(e.Calls)
	w.uints(e.DependsOn)
}
