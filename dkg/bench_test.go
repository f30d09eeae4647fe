//go:build unix

package dkg_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// BenchmarkCeremony plays whole ceremonies in memory, from making the machines to the result on all of them, each node decoding
// and checking every entry for itself. x-pairing is the time per node and ceremony in medians of blst pairings, which take turns
// with the
// ceremonies. Processor time is counted, so that other work on the machine changes it little.
func BenchmarkCeremony(b *testing.B) {
	for _, n := range []int{4, 16, 32} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			p, q := bls.G1Generator(), bls.G2Generator()
			var ceremony time.Duration
			var pairing []time.Duration
			for b.Loop() {
				for range 10 {
					start := cpuTime(b)
					bls.Pair(p, q)
					pairing = append(pairing, cpuTime(b)-start)
				}
				start := cpuTime(b)
				c := newCluster(b, n, nil)
				c.machines = c.machines[:n] // without the observer
				c.begin()
				for c.machines[0].Result() == nil {
					c.flush()
				}
				ceremony += cpuTime(b) - start
			}
			slices.Sort(pairing)
			perNode := float64(ceremony) / float64(b.N*n)
			b.ReportMetric(perNode/float64(pairing[len(pairing)/2]), "x-pairing")
			b.ReportMetric(perNode/1e6, "ms/node")
		})
	}
}

// cpuTime returns the processor time that the process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
