package partials

import (
	"bytes"
	"encoding/hex"
	"math"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

const (
	groupTitle = "daybreak-group-v1"
	// maxGroupFile fits MaxMembers commitments of 110 bytes and the lines around them.
	maxGroupFile = 110*MaxMembers + 1024
)

// Encode returns the text of the public group file:
//
//	daybreak-group-v1
//	chain 4217
//	genesis 0x…         32 bytes
//	epoch 1
//	members 4
//	threshold 3
//	commitment 0x…      48 bytes, one line for each of threshold
//	checksum 0x…        SHA-256 of all lines above
func (g *Group) Encode() []byte {
	w := newSheet(groupTitle)
	writeChain(w, g.ns)
	w.number("epoch", g.epoch)
	w.number("members", uint64(g.N()))
	w.number("threshold", uint64(g.Threshold()))
	for _, c := range g.commitments {
		b := c.Bytes()
		w.hex("commitment", b[:])
	}
	return w.finish()
}

// DecodeGroup reads the text of a group file of the chain ns. It accepts what Encode writes and nothing else: ErrInvalid
// otherwise, ErrForeign if the file is of another chain.
func DecodeGroup(ns tlock.Namespace, b []byte) (*Group, error) {
	r := readSheet("group file", groupTitle, maxGroupFile, b)
	if err := readChain(r, ns); err != nil {
		return nil, err
	}
	epoch := r.number("epoch", math.MaxUint64)
	n := r.number("members", MaxMembers)
	t := r.number("threshold", MaxMembers)
	var commitments []bls.G1
	for i := uint64(0); i < t && r.err == nil; i++ {
		raw := r.hex("commitment", bls.G1Size)
		if r.err != nil {
			break
		}
		c, err := bls.DecodeG1(raw)
		if err != nil {
			r.fail("has a bad commitment %d: %v", i, err)
		}
		commitments = append(commitments, c)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	g, err := NewGroup(ns, epoch, int(n), commitments)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(g.Encode(), b) {
		return nil, invalid("group file is not written the way this program writes it")
	}
	return g, nil
}

func writeChain(w *sheetWriter, ns tlock.Namespace) {
	genesis := ns.GenesisHash()
	w.line("chain", ns.ChainID().String())
	w.hex("genesis", genesis[:])
}

// readChain reads the lines of writeChain and compares them with ns.
func readChain(r *sheetReader, ns tlock.Namespace) error {
	chain, genesis := r.line("chain"), r.hex("genesis", 32)
	if r.err != nil {
		return r.err
	}
	want := ns.GenesisHash()
	if chain != ns.ChainID().String() || !bytes.Equal(genesis, want[:]) {
		return classed(ErrForeign, "%s is of chain %.80q with genesis 0x%s, not of chain %v with genesis 0x%s",
			r.kind, chain, hex.EncodeToString(genesis), ns.ChainID(), hex.EncodeToString(want[:]))
	}
	return nil
}
