package finality

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Certificate proves that a block is final: who voted for it, and the sum of their signatures.
type Certificate struct {
	Block
	Voters    []byte // bitmap: validator i is bit (i-1)%8, from the least significant, of byte (i-1)/8
	Signature [bls.G2Size]byte
}

// MaxCertificate is the length of the longest encoded certificate, in bytes.
const MaxCertificate = 8 + 32 + 2 + MaxVoters/8 + bls.G2Size

// Has reports whether the validator is among the signers.
func (c *Certificate) Has(index uint32) bool {
	at := uint64(index) - 1
	return index > 0 && at/8 < uint64(len(c.Voters)) && c.Voters[at/8]>>(at%8)&1 == 1
}

// Indices lists the signers, ascending.
func (c *Certificate) Indices() (indices []uint32) {
	for i := range uint32(8 * len(c.Voters)) {
		if c.Has(i + 1) {
			indices = append(indices, i+1)
		}
	}
	return indices
}

func (c *Certificate) count() (n int) {
	for _, b := range c.Voters {
		n += bits.OnesCount8(b)
	}
	return n
}

// Encode returns u64 height, 32 bytes of digest, u16 bytes of bitmap, the bitmap, 96 bytes of signature.
func (c *Certificate) Encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, MaxCertificate), c.Height)
	b = append(b, c.Digest[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.Voters)))
	b = append(b, c.Voters...)
	return append(b, c.Signature[:]...)
}

// DecodeCertificate reads what Encode writes and nothing else. Whether it proves anything is for Voters.VerifyCertificate.
func DecodeCertificate(b []byte) (*Certificate, error) {
	const fixed = 8 + 32 + 2 + bls.G2Size
	if len(b) < fixed || len(b) > MaxCertificate {
		return nil, invalid("a certificate of %d bytes", len(b))
	}
	n := int(binary.BigEndian.Uint16(b[40:]))
	if len(b) != fixed+n {
		return nil, invalid("a certificate of %d bytes with %d of bitmap", len(b), n)
	}
	c := &Certificate{Block: Block{Height: binary.BigEndian.Uint64(b)}, Voters: slices.Clone(b[42 : 42+n])}
	copy(c.Digest[:], b[8:])
	copy(c.Signature[:], b[42+n:])
	return c, nil
}

// VerifyCertificate checks that c is what t or more validators signed: ErrInvalid if not. It costs two pairings and an addition for
// each signer.
func (v *Voters) VerifyCertificate(c *Certificate) error {
	if c.Height == 0 {
		return invalid("certificate of height 0: the genesis needs none")
	}
	if len(c.Voters) != (len(v.keys)+7)/8 {
		return invalid("certificate of height %d: bitmap of %d bytes for %d validators", c.Height, len(c.Voters), len(v.keys))
	}
	indices := c.Indices()
	if len(indices) > 0 && uint64(indices[len(indices)-1]) > uint64(len(v.keys)) {
		return invalid("certificate of height %d: validator %d of %d", c.Height, indices[len(indices)-1], len(v.keys))
	}
	if n := c.count(); n < v.threshold {
		return invalid("certificate of height %d: %d votes, %d are needed", c.Height, n, v.threshold)
	}
	sig, err := bls.DecodeG2(c.Signature[:])
	if err != nil {
		return invalid("certificate of height %d: %v", c.Height, err)
	}
	if !bls.VerifyG2(v.sum(indices), v.prepare(c.Block).lines, sig) {
		return invalid("certificate of height %d: the signature does not verify", c.Height)
	}
	return nil
}

// sum adds up voting keys. The indices must exist.
func (v *Voters) sum(indices []uint32) bls.G1 {
	points := make([]bls.G1, len(indices))
	for i, index := range indices {
		points[i] = v.keys[index-1]
	}
	return bls.SumG1(points)
}

// aggregate makes the certificate of votes for one block, all of different validators, or fails if their sum does not verify: then
// at least one of them is bad. Subgroups are checked of the sum only.
func (v *Voters) aggregate(p prepared, votes []Vote) (*Certificate, bool) {
	c := &Certificate{Block: votes[0].Block, Voters: make([]byte, (len(v.keys)+7)/8)}
	points, indices := make([]bls.G2, 0, len(votes)), make([]uint32, 0, len(votes))
	for _, vote := range votes {
		point, err := bls.DecodeG2Unchecked(vote.Signature[:])
		if err != nil {
			return nil, false
		}
		points, indices = append(points, point), append(indices, vote.Index)
		c.Voters[(vote.Index-1)/8] |= 1 << ((vote.Index - 1) % 8)
	}
	sum := bls.SumG2(points)
	if !sum.InSubgroup() || !bls.VerifyG2(v.sum(indices), p.lines, sum) {
		return nil, false
	}
	c.Signature = sum.Bytes()
	return c, true
}
