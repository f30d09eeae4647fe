package devnet

import "syscall"

// childAttr puts the child into its own process group, so that Ctrl-C reaches the supervisor alone, which then stops the
// children in order; and ties its life to the supervisor's, so that a killed supervisor leaves nothing running. (The
// kernel sends the signal when the parent's *thread* ends: see Cluster.spawn.)
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
