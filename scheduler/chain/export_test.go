package chain

import (
	"errors"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// Reroot makes a block's header fit its transactions and update.
func Reroot(b *Block) {
	b.Header.TxRoot = b.txRoot()
	b.Header.BeaconRoot = updateRoot(&b.Update)
}

// Reexecute makes a block without users' transactions what its proposer would have made of its number, time and update, were
// they allowed: leading transactions, receipts and roots. It then breaks no rule but those about these.
func Reexecute(c *Chain, b *Block) error {
	proposer, _ := c.genesis.Validator(b.Header.Proposer)
	x, err := c.execute(c.host.Fork(), b.Header.Number, b.Header.Time, proposer, &b.Update)
	if err != nil {
		return err
	}
	x.leading()
	b.Transactions = x.txs
	b.Header.StateRoot = x.end(c.run)
	b.Header.ReceiptsRoot = receiptsRoot(x.receipts)
	Reroot(b)
	return nil
}

// Manifest is the header's timer manifest as it is hashed.
func Manifest(h *Header) []byte { return h.manifest() }

// Transplant puts the state of one snapshot into another.
func Transplant(into, from []byte) ([]byte, error) {
	var a, b snapshot
	if err := errors.Join(rlp.DecodeBytes(into, &a), rlp.DecodeBytes(from, &b)); err != nil {
		return nil, err
	}
	a.State = b.State
	return rlp.EncodeToBytes(&a)
}

// WriteItem writes an oracle item into the head's state, as a feed would in the head's block.
func WriteItem(c *Chain, item, value scheduler.Word) {
	c.mu.Lock()
	defer c.mu.Unlock()
	host := c.host.Fork()
	host.Write(item, value, false, false)
	c.host = host.Fork()
}
