package tasks

import "sync/atomic"

var process atomic.Pointer[Runtime]

// InitializeRuntime gives the process's own runtime, made with the zero Config by the first call; later calls give the same
// one and change nothing. Who builds a daemon by hand makes a runtime with New and passes it down instead.
func InitializeRuntime() *Runtime {
	if r := process.Load(); r != nil {
		return r
	}
	process.CompareAndSwap(nil, New(Config{}))
	return process.Load()
}

// DefaultRuntime is the runtime that InitializeRuntime made; before that it is ErrNotInitialized.
func DefaultRuntime() (*Runtime, error) {
	if r := process.Load(); r != nil {
		return r, nil
	}
	return nil, ErrNotInitialized
}
