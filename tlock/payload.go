package tlock

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"math/bits"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// MaxSealedCalls is the most bytes of abi.encode(Call[]) a sealed payload carries: the largest class less its prefix.
	MaxSealedCalls = maxBody - prefixSize

	// MinPayloadSize is the length of the shortest ciphertext SealCalls returns: 428 bytes.
	MinPayloadSize = PayloadOverhead + minBody
	// MaxPayloadSize is the length of the longest: 4268 bytes.
	MaxPayloadSize = PayloadOverhead + maxBody
	// PayloadOverhead is what a payload's ciphertext adds to its body: timelock 112, nonce 12, salt 32, tag 16.
	PayloadOverhead = CiphertextSize + nonceSize + saltSize + tagSize

	minBody    = 256 // smallest size class
	maxBody    = 4096
	prefixSize = 4 // u32_be(len(calls))
	saltSize   = 32
	nonceSize  = chacha20poly1305.NonceSize
	tagSize    = chacha20poly1305.Overhead
)

// SealedTo is what a payload is bound to: the identity whose key opens it and the data it authenticates with, which
// includes the payer. Made by SlotSeal or ConditionSeal; the zero value seals to nothing.
type SealedTo struct {
	id    Identity
	payer [20]byte
}

// SlotSeal binds a payload to a slot and to the account that will schedule it.
func SlotSeal(slot uint64, payer [20]byte) SealedTo {
	return SealedTo{id: SlotIdentity(slot), payer: payer}
}

// ConditionSeal binds a payload to a condition, which names the payer itself. The error is that of Condition.Identity.
func ConditionSeal(c Condition) (SealedTo, error) {
	id, err := c.Identity()
	if err != nil {
		return SealedTo{}, err
	}
	return SealedTo{id: id, payer: c.Payer}, nil
}

// Identity returns the identity whose key opens the payload.
func (to SealedTo) Identity() Identity { return to.id }

// AssociatedData returns what the payload is authenticated with: u64_be(slot) || payer for a slot (S-SEA-04), the
// condition's 32 bytes otherwise (S-SCO-02).
func (to SealedTo) AssociatedData() []byte {
	data := to.id.Bytes()
	if _, ok := to.id.Slot(); ok {
		data = append(data, to.payer[:]...)
	}
	return data
}

// PayloadSize is the length of the ciphertext that SealCalls makes of n bytes of calls: what the entry's cost is computed from.
func PayloadSize(n int) int { return PayloadOverhead + bodyClass(n) }

// SealCalls seals abi.encode(Call[]) for schedule (document 002 "Encrypted payloads") and returns the ciphertext and the
// commitment to pass along with it. The ciphertext is 428, 684, 1196, 2220 or 4268 bytes long and reveals no more of the
// calls' length than that. More than MaxSealedCalls bytes are ErrMalformed. The calls are not decoded: what does not
// decode will open, fail at its run and cost its fee.
func SealCalls(ns Namespace, gk GroupKey, to SealedTo, calls []byte) (ciphertext []byte, commitment [32]byte, err error) {
	return sealCalls(to, calls, func(m *[32]byte) (Ciphertext, error) { return Encrypt(ns, gk, to.id, m) })
}

// SealCalls is the function of that name for many payloads to the Sealer's identity. A SealedTo of another identity is
// ErrMalformed.
func (s *Sealer) SealCalls(to SealedTo, calls []byte) (ciphertext []byte, commitment [32]byte, err error) {
	if s.table != nil && to.id != s.id {
		return nil, commitment, malformed("sealing to %v with a sealer for %v", to.id, s.id)
	}
	return sealCalls(to, calls, s.Seal)
}

func sealCalls(to SealedTo, calls []byte, encrypt func(*[32]byte) (Ciphertext, error)) ([]byte, [32]byte, error) {
	var p payload
	rand.Read(p.salt[:])
	rand.Read(p.dataKey[:])
	rand.Read(p.nonce[:])
	body, err := padBody(calls)
	if err != nil {
		return nil, [32]byte{}, err
	}
	if p.timelock, err = encrypt(&p.dataKey); err != nil {
		return nil, [32]byte{}, err
	}
	ciphertext, commitment := p.seal(to, body)
	return ciphertext, commitment, nil
}

// payload is everything random in one sealed payload, so that tests can fix it.
type payload struct {
	salt, dataKey [32]byte
	nonce         [nonceSize]byte
	timelock      Ciphertext // of dataKey
}

// seal writes timelock || nonce || ChaCha20-Poly1305(salt || body), and the commitment to salt || body. The salt keeps
// the commitment from confirming a guess at the calls.
func (p *payload) seal(to SealedTo, body []byte) (ciphertext []byte, commitment [32]byte) {
	plain := append(append(make([]byte, 0, saltSize+len(body)), p.salt[:]...), body...)
	out := make([]byte, 0, PayloadOverhead+len(body))
	out = append(append(out, p.timelock[:]...), p.nonce[:]...)
	return newAEAD(&p.dataKey).Seal(out, p.nonce[:], plain, to.AssociatedData()), keccak256(plain)
}

// OpenCalls opens a payload with its key and returns the calls' bytes, which DecodeCalls reads. Errors: ErrMalformed for
// a length that is no size class or a body that is not the canonical padding of its calls (S-SEA-13); ErrWrongKey if the
// key does not open the data key; ErrTampered if payload, commitment, slot, payer or condition do not match.
func OpenCalls(k Key, to SealedTo, ciphertext []byte, commitment [32]byte) ([]byte, error) {
	return NewOpener(k).OpenCalls(to, ciphertext, commitment)
}

// OpenCalls is the function of that name for many payloads of the Opener's key.
func (o *Opener) OpenCalls(to SealedTo, ciphertext []byte, commitment [32]byte) ([]byte, error) {
	// Length first: it is cheap, and a body that is no class could not be well formed anyway.
	if n := len(ciphertext) - PayloadOverhead; n < minBody || n > maxBody || n&(n-1) != 0 {
		return nil, malformed("payload of %d bytes: a body of 256, 512, 1024, 2048 or 4096 makes it %d bytes longer",
			len(ciphertext), PayloadOverhead)
	}
	dataKey, err := o.Open(Ciphertext(ciphertext[:CiphertextSize]))
	if err != nil {
		return nil, err
	}
	nonce, sealed := ciphertext[CiphertextSize:][:nonceSize], ciphertext[CiphertextSize+nonceSize:]
	plain, err := newAEAD(&dataKey).Open(nil, nonce, sealed, to.AssociatedData())
	if err != nil {
		return nil, tampered("payload does not authenticate: altered, or sealed for another payer, slot or condition")
	}
	if keccak256(plain) != commitment {
		return nil, tampered("payload is not what the commitment promised")
	}
	return unpadBody(plain[saltSize:])
}

func newAEAD(key *[32]byte) cipher.AEAD {
	aead, err := chacha20poly1305.New(key[:])
	if err != nil {
		panic("tlock: internal error: " + err.Error()) // only the key's length could be wrong
	}
	return aead
}

// padBody returns u32_be(len) || calls || zeros in the smallest class that holds it (S-SEA-01).
func padBody(calls []byte) ([]byte, error) {
	if len(calls) > MaxSealedCalls {
		return nil, malformed("sealing %d bytes of calls, at most %d fit", len(calls), MaxSealedCalls)
	}
	body := make([]byte, bodyClass(len(calls)))
	binary.BigEndian.PutUint32(body, uint32(len(calls)))
	copy(body[prefixSize:], calls)
	return body, nil
}

// unpadBody reverses padBody and accepts nothing that padBody would not have written.
func unpadBody(body []byte) ([]byte, error) {
	if len(body) < prefixSize {
		return nil, malformed("body of %d bytes has no length prefix", len(body))
	}
	n := binary.BigEndian.Uint32(body)
	if n > MaxSealedCalls || len(body) != bodyClass(int(n)) {
		return nil, malformed("body of %d bytes does not match its length prefix %d", len(body), n)
	}
	calls, padding := body[prefixSize:prefixSize+n], body[prefixSize+n:]
	if !isZero(padding) {
		return nil, malformed("body: padding is not zero")
	}
	return calls, nil
}

// bodyClass returns the least power of two that holds prefix and n bytes of calls, at least minBody.
func bodyClass(n int) int {
	return max(minBody, 1<<bits.Len(uint(prefixSize+n-1)))
}
