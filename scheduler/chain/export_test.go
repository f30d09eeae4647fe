package chain

// Reroot makes a block's header fit its transactions and update.
func Reroot(b *Block) {
	b.Header.TxRoot = b.txRoot()
	b.Header.BeaconRoot = updateRoot(&b.Update)
}
