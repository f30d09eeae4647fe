package dkg

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// proof is a Schnorr proof that its author knows x with P = x*G, made non-interactive by hashing (Fiat and Shamir): challenge
// c and response s, 64 bytes, so that R = s*G - c*P and c is the hash of the statement and R.
type proof struct{ c, s bls.Scalar }

const proofSize = 2 * bls.ScalarSize

// The tags keep the two kinds of proofs and everything else that hashes to a scalar apart.
const (
	keyProofTag  = "DAYBREAK-DKG-V1_ENCRYPTION-KEY_XMD:SHA-256_"
	dealProofTag = "DAYBREAK-DKG-V1_CONSTANT-TERM_XMD:SHA-256_"
)

// statement is what a proof is about and bound to: ceremony id, index of the author, and the points; the proof is for the
// discrete logarithm of the first, the others are only bound.
func statement(id ID, index uint32, points []bls.G1) []byte {
	b := append([]byte(nil), id[:]...)
	b = binary.BigEndian.AppendUint32(b, index)
	for _, p := range points {
		enc := p.Bytes()
		b = append(b, enc[:]...)
	}
	return b
}

// prove makes the proof for secret. The nonce is a keyed hash of tag and statement, so that a restarted member repeats its
// proof bit by bit and never uses one nonce with two challenges.
func prove(nonceKey []byte, tag string, stmt []byte, secret bls.Scalar) proof {
	h := hmac.New(sha512.New, nonceKey)
	h.Write([]byte(tag))
	h.Write(stmt)
	nonce := bls.ScalarFromWide(h.Sum(nil))
	c := challenge(tag, stmt, bls.MulG1Secret(nonce))
	return proof{c: c, s: nonce.Add(c.Mul(secret))}
}

// verify checks the proof for point, the first of the statement's points.
func (p proof) verify(tag string, stmt []byte, point bls.G1) bool {
	r := bls.MulG1Public(p.s).Sub(point.Mul(p.c))
	return challenge(tag, stmt, r).Equal(p.c)
}

func challenge(tag string, stmt []byte, r bls.G1) bls.Scalar {
	enc := r.Bytes()
	return bls.HashToScalar(append(append([]byte(nil), stmt...), enc[:]...), []byte(tag))
}

func (p proof) append(b []byte) []byte {
	c, s := p.c.Bytes(), p.s.Bytes()
	return append(append(b, c[:]...), s[:]...)
}

func decodeProof(b []byte) (p proof, err error) {
	if len(b) != proofSize {
		return proof{}, fmt.Errorf("proof has %d bytes, want %d", len(b), proofSize)
	}
	if p.c, err = bls.ScalarFromBytes(b[:bls.ScalarSize]); err != nil {
		return proof{}, err
	}
	p.s, err = bls.ScalarFromBytes(b[bls.ScalarSize:])
	return p, err
}
