package dkg

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Phase is a step of the ceremony. The first five are also the kinds of bundles on the wire.
type Phase uint8

// The phases in their order. Done and Failed are the ends.
const (
	PhaseAnnounce Phase = iota + 1
	PhaseDeal
	PhaseResponse
	PhaseJustification
	PhaseConfirm
	PhaseDone
	PhaseFailed
)

// String returns the phase's name, as it stands in logs.
func (p Phase) String() string {
	switch p {
	case PhaseAnnounce:
		return "announce"
	case PhaseDeal:
		return "deal"
	case PhaseResponse:
		return "response"
	case PhaseJustification:
		return "justification"
	case PhaseConfirm:
		return "confirm"
	case PhaseDone:
		return "done"
	case PhaseFailed:
		return "failed"
	}
	return fmt.Sprintf("phase %d", uint8(p))
}

func (p Phase) over() bool { return p >= PhaseDone }

// kindTimeout is the kind of an entry by which its author says that a phase has lasted too long.
const kindTimeout = Phase(6)

const (
	headerSize     = 1 + 32 + 32 + 4 // kind, ceremony, context, index
	announceSize   = bls.G1Size + proofSize
	cipherSize     = bls.G1Size + bls.ScalarSize + 16 // ephemeral point, share, AES-GCM tag
	confirmSize    = 32 + bls.G1Size + bls.G2Size
	timeoutSize    = 1
	signatureLabel = "daybreak-dkg-entry-v1"
)

// entry is a decoded envelope:
//
//	kind 1 | ceremony 32 | context 32 | index 4, big-endian | body | signature 64
//
// kind is 1 to 5 for the bundle of that phase and 6 for a timeout. context is a hash of all that counted before the phase, so
// that an entry says upon which log its author made it; an entry made upon another log counts for nothing. The signature is the author's, ed25519 by its network key
// over "daybreak-dkg-entry-v1" and all bytes before the signature.
type entry struct {
	kind     Phase
	ceremony ID
	context  [32]byte
	index    uint32
	body     []byte
	raw      []byte
}

func dealSize(threshold, recipients int) int {
	return threshold*bls.G1Size + proofSize + recipients*cipherSize
}

func responseSize(n int) int { return (n + 7) / 8 }

// MaxEntrySize is the size of the longest entry of a ceremony of n members, in bytes: a deal for threshold n, or, for one
// member alone, whose deal goes to nobody, its confirmation.
func MaxEntrySize(n int) int {
	return headerSize + max(dealSize(n, n-1), confirmSize) + ed25519.SignatureSize
}

// bodyFits reports whether a body of this kind can have size bytes in a ceremony of n members, for any threshold and any
// number of participants. The machine, which knows both, asks for the one right size.
func bodyFits(kind Phase, n, size int) bool {
	switch kind {
	case PhaseAnnounce:
		return size == announceSize
	case PhaseDeal:
		return size >= dealSize(n/2+1, 0) && size <= dealSize(n, n-1) && (size-proofSize)%bls.G1Size == 0
	case PhaseResponse:
		return size == responseSize(n)
	case PhaseJustification:
		return size >= bls.ScalarSize && size <= (n-1)*bls.ScalarSize && size%bls.ScalarSize == 0
	case PhaseConfirm:
		return size == confirmSize
	case kindTimeout:
		return size == timeoutSize
	}
	return false
}

// decodeEntry splits an envelope of a ceremony of n members. It checks sizes, kind and index, not the signature.
func decodeEntry(n int, b []byte) (entry, error) {
	if len(b) < headerSize+ed25519.SignatureSize {
		return entry{}, invalid("entry of %d bytes is too short", len(b))
	}
	e := entry{
		kind:     Phase(b[0]),
		ceremony: ID(b[1:33]),
		context:  [32]byte(b[33:65]),
		index:    binary.BigEndian.Uint32(b[65:headerSize]),
		body:     b[headerSize : len(b)-ed25519.SignatureSize],
		raw:      b,
	}
	if e.index < 1 || uint64(e.index) > uint64(n) {
		return entry{}, invalid("entry of index %d: there are members 1 to %d", e.index, n)
	}
	if !bodyFits(e.kind, n, len(e.body)) {
		return entry{}, invalid("entry of kind %d with %d bytes in a ceremony of %d members", uint8(e.kind), len(b), n)
	}
	return e, nil
}

// verify checks the author's signature.
func (e *entry) verify(members []Member) error {
	signed, sig := e.raw[:len(e.raw)-ed25519.SignatureSize], e.raw[len(e.raw)-ed25519.SignatureSize:]
	if !ed25519.Verify(members[e.index-1].NetworkKey, signedBytes(signed), sig) {
		return invalid("entry is not signed by member %d, whose index it carries", e.index)
	}
	return nil
}

func signedBytes(b []byte) []byte { return slices.Concat([]byte(signatureLabel), b) }

// signEntry builds the envelope of a body.
func signEntry(signer crypto.Signer, kind Phase, ceremony ID, context [32]byte, index uint32, body []byte) ([]byte, error) {
	b := slices.Concat([]byte{byte(kind)}, ceremony[:], context[:])
	b = binary.BigEndian.AppendUint32(b, index)
	b = append(b, body...)
	sig, err := signer.Sign(rand.Reader, signedBytes(b), crypto.Hash(0))
	if err != nil {
		return nil, fmt.Errorf("signing the %s entry: %w", kind, err)
	}
	return append(b, sig...), nil
}

// CheckEntry checks what can be checked without the log: size, form, and that the member whose index the entry carries has
// signed it. It is for gossip and for a leader that is to propose an entry; Apply checks all of it again. The error is
// ErrInvalid. It does not know the ceremony: an entry of another one passes.
func CheckEntry(members []Member, b []byte) error {
	e, err := decodeEntry(len(members), b)
	if err != nil {
		return err
	}
	return e.verify(members)
}
