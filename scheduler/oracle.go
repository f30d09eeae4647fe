package scheduler

// OracleAddress is the account of the oracle catalog, 0x…fd, as this project places it; document 002 gives it no address.
var OracleAddress = Addr{19: 0xfd}

// Oracle is the oracle catalog as the scheduler reads it (document 002, "Conditional entries"). An item is named by keccak256 of its
// name. Listing, writes and flags are the catalog's business.
type Oracle interface {
	// Item is what the catalog knows of an item, and whether it lists it. The height and time of an item's latest write never fall,
	// not even if the item leaves the catalog and comes back.
	Item(item Word) (it Item, listed bool)
}

// Item is the state of one catalog item. Several writes in one block count as the last.
type Item struct {
	Value    Word // uint256, big-endian
	Halted   bool
	Disputed bool
	Written  bool   // there is a write; else the fields below mean nothing
	Height   uint64 // of the block with the latest write
	Time     uint64 // that block's timestamp
}
