package dkg

import (
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// announcement is the body of phase announce: the member's encryption key of this ceremony and a proof that it knows the
// secret of it, without which a member could announce another's key as its own.
//
//	key 48 | proof 64
type announcement struct {
	key   bls.G1
	proof proof
}

func (a announcement) encode() []byte {
	key := a.key.Bytes()
	return a.proof.append(key[:])
}

func decodeAnnouncement(b []byte) (a announcement, err error) {
	if len(b) != announceSize {
		return announcement{}, fmt.Errorf("announcement has %d bytes, want %d", len(b), announceSize)
	}
	if a.key, err = bls.DecodeG1(b[:bls.G1Size]); err != nil {
		return announcement{}, err
	}
	a.proof, err = decodeProof(b[bls.G1Size:])
	return a, err
}

// deal is the body of phase deal: commitments to the dealer's polynomial, constant term first, a proof that it knows the
// constant term, and one encrypted share for each other participant in ascending order of indices.
//
//	commitment 48, threshold times | proof 64 | ciphertext 96, participants-1 times
//
// A ciphertext is kyber's ECIES: ephemeral point 48, and the 32 bytes of the share under AES-256-GCM with the key and nonce
// that HKDF-SHA256 gives for the compressed Diffie-Hellman point.
type deal struct {
	commitments []bls.G1
	proof       proof
	shares      [][]byte
}

func (d deal) encode() []byte {
	b := make([]byte, 0, dealSize(len(d.commitments), len(d.shares)))
	for _, c := range d.commitments {
		enc := c.Bytes()
		b = append(b, enc[:]...)
	}
	b = d.proof.append(b)
	for _, s := range d.shares {
		b = append(b, s...)
	}
	return b
}

// decodeDeal leaves the ciphertexts alone: only their receivers can say whether they are any good.
func decodeDeal(threshold, recipients int, b []byte) (d deal, err error) {
	if len(b) != dealSize(threshold, recipients) {
		return deal{}, fmt.Errorf("deal has %d bytes, want %d", len(b), dealSize(threshold, recipients))
	}
	d.commitments = make([]bls.G1, threshold)
	for i := range d.commitments {
		if d.commitments[i], err = bls.DecodeG1(b[:bls.G1Size]); err != nil {
			return deal{}, fmt.Errorf("commitment %d: %w", i, err)
		}
		b = b[bls.G1Size:]
	}
	if d.proof, err = decodeProof(b[:proofSize]); err != nil {
		return deal{}, err
	}
	b = b[proofSize:]
	d.shares = make([][]byte, recipients)
	for i := range d.shares {
		d.shares[i], b = b[:cipherSize], b[cipherSize:]
	}
	return d, nil
}

// A response is the set of dealers whose deal gave its author no good share, a bitmap of n bits: index i is bit (i-1)%8 of
// byte (i-1)/8. Empty if all are good.
func encodeResponse(n int, complaints []uint32) []byte {
	b := make([]byte, responseSize(n))
	for _, i := range complaints {
		b[(i-1)/8] |= 1 << ((i - 1) % 8)
	}
	return b
}

// decodeResponse returns the indices in ascending order.
func decodeResponse(n int, b []byte) (complaints []uint32, err error) {
	if len(b) != responseSize(n) {
		return nil, fmt.Errorf("response has %d bytes, want %d", len(b), responseSize(n))
	}
	for i := range uint32(8 * len(b)) {
		if b[i/8]>>(i%8)&1 == 0 {
			continue
		}
		if i >= uint32(n) {
			return nil, fmt.Errorf("response names dealer %d of %d", i+1, n)
		}
		complaints = append(complaints, i+1)
	}
	return complaints, nil
}

// A justification is the shares of those who complained about its author, 32 bytes each, in ascending order of their indices.
func encodeJustification(shares []bls.Scalar) []byte {
	b := make([]byte, 0, len(shares)*bls.ScalarSize)
	for _, s := range shares {
		enc := s.Bytes()
		b = append(b, enc[:]...)
	}
	return b
}

func decodeJustification(count int, b []byte) (shares []bls.Scalar, err error) {
	if len(b) != count*bls.ScalarSize {
		return nil, fmt.Errorf("justification has %d bytes, want %d", len(b), count*bls.ScalarSize)
	}
	shares = make([]bls.Scalar, count)
	for i := range shares {
		if shares[i], err = bls.ScalarFromBytes(b[i*bls.ScalarSize : (i+1)*bls.ScalarSize]); err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// confirmation is the body of phase confirm: the hash of the transcript and the group key as its author sees them, and a
// signature by its new share (partials.PrepareConfirmation).
//
//	transcript 32 | group key 48 | signature 96
type confirmation struct {
	transcript [32]byte
	key        [bls.G1Size]byte
	sig        [bls.G2Size]byte
}

func (c confirmation) encode() []byte {
	return append(append(c.transcript[:], c.key[:]...), c.sig[:]...)
}

func decodeConfirmation(b []byte) (confirmation, error) {
	if len(b) != confirmSize {
		return confirmation{}, fmt.Errorf("confirmation has %d bytes, want %d", len(b), confirmSize)
	}
	return confirmation{
		transcript: [32]byte(b[:32]),
		key:        [bls.G1Size]byte(b[32 : 32+bls.G1Size]),
		sig:        [bls.G2Size]byte(b[32+bls.G1Size:]),
	}, nil
}
