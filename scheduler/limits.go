package scheduler

// Queue keys (document 002, "Interface" and "Conditional entries"; S-ITF-05): a slot is its timestamp, a height has HeightKey
// set, and WatchKey alone stands for an entry that waits for an oracle write.
const (
	HeightKey uint64 = 1 << 63
	WatchKey  uint64 = 1 << 62
)

// GraceSlots is how long after its slot has ended a sealed entry waits for its key (document 002, "Opening").
const GraceSlots = 30

// Limits of one entry and of one block (document 002; S-SCH-10..16, S-CUR-02/03, S-CAP-03).
const (
	MaxCalls        = 8
	MaxEncodedCalls = 4096 // bytes of abi.encode(Call[]) of an open entry
	MinCiphertext   = 173  // bytes; 172 is the overhead of an empty body
	MaxCiphertext   = 4268
	MaxDependencies = 8
	spillKeys       = 8    // a retry or moved entry takes the first of these with room
	maxScannedKeys  = 4096 // slots per block, and heights per block
	maxQueueReads   = 1024 // queued entries read per block, heights and slots together

	maxWatchersPerItem = 256
	maxWatchers        = 1024 // evaluated per block

	bpsWhole         = 10_000
	maxSpan          = 1 << 61 // horizon and late window stay below: with maxBlockTime no key reaches bit 62
	maxBlockTime     = 1 << 60 // timestamps and heights stay below
	callOverhead     = 10_000  // gas for making one call
	captureGas       = 150_000 // gas for capturing a reserve
	missedAfterSlots = GraceSlots + 1
)
