package tasks

import "runtime"

// Performance sums up what the completed runs of one role cost. A summary without samples says that nothing was measured,
// which is not the same as a measured zero.
type Performance struct {
	Elapsed MeasurementSummary `json:"elapsed_ns"` // always measured
	CPU     MeasurementSummary `json:"cpu_ns"`     // of scheduler steps and watchdogs' work, if the meter knows it
	Memory  MemorySummary      `json:"memory"`     // if the meter knows it
}

// span measures one run: elapsed and CPU time from just before its acceptance until its completion is processed and a
// successor bound; memory is read outside of that.
type span struct {
	rt           *Runtime
	start        Instant
	cpu          uint64
	memory       MemoryReading
	hasCPU       bool
	hasMemory    bool
	ownsOSThread bool
}

func (r *Runtime) open() span {
	s := span{rt: r}
	if r.meter != nil {
		s.memory, s.hasMemory = r.meter.Memory()
		runtime.LockOSThread() // a thread's CPU time is this run's only as long as the run has the thread
		s.ownsOSThread = true
		s.cpu, s.hasCPU = r.meter.ThreadCPU()
	}
	s.start = r.clock.Now()
	return s
}

// freeThread gives the thread back. Without it there is no CPU time.
func (s *span) freeThread() {
	if s.ownsOSThread {
		runtime.UnlockOSThread()
		s.ownsOSThread, s.hasCPU = false, false
	}
}

// record ends the timed interval. The lock is held.
func (s *span) record(p *Performance) {
	end := s.rt.clock.Now()
	if s.hasCPU {
		if cpu, ok := s.rt.meter.ThreadCPU(); ok {
			p.CPU.record(growth(s.cpu, cpu))
		}
	}
	p.Elapsed.record(uint64(end.Since(s.start)))
}

// recordMemory reads the memory after the interval. The lock is not held; p belongs to t.
func (s *span) recordMemory(p *Performance) {
	if !s.hasMemory {
		return
	}
	end, ok := s.rt.meter.Memory()
	if !ok {
		return
	}
	s.rt.mu.Lock()
	defer s.rt.unlock()
	p.Memory.record(s.memory, end)
}
