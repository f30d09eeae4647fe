package tlock

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// MaxCallsSize is the most bytes abi.encode(Call[]) of one entry may take (document 002 "Scheduling an entry"). Sealed
// entries hold MaxSealedCalls at most.
const MaxCallsSize = 4096

// Call is one call of an entry: struct Call { address target; uint64 gasLimit; bytes data } of document 002.
type Call struct {
	Target   [20]byte
	GasLimit uint64 // gas units for this call alone
	Data     []byte
}

const word = 32 // bytes of an ABI word

// callHead is what precedes the data bytes of one encoded call: target, gas limit, offset of data, length of data.
const callHead = 4 * word

// dataOffset is where `data` starts inside a Call tuple: after three head words.
const dataOffset = 3 * word

// EncodeCalls returns abi.encode(Call[]): the bytes that the scheduler stores, that sealing pads and that a batch's
// 0x7e transaction carries. It does not judge the calls; the scheduler does.
func EncodeCalls(calls []Call) []byte {
	out := make([]byte, 0, encodedCallsSize(calls))
	out = appendWord(out, word) // the array starts after this word
	out = appendWord(out, uint64(len(calls)))
	next := uint64(len(calls)) * word
	for _, c := range calls {
		out = appendWord(out, next)
		next += callHead + uint64(padded(len(c.Data)))
	}
	for _, c := range calls {
		out = append(out, make([]byte, word-len(c.Target))...)
		out = append(out, c.Target[:]...)
		out = appendWord(out, c.GasLimit)
		out = appendWord(out, dataOffset)
		out = appendWord(out, uint64(len(c.Data)))
		out = append(out, c.Data...)
		out = append(out, make([]byte, padded(len(c.Data))-len(c.Data))...)
	}
	return out
}

func encodedCallsSize(calls []Call) int {
	n := 2 * word
	for _, c := range calls {
		n += word + callHead + padded(len(c.Data))
	}
	return n
}

func appendWord(out []byte, v uint64) []byte {
	var w [word]byte
	binary.BigEndian.PutUint64(w[word-8:], v)
	return append(out, w[:]...)
}

func padded(n int) int { return (n + word - 1) / word * word }

// DecodeCalls reads abi.encode(Call[]) and accepts exactly the bytes EncodeCalls writes: tuples in order without gaps
// or overlaps, clean padding, no trailing bytes. A decoder that followed any offset would give one batch two
// candidate inputs, the stored bytes and the re-encoded ones, and with them two transaction hashes (S-SEA-13).
//
// It accepts no calls and more than eight: how many an entry may have is the scheduler's rule. Input above MaxCallsSize
// is refused. Errors are ErrMalformed. The result shares no memory with b.
func DecodeCalls(b []byte) ([]Call, error) {
	if len(b) > MaxCallsSize {
		return nil, malformed("calls of %d bytes, at most %d fit an entry", len(b), MaxCallsSize)
	}
	r := abiReader{b: b}
	r.expect("offset of the array", word)
	n := r.uint64("number of calls")
	// Every call takes an offset and callHead bytes, so the input's length bounds the count before anything is allocated.
	if r.err == nil && n > uint64(len(r.b))/(word+callHead) {
		return nil, malformed("calls: %d calls do not fit %d bytes", n, len(b))
	}
	offsets := abiReader{b: r.take("offsets", n*word), err: r.err}
	calls := make([]Call, 0, n)
	next := n * word
	for i := uint64(0); i < n && r.err == nil && offsets.err == nil; i++ {
		offsets.expect("offset of a call", next)
		c := r.call()
		next += callHead + uint64(padded(len(c.Data)))
		calls = append(calls, c)
	}
	switch {
	case offsets.err != nil:
		return nil, offsets.err
	case r.err != nil:
		return nil, r.err
	case len(r.b) != 0:
		return nil, malformed("calls: %d bytes follow the last call", len(r.b))
	}
	return calls, nil
}

// abiReader consumes words from the front of b; after the first error every read gives zeros.
type abiReader struct {
	b   []byte
	err error
}

func (r *abiReader) call() Call {
	var c Call
	c.Target = r.address()
	c.GasLimit = r.uint64("gas limit")
	r.expect("offset of data", dataOffset)
	n := r.uint64("length of data")
	c.Data = bytes.Clone(r.take("data", n))
	if r.err == nil && !isZero(r.take("padding of data", (word-n%word)%word)) {
		r.fail("padding of data is not zero")
	}
	return c
}

func (r *abiReader) take(what string, n uint64) []byte {
	if r.err == nil && n > uint64(len(r.b)) {
		r.fail(fmt.Sprintf("%s is cut short", what))
	}
	if r.err != nil {
		return nil
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

func (r *abiReader) uint64(what string) uint64 {
	w := r.take(what, word)
	if r.err != nil {
		return 0
	}
	if !isZero(w[:word-8]) {
		r.fail(what + " exceeds 64 bits")
		return 0
	}
	return binary.BigEndian.Uint64(w[word-8:])
}

func (r *abiReader) expect(what string, want uint64) {
	if got := r.uint64(what); r.err == nil && got != want {
		r.fail(fmt.Sprintf("%s is %d, the canonical encoding has %d", what, got, want))
	}
}

func (r *abiReader) address() (a [20]byte) {
	w := r.take("target", word)
	if r.err != nil {
		return a
	}
	if !isZero(w[:word-len(a)]) {
		r.fail("target has bytes before the address")
		return a
	}
	copy(a[:], w[word-len(a):])
	return a
}

func (r *abiReader) fail(what string) { r.err = malformed("calls: %s", what) }

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
