package tlock_test

import (
	"bytes"
	"math/big"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestSlotAtNeverOpensEarly(t *testing.T) {
	noon := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		at   time.Time
		want uint64
	}{
		"a whole second is its own slot":      {noon, uint64(noon.Unix())},
		"a nanosecond later is the next slot": {noon.Add(1), uint64(noon.Unix()) + 1},
		"just before a second is that second": {noon.Add(-1), uint64(noon.Unix())},
		"another zone is the same moment":     {noon.In(time.FixedZone("", 3600)), uint64(noon.Unix())},
		"before 1970 there is only slot 0":    {time.Unix(-5, 0), 0},
		"the last half second before 1970":    {time.Unix(-1, 5e8), 0},
		"the zero time":                       {time.Time{}, 0},
		"half a second after the epoch is 1":  {time.Unix(0, 5e8), 1},
	} {
		got := tlock.SlotAt(c.at)
		if got != c.want {
			t.Errorf("%s: got slot %d, want %d", name, got, c.want)
		}
		if !tlock.SlotEnd(got).After(c.at) {
			t.Errorf("%s: the key comes out at %v, not after %v", name, tlock.SlotEnd(got), c.at)
		}
	}
	if a, b := tlock.SlotEnd(1<<64-1), tlock.SlotEnd(1800000000); !a.After(b) {
		t.Errorf("the last slot ends at %v, before %v", a, b)
	}
}

func TestNamespaceBounds(t *testing.T) {
	two256 := new(big.Int).Lsh(big.NewInt(1), 256)
	for name, id := range map[string]*big.Int{"nil": nil, "negative": big.NewInt(-1), "2^256": two256} {
		_, err := tlock.NewNamespace(id, [32]byte{})
		wantClass(t, name, err, tlock.ErrMalformed)
	}
	largest := new(big.Int).Sub(two256, big.NewInt(1))
	ns, err := tlock.NewNamespace(largest, [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	if ns.ChainID().Cmp(largest) != 0 || ns.GenesisHash() != [32]byte{7} {
		t.Errorf("got chain %v and genesis %x back", ns.ChainID(), ns.GenesisHash())
	}
}

func TestIdentityKinds(t *testing.T) {
	slot, condition := tlock.SlotIdentity(258), tlock.ConditionIdentity([32]byte{0xab})
	for _, c := range []struct {
		id    tlock.Identity
		bytes []byte
		text  string
	}{
		{slot, []byte{0, 0, 0, 0, 0, 0, 1, 2}, "slot 258"},
		{condition, append([]byte{0xab}, make([]byte, 31)...), "condition 0xab00000000000000000000000000000000000000000000000000000000000000"},
	} {
		if got := c.id.Bytes(); !bytes.Equal(got, c.bytes) {
			t.Errorf("%v: got bytes %x, want %x", c.id, got, c.bytes)
		}
		if got := c.id.String(); got != c.text {
			t.Errorf("got %q, want %q", got, c.text)
		}
		if again, err := tlock.IdentityFromBytes(c.bytes); err != nil || again != c.id {
			t.Errorf("%v: reading the bytes gave %v, %v", c.id, again, err)
		}
	}
	if s, ok := slot.Slot(); !ok || s != 258 {
		t.Errorf("got slot %d, %v", s, ok)
	}
	if _, ok := slot.Condition(); ok {
		t.Error("a slot says it is a condition")
	}
	if _, ok := condition.Slot(); ok {
		t.Error("a condition says it is a slot")
	}
	// A condition that starts with a slot's bytes is another identity.
	if tlock.ConditionIdentity([32]byte{6: 1, 7: 2}) == slot {
		t.Error("a condition equals a slot")
	}
	for _, n := range []int{0, 7, 9, 31, 33} {
		_, err := tlock.IdentityFromBytes(make([]byte, n))
		wantClass(t, "identity length", err, tlock.ErrMalformed)
	}
}
