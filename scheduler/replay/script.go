package replay

import (
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Script is a whole script: the genesis line and one line for each block.
type Script struct {
	Genesis Genesis
	Blocks  []Block
}

// Genesis is the first line: the chain on which the scheduler is installed, in the block (Height, Time).
type Genesis struct {
	ChainID     uint64
	GenesisHash scheduler.Word
	Time        uint64
	Height      uint64
	GroupSecret bls.Scalar // makes the keys that blocks name; zero for a chain without a group key
	Policy      scheduler.Policy
	Limits      scheduler.Limits // a zero field is the protocol's constant

	Accounts      map[scheduler.Addr]Account
	RefusesCredit []scheduler.Addr // the gas token fails every credit to these
	Items         map[scheduler.Word]Item
	Targets       map[scheduler.Addr]Target // all other accounts take every call and do nothing
}

// Account is what an address holds at genesis. Every address has approved the scheduler for all its gas tokens.
type Account struct {
	GasToken uint256.Int
	Tokens   map[scheduler.Addr]TokenAccount // by MIP20 token
}

// TokenAccount is an account of a MIP20 token: what its holder can spend, and what the scheduler may hold of it.
type TokenAccount struct{ Balance, Allowance uint256.Int }

// Item is an item of the oracle catalog at genesis. A nil Value is listed and never written.
type Item struct {
	Value            *uint256.Int
	Halted, Disputed bool
}

// Target is what an account does when the scheduler calls it.
type Target struct {
	Kind     TargetKind
	Calldata []byte // of TargetCall and TargetTry: what it calls the scheduler back with
}

// TargetKind is the kind of a Target, as the script names it.
type TargetKind string

// The kinds of target.
const (
	TargetOK     TargetKind = "ok"     // takes every call
	TargetRevert TargetKind = "revert" // fails every call
	TargetBurn   TargetKind = "burn"   // uses all the gas it is given, so that the call fails
	TargetCall   TargetKind = "call"   // calls the scheduler back; the revert bubbles up
	TargetTry    TargetKind = "try"    // the same; the revert is swallowed
)

// Block is one block. What it names happens in the order of its fields, after the block's own work that stands between them: the
// beacon update; the leading transactions; then the oracle's writes, the transactions, and the opening sweep.
type Block struct {
	Time     uint64
	Proposer scheduler.Addr

	GroupSecret   bls.Scalar // the beacon update installs this secret's group key first; zero for none
	SlotKeys      []uint64   // the beacon update carries the keys of these slots
	ConditionKeys []scheduler.Word

	Seize uint256.Int // so many gas tokens, or all there are, leave 0x…fe before the leading transactions

	Writes []Write
	Flags  []Flags
	Delist []scheduler.Word
	MIP20  []scheduler.Addr // become MIP20 tokens
	Txs    []Tx
}

// Write is an oracle write. It lists its item, if the catalog does not.
type Write struct {
	Item             scheduler.Word
	Value            uint256.Int
	Halted, Disputed bool
}

// Flags changes an item's flags without a write; nil leaves one as it is.
type Flags struct {
	Item             scheduler.Word
	Halted, Disputed *bool
}

// Tx is one user transaction.
type Tx struct {
	From     scheduler.Addr
	Kind     TxKind
	Amount   uint256.Int // of TxDeposit and TxWithdraw
	ID       uint64      // of TxCancel, TxExpire and TxResume
	Schedule *Schedule   // of TxSchedule
}

// TxKind is the kind of a Tx, as the script names it.
type TxKind string

// The kinds of transaction.
const (
	TxDeposit  TxKind = "deposit"
	TxWithdraw TxKind = "withdraw"
	TxCancel   TxKind = "cancel"
	TxExpire   TxKind = "expire"
	TxResume   TxKind = "resume"
	TxSchedule TxKind = "schedule"
)

// Schedule is the argument of schedule. With Seal, Calls, Ciphertext and Commitment are empty: they are made from it.
type Schedule struct {
	scheduler.Params
	Seal *Seal
}

// Seal seals calls with chosen randomness, so that a script always gives the same ciphertext: to the entry's slot or, if it is
// conditional, to its condition.
type Seal struct {
	Calls   []scheduler.Call // also none, nine, or a forbidden target
	Salt    scheduler.Word
	DataKey scheduler.Word
	Sigma   scheduler.Word
	Nonce   [12]byte
	Wrong   Wrong
}

// Wrong is what is wrong with a sealed payload, as the script names it.
type Wrong string

// The faults of a payload.
const (
	WrongNothing    Wrong = ""
	WrongCommitment Wrong = "commitment" // another commitment is passed: its last bit differs
	WrongTag        Wrong = "tag"        // the last bit of the ciphertext is changed
	WrongPadding    Wrong = "padding"    // the first byte after the calls is 1, and the commitment fits it
	WrongSlot       Wrong = "slot"       // sealed to slot+1, or to the condition with slot+1
)
