package memory

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// The stream of Export: the magic, then every leaf in path order as `kind 1 | address 20 | slot 32 | length 4 | value`, then the byte
// endOfLeaves and the state hash. Numbers are big-endian.
const (
	magic       = "daybreak state 2\n"
	endOfLeaves = 0xff
	maxBlobSize = 1 << 20
)

// ErrExport is the class of a stream that Import refuses.
var ErrExport = errors.New("not an exported state")

// Export writes the whole state between two blocks.
func (h *Host) Export(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString(magic) // bufio keeps the first error for Flush
	root := h.rest()
	root.walk(func(l *leaf) {
		k := l.key.bytes()
		out.Write(k[:])
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(l.value()))))
		out.Write(l.value())
	})
	sum := h.StateHash()
	out.WriteByte(endOfLeaves)
	out.Write(sum[:])
	if err := out.Flush(); err != nil {
		return fmt.Errorf("export state: %w", err)
	}
	return nil
}

// Import reads one exported state of at most maxBytes and makes a host of it. It accepts exactly what Export writes: leaves in
// order, no zero words, the hash of the content, a state of this policy. What follows in r is left there, up to buffering. Errors wrap
// ErrExport unless they are r's.
func Import(c Config, r io.Reader, maxBytes int64) (*Host, error) {
	h, err := bare(c)
	if err != nil {
		return nil, err
	}
	in := &importer{r: bufio.NewReader(r), left: maxBytes}
	if string(in.take(len(magic))) != magic && in.err == nil {
		in.fail("unknown format")
	}
	var leaves []change
	for in.err == nil {
		l := in.leaf()
		if l == nil {
			break
		}
		leaves = append(leaves, change{*in.last, l})
	}
	if len(leaves) > 0 {
		h.words.base = tree{}.with(leaves, 0)
	}
	sum := [32]byte{}
	copy(sum[:], in.take(len(sum)))
	if in.err != nil {
		return nil, fmt.Errorf("import state: %w", in.err)
	}
	if got := h.StateHash(); got != sum {
		return nil, fmt.Errorf("import state: %w: hash %x, content hashes to %x", ErrExport, sum, got)
	}
	if err := h.machine.CheckInstalled(h.Space(scheduler.Address)); err != nil {
		return nil, fmt.Errorf("import state: %w: %w", ErrExport, err)
	}
	return h, nil
}

type importer struct {
	r    *bufio.Reader
	left int64
	last *path
	err  error
}

// leaf reads the next leaf, or nil at the end of the leaves or after an error.
func (in *importer) leaf() *leaf {
	first := in.take(1)
	if in.err != nil || first[0] == endOfLeaves {
		return nil
	}
	var raw [keySize]byte
	raw[0] = first[0]
	copy(raw[1:], in.take(keySize-1))
	length := in.take(4)
	if in.err != nil {
		return nil
	}
	l := &leaf{key: keyFromBytes(raw)}
	value := in.value(l.key.kind, binary.BigEndian.Uint32(length))
	if in.err != nil {
		return nil
	}
	if l.key.kind == kindBlob {
		l.blob = value
	} else {
		l.word = scheduler.Word(value)
	}
	p := l.key.path()
	if in.last != nil && bytes.Compare(in.last[:], p[:]) >= 0 {
		in.fail("entries out of order")
		return nil
	}
	in.last = &p
	return l
}

func (in *importer) value(kind byte, n uint32) []byte {
	switch {
	case kind == kindWord && n == 32:
		v := in.take(32)
		if in.err == nil && scheduler.Word(v) == (scheduler.Word{}) {
			in.fail("a zero word")
		}
		return v
	case kind == kindBlob && n > 0 && n <= maxBlobSize:
		return in.take(int(n))
	}
	in.fail("an entry of unknown kind or size")
	return nil
}

func (in *importer) take(n int) []byte {
	if in.err != nil {
		return nil
	}
	if in.left < int64(n) {
		in.fail("longer than allowed")
		return nil
	}
	in.left -= int64(n)
	b := make([]byte, n)
	if _, err := io.ReadFull(in.r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			in.fail("cut short")
		} else {
			in.err = err
		}
		return nil
	}
	return b
}

func (in *importer) fail(why string) { in.err = fmt.Errorf("%w: %s", ErrExport, why) }
