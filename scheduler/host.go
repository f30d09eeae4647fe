package scheduler

import (
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// Word is one storage word, and the key of one.
type Word [32]byte

// Addr is an account address.
type Addr [20]byte

// Address is the account of the scheduler contract, 0x…fe (document 002, "Scheduler").
var Address = Addr{19: 0xfe}

// BeaconAddress is the account of the beacon contract, 0x…ff (document 002, "Encrypted payloads").
var BeaconAddress = Addr{19: 0xff}

// Runner calls f(0) … f(n-1), in any order and possibly at once, and returns when all are done. The machine hands it only work
// whose order cannot show. A nil Runner does the work one by one.
type Runner = tlock.Runner

func parallel(run Runner, n int, f func(i int)) {
	if run != nil {
		run(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}

// Reader reads one contract's storage. A key never written holds the zero Word and a nil blob. Blobs have their own key space
// beside the words; a returned blob must not be modified.
type Reader interface {
	Get(key Word) Word
	Blob(key Word) []byte
}

// State is one contract's storage inside one block. The host journals it: Revert undoes everything since the Snapshot that
// returned the same number, in every contract's storage, the transient words and the emitted logs included.
type State interface {
	Reader
	Set(key, value Word)        // the zero Word deletes
	SetBlob(key Word, b []byte) // an empty b deletes; the host copies b
	Temp(key Word) Word         // transient: zero again when the transaction is over
	SetTemp(key, value Word)
	Emit(topics []Word, data []byte) // a log of this contract; the host copies both
	Snapshot() int
	Revert(snapshot int)
}

// Executor makes a call with the scheduler as its sender. used is the gas the call consumed, at most gas. A call that returns an
// error must have left no effect. Calls may come back to Machine.Call before they return.
type Executor interface {
	Call(to Addr, gas uint64, input []byte) (ret []byte, used uint64, err error)
}

// Token is the gas token as the scheduler uses it, and the MIP20 tokens, of which reserves are made. A verb that returns an error
// must have changed nothing.
type Token interface {
	// Pull moves amount from an account to the scheduler, consuming the allowance given to the scheduler.
	Pull(from Addr, amount uint256.Int) error
	// Send moves amount from the scheduler to an account and respects the account's receive policy: refused in REVERT mode is an
	// error, in QUARANTINE mode the tokens go to ReceivePolicy (S-ESC-07).
	Send(to Addr, amount uint256.Int) error
	// Credit moves amount from the scheduler to an account that cannot refuse: what its policy refuses goes to ReceivePolicy
	// (S-ESC-05). It fails only if the token itself does.
	Credit(to Addr, amount uint256.Int) error
	// Held is the scheduler's own balance of the gas token.
	Held() uint256.Int

	// IsMIP20 says whether an account is a MIP20 token, which is never a call's target (document 002, "Call authority").
	IsMIP20(a Addr) bool
	// HoldFrom takes amount of a MIP20 token out of an account's spendable balance and holds it for the scheduler, consuming the
	// allowance given to the scheduler (S-RES-01). Holds are amounts per token and account; the scheduler knows which entry's they are.
	HoldFrom(token, from Addr, amount uint256.Int) error
	// Capture moves amount from an account's hold to another account that cannot refuse: what its policy refuses goes to
	// ReceivePolicy (S-RES-06). It fails only if the token itself does.
	Capture(token, from, to Addr, amount uint256.Int) error
	// Release makes amount of an account's hold spendable again. No receive policy is asked: the tokens never left the account.
	Release(token, from Addr, amount uint256.Int) error
}

// Beacon is what the scheduler reads of the beacon contract: encoded points, or nil where there is none.
type Beacon interface {
	GroupKey() []byte                   // 48 bytes
	KeyAt(slot uint64) []byte           // 96 bytes
	ConditionKey(condition Word) []byte // 96 bytes
}

// Env is the block and the caller a call runs under.
type Env struct {
	Height   uint64
	Time     uint64 // the block's timestamp: its slot
	Proposer Addr   // paid for the block's runs
	Caller   Addr   // msg.sender
	ReadOnly bool   // a view: transactions are refused
}

// Host is everything around the machine. Machine keeps nothing between calls: all state is behind these interfaces.
type Host struct {
	State    State // storage of Address
	Executor Executor
	Token    Token
	Oracle   Oracle // nil: a chain without a catalog, which lists nothing
	Beacon   Beacon
}
