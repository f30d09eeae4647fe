package chain

import (
	"errors"

	"github.com/ethereum/go-ethereum/rlp"
)

// Reroot makes a block's header fit its transactions and update.
func Reroot(b *Block) {
	b.Header.TxRoot = b.txRoot()
	b.Header.BeaconRoot = updateRoot(&b.Update)
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
