package tlock

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"strconv"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

const (
	namespaceLabel = "metal-beacon-v1"
	// NamespaceSize is the length of a namespace: label, chain id as 32 bytes, genesis hash.
	NamespaceSize = len(namespaceLabel) + 32 + 32

	// keyDST is the RFC 9380 domain separation tag under which identities are hashed to G2 and keys are signatures.
	keyDST = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"
)

// Namespace names a network: chain id and genesis hash. It is hashed with every identity, so a key of one network opens
// nothing on another. A comparable value; the zero value is no network.
type Namespace struct{ b [NamespaceSize]byte }

// NewNamespace returns "metal-beacon-v1" || u256(chainID) || genesisHash (S-TLK-01). chainID must be within 0..2^256-1.
func NewNamespace(chainID *big.Int, genesisHash [32]byte) (Namespace, error) {
	var ns Namespace
	if chainID == nil || chainID.Sign() < 0 || chainID.BitLen() > 256 {
		return ns, malformed("chain id must be an integer of at most 256 bits, not negative; got %v", chainID)
	}
	n := copy(ns.b[:], namespaceLabel)
	chainID.FillBytes(ns.b[n : n+32])
	copy(ns.b[n+32:], genesisHash[:])
	return ns, nil
}

// IsZero reports whether ns is the zero value, which names no network.
func (ns Namespace) IsZero() bool { return ns == Namespace{} }

// Bytes returns the 79 bytes.
func (ns Namespace) Bytes() []byte { return append([]byte(nil), ns.b[:]...) }

// ChainID returns the chain id; the caller owns the result.
func (ns Namespace) ChainID() *big.Int {
	return new(big.Int).SetBytes(ns.b[len(namespaceLabel) : len(namespaceLabel)+32])
}

// GenesisHash returns the hash of the network's genesis.
func (ns Namespace) GenesisHash() [32]byte { return [32]byte(ns.b[NamespaceSize-32:]) }

// Message returns the bytes that a key signs: varint(len(ns)) || ns || id, 88 bytes for a slot and 112 for a condition
// (S-TLK-02). It panics on a zero namespace or identity, which no decoder returns.
func (ns Namespace) Message(id Identity) []byte {
	if ns.IsZero() || id.IsZero() {
		panic("tlock: zero Namespace or Identity")
	}
	m := binary.AppendUvarint(nil, uint64(NamespaceSize)) // Go's varint is LEB128, shortest form
	m = append(m, ns.b[:]...)
	return append(m, id.bytes()...)
}

// Point returns Q, the identity hashed to G2; the key of id is the group's secret times Q. About a third of a pairing.
func (ns Namespace) Point(id Identity) bls.G2 {
	return bls.HashToG2(ns.Message(id), []byte(keyDST))
}

// Identity is what a ciphertext is sealed to: a slot or a condition. A comparable value; the zero value is neither.
type Identity struct {
	kind identityKind
	b    [32]byte // a slot uses the first 8 bytes
}

type identityKind uint8

const (
	slotKind identityKind = iota + 1
	conditionKind
)

// SlotIdentity returns the identity u64_be(slot).
func SlotIdentity(slot uint64) Identity {
	id := Identity{kind: slotKind}
	binary.BigEndian.PutUint64(id.b[:], slot)
	return id
}

// ConditionIdentity returns the identity of a condition by its hash; Condition.Identity computes that hash.
func ConditionIdentity(condition [32]byte) Identity {
	return Identity{kind: conditionKind, b: condition}
}

// IdentityFromBytes reads the bytes of an identity: 8 are a slot, 32 a condition, anything else ErrMalformed.
func IdentityFromBytes(b []byte) (Identity, error) {
	switch len(b) {
	case 8:
		return SlotIdentity(binary.BigEndian.Uint64(b)), nil
	case 32:
		return ConditionIdentity([32]byte(b)), nil
	}
	return Identity{}, malformed("identity of %d bytes: a slot has 8, a condition 32", len(b))
}

// IsZero reports whether id is the zero value, which identifies nothing.
func (id Identity) IsZero() bool { return id.kind == 0 }

// Slot returns the slot, and whether id is one.
func (id Identity) Slot() (uint64, bool) {
	if id.kind != slotKind {
		return 0, false
	}
	return binary.BigEndian.Uint64(id.b[:8]), true
}

// Condition returns the condition's hash, and whether id is one.
func (id Identity) Condition() ([32]byte, bool) {
	if id.kind != conditionKind {
		return [32]byte{}, false
	}
	return id.b, true
}

// Bytes returns the 8 or 32 bytes that are hashed; none for the zero value.
func (id Identity) Bytes() []byte { return append([]byte(nil), id.bytes()...) }

func (id *Identity) bytes() []byte {
	switch id.kind {
	case slotKind:
		return id.b[:8]
	case conditionKind:
		return id.b[:]
	}
	return nil
}

// String returns "slot 123" or "condition 0x…".
func (id Identity) String() string {
	switch id.kind {
	case slotKind:
		slot, _ := id.Slot()
		return "slot " + strconv.FormatUint(slot, 10)
	case conditionKind:
		return "condition 0x" + hex.EncodeToString(id.b[:])
	}
	return "no identity"
}
