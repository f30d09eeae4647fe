// Package api is the node's public HTTP interface as both sides see it: paths, JSON shapes, and a client.
//
//	GET  /v1/info                   what network this is and how far it is
//	GET  /v1/network                the network file that "tlock --network" takes, as this node tells it
//	GET  /v1/keys/{slot}            the key of a slot; "latest" for the newest
//	GET  /v1/policy                 what the scheduler allows and costs
//	GET  /v1/entries/{id}           an entry of the scheduler
//	GET  /v1/entries/{id}/runs      receipts of its runs in recent blocks, oldest first
//	GET  /v1/accounts/{address}     nonce, balances and escrow of an account
//	GET  /v1/items                  the oracle items that the genesis lists
//	GET  /v1/items/{item}           an oracle item, by its name or its id
//	GET  /v1/blocks/{number}        a recent block; "latest" for the head
//	GET  /v1/blocks/{number}/certificate  who voted for it: the proof that it is final; "latest" for the newest
//	GET  /v1/evidence               votes of one validator for two blocks at one height
//	POST /v1/transactions           a signed Ethereum transaction, as bytes or 0x hex
//	GET  /v1/transactions/{hash}    its receipt
//	POST /v1/call                   a call tried on the head's state, without effect
//	GET  /v1/stream                 blocks, keys, entries and oracle items as server-sent events
//
// Bytes are 0x hex, amounts are decimal strings (they may exceed 2^53), times are unix seconds. An error has a JSON body
// with what went wrong and what would help. What is not there yet is 404 with a Retry-After header; what never will be is
// 404 without one, and 410 if a node once had it and keeps it no more.
//
// Nothing here needs to be trusted: a client that knows the group key verifies every slot key itself.
package api

import "encoding/json"

// Info is the answer of /v1/info.
type Info struct {
	ChainID     uint64 `json:"chain_id"`
	GenesisHash string `json:"genesis_hash"`
	GroupKey    string `json:"group_key"`  // empty until the chain runs under it, or this node knows from an earlier run
	Epoch       uint64 `json:"epoch"`      // of the group; 0 until then
	Validators  int    `json:"validators"` // n
	Threshold   int    `json:"threshold"`  // partials that make a key
	Index       int    `json:"index"`      // this validator's, from 1
	Name        string `json:"name"`       // this validator's, from genesis
	Slot        uint64 `json:"slot"`       // the present one by this node's clock
	LatestKey   uint64 `json:"latest_key"` // newest slot whose key this node holds; 0 for none
	Head        Head   `json:"head"`
	Final       Head   `json:"final"`        // newest block that enough validators voted for; its number is 0 until there is one
	NotVoting   string `json:"not_voting"`   // why this validator votes for no block; empty if it does
	DoubleVotes int    `json:"double_votes"` // heights at which a validator voted for two blocks: see /v1/evidence
	Leader      int    `json:"leader"`       // index of the validator that orders entries now; 0 while there is none
	CatchingUp  bool   `json:"catching_up"`  // it has yet to apply what the others have: head and what hangs on it are of the past
	Peers       int    `json:"peers"`        // validators this one is connected to
	Share       string `json:"share"`        // of the group key: one of the words below; empty while it is not known
	Ceremony    string `json:"ceremony"`
	GasToken    string `json:"gas_token"` // account of the token that fees are paid in
	Version     string `json:"version"`
}

// What Info says of a validator's share.
const (
	ShareHeld = "held"
	ShareLost = "lost" // it was dealt one and has none: it does not sign until its operator puts the file back
	ShareNone = "none" // it was dealt none, as it came too late: it signs again when the key is dealt anew
)

// Head names a block.
type Head struct {
	Number    uint64 `json:"number"`
	Timestamp uint64 `json:"timestamp"`
	Hash      string `json:"hash"`
	StateRoot string `json:"state_root"`
}

// Key is the answer of /v1/keys/{slot}: the group's signature on the slot, which opens everything sealed to it.
type Key struct {
	Slot uint64 `json:"slot"`
	Key  string `json:"key"`
}

// Account is the answer of /v1/accounts/{address}.
type Account struct {
	Address   string `json:"address"`
	Nonce     uint64 `json:"nonce"`
	Balance   string `json:"balance"`   // of the gas token
	Escrow    string `json:"escrow"`    // available at the scheduler
	Allowance string `json:"allowance"` // of the gas token, given to the scheduler

	Tokens []Token `json:"tokens,omitempty"` // what it has of the genesis' MIP20 tokens
}

// Token is what an account has of a MIP20 token.
type Token struct {
	Token   string `json:"token"`
	Balance string `json:"balance"` // what it can spend
	Held    string `json:"held"`    // by the scheduler, for the reserves of its entries
}

// Item is the answer of /v1/items/{item}: what the oracle catalog says of an item (document 002 "Conditional entries").
type Item struct {
	Item     string `json:"item"`           // its id: keccak256 of its name
	Name     string `json:"name,omitempty"` // if the genesis names it
	Listed   bool   `json:"listed"`
	Halted   bool   `json:"halted"`
	Disputed bool   `json:"disputed"`
	Value    string `json:"value,omitempty"`     // of the latest write; none if there was no write, like the rest
	Block    uint64 `json:"block,omitempty"`     // of the latest write; 0 for one of the genesis
	Time     uint64 `json:"timestamp,omitempty"` // of that block
}

// Policy is the answer of /v1/policy: what the network's scheduler allows and costs (document 002 "Policy").
type Policy struct {
	GasPerBlock          uint64 `json:"gas_per_block"`
	GuaranteedGasPerSlot uint64 `json:"guaranteed_gas_per_slot"`
	MaxHorizonSlots      uint64 `json:"max_horizon_slots"`
	MaxLateSlots         uint64 `json:"max_late_slots"`
	CancelRefundBps      uint16 `json:"cancel_refund_bps"`
	MaxEntriesPerBlock   uint32 `json:"max_entries_per_block"`
	Treasury             string `json:"treasury"`
	MinGasPrice          uint64 `json:"min_gas_price"`
	GasToken             string `json:"gas_token"`
}

// Entry is the answer of /v1/entries/{id}: what entry(id) returns (document 002 "Read entry state"), with its flags and its key
// spelled out. A finished entry keeps what stands up to Flags; all else is zero.
type Entry struct {
	ID         uint64 `json:"id"`
	Payer      string `json:"payer"`
	Status     string `json:"status"` // scheduled, executed, failed, cancelled, expired, paused
	Key        uint64 `json:"key"`    // queue key: the slot, the height with bit 63 set, or bit 62 while it watches its item
	Attempts   uint8  `json:"attempts"`
	MaxRetries uint8  `json:"max_retries"`
	Flags      uint8  `json:"flags"`

	Slot        uint64 `json:"slot,omitempty"`   // of Key
	Height      uint64 `json:"height,omitempty"` // of Key
	Watching    bool   `json:"watching"`         // it waits for a write that satisfies its condition
	Class       string `json:"class"`            // guaranteed or best-effort, now: what was moved or failed is best-effort
	Sealed      bool   `json:"sealed"`           // still encrypted
	LateExecute bool   `json:"late_execute"`
	PauseOnFail bool   `json:"pause_on_fail"`

	GasLimit      uint64       `json:"gas_limit"`
	GasPrice      uint64       `json:"gas_price"`
	Fee           string       `json:"fee"`           // locked for the run, in base units of the gas token
	Deadline      uint64       `json:"deadline_slot"` // last slot it may run in without late_execute; 0 for none
	DueSlot       uint64       `json:"due_slot"`      // as scheduled; of a condition, the not-before time
	PeriodSlots   uint64       `json:"period_slots"`
	Remaining     uint32       `json:"remaining"` // periods after this one
	BackoffSlots  uint32       `json:"backoff_slots"`
	ReserveToken  string       `json:"reserve_token,omitempty"`
	ReserveAmount string       `json:"reserve_amount,omitempty"`
	DependsOn     []Dependency `json:"depends_on"`
	When          *Condition   `json:"when,omitempty"`
	Expirable     bool         `json:"expirable"`  // it will never run, and anyone may expire it
	Calls         string       `json:"calls"`      // encoded calls, or the ciphertext while sealed
	Commitment    string       `json:"commitment"` // of a sealed entry
}

// Dependency is an entry that another waits for.
type Dependency struct {
	ID       uint64 `json:"id"`
	Finished bool   `json:"finished"` // it must merely have ended; false: it must have succeeded
	Status   string `json:"status"`   // its own, now
}

// Condition is the oracle write that a conditional entry waits for.
type Condition struct {
	Item    string `json:"item"`
	Kind    uint8  `json:"kind"`    // 1 value at least operand, 2 value at most operand, 3 not halted
	Operand string `json:"operand"` // decimal
}

// Log is one event of a receipt.
type Log struct {
	Address string   `json:"address"`
	Topics  []string `json:"topics"`
	Data    string   `json:"data"`
	Name    string   `json:"name,omitempty"` // of an event of the scheduler or the oracle catalog, such as Executed
	ID      uint64   `json:"id,omitempty"`   // entry of a scheduler event
	Args    Args     `json:"args,omitempty"` // of such an event
}

// Args are the arguments of an event by their names, for a scheduler event those in document 002: numbers in decimal, addresses and
// items in hex, booleans as "true" and "false".
type Args map[string]string

// Receipt is the answer of /v1/transactions/{hash}, and part of a Block.
type Receipt struct {
	Hash    string `json:"hash"`
	Block   uint64 `json:"block"`
	Index   int    `json:"index"`
	Type    string `json:"type"` // 0x7e for a scheduled run, else the Ethereum type
	Entry   uint64 `json:"entry,omitempty"`
	Attempt uint8  `json:"attempt,omitempty"`
	Success bool   `json:"success"`
	Error   string `json:"error,omitempty"` // name of the scheduler's error
	GasUsed uint64 `json:"gas_used"`
	Logs    []Log  `json:"logs"`
}

// Block is the answer of /v1/blocks/{number}.
type Block struct {
	Head
	Parent   string    `json:"parent"`
	Proposer int       `json:"proposer"` // index of the validator that built it
	Keys     []Key     `json:"keys"`     // slot keys the block brings on chain
	Receipts []Receipt `json:"receipts"`
}

// Certificate is the answer of /v1/blocks/{number}/certificate.
type Certificate struct {
	Number      uint64 `json:"number"`
	Hash        string `json:"hash"`        // of the block
	Voters      []int  `json:"voters"`      // indices of the validators that signed it, ascending
	Certificate string `json:"certificate"` // all of it, as package finality encodes it
}

// Evidence is one element of the answer of /v1/evidence.
type Evidence struct {
	Validator int      `json:"validator"`
	Number    uint64   `json:"number"`
	Hashes    []string `json:"hashes"` // the two blocks it signed
	Votes     string   `json:"votes"`  // both, as package finality encodes evidence
}

// Submitted is the answer to a posted transaction: taken into the pool, not yet in a block.
type Submitted struct {
	Hash string `json:"hash"`
}

// Call is what is posted to /v1/call: a call to try on the head's state, as eth_call does. A call that fails is answered with status
// 422, and for one of the scheduler's refusals with its name and what to do.
type Call struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Input string `json:"input"`
}

// Returned is the answer of /v1/call.
type Returned struct {
	Data string `json:"data"`
}

// Event is one message of /v1/stream. Data is a Block for "block", a Key for "key", a SchedulerEvent for "entry" and "escrow", an
// ItemEvent for "item".
type Event struct {
	ID   uint64
	Kind string
	Data json.RawMessage
}

// Kinds of Event.
const (
	EventBlock  = "block"
	EventKey    = "key"
	EventEntry  = "entry"  // Scheduled, Executed, ExecutionFailed, Recurred, RecurrenceStarved, Paused, Cancelled, Expired
	EventEscrow = "escrow" // Deposited, Withdrawn
	EventItem   = "item"   // Written, Flags, Listed, Delisted
)

// SchedulerEvent is one event of the scheduler contract.
type SchedulerEvent struct {
	ID    uint64 `json:"id,omitempty"` // of the entry; none for an event of escrow
	What  string `json:"what"`         // name of the event
	Args  Args   `json:"args"`
	Block uint64 `json:"block"`
	Time  uint64 `json:"timestamp"`
}

// ItemEvent is one event of the oracle catalog.
type ItemEvent struct {
	Item  string `json:"item"`
	Name  string `json:"name,omitempty"` // of the item, if the genesis names it
	What  string `json:"what"`           // name of the event
	Args  Args   `json:"args"`
	Block uint64 `json:"block"`
	Time  uint64 `json:"timestamp"`
}

// ErrorBody is the JSON body of every answer that is not 2xx.
type ErrorBody struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}
