package chain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/vectors"
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
	withConditions := *blocks[0]
	withConditions.Update.Conditions = []scheduler.ConditionKey{{Condition: scheduler.Word{1}}, {Condition: scheduler.Word{2}}}
	f.Add(withConditions.Encode())
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

// TestSnapshotMustHoldTheStateOfItsBlock: a sound state of the same chain, but of another block, is refused.
func TestSnapshotMustHoldTheStateOfItsBlock(t *testing.T) {
	r, _ := sampleBlocks(t)
	snapshot, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := newReplica(t, testGenesis(4)).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	mixed, err := chain.Transplant(snapshot, fresh)
	if err != nil {
		t.Fatal(err)
	}
	other := newReplica(t, testGenesis(4))
	if err := other.Restore(mixed); !errors.Is(err, chain.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
	if err := other.Restore(snapshot); err != nil {
		t.Errorf("the snapshot as it was: %v", err)
	}
}

// TestTimerManifestVectors holds the header's manifest against the published encodings.
func TestTimerManifestVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Name      string          `json:"name"`
			Type      string          `json:"type"`
			Valid     bool            `json:"valid"`
			Committed bool            `json:"committed"`
			TimerIDs  []hexutil.Bytes `json:"timer_ids"`
			Bytes     hexutil.Bytes   `json:"bytes"`
		} `json:"cases"`
	}
	raw, err := vectors.FS.ReadFile("timer.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, c := range file.Cases {
		if c.Type != "manifest" {
			continue
		}
		seen++
		h := chain.Header{TimersCommit: c.Committed}
		for _, id := range c.TimerIDs {
			h.TimerIDs = append(h.TimerIDs, id)
		}
		if got := bytes.Equal(chain.Manifest(&h), c.Bytes); got != c.Valid {
			t.Errorf("%s: encoded as %x, equal to the vector: %v, want %v", c.Name, chain.Manifest(&h), got, c.Valid)
		}
	}
	if seen != 16 {
		t.Errorf("%d manifest vectors, want 16", seen)
	}
}

func TestHeaderHashCoversEveryField(t *testing.T) {
	seen := make(map[chain.Hash]string)
	for name, edit := range map[string]func(*chain.Header){
		"nothing": func(*chain.Header) {}, "chain id": func(h *chain.Header) { h.ChainID++ }, "number": func(h *chain.Header) { h.Number++ },
		"time": func(h *chain.Header) { h.Time++ }, "parent": func(h *chain.Header) { h.Parent[0]++ },
		"proposer": func(h *chain.Header) { h.Proposer++ }, "state root": func(h *chain.Header) { h.StateRoot[0]++ },
		"receipts root": func(h *chain.Header) { h.ReceiptsRoot[0]++ }, "tx root": func(h *chain.Header) { h.TxRoot[0]++ },
		"beacon root": func(h *chain.Header) { h.BeaconRoot[0]++ }, "manifest": func(h *chain.Header) { h.TimersCommit = true },
		"timers": func(h *chain.Header) { h.TimerIDs = [][]byte{{1}} }, "extra": func(h *chain.Header) { h.Extra = []byte{0} },
	} {
		var h chain.Header
		edit(&h)
		if other, ok := seen[h.Hash()]; ok {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h.Hash()] = name
	}
}
