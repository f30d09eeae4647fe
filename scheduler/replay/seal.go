package replay

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"math/bits"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/sha3"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Sealing with chosen randomness (document 002, "Encrypted payloads" and "Timelock key encoding"). Package tlock seals with random
// values only, which is what keeps a payload secret; a script has no secrets, must give the same bytes every time, and may ask for
// payloads that tlock would never make.

// seal makes the ciphertext and the commitment that a script's seal stands for. Without a group key the timelock part is zero: the
// scheduler refuses the entry before anyone could try to open it.
func (p *Player) seal(payer scheduler.Addr, s *Schedule) (ciphertext []byte, commitment scheduler.Word) {
	calls := tlock.EncodeCalls(s.Seal.Calls)
	body := make([]byte, max(256, 1<<bits.Len(uint(4+len(calls)-1))))
	binary.BigEndian.PutUint32(body, uint32(len(calls)))
	copy(body[4:], calls)
	if s.Seal.Wrong == WrongPadding {
		body[4+len(calls)] = 1 // encoded calls have whole words, so there is always padding after them
	}
	plain := append(append([]byte(nil), s.Seal.Salt[:]...), body...)
	commitment = keccak256(plain)
	id, data := sealedTo(payer, s)
	ciphertext = append(p.timelock(id, &s.Seal.DataKey, &s.Seal.Sigma), s.Seal.Nonce[:]...)
	aead, err := chacha20poly1305.New(s.Seal.DataKey[:])
	if err != nil {
		panic("replay: internal error: " + err.Error()) // only the key's length could be wrong
	}
	ciphertext = aead.Seal(ciphertext, s.Seal.Nonce[:], plain, data)
	switch s.Seal.Wrong {
	case WrongTag:
		ciphertext[len(ciphertext)-1] ^= 1
	case WrongCommitment:
		commitment[len(commitment)-1] ^= 1
	}
	return ciphertext, commitment
}

// sealedTo is the identity whose key opens the payload and the data it authenticates with (S-SEA-04, S-SCO-02).
func sealedTo(payer scheduler.Addr, s *Schedule) (id tlock.Identity, data []byte) {
	slot := s.Slot
	if s.Seal.Wrong == WrongSlot {
		slot++
	}
	if s.When == (scheduler.Condition{}) {
		id = tlock.SlotIdentity(slot)
		return id, append(id.Bytes(), payer[:]...)
	}
	// Of any kind, also one that no write could satisfy: what the scheduler says to it is its business.
	preimage := append([]byte("metal-condition-v1"), payer[:]...)
	preimage = append(preimage, s.When.Item[:]...)
	preimage = append(preimage, s.When.Kind)
	preimage = append(preimage, s.When.Operand[:]...)
	id = tlock.ConditionIdentity(keccak256(binary.BigEndian.AppendUint64(preimage, slot)))
	return id, id.Bytes()
}

// timelock encrypts message to id under the group key: U || V || W (S-TLK-03 to S-TLK-07).
func (p *Player) timelock(id tlock.Identity, message, sigma *scheduler.Word) []byte {
	if p.secret.IsZero() {
		return make([]byte, tlock.CiphertextSize)
	}
	r := bls.HashToScalar(append(sigma[:], message[:]...), []byte("TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_"))
	g := bls.Pair(bls.MulG1Public(p.secret.Mul(r)), p.host.Namespace().Point(id)).Bytes()
	u := bls.MulG1Public(r).Bytes()
	v, w := sha256.Sum256(append([]byte("h2"), g[:]...)), sha256.Sum256(append([]byte("h4"), sigma[:]...))
	subtle.XORBytes(v[:], v[:], sigma[:])
	subtle.XORBytes(w[:], w[:], message[:])
	return append(append(u[:], v[:]...), w[:]...)
}

func keccak256(b []byte) (w scheduler.Word) {
	h := sha3.NewLegacyKeccak256()
	h.Write(b)
	h.Sum(w[:0])
	return w
}
