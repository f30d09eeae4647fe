package node

import (
	"testing"
	"time"
)

func TestWhoReplaysThePastSignsOnlyWhatIsOfUse(t *testing.T) {
	ns, group, shares := testGroup(t, 4)
	now := time.Unix(10_000, 500e6)
	m := newMember(ns, group, shares[0], now, 9_000)
	for head := uint64(9_000); head < 10_000; head++ {
		m.act(t, now, m.block(now, head, nil))
	}
	oldest := uint64(10_000)
	for _, e := range m.sent {
		slot, _ := e.Identity.Slot()
		oldest = min(oldest, slot)
	}
	if want := oldestOfUse(now); oldest != want {
		t.Errorf("the oldest slot signed while replaying is %d, want %d: of older ones others take no partial", oldest, want)
	}
}

func TestBackfillGoesOnAfterAFullBatch(t *testing.T) {
	full := make([]uint64, maxFetch)
	for i := range full {
		full[i] = 100 + 2*uint64(i)
	}
	for name, c := range map[string]struct {
		batch []uint64
		to    uint64
		want  uint64
	}{
		"nothing is missing":               {nil, 500, 500},
		"a batch that is not full is all":  {full[:3], 500, 500},
		"behind a full batch may be more":  {full, 500, full[maxFetch-1]},
		"a full batch that ends the range": {full, full[maxFetch-1], full[maxFetch-1]},
	} {
		if got := backfilledTo(c.batch, c.to); got != c.want {
			t.Errorf("%s: done up to %d, want %d", name, got, c.want)
		}
	}
}
