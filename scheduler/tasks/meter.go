package tasks

import "runtime/metrics"

// Meter reads what a run costs beyond its elapsed time, which the runtime takes from its clock. Both readings may be
// absent, which is not the same as zero. The methods must be quick and are called from many goroutines.
type Meter interface {
	// ThreadCPU is the CPU time that the calling thread has used, in nanoseconds.
	ThreadCPU() (ns uint64, ok bool)
	// Memory is the process's memory as it is now.
	Memory() (reading MemoryReading, ok bool)
}

// MemoryReading is the process's memory at one moment, in bytes. It is the whole process's: work that runs at the same time
// shows in it.
type MemoryReading struct {
	Heap      uint64  `json:"heap"`            // live and not yet collected objects
	Allocated uint64  `json:"allocated"`       // allocated since the process started; it never falls
	Store     *uint64 `json:"store,omitempty"` // the size of the daemon's store; absent without a StoreSizer
}

// StoreSizer tells how large a daemon's store is, in bytes.
type StoreSizer interface {
	StoreSize() (bytes uint64, ok bool)
}

type processMeter struct{ store StoreSizer }

// ProcessMeter reads the heap through runtime/metrics, the thread's CPU time where the system tells it (Linux), and the
// store's size from store, which may be nil. It costs a few microseconds a run.
func ProcessMeter(store StoreSizer) Meter { return processMeter{store} }

func (processMeter) ThreadCPU() (uint64, bool) { return threadCPU() }

func (m processMeter) Memory() (MemoryReading, bool) {
	samples := [2]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples[:])
	if samples[0].Value.Kind() != metrics.KindUint64 || samples[1].Value.Kind() != metrics.KindUint64 {
		return MemoryReading{}, false
	}
	reading := MemoryReading{Heap: samples[0].Value.Uint64(), Allocated: samples[1].Value.Uint64()}
	if m.store != nil {
		if size, ok := m.store.StoreSize(); ok {
			reading.Store = &size
		}
	}
	return reading, true
}
