package quota_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/p2p/internal/quota"
)

const window = 1024

// The window must agree with a plain set of everything seen, wherever it claims to know.
func TestWindowAgreesWithASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w quota.Window
		seen := map[uint64]bool{}
		top := rapid.Uint64Range(0, 1<<62).Draw(t, "start")
		for i := range rapid.IntRange(1, 300).Draw(t, "count") {
			n := top + rapid.Uint64Range(0, 3000).Draw(t, "step") - min(top, rapid.Uint64Range(0, 3000).Draw(t, "back"))
			want := quota.New
			switch {
			case i > 0 && n <= top && top-n >= window:
				want = quota.Old
			case seen[n]:
				want = quota.Seen
			}
			if got := w.Mark(n); got != want {
				t.Fatalf("number %d with top %d: got %v, want %v", n, top, got, want)
			}
			if want == quota.New {
				seen[n] = true
			}
			if i == 0 || n > top {
				top = n
			}
		}
	})
}

func TestWindowAtTheEdges(t *testing.T) {
	const top = ^uint64(0)
	steps := []struct {
		what string
		n    uint64
		want quota.Standing
	}{
		{"the first is new, even zero", 0, quota.New},
		{"zero again", 0, quota.Seen},
		{"the last below the window's size", window - 1, quota.New},
		{"zero is within it still", 0, quota.Seen},
		{"one more and zero falls out", window, quota.New},
		{"zero is too old", 0, quota.Old},
		{"one is the oldest within, unseen", 1, quota.New},
		{"a jump to the highest number", top, quota.New},
		{"the lowest within, unseen", top - window + 1, quota.New},
		{"the one below it", top - window, quota.Old},
		{"the highest again", top, quota.Seen},
	}
	var w quota.Window
	for _, s := range steps {
		if got := w.Mark(s.n); got != s.want {
			t.Errorf("%s: got %v, want %v", s.what, got, s.want)
		}
	}
	w.Rewind(7)
	if got := w.Mark(7); got != quota.Seen {
		t.Errorf("the number of a rewind: got %v, want seen", got)
	}
	if got := w.Mark(6); got != quota.New {
		t.Errorf("the number below a rewind: got %v, want new", got)
	}
}

// receive is what a host does with a message.
func receive(a *quota.Author, topic string, seqno uint64, direct bool, now time.Time) quota.Outcome {
	if direct && !a.Take(topic, now) {
		return quota.Exceeded
	}
	return a.Admit(topic, seqno, direct, now)
}

func TestReplaysCostTheAuthorNothing(t *testing.T) {
	now := time.Unix(1000, 0)
	var a quota.Author
	a.Open("t", 0.001, 10)
	for n := range uint64(5) {
		if got := receive(&a, "t", 100+n, true, now); got != quota.Admitted {
			t.Fatalf("message %d: %v", n, got)
		}
	}
	for range 1000 {
		for n := range uint64(5) {
			if got := receive(&a, "t", 100+n, false, now); got != quota.Replayed {
				t.Fatalf("replay of %d: %v", n, got)
			}
		}
	}
	for n := range uint64(5) {
		if got := receive(&a, "t", 200+n, true, now); got != quota.Admitted {
			t.Errorf("message %d after the replays: %v", n, got)
		}
	}
	if got := receive(&a, "t", 300, true, now); got != quota.Exceeded {
		t.Errorf("message over the quota: %v", got)
	}
}

func TestWhatOthersForwardCannotUseUpTheAuthorsOwnWay(t *testing.T) {
	now := time.Unix(1000, 0)
	var a quota.Author
	a.Open("t", 0.001, 10)
	got := map[quota.Outcome]int{}
	for n := range uint64(50) { // messages of an earlier run that this node has not seen
		got[receive(&a, "t", 100+n, false, now)]++
	}
	if got[quota.Admitted] != 10 || got[quota.Exceeded] != 40 {
		t.Errorf("forwarded: %v", got)
	}
	if got := receive(&a, "t", 1<<40, true, now); got != quota.Admitted {
		t.Errorf("the author itself: %v", got)
	}
	if got := receive(&a, "t", 160, false, now); got != quota.Replayed {
		t.Errorf("an older one, forwarded: %v", got)
	}
}

func TestAnAuthorWhoseClockWasSetBackIsHeardDirectly(t *testing.T) {
	now := time.Unix(1000, 0)
	var a quota.Author
	a.Open("t", 1, 10)
	receive(&a, "t", 1<<50, true, now)
	if got := receive(&a, "t", 1<<40, false, now); got != quota.Replayed {
		t.Errorf("lower number, forwarded: %v", got)
	}
	if got := receive(&a, "t", 1<<40, true, now); got != quota.Admitted {
		t.Errorf("lower number, from the author: %v", got)
	}
	if got := receive(&a, "t", 1<<40+1, false, now); got != quota.Admitted {
		t.Errorf("the next one, forwarded: %v", got)
	}
}

func TestQuotasAreByTopicAndRefill(t *testing.T) {
	now := time.Unix(1000, 0)
	var a quota.Author
	if a.Take("t", now) || a.Admit("t", 1, false, now) != quota.Exceeded {
		t.Error("a topic that is not open admits messages")
	}
	a.Open("t", 2, 1)
	a.Open("u", 2, 1)
	if !a.Take("t", now) || a.Take("t", now) || !a.Take("u", now) {
		t.Error("want one message on each topic")
	}
	if a.Take("t", now.Add(400*time.Millisecond)) || !a.Take("t", now.Add(600*time.Millisecond)) {
		t.Error("want another one after half a second")
	}
	a.Shut("t")
	if a.Take("t", now.Add(time.Hour)) {
		t.Error("a topic that was shut admits messages")
	}
}

func TestPenaltiesBanAndEnd(t *testing.T) {
	now := time.Unix(1000, 0)
	var p quota.Penalties
	for i := range 16 {
		if p.Add(now) {
			t.Fatalf("banned by fault %d", i+1)
		}
	}
	if !p.Add(now) {
		t.Fatal("not banned by fault 17")
	}
	if p.Add(now) {
		t.Error("banned twice")
	}
	if got := p.Refused(now); got != quota.BanTime {
		t.Errorf("refused for %v, want %v", got, quota.BanTime)
	}
	now = now.Add(quota.BanTime)
	if got := p.Refused(now); got != 0 {
		t.Errorf("refused for %v after the ban", got)
	}
	// One fault in ten seconds is forgiven for ever.
	for range 100 {
		now = now.Add(10 * time.Second)
		if p.Add(now) {
			t.Fatal("banned for rare faults")
		}
	}
	p.Refuse(now, time.Second)
	if got := p.Refused(now); got != time.Second {
		t.Errorf("refused for %v, want a second", got)
	}
}
