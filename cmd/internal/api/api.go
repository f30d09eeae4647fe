// Package api is the node's public HTTP interface as both sides see it: paths, JSON shapes, and a client.
//
//	GET  /v1/info                   what network this is and how far it is
//	GET  /v1/network                the network file that "tlock --network" takes, as this node tells it
//	GET  /v1/keys/{slot}            the key of a slot; "latest" for the newest
//	GET  /v1/entries/{id}           an entry of the scheduler
//	GET  /v1/entries/{id}/runs      receipts of its runs in recent blocks, oldest first
//	GET  /v1/accounts/{address}     nonce, balance and escrow of an account
//	GET  /v1/blocks/{number}        a recent block; "latest" for the head
//	POST /v1/transactions           a signed Ethereum transaction, as bytes or 0x hex
//	GET  /v1/transactions/{hash}    its receipt
//	GET  /v1/stream                 blocks, keys and entries as server-sent events
//
// Bytes are 0x hex, amounts are decimal strings (they may exceed 2^53), times are unix seconds. An error has a JSON body
// with what went wrong and what would help. What is not there yet is 404 with a Retry-After header; what never will be is
// 404 without one.
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
	Leader      int    `json:"leader"`      // index of the validator that orders entries now; 0 while there is none
	CatchingUp  bool   `json:"catching_up"` // it has yet to apply what the others have: head and what hangs on it are of the past
	Peers       int    `json:"peers"`       // validators this one is connected to
	Share       string `json:"share"`       // of the group key: one of the words below; empty while it is not known
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
}

// Entry is the answer of /v1/entries/{id}.
type Entry struct {
	ID         uint64 `json:"id"`
	Payer      string `json:"payer"`
	Status     string `json:"status"` // scheduled, executed, failed, cancelled, expired, paused
	Sealed     bool   `json:"sealed"` // still encrypted
	Key        uint64 `json:"key"`    // queue key: the slot, or the height with bit 63 set
	Attempts   uint8  `json:"attempts"`
	GasLimit   uint64 `json:"gas_limit"`
	GasPrice   uint64 `json:"gas_price"`
	Deadline   uint64 `json:"deadline_slot"`
	Calls      string `json:"calls"`      // encoded calls, or the ciphertext while sealed
	Commitment string `json:"commitment"` // of a sealed entry
}

// Log is one event of a receipt.
type Log struct {
	Address string   `json:"address"`
	Topics  []string `json:"topics"`
	Data    string   `json:"data"`
	Name    string   `json:"name,omitempty"` // of a scheduler event, such as Executed
	ID      uint64   `json:"id,omitempty"`   // entry of a scheduler event
}

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

// Submitted is the answer to a posted transaction: taken into the pool, not yet in a block.
type Submitted struct {
	Hash string `json:"hash"`
}

// Event is one message of /v1/stream. Data is a Block for "block", a Key for "key", an EntryEvent for "entry".
type Event struct {
	ID   uint64
	Kind string
	Data json.RawMessage
}

// Kinds of Event.
const (
	EventBlock = "block"
	EventKey   = "key"
	EventEntry = "entry"
)

// EntryEvent tells what happened to an entry.
type EntryEvent struct {
	ID    uint64 `json:"id"`
	What  string `json:"what"` // name of the scheduler's event: Scheduled, Executed, ExecutionFailed, Cancelled, Expired …
	Block uint64 `json:"block"`
	Time  uint64 `json:"timestamp"`
}

// ErrorBody is the JSON body of every answer that is not 2xx.
type ErrorBody struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}
