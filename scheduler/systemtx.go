package scheduler

import (
	"encoding/binary"
	"math/bits"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// SystemTxType is the type byte of a scheduled run's transaction.
const SystemTxType = 0x7e

// Run is one leading transaction (document 002, "What a run looks like").
type Run struct {
	ID       uint64
	Attempt  uint8 // tells retries apart: (ID, Attempt) never repeats on a chain
	Payer    Addr
	Target   Addr
	GasLimit uint64 // the entry's budgeted cost, so that GasLimit * GasPrice is the fee
	GasPrice uint64
	Input    []byte
}

// Encode is 0x7e || rlp([chainId, id, attempt, payer, target, gasLimit, gasPrice, input]) (S-RUN-01).
func (r Run) Encode(chainID uint64) []byte {
	var list []byte
	list = rlpUint(list, chainID)
	list = rlpUint(list, r.ID)
	list = rlpUint(list, uint64(r.Attempt))
	list = rlpBytes(list, r.Payer[:])
	list = rlpBytes(list, r.Target[:])
	list = rlpUint(list, r.GasLimit)
	list = rlpUint(list, r.GasPrice)
	list = rlpBytes(list, r.Input)
	return append(rlpHead([]byte{SystemTxType}, 0xc0, len(list)), list...)
}

// Hash is the transaction's hash, keccak256 of Encode.
func (r Run) Hash(chainID uint64) Word { return keccak(r.Encode(chainID)) }

// RLP of the three shapes a run needs: unsigned integers without leading zeros, byte strings, one list.

func rlpUint(b []byte, v uint64) []byte {
	var be [8]byte
	binary.BigEndian.PutUint64(be[:], v)
	return rlpBytes(b, be[bits.LeadingZeros64(v)/8:])
}

func rlpBytes(b, s []byte) []byte {
	if len(s) == 1 && s[0] < 0x80 {
		return append(b, s[0])
	}
	return append(rlpHead(b, 0x80, len(s)), s...)
}

// rlpHead appends the head of a string (0x80) or list (0xc0) of n bytes.
func rlpHead(b []byte, kind byte, n int) []byte {
	if n <= 55 {
		return append(b, kind+byte(n))
	}
	var be [8]byte
	binary.BigEndian.PutUint64(be[:], uint64(n))
	length := be[bits.LeadingZeros64(uint64(n))/8:]
	return append(append(b, kind+55+byte(len(length))), length...)
}

// runOf presents an entry that is open as its transaction (S-RUN-03): a single call as itself, a batch as the scheduler with the
// encoded calls, and a payload that did not open as the scheduler with no input.
func (c *call) runOf(e *entry) Run {
	r := Run{ID: e.id, Attempt: e.attempts, Payer: e.payer, Target: Address, GasLimit: e.cost(), GasPrice: e.gasPrice}
	data := c.State.Blob(keyOf(tagCalls, e.id, 0))
	if calls := c.storedCalls(e.id); len(calls) == 1 {
		r.Target, r.Input = calls[0].Target, calls[0].Data
	} else {
		r.Input = append([]byte(nil), data...)
	}
	return r
}

// storedCalls are the calls of an entry that is open; none for a payload that did not open.
func (c *call) storedCalls(id uint64) []Call {
	data := c.State.Blob(keyOf(tagCalls, id, 0))
	if len(data) == 0 {
		return nil
	}
	calls, err := tlock.DecodeCalls(data)
	if err != nil {
		panic(internalError("stored calls do not decode: " + err.Error()))
	}
	return calls
}
