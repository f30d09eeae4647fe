package node

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func hex0x(b []byte) string { return "0x" + hex.EncodeToString(b) }

func keyJSON(slot uint64, key [tlock.KeySize]byte) api.Key {
	return api.Key{Slot: slot, Key: hex0x(key[:])}
}

func headJSON(h chain.Head) api.Head {
	return api.Head{Number: h.Number, Timestamp: h.Time, Hash: h.Hash.Hex(), StateRoot: h.StateRoot.Hex()}
}

func blockJSON(a *chain.Applied) api.Block {
	h := &a.Block.Header
	b := api.Block{
		Head:   api.Head{Number: h.Number, Timestamp: h.Time, Hash: a.Hash.Hex(), StateRoot: h.StateRoot.Hex()},
		Parent: h.Parent.Hex(), Proposer: int(h.Proposer), Keys: []api.Key{}, Receipts: []api.Receipt{},
	}
	for _, k := range a.Block.Update.Slots {
		b.Keys = append(b.Keys, keyJSON(k.Slot, k.Key))
	}
	for i := range a.Receipts {
		b.Receipts = append(b.Receipts, receiptJSON(a, i))
	}
	return b
}

func receiptJSON(a *chain.Applied, i int) api.Receipt {
	r := a.Receipts[i]
	out := api.Receipt{
		Hash: r.TxHash.Hex(), Block: a.Block.Header.Number, Index: i, Type: fmt.Sprintf("%#x", r.Type),
		Entry: r.Entry, Success: r.Status == 1, Error: r.Reason, GasUsed: r.GasUsed, Logs: []api.Log{},
	}
	for _, l := range r.Logs {
		j := api.Log{Address: addressJSON(l.Address), Topics: []string{}, Data: hex0x(l.Data)}
		for _, t := range l.Topics {
			j.Topics = append(j.Topics, t.Hex())
		}
		if e, ok := decodeLog(l); ok {
			j.Name, j.ID = e.Name, e.ID
		}
		out.Logs = append(out.Logs, j)
	}
	return out
}

// addressJSON is an address in lower case: one form for all, so that scripts can compare.
func addressJSON(a Address) string { return strings.ToLower(a.Hex()) }

func entryJSON(id uint64, e scheduler.Entry) api.Entry {
	return api.Entry{
		ID: id, Payer: addressJSON(Address(e.Payer)), Status: statusNames[e.Status], Sealed: e.Flags&scheduler.FlagSealed != 0,
		Key: e.Key, Attempts: e.Attempts, GasLimit: e.GasLimit, GasPrice: e.GasPrice, Deadline: e.DeadlineSlot,
		Calls: hex0x(e.Calls), Commitment: e.Commitment.String(),
	}
}

var statusNames = map[scheduler.Status]string{
	scheduler.Scheduled: "scheduled", scheduler.Executed: "executed", scheduler.Failed: "failed",
	scheduler.Cancelled: "cancelled", scheduler.Expired: "expired", scheduler.Paused: "paused",
}

// schedulerEvent is a log of the scheduler, decoded for people.
type schedulerEvent struct {
	Name string
	ID   uint64 // of the entry; 0 for events without one
	Args map[string]string
}

// decodeLog reads a log of the scheduler contract; false for any other.
func decodeLog(l *types.Log) (schedulerEvent, bool) {
	if scheduler.Addr(l.Address) != scheduler.Address {
		return schedulerEvent{}, false
	}
	topics := make([]scheduler.Word, len(l.Topics))
	for i, t := range l.Topics {
		topics[i] = scheduler.Word(t)
	}
	e, ok := scheduler.DecodeEvent(topics, l.Data)
	if !ok {
		return schedulerEvent{}, false
	}
	out := schedulerEvent{Name: e.Name, Args: make(map[string]string)}
	for _, a := range e.Args {
		v := new(uint256.Int).SetBytes32(a.Word[:])
		switch a.Type {
		case "address":
			out.Args[a.Name] = hex0x(a.Word[12:])
		case "bool":
			out.Args[a.Name] = fmt.Sprint(!v.IsZero())
		default:
			out.Args[a.Name] = v.Dec()
		}
		if a.Name == "id" {
			out.ID = v.Uint64()
		}
	}
	return out, true
}

func leftPad(b []byte) []byte { return append(make([]byte, 32-len(b)), b...) }

// decimal writes one big-endian word as people write numbers.
func decimal(word []byte) string { return new(uint256.Int).SetBytes(word).Dec() }
