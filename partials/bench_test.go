//go:build unix

package partials_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// perPairing measures f and a pairing in turn and reports the ratio of their medians. It counts processor time, so that other
// work on the machine and another processor change it little.
func perPairing(b *testing.B, f func()) {
	point, q := bls.G1Generator(), bls.HashToG2([]byte("pairing"), []byte("bench"))
	var own, pairing []time.Duration
	for b.Loop() {
		start := cpuTime(b)
		f()
		middle := cpuTime(b)
		bls.Pair(point, q)
		own, pairing = append(own, middle-start), append(pairing, cpuTime(b)-middle)
	}
	slices.Sort(own)
	slices.Sort(pairing)
	median := own[len(own)/2]
	b.ReportMetric(float64(median)/float64(pairing[len(pairing)/2]), "x-pairing")
	b.ReportMetric(float64(median.Nanoseconds()), "ns/op") // without the pairing
}

// cpuTime returns the processor time that the process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchCluster(b *testing.B, n int) (*cluster, *partials.Prepared, []partials.Partial) {
	c := newCluster(b, n, partials.Threshold(n))
	p := partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(7))
	return c, p, c.sign(p)
}

// BenchmarkRecover: from wire bytes, nobody cheats, identity prepared. Must at t=67: 12.5.
func BenchmarkRecover(b *testing.B) {
	for _, n := range []int{4, 10, 50, 100} {
		b.Run(fmt.Sprintf("t=%d/n=%d", partials.Threshold(n), n), func(b *testing.B) {
			c, p, parts := benchCluster(b, n)
			perPairing(b, func() {
				if _, _, err := c.group.Recover(p, parts, nil); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkVerifyBatch of 100. Aims: decoded 10, from wire bytes 26.
func BenchmarkVerifyBatch(b *testing.B) {
	c, p, parts := benchCluster(b, 100)
	b.Run("n=100/decoded", func(b *testing.B) {
		d := partials.NewDecoded(b, c.group, p, parts)
		perPairing(b, func() {
			if bad := d.Bad(); bad != nil {
				b.Fatal(bad)
			}
		})
	})
	b.Run("n=100/wire", func(b *testing.B) {
		perPairing(b, func() {
			if bad := c.group.VerifyBatch(p, parts, nil); bad != nil {
				b.Fatal(bad)
			}
		})
	})
}

// BenchmarkBlame finds bad ones among 67 decoded partials, spread evenly.
func BenchmarkBlame(b *testing.B) {
	c, p, parts := benchCluster(b, 100)
	for _, bad := range []int{1, 5, 33} {
		b.Run(fmt.Sprintf("n=67/bad=%d", bad), func(b *testing.B) {
			spoiled := slices.Clone(parts[:67])
			for i := range bad {
				at := (2*i + 1) * 67 / (2 * bad)
				spoiled[at].Sig = badnesses[0].spoil(c, parts, at)
			}
			d := partials.NewDecoded(b, c.group, p, spoiled)
			perPairing(b, func() {
				if got := d.Bad(); len(got) != bad {
					b.Fatal(got)
				}
			})
		})
	}
}

func BenchmarkSign(b *testing.B) {
	c, p, _ := benchCluster(b, 4)
	b.Run("hash=fresh", func(b *testing.B) {
		perPairing(b, func() { c.shares[0].Sign(partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(7))) })
	})
	b.Run("hash=prepared", func(b *testing.B) {
		perPairing(b, func() { c.shares[0].Sign(p) })
	})
}

func BenchmarkVerifyPartial(b *testing.B) {
	c, p, parts := benchCluster(b, 4)
	perPairing(b, func() {
		if err := c.group.VerifyPartial(p, parts[0]); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkNewGroup(b *testing.B) {
	c, _, _ := benchCluster(b, 100)
	commitments := c.group.Commitments()
	b.Run("n=100", func(b *testing.B) {
		perPairing(b, func() {
			if _, err := partials.NewGroup(c.group.Namespace(), 1, 100, commitments); err != nil {
				b.Fatal(err)
			}
		})
	})
}
