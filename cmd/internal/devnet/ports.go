package devnet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Ports are taken from below those that systems give to outgoing connections (32768 and up on Linux, 49152 on others): a
// validator that is restarted must find its port free, and one of those may have gone to anybody meanwhile.
const (
	lowestPort  = 10_000
	highestPort = 32_000
)

// portTries bounds how many taken ports are passed over for each free one.
const portTries = 64

// freePorts returns n TCP ports of the loopback interface that are free now, all different. Another program may take one
// before the validator does; that validator then says which.
func freePorts(n int) ([]int, error) {
	var (
		held  []net.Listener
		ports []int
		errs  error
	)
	for tries := n * portTries; len(ports) < n; tries-- {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if errors.Is(err, syscall.EADDRINUSE) && tries > 0 {
			continue
		}
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("looking for a free port: %w", err))
			break
		}
		held = append(held, l)
		ports = append(ports, port)
	}
	for _, l := range held { // only now, so that no port comes twice
		errs = errors.Join(errs, l.Close())
	}
	return ports, errs
}
