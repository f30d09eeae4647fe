package chain

import (
	"bytes"
	"fmt"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// applyBlock checks a block against every rule that depends on the chain alone and makes it the head. If it breaks one the
// error says which, and nothing has changed: every validator skips it. A height is applied once, so a replayed block is
// ErrStale. Only the log's goroutine changes the chain, so the block runs without the lock.
func (c *Chain) applyBlock(b *Block) (*Applied, error) {
	if err := c.checkHeader(b); err != nil {
		return nil, fmt.Errorf("block %d: %w", b.Header.Number, err)
	}
	host := c.host.Fork()
	x, err := c.replayBody(host, b)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", b.Header.Number, err)
	}
	applied := newApplied(b, x.receipts)
	c.mu.Lock()
	c.host = host
	c.head = Head{Number: b.Header.Number, Time: b.Header.Time, Hash: applied.Hash, StateRoot: b.Header.StateRoot}
	c.last = b
	c.blocks.add(applied)
	c.mu.Unlock()
	c.pool.advance(b.Header.Number, x.senders)
	return applied, nil
}

// checkHeader checks what needs no execution.
func (c *Chain) checkHeader(b *Block) error {
	h := &b.Header
	switch {
	case h.ChainID != c.genesis.ChainID:
		return fmt.Errorf("%w: chain id %d, this is %d", ErrInvalid, h.ChainID, c.genesis.ChainID)
	case h.Number <= c.head.Number:
		return fmt.Errorf("%w: the chain is at %d", ErrStale, c.head.Number)
	case h.Number != c.head.Number+1:
		return fmt.Errorf("%w: the next block is %d", ErrInvalid, c.head.Number+1)
	case h.Parent != c.head.Hash:
		return fmt.Errorf("%w: parent is %s, the head is %s", ErrInvalid, h.Parent, c.head.Hash)
	case h.Time <= c.head.Time:
		return fmt.Errorf("%w: timestamp %d is not above its parent's %d", ErrInvalid, h.Time, c.head.Time)
	case h.TimersCommit || len(h.TimerIDs) != 0:
		return fmt.Errorf("%w: a timer manifest, and this chain has no timers", ErrInvalid)
	case h.TxRoot != b.txRoot():
		return fmt.Errorf("%w: transactions do not match the header", ErrInvalid)
	case h.BeaconRoot != updateRoot(&b.Update):
		return fmt.Errorf("%w: beacon update does not match the header", ErrInvalid)
	case !bytes.Equal(b.Update.GroupKey, c.ceremony.at(h.Number)):
		return fmt.Errorf("%w: group key %x, the ceremonies say %x at this height", ErrInvalid, b.Update.GroupKey, c.ceremony.at(h.Number))
	}
	if err := b.checkBounds(); err != nil {
		return err
	}
	return h.VerifyProposer(c.genesis, c.genesisHash, b.Signature)
}

// replayBody executes the block on host and compares what comes out with what the block says.
func (c *Chain) replayBody(host *memory.Host, b *Block) (*execution, error) {
	proposer, _ := c.genesis.Validator(b.Header.Proposer) // its signature verified
	x, err := c.execute(host, b.Header.Number, b.Header.Time, proposer, &b.Update)
	if err != nil {
		return nil, err
	}
	if err := checkLeading(b.Transactions, x.runs, c.genesis.ChainID); err != nil {
		return nil, err
	}
	users, err := decodeUsers(b.Transactions[len(x.runs):], c.genesis.ChainID, c.run)
	if err != nil {
		return nil, err
	}
	x.leading()
	for _, tx := range users {
		if err := x.user(tx); err != nil {
			return nil, err
		}
	}
	switch root := x.end(c.run); {
	case b.Header.ReceiptsRoot != receiptsRoot(x.receipts):
		return nil, fmt.Errorf("%w: receipts do not match the header", ErrInvalid)
	case b.Header.StateRoot != root:
		return nil, fmt.Errorf("%w: state root is %s, the header says %s", ErrInvalid, root, b.Header.StateRoot)
	}
	return x, nil
}

// checkLeading demands that the block begins with exactly the transactions derived from the state (S-SEL-02).
func checkLeading(txs [][]byte, runs []scheduler.Run, chainID uint64) error {
	if len(txs) < len(runs) {
		return fmt.Errorf("%w: %d transactions, the state derives %d leading ones", ErrInvalid, len(txs), len(runs))
	}
	for i, run := range runs {
		if !bytes.Equal(txs[i], run.Encode(chainID)) {
			return fmt.Errorf("%w: leading transaction %d is not that of entry %d", ErrInvalid, i, run.ID)
		}
	}
	return nil
}

// decodeUsers checks the transactions after the leading ones. One of type 0x7e among them makes the block invalid (S-SEL-03).
func decodeUsers(raw [][]byte, chainID uint64, run scheduler.Runner) ([]*Tx, error) {
	txs, errs := make([]*Tx, len(raw)), make([]error, len(raw))
	spread(run, len(raw), func(i int) { txs[i], errs[i] = DecodeTx(chainID, raw[i]) })
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return txs, nil
}

func spread(run scheduler.Runner, n int, f func(i int)) {
	if run != nil {
		run(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}
