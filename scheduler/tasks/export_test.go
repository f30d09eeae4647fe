package tasks

import "math"

// What only a test may do: begin near the end of what counts.

// ForgetDefault undoes InitializeRuntime.
func ForgetDefault() { process.Store(nil) }

// ExhaustClaims leaves one registration number.
func (r *Runtime) ExhaustClaims() { r.claims = math.MaxUint64 - 1 }

// ExhaustGenerations leaves the task n timers.
func (r *Runtime) ExhaustGenerations(id Identity, n uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks[id].generation = math.MaxUint64 - n
}

// TakeHandles makes the runtime believe that n more handles are owned.
func (r *Runtime) TakeHandles(n int) { r.handles += n }

// Increment is a counter after one more event.
func (c Counter) Increment() Counter { c.inc(); return c }

// SetCounters sets the task's counters.
func (r *Runtime) SetCounters(id Identity, c Counters) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tasks[id].counters = c
}

// Record is a summary after one more sample.
func (m MeasurementSummary) Record(v uint64) MeasurementSummary { m.record(v); return m }

// SummaryAt is a summary with that many samples and total.
func SummaryAt(samples, hi, lo uint64) MeasurementSummary {
	return MeasurementSummary{samples: samples, hi: hi, lo: lo}
}

// RecordMemory is a summary after one more run.
func (m MemorySummary) RecordMemory(start, end MemoryReading) MemorySummary {
	m.record(start, end)
	return m
}
