package tasks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// BenchmarkArmFireStop lets a timer be armed and fire, each call arming the next, and then lets as many be armed and stopped:
// with bare time.AfterFunc, and with a Once task. Both are measured in turn in one run, so that a busy machine slows both
// alike; x-afterfunc is the ratio of the medians of their times.
func BenchmarkArmFireStop(b *testing.B) {
	const batch = 200
	done := make(chan struct{})

	left := 0
	var fire func()
	fire = func() {
		if left--; left == 0 {
			done <- struct{}{}
		} else {
			time.AfterFunc(0, fire)
		}
	}
	bare := func() {
		left = batch
		time.AfterFunc(0, fire)
		<-done
		for range batch {
			time.AfterFunc(time.Hour, fire).Stop()
		}
	}

	rt := tasks.New(tasks.Config{})
	register := func(name string, f tasks.OnceFunc) *tasks.OnceRegistration {
		return must(rt.RegisterOnce(tasks.MustIdentity("bench", "timer", name), tasks.Retained(nil), f))(&testing.T{})
	}
	fires := register("fires", func(context.Context, *tasks.OnceContext) tasks.OnceResult {
		if left--; left == 0 {
			done <- struct{}{}
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		}
		return tasks.NewOnceResult(tasks.Success(1), tasks.ContinueImmediately())
	})
	stops := register("stops", idleOnce)
	ours := func() {
		left = batch
		if err := fires.EnsureScheduled(tasks.Immediately()); err != nil {
			b.Error(err)
		}
		<-done
		for range batch {
			if err := stops.EnsureScheduled(tasks.After(time.Hour)); err != nil {
				b.Error(err)
			}
			if err := stops.Cancel(); err != nil {
				b.Error(err)
			}
		}
	}

	var took [2][]time.Duration
	for b.Loop() {
		for i, f := range []func(){bare, ours} {
			began := time.Now()
			f()
			took[i] = append(took[i], time.Since(began))
		}
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2])
	}
	b.ReportMetric(median(took[1])/median(took[0]), "x-afterfunc")
	b.ReportMetric(median(took[1])/batch, "ns/task")
	if err := rt.Shutdown(time.Second); err != nil {
		b.Error(err)
	}
}
