//go:build !linux

package tasks

// threadCPU is absent: package syscall has no portable reading of a thread's CPU time.
func threadCPU() (uint64, bool) { return 0, false }
