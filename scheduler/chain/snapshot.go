package chain

import (
	"bytes"
	"fmt"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// snapshotVersion is the first field of a snapshot.
const snapshotVersion = 1

// snapshot is a chain's whole state as bytes: RLP of these fields.
type snapshot struct {
	Version     uint64
	GenesisHash Hash
	Last        []*Block // the last block, or none before the first
	Ceremony    []CeremonyRecord
	Activations []Activation
	State       []byte // the host's export
}

// Snapshot returns the state after the last entry; it implements StateMachine. The blocks kept for reads are not part of it.
func (c *Chain) Snapshot() ([]byte, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var state bytes.Buffer
	if err := c.host.Fork().Export(&state); err != nil {
		return nil, fmt.Errorf("snapshot of block %d: %w", c.head.Number, err)
	}
	s := snapshot{
		Version: snapshotVersion, GenesisHash: c.genesisHash, Ceremony: c.ceremony.records,
		Activations: c.ceremony.activations, State: state.Bytes(),
	}
	if c.last != nil {
		s.Last = []*Block{c.last}
	}
	b, err := rlp.EncodeToBytes(&s)
	if err != nil {
		return nil, fmt.Errorf("snapshot of block %d: %w", c.head.Number, err)
	}
	return b, nil
}

// Restore replaces the state by a snapshot's; it implements StateMachine. The snapshot must be of this chain, its last block
// signed by a validator, and its state that block's; if it is not, nothing changes. Its ceremony entries are taken on trust, as
// the log's are.
func (c *Chain) Restore(b []byte) error {
	var s snapshot
	if err := rlp.DecodeBytes(b, &s); err != nil {
		return fmt.Errorf("snapshot: %w: %w", ErrInvalid, err)
	}
	host, head, err := c.checkSnapshot(&s)
	if err != nil {
		return fmt.Errorf("snapshot: %w: %w", ErrInvalid, err)
	}
	ceremony := newCeremonyLog()
	for _, r := range s.Ceremony {
		if err := ceremony.admit(r.Entry); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		ceremony.keep(r)
	}
	ceremony.activations = s.Activations
	c.mu.Lock()
	c.host, c.head, c.ceremony, c.last, c.blocks = host, head, ceremony, nil, newStore(keptBlocks, keptBytes)
	if len(s.Last) == 1 {
		c.last = s.Last[0]
	}
	c.mu.Unlock()
	c.pool.refresh(head.Number)
	c.app.RestoreCeremony(c.CeremonyRecords())
	return nil
}

func (c *Chain) checkSnapshot(s *snapshot) (*memory.Host, Head, error) {
	var none Head
	if s.Version != snapshotVersion || len(s.Last) > 1 {
		return nil, none, fmt.Errorf("version %d with %d blocks", s.Version, len(s.Last))
	}
	if s.GenesisHash != c.genesisHash {
		return nil, none, fmt.Errorf("it is of the chain with genesis hash %s, this one's is %x", s.GenesisHash, c.genesisHash)
	}
	state := bytes.NewReader(s.State)
	host, err := memory.Import(c.hostConfig(), state, maxSnapshotSize)
	if err != nil {
		return nil, none, err
	}
	root := Hash(host.StateHash())
	if len(s.Last) == 0 {
		fresh, err := c.genesisState()
		if err != nil {
			return nil, none, err
		}
		if root != fresh.StateHash() {
			return nil, none, fmt.Errorf("state before the first block is not the genesis's")
		}
		return host, Head{Time: c.genesis.Time, Hash: c.genesisHash, StateRoot: root}, nil
	}
	last := s.Last[0]
	if err := last.checkBounds(); err != nil {
		return nil, none, err
	}
	if err := last.Header.VerifyProposer(c.genesis, c.genesisHash, last.Signature); err != nil {
		return nil, none, err
	}
	if last.Header.TxRoot != last.txRoot() || last.Header.BeaconRoot != updateRoot(&last.Update) {
		return nil, none, fmt.Errorf("its last block does not fit its header")
	}
	if root != last.Header.StateRoot {
		return nil, none, fmt.Errorf("state root is %s, its last block says %s", root, last.Header.StateRoot)
	}
	return host, Head{last.Header.Number, last.Header.Time, last.Header.Hash(), root}, nil
}
