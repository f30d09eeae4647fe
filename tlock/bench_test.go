package tlock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Every benchmark alternates its operation with one blst pairing and reports the ratio of the two as "x-pairing": the
// machine and its load fall out. Targets: fresh encryption 1.5, sealing to one identity 0.35, opening 0.95.

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

// ratio runs op b.N times, n operations each, and reports ops in units of pairings.
func (x bench) ratio(b *testing.B, n int, op func()) {
	var ours, pairing time.Duration
	op() // tables that are built once
	for b.Loop() {
		start := time.Now()
		op()
		middle := time.Now()
		for range n {
			gtSink = bls.Pair(x.p, x.q)
		}
		ours += middle.Sub(start)
		pairing += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(pairing), "x-pairing")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N*n), "µs/op")
	b.ReportMetric(0, "ns/op") // would count the pairing too
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
	var one, two time.Duration
	for b.Loop() {
		start := time.Now()
		x.openAll(b, cts, nil)
		middle := time.Now()
		x.openAll(b, cts, twoCores)
		one += middle.Sub(start)
		two += time.Since(middle)
	}
	b.ReportMetric(float64(one)/float64(two), "x-one-core")
	b.ReportMetric(0, "ns/op")
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
