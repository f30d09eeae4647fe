package finality

import (
	"encoding/binary"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Vote is one validator's signature of a block.
type Vote struct {
	Block
	Index     uint32 // of the validator, from 1
	Signature [bls.G2Size]byte
}

// VoteSize is the length of an encoded vote: u64 height, 32 bytes of digest, u32 index, 96 bytes of signature.
const VoteSize = 8 + 32 + 4 + bls.G2Size

// Sign votes for a block. Whether that is safe is the Journal's to say: call Journal.Record first.
func (s Secret) Sign(d Domain, index uint32, b Block) Vote {
	return Vote{Block: b, Index: index, Signature: d.message(b).Mul(*s.scalar).Bytes()}
}

// Encode returns VoteSize bytes.
func (v Vote) Encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, VoteSize), v.Height)
	b = append(b, v.Digest[:]...)
	b = binary.BigEndian.AppendUint32(b, v.Index)
	return append(b, v.Signature[:]...)
}

// DecodeVote reads VoteSize bytes. The signature is not looked at.
func DecodeVote(b []byte) (v Vote, err error) {
	if len(b) != VoteSize {
		return v, invalid("a vote has %d bytes, not %d", VoteSize, len(b))
	}
	v.Height = binary.BigEndian.Uint64(b)
	copy(v.Digest[:], b[8:])
	v.Index = binary.BigEndian.Uint32(b[40:])
	copy(v.Signature[:], b[44:])
	if v.Height == 0 || v.Index == 0 || v.Index > MaxVoters {
		return Vote{}, invalid("a vote of validator %d at height %d", v.Index, v.Height)
	}
	return v, nil
}

// Voters are the validators' voting keys on one chain, by index from 1.
type Voters struct {
	domain    Domain
	keys      []bls.G1
	threshold int
}

// NewVoters takes the keys of genesis, whose proofs of possession must have been verified, and how many make a certificate.
func NewVoters(d Domain, keys []PublicKey, threshold int) (*Voters, error) {
	if len(keys) == 0 || len(keys) > MaxVoters || threshold < 1 || threshold > len(keys) {
		return nil, invalid("%d voters with threshold %d", len(keys), threshold)
	}
	v := &Voters{domain: d, threshold: threshold}
	for i, k := range keys {
		point, err := bls.DecodeG1(k[:])
		if err != nil {
			return nil, invalid("voting key of validator %d: %v", i+1, err)
		}
		v.keys = append(v.keys, point)
	}
	return v, nil
}

// N is the number of validators.
func (v *Voters) N() int { return len(v.keys) }

// Threshold is how many votes make a certificate.
func (v *Voters) Threshold() int { return v.threshold }

// key is the voting key of an index.
func (v *Voters) key(index uint32) (bls.G1, bool) {
	if index == 0 || uint64(index) > uint64(len(v.keys)) {
		return bls.G1{}, false
	}
	return v.keys[index-1], true
}

// Verify checks one vote: ErrInvalid unless it is its validator's signature of its block. It costs 1.3 pairings.
func (v *Voters) Verify(vote Vote) error {
	return v.verify(v.prepare(vote.Block), vote)
}

// prepared is a block's message, hashed once for many votes.
type prepared struct{ lines *bls.Lines }

func (v *Voters) prepare(b Block) prepared { return prepared{bls.Prepare(v.domain.message(b))} }

func (v *Voters) verify(p prepared, vote Vote) error {
	key, ok := v.key(vote.Index)
	if !ok {
		return invalid("vote of validator %d: there are %d", vote.Index, len(v.keys))
	}
	sig, err := bls.DecodeG2(vote.Signature[:])
	if err != nil {
		return invalid("vote of validator %d at height %d: %v", vote.Index, vote.Height, err)
	}
	if !bls.VerifyG2(key, p.lines, sig) {
		return invalid("vote of validator %d at height %d: the signature does not verify", vote.Index, vote.Height)
	}
	return nil
}
