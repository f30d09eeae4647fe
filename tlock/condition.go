package tlock

import (
	"encoding/binary"

	"golang.org/x/crypto/sha3"
)

// Kinds of condition (document 002 "Conditional entries").
const (
	WhenValueAtLeast uint8 = 1 // the item's value is at least the operand, item neither disputed nor halted
	WhenValueAtMost  uint8 = 2 // the item's value is at most the operand, item neither disputed nor halted
	WhenNotHalted    uint8 = 3 // the item is not halted; the operand has no meaning but is hashed
)

const conditionLabel = "metal-condition-v1"

// Condition is what an oracle write must satisfy before its key is released. Payer is the account that will schedule
// the entry: two payers have two keys for the same predicate.
type Condition struct {
	Payer     [20]byte
	Item      [32]byte // keccak256 of the catalog item's name
	Kind      uint8    // WhenValueAtLeast, WhenValueAtMost or WhenNotHalted
	Operand   [32]byte // u256, big-endian
	NotBefore uint64   // slot; older writes do not count
}

// Identity returns the condition's identity: keccak256("metal-condition-v1" || payer || item || kind || u256(operand)
// || u64(slot)), all big-endian (S-SCO-01). An unknown kind is ErrMalformed: no write would ever satisfy it.
func (c Condition) Identity() (Identity, error) {
	if c.Kind < WhenValueAtLeast || c.Kind > WhenNotHalted {
		return Identity{}, malformed("condition kind %d: 1 is value at least, 2 value at most, 3 not halted", c.Kind)
	}
	return ConditionIdentity(keccak256(c.preimage())), nil
}

func (c Condition) preimage() []byte {
	b := append([]byte(nil), conditionLabel...)
	b = append(b, c.Payer[:]...)
	b = append(b, c.Item[:]...)
	b = append(b, c.Kind)
	b = append(b, c.Operand[:]...)
	return binary.BigEndian.AppendUint64(b, c.NotBefore)
}

func keccak256(parts ...[]byte) (sum [32]byte) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(sum[:0])
	return sum
}
