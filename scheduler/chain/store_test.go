package chain

import (
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
)

func storedBlock(number uint64, size int, entries ...uint64) *Applied {
	a := &Applied{Block: &Block{Header: Header{Number: number}}, Hash: Hash{31: byte(number)}, size: size}
	for i, entry := range entries {
		a.Receipts = append(a.Receipts, &Receipt{TxHash: Hash{0: byte(number), 1: byte(i)}, Entry: entry})
	}
	return a
}

func TestStoreKeepsTheNewestBlocksAndForgetsTheRestWhole(t *testing.T) {
	s := newStore(3, 1000)
	for number := uint64(10); number <= 14; number++ {
		s.add(storedBlock(number, 1, number, 7, 0)) // entry 7 runs in each: a retry
	}
	for number := uint64(9); number <= 15; number++ {
		_, ok := s.block(number)
		if want := number >= 12 && number <= 14; ok != want {
			t.Errorf("block %d is kept: %v, want %v", number, ok, want)
		}
	}
	if len(s.byHash) != 3 || len(s.txs) != 9 || len(s.runs) != 4 || s.bytes != 3 {
		t.Errorf("%d hashes, %d transactions, %d entries, %d bytes of three blocks", len(s.byHash), len(s.txs), len(s.runs), s.bytes)
	}
	if runs := s.runs[7]; len(runs) != 3 || runs[0] != (Place{12, 1}) {
		t.Errorf("runs of entry 7: %v", runs)
	}
}

func TestStoreIsBoundedInBytes(t *testing.T) {
	s := newStore(100, 10)
	for number := uint64(1); number <= 5; number++ {
		s.add(storedBlock(number, 4))
	}
	if len(s.blocks) != 2 || s.bytes != 8 {
		t.Errorf("%d blocks of %d bytes, want 2 of 8", len(s.blocks), s.bytes)
	}
	s.add(storedBlock(6, 50))
	if _, ok := s.block(6); !ok || len(s.blocks) != 1 {
		t.Error("the newest block is kept whatever its size, and alone")
	}
}

func TestLogsCountAmongABlocksBytes(t *testing.T) {
	b := &Block{Header: Header{Number: 1}}
	bare := newApplied(b, nil)
	with := newApplied(b, []*Receipt{{Logs: []*types.Log{{Data: make([]byte, 1000), Topics: []Hash{{}, {}}}}}})
	if got := with.size - bare.size; got != 1064 {
		t.Errorf("a log of 1000 bytes and two topics counts as %d bytes, want 1064", got)
	}
}
