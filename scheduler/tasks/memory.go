package tasks

// MemorySummary sums up the memory readings of completed runs. Counts stay at their greatest value, as counters do.
type MemorySummary struct {
	Samples Counter `json:"samples"`
	// Start and End are the readings of the latest run; nil without samples.
	Start *MemoryReading `json:"start,omitempty"`
	End   *MemoryReading `json:"end,omitempty"`
	// MaxHeapGrowth and MaxStoreGrowth are the greatest growths seen; a run during which the memory shrank counts as 0. They
	// are nil without samples, and MaxStoreGrowth also while no run had the store's size at both ends.
	MaxHeapGrowth  *uint64 `json:"max_heap_growth,omitempty"`
	MaxStoreGrowth *uint64 `json:"max_store_growth,omitempty"`
	// Allocated sums up the bytes allocated during each run.
	Allocated MeasurementSummary `json:"allocated"`
}

func (m *MemorySummary) record(start, end MemoryReading) {
	m.Samples.inc()
	m.Start, m.End = &start, &end
	m.MaxHeapGrowth = greater(m.MaxHeapGrowth, growth(start.Heap, end.Heap))
	if start.Store != nil && end.Store != nil {
		m.MaxStoreGrowth = greater(m.MaxStoreGrowth, growth(*start.Store, *end.Store))
	}
	m.Allocated.record(growth(start.Allocated, end.Allocated))
}

// copied shares no pointer with m that m could write through.
func (m MemorySummary) copied() MemorySummary {
	m.Start, m.End = copyReading(m.Start), copyReading(m.End)
	m.MaxHeapGrowth, m.MaxStoreGrowth = copyOf(m.MaxHeapGrowth), copyOf(m.MaxStoreGrowth)
	return m
}

func copyReading(r *MemoryReading) *MemoryReading {
	out := copyOf(r)
	if out != nil {
		out.Store = copyOf(out.Store)
	}
	return out
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func growth(start, end uint64) uint64 { return max(start, end) - start }

func greater(old *uint64, v uint64) *uint64 {
	if old != nil && *old >= v {
		return old
	}
	return &v
}
