//go:build !linux

package devnet

import "syscall"

// childAttr puts the child into its own process group, so that Ctrl-C reaches the supervisor alone, which then stops the
// children in order.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
