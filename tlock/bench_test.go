package tlock_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Every benchmark alternates its operation with one blst pairing and reports the median ratio of the two as "x-pairing":
// the machine and most of its load fall out. Targets: fresh encryption 1.5, sealing to one identity 0.35, opening 0.95.

type bench struct {
	ns     tlock.Namespace
	gk     tlock.GroupKey
	id     tlock.Identity
	sealer *tlock.Sealer
	opener *tlock.Opener
	p      bls.G1
	q      bls.G2
}

func newBench(b *testing.B) bench {
	ns, gk, secret := network(b)
	id := tlock.SlotIdentity(1800000000)
	x := bench{ns: ns, gk: gk, id: id, p: gk.Point(), q: ns.Point(id)}
	x.sealer = tlock.NewSealer(ns, gk, id)
	x.opener = tlock.NewOpener(keyOf(b, ns, secret, id))
	return x
}

var gtSink bls.GT

// ratio runs op b.N times, n operations each, and reports an operation in units of pairings.
func (x bench) ratio(b *testing.B, n int, op func()) {
	op() // tables that are built once
	pair := func() {
		for range n {
			gtSink = bls.Pair(x.p, x.q)
		}
	}
	b.ReportMetric(medianRatio(b, op, pair), "x-pairing")
}

// medianRatio alternates two functions and returns the median of time(f) / time(g).
func medianRatio(b *testing.B, f, g func()) float64 {
	var ratios []float64
	for b.Loop() {
		start := time.Now()
		f()
		middle := time.Now()
		g()
		ratios = append(ratios, float64(middle.Sub(start))/float64(time.Since(middle)))
	}
	b.ReportMetric(0, "ns/op") // would count both
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func BenchmarkEncryptFresh(b *testing.B) {
	x := newBench(b)
	slot := uint64(0)
	x.ratio(b, 1, func() {
		slot++
		if _, err := tlock.Encrypt(x.ns, x.gk, tlock.SlotIdentity(slot), &[32]byte{}); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkSealSame(b *testing.B) {
	x := newBench(b)
	x.ratio(b, 1, func() {
		if _, err := x.sealer.Seal(&[32]byte{}); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	x := newBench(b)
	ct := x.sealed(b, 1)[0]
	x.ratio(b, 1, func() {
		if _, err := x.opener.Open(ct); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOpenMany(b *testing.B) {
	x := newBench(b)
	cts := x.sealed(b, 64)
	for cores, run := range map[int]tlock.Runner{1: nil, 2: twoCores} {
		b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
			x.ratio(b, len(cts), func() { x.openAll(b, cts, run) })
		})
	}
}

// BenchmarkOpenManySpeedup alternates one goroutine with two and reports how many times faster two are; target 1.9.
func BenchmarkOpenManySpeedup(b *testing.B) {
	x := newBench(b)
	cts := x.sealed(b, 64)
	ratio := medianRatio(b, func() { x.openAll(b, cts, nil) }, func() { x.openAll(b, cts, twoCores) })
	b.ReportMetric(ratio, "x-one-core")
}

func (x bench) openAll(b *testing.B, cts []tlock.Ciphertext, run tlock.Runner) {
	_, errs := x.opener.OpenMany(cts, run)
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (x bench) sealed(b *testing.B, n int) []tlock.Ciphertext {
	cts := make([]tlock.Ciphertext, n)
	for i := range cts {
		var err error
		if cts[i], err = x.sealer.Seal(&[32]byte{byte(i)}); err != nil {
			b.Fatal(err)
		}
	}
	return cts
}
