package chain

// Reroot makes a block's header fit its transactions and update.
func Reroot(b *Block) {
	b.Header.TxRoot = b.txRoot()
	b.Header.BeaconRoot = updateRoot(&b.Update)
}

// Manifest is the header's timer manifest as it is hashed.
func Manifest(h *Header) []byte { return h.manifest() }
