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
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
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

func certificateJSON(c *finality.Certificate) api.Certificate {
	out := api.Certificate{Number: c.Height, Hash: hex0x(c.Digest[:]), Certificate: hex0x(c.Encode())}
	for _, index := range c.Indices() {
		out.Voters = append(out.Voters, int(index))
	}
	return out
}

func evidenceJSON(e finality.Evidence) api.Evidence {
	return api.Evidence{
		Validator: int(e.First.Index), Number: e.First.Height,
		Hashes: []string{hex0x(e.First.Digest[:]), hex0x(e.Second.Digest[:])}, Votes: hex0x(e.Encode()),
	}
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
			j.Name, j.ID, j.Args = e.Name, e.ID, e.Args
		}
		if what, _, args, ok := decodeItemLog(l); ok {
			j.Name, j.Args = what, args
		}
		out.Logs = append(out.Logs, j)
	}
	return out
}

// addressJSON is an address in lower case: one form for all, so that scripts can compare.
func addressJSON(a Address) string { return strings.ToLower(a.Hex()) }

func policyJSON(p scheduler.Policy) api.Policy {
	return api.Policy{
		GasPerBlock: p.GasPerBlock, GuaranteedGasPerSlot: p.GuaranteedGasPerSlot, MaxHorizonSlots: p.MaxHorizonSlots,
		MaxLateSlots: p.MaxLateSlots, CancelRefundBps: p.CancelRefundBps, MaxEntriesPerBlock: p.MaxEntriesPerBlock,
		Treasury: p.Treasury.String(), MinGasPrice: p.MinGasPrice, GasToken: p.GasToken.String(),
	}
}

func entryJSON(view scheduler.View, id uint64) api.Entry {
	e := view.Entry(id)
	out := api.Entry{
		ID: id, Payer: e.Payer.String(), Status: statusNames[e.Status], Key: e.Key, Attempts: e.Attempts, MaxRetries: e.MaxRetries, Flags: e.Flags,
		Class: "guaranteed", Watching: e.Key == scheduler.WatchKey, Sealed: e.Flags&scheduler.FlagSealed != 0,
		LateExecute: e.Flags&scheduler.FlagLateExecute != 0, PauseOnFail: e.Flags&scheduler.FlagPauseOnFail != 0,
		GasLimit: e.GasLimit, GasPrice: e.GasPrice, Fee: "0", Deadline: e.DeadlineSlot, DueSlot: e.DueSlot,
		PeriodSlots: e.PeriodSlots, Remaining: e.Remaining, BackoffSlots: e.BackoffSlots,
		DependsOn: []api.Dependency{}, Calls: hex0x(e.Calls), Commitment: e.Commitment.String(),
	}
	if e.Flags&scheduler.FlagBestEffort != 0 {
		out.Class = "best-effort"
	}
	switch {
	case e.Key&scheduler.HeightKey != 0:
		out.Height = e.Key &^ scheduler.HeightKey
	case !out.Watching:
		out.Slot = e.Key
	}
	if e.ReserveToken != (scheduler.Addr{}) {
		out.ReserveToken, out.ReserveAmount = e.ReserveToken.String(), decimal(e.ReserveAmount[:])
	}
	for i, on := range e.DependsOn {
		out.DependsOn = append(out.DependsOn, api.Dependency{ID: on, Finished: e.DependsOnFinished>>i&1 == 1, Status: statusNames[view.Status(on)]})
	}
	if e.WhenKind != 0 {
		out.When = &api.Condition{Item: e.WhenItem.String(), Kind: e.WhenKind, Operand: decimal(e.WhenOperand[:])}
	}
	if cost, ok := scheduler.Cost(e.GasLimit, uint64(e.DataLen), uint64(len(e.DependsOn)), e.PeriodSlots != 0, out.ReserveToken != ""); ok && e.Status == scheduler.Scheduled {
		out.Fee = new(uint256.Int).Mul(uint256.NewInt(cost), uint256.NewInt(e.GasPrice)).Dec()
	}
	return out
}

var statusNames = map[scheduler.Status]string{
	scheduler.Scheduled: "scheduled", scheduler.Executed: "executed", scheduler.Failed: "failed",
	scheduler.Cancelled: "cancelled", scheduler.Expired: "expired", scheduler.Paused: "paused",
}

// schedulerEvent is a log of the scheduler, decoded for people.
type schedulerEvent struct {
	Name string
	ID   uint64 // of the entry; 0 for events without one
	Args api.Args
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
	out := schedulerEvent{Name: e.Name, Args: make(api.Args)}
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
