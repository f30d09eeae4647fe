package partials

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Envelope is a partial as it goes over the network. Layout, integers big-endian:
//
//	offset  size
//	0       1     format, 1
//	1       32    genesis hash
//	33      8     epoch
//	41      1     kind of identity: 1 slot, 2 condition
//	42      8/32  identity
//	50/74   4     index
//	54/78   96    partial, compressed point of G2
//
// 150 bytes for a slot and 174 for a condition. The message around it is signed by its author, whom genesis binds to the
// index; so a partial is attributable, and with genesis hash and epoch inside it cannot be carried over from elsewhere.
type Envelope struct {
	GenesisHash [32]byte
	Epoch       uint64
	Identity    tlock.Identity
	Partial     Partial
}

const (
	envelopeFormat = 1
	slotKind       = 1
	conditionKind  = 2

	envelopeHead = 1 + 32 + 8 + 1
	envelopeTail = 4 + bls.G2Size

	// MaxEnvelope is the length of the longest envelope.
	MaxEnvelope = envelopeHead + 32 + envelopeTail
)

// Seal puts a partial of an identity into the group's envelope.
func (g *Group) Seal(id tlock.Identity, p Partial) Envelope {
	return Envelope{GenesisHash: g.ns.GenesisHash(), Epoch: g.epoch, Identity: id, Partial: p}
}

// Encode returns the envelope's bytes. It panics on the zero identity.
func (e Envelope) Encode() []byte {
	if e.Identity.IsZero() {
		panic("partials: internal error: envelope without an identity")
	}
	kind := byte(conditionKind)
	if _, ok := e.Identity.Slot(); ok {
		kind = slotKind
	}
	b := make([]byte, 0, MaxEnvelope)
	b = append(b, envelopeFormat)
	b = append(b, e.GenesisHash[:]...)
	b = binary.BigEndian.AppendUint64(b, e.Epoch)
	b = append(b, kind)
	b = append(b, e.Identity.Bytes()...)
	b = binary.BigEndian.AppendUint32(b, e.Partial.Index)
	return append(b, e.Partial.Sig[:]...)
}

// DecodeEnvelope reads what Encode writes and nothing else; ErrInvalid otherwise. Of the partial it checks only that the
// flags are those of a compressed point other than the identity point; the point itself is decoded when it is used.
func DecodeEnvelope(b []byte) (Envelope, error) {
	var e Envelope
	if len(b) < envelopeHead {
		return e, invalid("envelope of %d bytes", len(b))
	}
	if b[0] != envelopeFormat {
		return e, invalid("envelope of format %d, this program knows format %d", b[0], envelopeFormat)
	}
	size, ok := map[byte]int{slotKind: 8, conditionKind: 32}[b[41]]
	if !ok {
		return e, invalid("envelope of an identity of kind %d", b[41])
	}
	if len(b) != envelopeHead+size+envelopeTail {
		return e, invalid("envelope of %d bytes, its kind has %d", len(b), envelopeHead+size+envelopeTail)
	}
	id, err := tlock.IdentityFromBytes(b[envelopeHead : envelopeHead+size])
	if err != nil {
		return e, invalid("envelope: %v", err)
	}
	tail := b[envelopeHead+size:]
	e = Envelope{
		GenesisHash: [32]byte(b[1:33]),
		Epoch:       binary.BigEndian.Uint64(b[33:41]),
		Identity:    id,
		Partial:     Partial{Index: binary.BigEndian.Uint32(tail), Sig: [bls.G2Size]byte(tail[4:])},
	}
	if e.Partial.Index == 0 {
		return e, classed(ErrIndex, "envelope of index 0: members count from 1")
	}
	const compressed, infinity = 0x80, 0x40
	if e.Partial.Sig[0]&(compressed|infinity) != compressed {
		return e, invalid("envelope whose partial is the identity point or not compressed")
	}
	return e, nil
}

// Admit checks that an envelope is of this group: ErrInvalid if it is of another chain or of an index that is no member's,
// ErrStale or ErrNotYet if of an earlier or a later epoch. Whether its author is the member with that index is for
// the caller to check.
func (g *Group) Admit(e Envelope) error {
	if genesis := g.ns.GenesisHash(); e.GenesisHash != genesis {
		return invalid("envelope of genesis 0x%s…, this chain's is 0x%s…",
			hex.EncodeToString(e.GenesisHash[:4]), hex.EncodeToString(genesis[:4]))
	}
	switch {
	case e.Epoch < g.epoch:
		return classed(ErrStale, "envelope of epoch %d, this is epoch %d", e.Epoch, g.epoch)
	case e.Epoch > g.epoch:
		return classed(ErrNotYet, "envelope of epoch %d, this is epoch %d", e.Epoch, g.epoch)
	}
	return g.checkIndex(e.Partial.Index)
}
