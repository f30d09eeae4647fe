package tasks

import (
	"context"
	"sync"
)

// Bounds of one runtime.
const (
	MaxRegistrations = 64
	MaxHandles       = 128 // one a task, two a watchdog
)

// Config is what a runtime is made with; the zero Config is a good one.
type Config struct {
	Clock Clock // nil means SystemClock()
	Meter Meter // nil means that only elapsed time is measured
	// MaxConcurrentWork is how many callbacks may run at the same time; more wait their turn. Below 1 it means
	// MaxRegistrations, at which none ever waits.
	MaxConcurrentWork int
	// OnPanic is told of each panic of a callback, with its stack, in the goroutine that panicked, outside the lock and before the
	// attempt ends. It is for the log; if it panics itself, that is dropped. nil means that only the task's snapshot tells.
	OnPanic func(id Identity, value any, stack []byte)
}

// Runtime is a registry of background work. Make it with New, once a process; its methods may be called from everywhere,
// callbacks among them.
type Runtime struct {
	clock   Clock
	meter   Meter
	onPanic func(Identity, any, []byte)
	limit   int // of running
	epoch   uint64
	root    context.Context // what callbacks get; canceled by Shutdown
	cancel  context.CancelFunc

	// mu makes each transition of a task one critical section, arming and stopping of its timers included. No code of
	// others runs under it but the clock's.
	mu       sync.Mutex
	tasks    map[Identity]*task
	claims   uint64    // the last registration number given out
	handles  int       // timers and queued work owned by all tasks
	running  int       // callbacks that run now
	waiting  []*handle // deliveries that wait for a place among the running, in order
	stale    Counter   // deliveries for registrations that are gone
	released []func()  // release hooks to call once mu is free
	stopping bool
	idle     chan struct{} // made by Shutdown, closed when nothing runs
}

// New makes a runtime. It starts no goroutine.
func New(cfg Config) *Runtime {
	if cfg.Clock == nil {
		cfg.Clock = SystemClock()
	}
	if cfg.MaxConcurrentWork < 1 {
		cfg.MaxConcurrentWork = MaxRegistrations
	}
	r := &Runtime{clock: cfg.Clock, meter: cfg.Meter, onPanic: cfg.OnPanic, limit: cfg.MaxConcurrentWork,
		epoch: max(uint64(cfg.Clock.Now()), 1), tasks: make(map[Identity]*task)}
	r.root, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *Runtime) ready() error {
	if r == nil || r.clock == nil {
		return ErrNotInitialized
	}
	return nil
}

// Epoch tells this runtime from one of an earlier or later process: it is the Instant at which it was made, never 0.
func (r *Runtime) Epoch() uint64 {
	if r.ready() != nil {
		return 0
	}
	return r.epoch
}

// Now is the runtime's clock, whose Instants At and ScheduleAt take.
func (r *Runtime) Now() Instant {
	if r.ready() != nil {
		return 0
	}
	return r.clock.Now()
}

// unlock frees mu and then calls the release hooks that the critical section left, so that they may use the runtime.
func (r *Runtime) unlock() {
	hooks := r.released
	r.released = nil
	r.mu.Unlock()
	for _, hook := range hooks {
		hook()
	}
}
