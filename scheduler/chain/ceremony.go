package chain

import (
	"fmt"

	ethcrypto "github.com/ethereum/go-ethereum/crypto"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// Bounds of the ceremony entries that are kept, in snapshots too. A ceremony of 256 members takes about 11 MiB.
const (
	maxCeremonyEntries = 16_384
	maxCeremonyBytes   = 64 << 20
)

// activationDelay is how many blocks lie between the block before which a ceremony ended and the first that runs under its
// key: time for every proposer to know.
const activationDelay = 2

// App handles the entries of ceremonies. What it answers must depend on the log alone, so that every validator's answer is
// the same. The chain calls it in log order and never concurrently.
type App interface {
	// ApplyCeremony handles the next entry. An error says that the entry counts for nothing: it is not kept. result is set
	// by the entry that ends a ceremony with a key. replay is that of StateMachine.
	ApplyCeremony(index uint64, entry []byte, replay bool) (result *CeremonyResult, err error)
	// RestoreCeremony forgets everything and starts again from the entries that counted so far.
	RestoreCeremony(entries []CeremonyRecord)
}

// CeremonyResult is the outcome of a ceremony.
type CeremonyResult struct {
	Epoch    uint64
	GroupKey [tlock.GroupKeySize]byte
}

// CeremonyRecord is a ceremony entry that counted.
type CeremonyRecord struct {
	Index uint64 // in the log
	Entry []byte
}

// Activation says from which block on a ceremony's group key is the chain's.
type Activation struct {
	Index    uint64 // of the log entry that ended the ceremony
	Height   uint64 // of the block that installs the key
	Epoch    uint64
	GroupKey [tlock.GroupKeySize]byte
}

// ceremonyLog is what the chain knows of ceremonies. It is part of every snapshot: a member that was away must see the same
// entries as the others.
type ceremonyLog struct {
	records     []CeremonyRecord
	bytes       int
	seen        map[Hash]bool
	activations []Activation // ascending by height
}

func newCeremonyLog() ceremonyLog { return ceremonyLog{seen: make(map[Hash]bool)} }

// admit checks what can be checked of an entry before the app sees it.
func (l *ceremonyLog) admit(entry []byte) error {
	switch {
	case l.seen[ethcrypto.Keccak256Hash(entry)]:
		return fmt.Errorf("ceremony entry: %w: repeated", ErrStale)
	case len(l.records) >= maxCeremonyEntries || l.bytes+len(entry) > maxCeremonyBytes:
		return fmt.Errorf("ceremony entry: %w: the ceremony log is full", ErrInvalid)
	}
	return nil
}

func (l *ceremonyLog) keep(r CeremonyRecord) {
	l.records = append(l.records, r)
	l.bytes += len(r.Entry)
	l.seen[ethcrypto.Keccak256Hash(r.Entry)] = true
}

// activate fixes the height of a result. Only the first result of an epoch counts.
func (l *ceremonyLog) activate(index, head uint64, r CeremonyResult) *Activation {
	for _, a := range l.activations {
		if a.Epoch >= r.Epoch {
			return nil
		}
	}
	height := head + 1 + activationDelay
	if n := len(l.activations); n > 0 {
		height = max(height, l.activations[n-1].Height+1)
	}
	a := Activation{Index: index, Height: height, Epoch: r.Epoch, GroupKey: r.GroupKey}
	l.activations = append(l.activations, a)
	return &a
}

// at returns the group key that block number must install, or nil.
func (l *ceremonyLog) at(number uint64) []byte {
	for _, a := range l.activations {
		if a.Height == number {
			return a.GroupKey[:]
		}
	}
	return nil
}

func (c *Chain) applyCeremony(index uint64, entry []byte, replay bool) (*Activation, error) {
	c.mu.RLock()
	err := c.ceremony.admit(entry)
	c.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	result, err := c.app.ApplyCeremony(index, entry, replay)
	if err != nil {
		return nil, fmt.Errorf("ceremony entry: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ceremony.keep(CeremonyRecord{index, append([]byte(nil), entry...)}) // the log may reuse its buffer
	if result == nil {
		return nil, nil
	}
	return c.ceremony.activate(index, c.head.Number, *result), nil
}

// HasCeremonyEntry says whether the entry is in the log and counted. A proposer asks before it proposes one.
func (c *Chain) HasCeremonyEntry(entry []byte) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ceremony.seen[ethcrypto.Keccak256Hash(entry)]
}

// CeremonyRecords returns the ceremony entries that counted, in log order. Callers must not change them.
func (c *Chain) CeremonyRecords() []CeremonyRecord {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.ceremony.records[:len(c.ceremony.records):len(c.ceremony.records)]
}

// Activations returns the group keys agreed on, ascending by height.
func (c *Chain) Activations() []Activation {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return append([]Activation(nil), c.ceremony.activations...)
}

// noApp keeps every entry and never ends a ceremony.
type noApp struct{}

func (noApp) ApplyCeremony(uint64, []byte, bool) (*CeremonyResult, error) { return nil, nil }
func (noApp) RestoreCeremony([]CeremonyRecord)                            {}
