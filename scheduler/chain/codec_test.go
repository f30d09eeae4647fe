package chain_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// sampleBlocks are two valid blocks: an empty one and one with a key, leading and user transactions.
func sampleBlocks(t testing.TB) (*replica, []*chain.Block) {
	r := newReplica(t, testGenesis(4))
	r.activate(t)
	empty, _ := r.Block(1)
	funded := r.step(t, nil, alice.fund(0))
	return r, []*chain.Block{empty.Block, funded.Block}
}

func FuzzDecodeBlock(f *testing.F) {
	_, blocks := sampleBlocks(f)
	for _, b := range blocks {
		f.Add(b.Encode())
	}
	f.Add([]byte{0xc0})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := chain.DecodeBlock(data)
		if err != nil {
			if !errors.Is(err, chain.ErrInvalid) {
				t.Fatalf("refused without a class: %v", err)
			}
			return
		}
		if !bytes.Equal(b.Encode(), data) {
			t.Fatal("two encodings of one block")
		}
	})
}

// FuzzLogEntry hands arbitrary entries to a chain: none panics, and none but a valid block moves the head.
func FuzzLogEntry(f *testing.F) {
	r, blocks := sampleBlocks(f)
	next := r.build(f, 1, nil)
	f.Add(chain.BlockEntry(next))
	f.Add(chain.BlockEntry(blocks[1]))
	f.Add(chain.CeremonyEntry([]byte("message")))
	f.Add([]byte{})
	f.Add([]byte{0x03, 0xff})
	snapshot, err := r.Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, entry []byte) {
		if err := r.Restore(snapshot); err != nil {
			t.Fatal(err)
		}
		before := r.Head()
		err := r.apply(entry)
		if err != nil && !errors.Is(err, chain.ErrInvalid) && !errors.Is(err, chain.ErrStale) {
			t.Fatalf("refused without a class: %v", err)
		}
		if moved := r.Head() != before; moved && (err != nil || r.Head().Number != before.Number+1) {
			t.Fatalf("head went from %+v to %+v, error %v", before, r.Head(), err)
		}
	})
}

func FuzzDecodeTx(f *testing.F) {
	f.Add(alice.tx(txData{to: target, data: []byte("x")}))
	f.Add([]byte{0x7e, 0xc0})
	f.Add([]byte{0x02, 0xc0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := chain.DecodeTx(testChainID, raw)
		if err != nil {
			if !errors.Is(err, chain.ErrInvalid) {
				t.Fatalf("refused without a class: %v", err)
			}
			return
		}
		again, err := tx.Inner().MarshalBinary()
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatal("two encodings of one transaction")
		}
	})
}

func FuzzRestore(f *testing.F) {
	r, _ := sampleBlocks(f)
	if err := r.apply(chain.CeremonyEntry([]byte("message"))); err != nil {
		f.Fatal(err)
	}
	snapshot, err := r.Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(snapshot)
	fresh, err := newReplica(f, testGenesis(4)).Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fresh)
	f.Fuzz(func(t *testing.T, data []byte) {
		other := newReplica(t, testGenesis(4))
		before := other.Head()
		if err := other.Restore(data); err != nil {
			if other.Head() != before {
				t.Fatal("a refused snapshot changed the chain")
			}
			return
		}
		again, err := other.Snapshot()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("two encodings of one snapshot: %v", err)
		}
	})
}

func TestSnapshotRefusals(t *testing.T) {
	r, _ := sampleBlocks(t)
	snapshot, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	foreign := testGenesis(4)
	foreign.ChainID++
	if err := newReplica(t, foreign).Restore(snapshot); !errors.Is(err, chain.ErrInvalid) {
		t.Errorf("another chain's snapshot: got %v", err)
	}
	for i := 0; i < len(snapshot); i += 1 + len(snapshot)/400 {
		damaged := bytes.Clone(snapshot)
		damaged[i] ^= 0x20
		other := newReplica(t, testGenesis(4))
		before := other.Head()
		if err := other.Restore(damaged); err == nil {
			// No signature covers the ceremony's part. State and last block are covered.
			records, activations := fmt.Sprint(other.CeremonyRecords()), fmt.Sprint(other.Activations())
			if other.Head() != r.Head() || records == fmt.Sprint(r.CeremonyRecords()) && activations == fmt.Sprint(r.Activations()) {
				t.Fatalf("a snapshot with byte %d of %d changed was taken", i, len(snapshot))
			}
			continue
		}
		if other.Head() != before || other.app.restored != 0 {
			t.Fatal("a refused snapshot changed the chain")
		}
	}
}

func TestHeaderHashHasTheTimerManifestOfDocument000(t *testing.T) {
	h := chain.Header{Number: 1}
	plain := h.Hash()
	h.TimersCommit = true
	committed := h.Hash()
	h.TimerIDs = []chain.Hash{{1}, {2}}
	two := h.Hash()
	h.TimerIDs = []chain.Hash{{2}, {1}}
	swapped := h.Hash()
	h.Extra = []byte{0}
	extra := h.Hash()
	seen := make(map[chain.Hash]bool)
	for _, hash := range []chain.Hash{plain, committed, two, swapped, extra} {
		seen[hash] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d hashes of five different headers", len(seen))
	}
}
