package scheduler

import (
	"bytes"
	"encoding/binary"

	"github.com/holiman/uint256"
)

const abiWord = 32

// abiReader reads the canonical ABI encoding from front to back: every offset must be the one the encoder would write, so there
// are no gaps, overlaps, dirty padding or trailing bytes, and one value has one encoding. The first fault makes bad true and every
// later read zero.
type abiReader struct {
	rest []byte
	read uint64 // bytes consumed
	bad  bool
}

func (r *abiReader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest, r.read = r.rest[n:], r.read+n
	return b
}

func (r *abiReader) word() (w Word) {
	copy(w[:], r.take(abiWord))
	return w
}

// uint reads an unsigned integer of the given width in bits, at most 64.
func (r *abiReader) uint(bits int) uint64 {
	w := r.word()
	v := w.uint64()
	if w != wordOf(v) || bits < 64 && v>>bits != 0 {
		r.bad = true
		return 0
	}
	return v
}

func (r *abiReader) uint256() (v uint256.Int) {
	w := r.word()
	v.SetBytes32(w[:])
	return v
}

func (r *abiReader) uint96() (v [12]byte) {
	w := r.word()
	r.zero(w[:20])
	copy(v[:], w[20:])
	return v
}

func (r *abiReader) bool() bool { return r.uint(1) == 1 }

func (r *abiReader) addr() (a Addr) {
	w := r.word()
	r.zero(w[:12])
	copy(a[:], w[12:])
	return a
}

func (r *abiReader) zero(b []byte) {
	for _, x := range b {
		if x != 0 {
			r.bad = true
		}
	}
}

// offset reads an offset that must equal want.
func (r *abiReader) offset(want uint64) {
	if r.uint(64) != want {
		r.bad = true
	}
}

// count reads the length of an array whose elements take at least size bytes each, so that the input's own length bounds it.
func (r *abiReader) count(size uint64) uint64 {
	n := r.uint(64)
	if n > uint64(len(r.rest))/size {
		r.bad = true
		return 0
	}
	return n
}

func (r *abiReader) bytes() []byte {
	n := r.count(1)
	b := bytes.Clone(r.take(n))
	r.zero(r.take(padding(n)))
	return b
}

func padding(n uint64) uint64 { return (abiWord - n%abiWord) % abiWord }

// done reports whether everything was read and was canonical.
func (r *abiReader) done() bool { return !r.bad && len(r.rest) == 0 }

// abiWriter appends canonical ABI.
type abiWriter []byte

func (w *abiWriter) word(v Word)           { *w = append(*w, v[:]...) }
func (w *abiWriter) uint(v uint64)         { w.word(wordOf(v)) }
func (w *abiWriter) uint256(v uint256.Int) { w.word(v.Bytes32()) }
func (w *abiWriter) bool(v bool)           { w.word(wordOfBool(v)) }
func (w *abiWriter) addr(a Addr)           { w.word(wordOfAddr(a)) }

func (w *abiWriter) uint96(v [12]byte) {
	*w = append(*w, make([]byte, 20)...)
	*w = append(*w, v[:]...)
}

func (w *abiWriter) bytes(b []byte) {
	w.uint(uint64(len(b)))
	*w = append(*w, b...)
	*w = append(*w, make([]byte, padding(uint64(len(b))))...)
}

func (w *abiWriter) uints(v []uint64) {
	w.uint(uint64(len(v)))
	for _, x := range v {
		w.uint(x)
	}
}

func encodedBytesSize(n int) uint64 { return abiWord + uint64(n) + padding(uint64(n)) }

// Encoders of the return values. A single dynamic value is preceded by its offset.
func abiUint(v uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24), v) }

func abiAddr(a Addr) []byte {
	w := wordOfAddr(a)
	return w[:]
}

func abiAmount(v uint256.Int) []byte {
	w := v.Bytes32()
	return w[:]
}

func abiBytes(b []byte) []byte {
	var w abiWriter
	w.uint(abiWord)
	w.bytes(b)
	return w
}

func abiUints(v []uint64) []byte {
	var w abiWriter
	w.uint(abiWord)
	w.uints(v)
	return w
}
