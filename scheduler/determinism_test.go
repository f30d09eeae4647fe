package scheduler_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// TestReplicasAgree is I-33: a chain of 1,000 random blocks is made once and replayed by replicas, one of which is thrown away at
// random heights and restored from another's export. All have the same state hash after every block, on one core and on two.
func TestReplicasAgree(t *testing.T) {
	const seed, blocks = 11, 1_000
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	s := &stream{data: randomBytes(seed, 80_000), sealed: 60}

	leader, follower, restored := newStreamWorld(t), newStreamWorld(t), newStreamWorld(t)
	follower.runner = parallelRunner
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	opened := 0
	for n := range blocks {
		if !s.more() {
			t.Fatalf("the stream ended at block %d", n)
		}
		runtime.GOMAXPROCS(2)
		b := s.record(leader, nil)
		opened += len(b.update.Slots)
		follower.replay(b)
		runtime.GOMAXPROCS(1)
		restored.replay(b)
		want := leader.StateHash()
		if got := follower.StateHash(); got != want {
			t.Fatalf("block %d: the replica with a parallel runner has %x, the leader %x", n, got, want)
		}
		if got := restored.StateHash(); got != want {
			t.Fatalf("block %d: the restored replica has %x, the leader %x", n, got, want)
		}
		if random.IntN(50) == 0 {
			restored.Host = restore(t, restored, follower.Host)
		}
	}
	if opened == 0 {
		t.Error("no block carried a key")
	}
	t.Logf("%d entries, %d keys, state %x", leader.view().NextID()-1, opened, leader.StateHash())
}

// restore makes a host of from's export, with w's targets.
func restore(t testing.TB, w *world, from *memory.Host) *memory.Host {
	t.Helper()
	var out bytes.Buffer
	must(t, from.Export(&out))
	h, err := memory.Import(w.config, bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	return h
}

// TestForkedBlockCanBeThrownAway builds a block on a fork, as a proposer does, and then makes it again on the original.
func TestForkedBlockCanBeThrownAway(t *testing.T) {
	w := newStreamWorld(t)
	s := &stream{data: randomBytes(5, 5_000), sealed: 30}
	for range 30 {
		before := w.StateHash()
		original, secret := w.Host, w.secret
		w.Host = original.Fork()
		b := s.record(w, nil)
		want := w.StateHash()
		w.Host, w.secret = original, secret
		expect(t, "the original after its fork's block", w.StateHash(), before)
		w.replay(b)
		expect(t, "the block made again", w.StateHash(), want)
	}
}
