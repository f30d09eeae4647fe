package devnet

import (
	"errors"
	"fmt"
	"net"
)

// freePorts returns n TCP ports of the loopback interface that are free now, all different. Another program may take one
// before the validator does; that validator then says which.
func freePorts(n int) ([]int, error) {
	var (
		held  []net.Listener
		ports []int
		errs  error
	)
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("looking for a free port: %w", err))
			break
		}
		held = append(held, l)
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	for _, l := range held { // only now, so that no port comes twice
		errs = errors.Join(errs, l.Close())
	}
	return ports, errs
}
