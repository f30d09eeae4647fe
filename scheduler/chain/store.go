package chain

// Bounds of the blocks kept in memory for reads.
const (
	keptBlocks = 4096
	keptBytes  = 64 << 20 // of their encodings and their receipts' logs
)

// Applied is a block that took effect, with its outcome. It is immutable.
type Applied struct {
	Block    *Block
	Hash     Hash
	Receipts []*Receipt // one for each transaction
	size     int
}

// newApplied is the block with its outcome and what both take in memory: logs may repeat all that the transactions say.
func newApplied(b *Block, receipts []*Receipt) *Applied {
	size := len(b.Encode())
	for _, r := range receipts {
		for _, l := range r.Logs {
			size += len(l.Data) + len(l.Topics)*len(Hash{})
		}
	}
	return &Applied{Block: b, Hash: b.Header.Hash(), Receipts: receipts, size: size}
}

// Place is where a transaction stands.
type Place struct {
	Number uint64 // of the block
	At     int    // position in the block
}

// store keeps the last applied blocks and finds them, their transactions and the runs of entries.
type store struct {
	maxBlocks, maxBytes int

	blocks []*Applied // ascending, without gaps
	bytes  int
	byHash map[Hash]uint64
	txs    map[Hash]Place
	runs   map[uint64][]Place // of an entry, by id
}

func newStore(blocks, size int) *store {
	return &store{maxBlocks: blocks, maxBytes: size, byHash: make(map[Hash]uint64), txs: make(map[Hash]Place), runs: make(map[uint64][]Place)}
}

func (s *store) add(a *Applied) {
	number := a.Block.Header.Number
	s.blocks = append(s.blocks, a)
	s.bytes += a.size
	s.byHash[a.Hash] = number
	for i, r := range a.Receipts {
		s.txs[r.TxHash] = Place{number, i}
		if r.Entry != 0 {
			s.runs[r.Entry] = append(s.runs[r.Entry], Place{number, i})
		}
	}
	for len(s.blocks) > s.maxBlocks || (s.bytes > s.maxBytes && len(s.blocks) > 1) {
		s.forgetOldest()
	}
}

func (s *store) forgetOldest() {
	a := s.blocks[0]
	s.blocks[0] = nil // the slice keeps its array for a while
	s.blocks = s.blocks[1:]
	s.bytes -= a.size
	delete(s.byHash, a.Hash)
	for _, r := range a.Receipts {
		delete(s.txs, r.TxHash)
		if r.Entry == 0 {
			continue
		}
		if runs := s.runs[r.Entry]; len(runs) > 1 {
			s.runs[r.Entry] = runs[1:]
		} else {
			delete(s.runs, r.Entry)
		}
	}
}

func (s *store) block(number uint64) (*Applied, bool) {
	if len(s.blocks) == 0 {
		return nil, false
	}
	first := s.blocks[0].Block.Header.Number
	if number < first || number-first >= uint64(len(s.blocks)) {
		return nil, false
	}
	return s.blocks[number-first], true
}
