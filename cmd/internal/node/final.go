package node

import (
	"fmt"
	"sync"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// Bounds of what is kept for readers.
const (
	keptCertificates = 4096
	keptEvidence     = 8 // pairs of votes of one validator, each of another height: it must not crowd out the others
)

// finalized is what this node knows of finality: the votes it counts, the newest final block, certificates and evidence.
type finalized struct {
	voters *finality.Voters
	tally  *finality.Tally // owned by the loop

	mu           sync.Mutex // guards what follows
	final        chain.Head // newest block that is certified and applied here
	certificates map[uint64]*finality.Certificate
	newest       uint64 // height of the newest certificate
	evidence     []finality.Evidence
	notVoting    error
}

func newFinalized(g *chain.Genesis) *finalized {
	voters := g.Voters()
	return &finalized{voters: voters, tally: finality.NewTally(voters, 0), certificates: make(map[uint64]*finality.Certificate)}
}

// head is the newest final block; its number is 0 until there is one.
func (f *finalized) head() chain.Head {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.final
}

// keep adds a certificate and forgets those that lie too far below the newest: not each height has one.
func (f *finalized) keep(c *finality.Certificate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.certificates[c.Height] = c
	f.newest = max(f.newest, c.Height)
	for height := range f.certificates { // any order: each is judged alone
		if f.newest-height >= keptCertificates {
			delete(f.certificates, height)
		}
	}
}

// certificate is that of a height, if one is known.
func (f *finalized) certificate(height uint64) (*finality.Certificate, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.certificates[height]
	return c, ok
}

// newestCertificate is that of the highest height, nil if there is none.
func (f *finalized) newestCertificate() *finality.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.certificates[f.newest]
}

// newestWith is that of the highest height which the validator signed, nil if none is known.
func (f *finalized) newestWith(index uint32) (newest *finality.Certificate) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.certificates { // any order: the greatest counts
		if c.Has(index) && (newest == nil || c.Height > newest.Height) {
			newest = c
		}
	}
	return newest
}

// advance compares certificates with what was applied, from the newest down to the block that is final already. The error says that
// they differ.
func (f *finalized) advance(c *chain.Chain) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := max(f.final.Number+1, f.newest-min(f.newest, keptCertificates-1)) // there is no certificate below
	for height := min(f.newest, c.Head().Number); height >= oldest; height-- {
		cert, ok := f.certificates[height]
		block, applied := c.Block(height)
		if !ok || !applied {
			continue
		}
		if block.Hash != cert.Digest {
			return fmt.Errorf("block %d applied here is %s, and %d validators have signed %x: this validator's log is not theirs; keep its folder, "+
				"compare with the others, and start it anew from an empty log if it is the one that differs", height, block.Hash, len(cert.Indices()), cert.Digest)
		}
		f.final = chain.Head{Number: height, Time: block.Block.Header.Time, Hash: block.Hash, StateRoot: block.Block.Header.StateRoot}
		return nil
	}
	return nil
}

// keepEvidence adds a pair of votes, once for each validator and height, and only the first few of a validator.
func (f *finalized) keepEvidence(e finality.Evidence) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := 0
	for _, have := range f.evidence {
		if have.First.Index != e.First.Index {
			continue
		}
		if of++; have.First.Height == e.First.Height || of == keptEvidence {
			return
		}
	}
	f.evidence = append(f.evidence, e)
}

func (f *finalized) refused(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notVoting = err
}

// refusal is why this validator votes for nothing; nil if it votes.
func (f *finalized) refusal() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.notVoting
}

// state is a copy for readers.
func (f *finalized) state() (final chain.Head, evidence []finality.Evidence, notVoting error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.final, append([]finality.Evidence(nil), f.evidence...), f.notVoting
}
