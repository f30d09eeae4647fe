package tlock

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

const (
	// CiphertextSize is U (48) || V (32) || W (32).
	CiphertextSize = bls.G1Size + 32 + 32

	h3DST = "TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_"
	tagH2 = "h2"
	tagH4 = "h4"
)

// errNoKey is what sealing with a zero value gives: a mistake of the calling program, so it has no class.
var errNoKey = errors.New("sealing: namespace, group key or identity is missing (zero value)")

// Ciphertext is a 32-byte message sealed to an identity.
type Ciphertext [CiphertextSize]byte

// ParseCiphertext checks the length and copies. The content is judged when it is opened.
func ParseCiphertext(b []byte) (Ciphertext, error) {
	if len(b) != CiphertextSize {
		return Ciphertext{}, malformed("timelock ciphertext of %d bytes, want %d", len(b), CiphertextSize)
	}
	return Ciphertext(b), nil
}

// Encrypt seals msg to id under gk. Sealing many messages to one identity, use a Sealer. An error means that a zero
// value was passed.
func Encrypt(ns Namespace, gk GroupKey, id Identity, msg *[32]byte) (Ciphertext, error) {
	if ns.IsZero() || gk.IsZero() || id.IsZero() {
		return Ciphertext{}, errNoKey
	}
	return encrypt(freshMask(ns, gk, id), msg, randomSigma), nil
}

// freshMask returns r -> e(r*PK, Q), the cheapest way to e(PK, Q)^r when it is needed once. The pairing over prepared
// lines is a little faster than the plain one even so; its steps are the same for every r that can ever be met.
func freshMask(ns Namespace, gk GroupKey, id Identity) func(bls.Scalar) bls.GT {
	q := bls.Prepare(ns.Point(id))
	return func(r bls.Scalar) bls.GT { return q.Pair(gk.p.table().MulSecret(r)) }
}

// Decrypt opens ct with the key of its identity, through a fresh Opener: see Opener.Open for the errors.
func Decrypt(k Key, ct Ciphertext) ([32]byte, error) { return NewOpener(k).Open(ct) }

func randomSigma() (sigma [32]byte) {
	rand.Read(sigma[:]) // never fails: crypto/rand ends the program instead
	return sigma
}

// encrypt is the encryption of document 002 "Timelock key encoding" with sigma drawn by the caller's function; mask
// returns e(PK, Q)^r.
func encrypt(mask func(r bls.Scalar) bls.GT, msg *[32]byte, draw func() [32]byte) Ciphertext {
	sigma, r := drawSigma(draw, func(sigma *[32]byte) bls.Scalar { return h3(sigma, msg) })
	u := bls.MulG1Secret(r).Bytes()
	g := mask(r)
	v, w := h2(g), h4(&sigma)
	subtle.XORBytes(v[:], v[:], sigma[:])
	subtle.XORBytes(w[:], w[:], msg[:])

	var ct Ciphertext
	copy(ct[:48], u[:])
	copy(ct[48:80], v[:])
	copy(ct[80:], w[:])
	return ct
}

// drawSigma draws until sigma gives an r that is not 0, which would leave the message in the clear (S-TLK-09).
func drawSigma(draw func() [32]byte, r func(sigma *[32]byte) bls.Scalar) ([32]byte, bls.Scalar) {
	for {
		sigma := draw()
		if r := r(&sigma); !r.IsZero() {
			return sigma, r
		}
	}
}

func h2(g bls.GT) [32]byte {
	var buf [len(tagH2) + bls.GTSize]byte
	b := g.Bytes()
	copy(buf[:], tagH2)
	copy(buf[len(tagH2):], b[:])
	return sha256.Sum256(buf[:])
}

func h3(sigma, msg *[32]byte) bls.Scalar {
	var in [64]byte
	copy(in[:32], sigma[:])
	copy(in[32:], msg[:])
	return bls.HashToScalar(in[:], []byte(h3DST))
}

func h4(sigma *[32]byte) [32]byte {
	var buf [len(tagH4) + 32]byte
	copy(buf[:], tagH4)
	copy(buf[len(tagH4):], sigma[:])
	return sha256.Sum256(buf[:])
}

// Sealer seals many messages to one identity. It holds powers of e(PK, Q) in a constant-time table: about 3 pairings to
// build, then 0.3 pairings a message; pays from the third message on. Safe for concurrent use.
type Sealer struct {
	id    Identity
	table *bls.GTTable // nil if NewSealer was given a zero value
}

// NewSealer prepares sealing to id.
func NewSealer(ns Namespace, gk GroupKey, id Identity) *Sealer {
	if ns.IsZero() || gk.IsZero() || id.IsZero() {
		return &Sealer{}
	}
	return &Sealer{id: id, table: bls.NewGTTable(bls.Pair(gk.p.point, ns.Point(id)))}
}

// Seal is Encrypt to the Sealer's identity.
func (s *Sealer) Seal(msg *[32]byte) (Ciphertext, error) {
	if s.table == nil {
		return Ciphertext{}, errNoKey
	}
	return encrypt(s.table.ExpSecret, msg, randomSigma), nil
}
