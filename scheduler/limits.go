package scheduler

import "fmt"

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
	MaxCalls         = 8
	MaxEncodedCalls  = 4096 // bytes of abi.encode(Call[]) of an open entry
	MinCiphertext    = 173  // bytes; 172 is the overhead of an empty body
	MaxCiphertext    = 4268
	MaxDependencies  = 8
	spillKeys        = 8 // a retry or moved entry takes the first of these with room
	bpsWhole         = 10_000
	maxSpan          = 1 << 61 // horizon and late window stay below: with maxBlockTime no key reaches bit 62
	maxBlockTime     = 1 << 60 // timestamps and heights stay below
	callOverhead     = 10_000  // gas for making one call
	captureGas       = 150_000 // gas for capturing a reserve
	missedAfterSlots = GraceSlots + 1
)

// Limits bound the work of one block (document 002, "Halts and catch-up" and "Conditional entries"). They are the protocol's; tests
// make them smaller to reach them.
type Limits struct {
	Scan            uint64 // slots scanned per block, and heights (S-CUR-02)
	Reads           uint64 // queued entries read per block, heights and slots together (S-CUR-03)
	Watchers        uint64 // watchers evaluated per block (S-CON-12)
	WatchersPerItem uint64 // watchers an item may have (S-SCH-19)
}

// DefaultLimits are the protocol's.
func DefaultLimits() Limits {
	return Limits{Scan: 4096, Reads: 1024, Watchers: 1024, WatchersPerItem: 256}
}

// WithLimits is the machine with other limits, each at least 1 and at most the protocol's. A state belongs to the limits it was
// installed under, as it does to the policy.
func (m *Machine) WithLimits(l Limits) (*Machine, error) {
	d := DefaultLimits()
	for _, c := range []struct {
		name       string
		value, max uint64
	}{
		{"scan", l.Scan, d.Scan}, {"reads", l.Reads, d.Reads}, {"watchers", l.Watchers, d.Watchers},
		{"watchers per item", l.WatchersPerItem, d.WatchersPerItem},
	} {
		if c.value == 0 || c.value > c.max {
			return nil, fmt.Errorf("scheduler limits: %s is %d, must be from 1 to %d", c.name, c.value, c.max)
		}
	}
	with := *m
	with.limits = l
	return &with, nil
}
