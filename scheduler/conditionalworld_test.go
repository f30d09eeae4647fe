package scheduler_test

import (
	"bytes"
	"slices"

	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// item is a catalog item for tests.
var item = scheduler.Word{0: 0x17, 31: 0x1e}

func word(v uint64) scheduler.Word { return uint256.NewInt(v).Bytes32() }

// write writes a sound value.
func (w *world) write(item scheduler.Word, value uint64) { w.Write(item, word(value), false, false) }

// newWatchWorld is a world with a group key, ample escrow of alice and one item, written at 2000 by genesis; its next block is at time 100.
func newWatchWorld(t rapid.TB) *world { return newWatchWorldWith(t, testPolicy()) }

func newWatchWorldWith(t rapid.TB, p scheduler.Policy, limits ...scheduler.Limits) *world {
	t.Helper()
	w := newWorldWith(t, p, limits...)
	w.install(w.secret)
	w.Write(item, word(2000), false, false)
	w.begin(1, 100)
	w.deposit(alice, 1e14)
	w.EndBlock(nil)
	return w
}

// when makes an entry conditional; its slot is the not-before time.
func when(item scheduler.Word, kind uint8, operand uint64) func(*scheduler.Params) {
	return func(p *scheduler.Params) {
		p.When = scheduler.Condition{Item: item, Kind: kind, Operand: word(operand)}
	}
}

// watcher is the C(300,000) that waits for item to be at least operand.
func watcher(slot, operand uint64) scheduler.Params {
	return with(entryOf(300_000, slot), when(item, scheduler.WhenValueAtLeast, operand))
}

// conditionOf is the condition of alice's entry with these params.
func conditionOf(p scheduler.Params) tlock.Condition {
	return tlock.Condition{Payer: alice, Item: p.When.Item, Kind: p.When.Kind, Operand: p.When.Operand, NotBefore: p.Slot}
}

// identityOf is the 32 bytes of its identity.
func (w *world) identityOf(p scheduler.Params) scheduler.Word {
	w.Helper()
	id, err := conditionOf(p).Identity()
	must(w, err)
	condition, _ := id.Condition()
	return condition
}

// conditionOfEntry is the condition of an entry on chain.
func (w *world) conditionOfEntry(e scheduler.Entry) scheduler.Word {
	w.Helper()
	id, err := tlock.Condition{Payer: e.Payer, Item: e.WhenItem, Kind: e.WhenKind, Operand: e.WhenOperand, NotBefore: e.DueSlot}.Identity()
	must(w, err)
	condition, _ := id.Condition()
	return condition
}

// sealedWatcher is watcher sealed to its condition, with gas limit 98,000: cost 342,000.
func (w *world) sealedWatcher(slot, operand uint64) scheduler.Params {
	w.Helper()
	p := watcher(slot, operand)
	to, err := tlock.ConditionSeal(conditionOf(p))
	must(w, err)
	p.Ciphertext, p.Commitment, err = tlock.SealCalls(w.Namespace(), groupKey(w, w.secret), to, tlock.EncodeCalls(p.Calls))
	must(w, err)
	p.Calls, p.GasLimit = nil, 98_000
	return p
}

// conditionKey is the key of a condition.
func (w *world) conditionKey(condition scheduler.Word) scheduler.ConditionKey {
	return scheduler.ConditionKey{Condition: condition, Key: w.Namespace().Point(tlock.ConditionIdentity(condition)).Mul(w.secret).Bytes()}
}

// carryConditions puts condition keys into the next block's update, in the order an update has them.
func (w *world) carryConditions(conditions ...scheduler.Word) {
	for _, c := range sortedWords(conditions) {
		w.update.Conditions = append(w.update.Conditions, w.conditionKey(c))
	}
}

func (w *world) wantedConditions(time uint64) []scheduler.Word {
	return w.view().WantedConditions(w.Beacon(), time)
}

func sortedWords(words []scheduler.Word) []scheduler.Word {
	words = slices.Clone(words)
	slices.SortFunc(words, func(a, b scheduler.Word) int { return bytes.Compare(a[:], b[:]) })
	return words
}
