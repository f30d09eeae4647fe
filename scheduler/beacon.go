package scheduler

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// Limits of one beacon update (S-BEA-03).
const (
	MaxSlotKeys      = 64
	MaxConditionKeys = 32
)

// Update is what a block adds to the beacon, before its leading transactions are derived (S-BEA-10).
type Update struct {
	GroupKey   []byte // 48 bytes installed before the keys are checked; empty for no change
	Slots      []SlotKey
	Conditions []ConditionKey
}

// SlotKey is the key of a slot's identity.
type SlotKey struct {
	Slot uint64
	Key  [tlock.KeySize]byte
}

// ConditionKey is the key of a condition's identity.
type ConditionKey struct {
	Condition Word
	Key       [tlock.KeySize]byte
}

// ErrUpdate is the class of an update that makes its block invalid.
var ErrUpdate = errors.New("invalid beacon update")

// BeaconReader reads the beacon contract's storage (document 002, "Encrypted payloads"; S-BEA-01). A 48-byte group key lies in two
// words, a 96-byte key in three; keys of conditions lie under the tag and 30 bytes of the condition's keccak256. It is a Beacon.
type BeaconReader struct{ Reader Reader }

const (
	tagGroupKey     = 0x01
	tagSlotKey      = 0x02 // slot, index
	tagConditionKey = 0x03 // 30 bytes of keccak256(condition), index in the last byte
)

// GroupKey is groupKey(): the installed group key, or nil.
func (b BeaconReader) GroupKey() []byte {
	return readPoint(b.Reader, keyOf(tagGroupKey, 0, 0), tlock.GroupKeySize)
}

// KeyAt is keyAt(slot): the slot's key, or nil while it is not on chain.
func (b BeaconReader) KeyAt(slot uint64) []byte {
	return readPoint(b.Reader, keyOf(tagSlotKey, slot, 0), tlock.KeySize)
}

// ConditionKey is conditionKey(condition), or nil while it is not on chain.
func (b BeaconReader) ConditionKey(condition Word) []byte {
	return readPoint(b.Reader, conditionKeyAt(condition), tlock.KeySize)
}

func conditionKeyAt(condition Word) Word {
	k := keccak(condition[:])
	copy(k[1:], k[:30])
	k[0], k[31] = tagConditionKey, 0
	return k
}

// readPoint reads a compressed point from consecutive words; its first word is never zero, as the compression bit is set.
func readPoint(r Reader, at Word, size int) []byte {
	first := r.Get(at)
	if first == (Word{}) {
		return nil
	}
	b := first[:]
	for len(b) < size {
		at[31]++
		w := r.Get(at)
		b = append(b, w[:]...)
	}
	return b[:size]
}

func writePoint(s State, at Word, b []byte) {
	for len(b) > 0 {
		var w Word
		b = b[copy(w[:], b):]
		s.Set(at, w)
		at[31]++
	}
}

// ApplyUpdate checks an update against the block's time and adds it to the beacon's storage. Nothing is written if it is invalid:
// the error then wraps ErrUpdate and names the rule. Signatures are verified by run, in parallel if it likes; the first fault in the
// update's order is the one reported, whatever finished first.
func ApplyUpdate(s State, ns tlock.Namespace, time uint64, u Update, run Runner) error {
	groupKey, err := checkUpdateShape(BeaconReader{s}, time, u)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUpdate, err)
	}
	if err := verifyUpdate(ns, groupKey, u, run); err != nil {
		return fmt.Errorf("%w: %w", ErrUpdate, err)
	}
	if len(u.GroupKey) > 0 {
		writePoint(s, keyOf(tagGroupKey, 0, 0), u.GroupKey)
	}
	for _, k := range u.Slots {
		writePoint(s, keyOf(tagSlotKey, k.Slot, 0), k.Key[:])
	}
	for _, k := range u.Conditions {
		writePoint(s, conditionKeyAt(k.Condition), k.Key[:])
	}
	return nil
}

// checkUpdateShape is S-BEA-03 without the signatures: counts, order, novelty, and no key before its slot is over.
func checkUpdateShape(b BeaconReader, time uint64, u Update) (gk tlock.GroupKey, err error) {
	if len(u.Slots) > MaxSlotKeys {
		return gk, fmt.Errorf("%d slot keys, at most %d", len(u.Slots), MaxSlotKeys)
	}
	if len(u.Conditions) > MaxConditionKeys {
		return gk, fmt.Errorf("%d condition keys, at most %d", len(u.Conditions), MaxConditionKeys)
	}
	for i, k := range u.Slots {
		switch {
		case i > 0 && k.Slot <= u.Slots[i-1].Slot:
			return gk, fmt.Errorf("slot %d does not ascend", k.Slot)
		case k.Slot >= time:
			return gk, fmt.Errorf("slot %d is not over at time %d", k.Slot, time)
		case b.KeyAt(k.Slot) != nil:
			return gk, fmt.Errorf("slot %d has its key", k.Slot)
		}
	}
	for i, k := range u.Conditions {
		switch {
		case i > 0 && bytes.Compare(k.Condition[:], u.Conditions[i-1].Condition[:]) <= 0:
			return gk, fmt.Errorf("condition %x does not ascend", k.Condition)
		case b.ConditionKey(k.Condition) != nil:
			return gk, fmt.Errorf("condition %x has its key", k.Condition)
		}
	}
	return updateGroupKey(b, u)
}

// updateGroupKey is the key that the update's keys are checked against: its own, or the one installed.
func updateGroupKey(b BeaconReader, u Update) (gk tlock.GroupKey, err error) {
	encoded := u.GroupKey
	if len(encoded) == 0 {
		if len(u.Slots)+len(u.Conditions) == 0 {
			return gk, nil
		}
		if encoded = b.GroupKey(); encoded == nil {
			return gk, errors.New("keys without a group key installed")
		}
	}
	gk, err = tlock.ParseGroupKey(encoded)
	if err != nil {
		return gk, fmt.Errorf("group key: %w", err)
	}
	return gk, nil
}

// verifyUpdate checks every key against the group key (S-BEA-02).
func verifyUpdate(ns tlock.Namespace, gk tlock.GroupKey, u Update, run Runner) error {
	errs := make([]error, len(u.Slots)+len(u.Conditions))
	parallel(run, len(errs), func(i int) {
		if i < len(u.Slots) {
			k := u.Slots[i]
			errs[i] = verifyKey(ns, gk, tlock.SlotIdentity(k.Slot), k.Key)
		} else {
			k := u.Conditions[i-len(u.Slots)]
			errs[i] = verifyKey(ns, gk, tlock.ConditionIdentity(k.Condition), k.Key)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func verifyKey(ns tlock.Namespace, gk tlock.GroupKey, id tlock.Identity, encoded [tlock.KeySize]byte) error {
	key, err := tlock.ParseKey(encoded[:])
	if err != nil {
		return fmt.Errorf("key of %v: %w", id, err)
	}
	if err := gk.Verify(ns, id, key); err != nil {
		return fmt.Errorf("key of %v: %w", id, err)
	}
	return nil
}

var (
	selectorGroupKey     = selectorOf("groupKey()")
	selectorKeyAt        = selectorOf("keyAt(uint64)")
	selectorConditionKey = selectorOf("conditionKey(bytes32)")
)

// Call is a call to the beacon contract: one of its three reads. Errors: ErrMethod, ErrCalldata.
func (b BeaconReader) Call(input []byte) ([]byte, error) {
	if len(input) < 4 {
		return nil, ErrMethod
	}
	in := &abiReader{rest: input[4:]}
	var answer func() []byte
	switch [4]byte(input) {
	case selectorGroupKey:
		answer = b.GroupKey
	case selectorKeyAt:
		slot := in.uint(64)
		answer = func() []byte { return b.KeyAt(slot) }
	case selectorConditionKey:
		condition := in.word()
		answer = func() []byte { return b.ConditionKey(condition) }
	default:
		return nil, ErrMethod
	}
	if !in.done() {
		return nil, ErrCalldata
	}
	return abiBytes(answer()), nil
}
