package tasks_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// world is a runtime on a manual clock.
type world struct {
	*testing.T
	clock *manual
	rt    *tasks.Runtime
}

func newWorld(t *testing.T) *world { return newWorldWith(t, tasks.Config{}) }

func newWorldWith(t *testing.T, cfg tasks.Config) *world {
	clock := newManual()
	cfg.Clock = clock
	return &world{t, clock, tasks.New(cfg)}
}

// bubble runs f in a bubble of its own time. It does so on one processor: the race detector's context for a bubble's timers is
// one for all of them, and crashes (in Go 1.26.8) when two processors fire some at the same time.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	t.Run("in a bubble", func(t *testing.T) { synctest.Test(t, f) })
}

var job = tasks.MustIdentity("test", "unit", "job")

func ptr[T any](v T) *T { return &v }

// at is d after the manual clock's start.
func at(d time.Duration) tasks.Instant { return tasks.Instant(origin + uint64(d)) }

func (w *world) once(s tasks.Start, f tasks.OnceFunc, opts ...tasks.Option) *tasks.OnceRegistration {
	w.Helper()
	return must(w.rt.RegisterOnce(job, s, f, opts...))(w.T)
}

func (w *world) after(cadence time.Duration, s tasks.Start, f tasks.AfterCompletionFunc) *tasks.AfterCompletionRegistration {
	w.Helper()
	return must(w.rt.RegisterAfterCompletion(job, cadence, s, f))(w.T)
}

func (w *world) watchdog(cadence time.Duration, s tasks.Start, f tasks.WatchdogFunc, opts ...tasks.Option) *tasks.WatchdogRegistration {
	w.Helper()
	return must(w.rt.RegisterWatchdog(job, cadence, s, f, opts...))(w.T)
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) is(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Fatalf("got error %v, want %v", err, want)
	}
}

// see is the snapshot of the task named job.
func (w *world) see() tasks.Snapshot {
	w.Helper()
	s, ok := w.rt.Snapshot(job)
	if !ok {
		w.Fatal("the task is gone")
	}
	return s
}

func (w *world) gone() {
	w.Helper()
	if _, ok := w.rt.Snapshot(job); ok {
		w.Fatal("the task is still there")
	}
}

// scheduled checks that the task waits for a wake-up at d after the start.
func (w *world) scheduled(d time.Duration) {
	w.Helper()
	s := w.see()
	if s.State != tasks.StateScheduled || s.Wakeup.Deadline != at(d) {
		w.Fatalf("got %s, wake-up %v; want scheduled at %v", s.State, s.Wakeup, d)
	}
}

func (w *world) inactive(reason tasks.InactiveReason) {
	w.Helper()
	s := w.see()
	if s.State != tasks.StateInactive || s.Reason != reason {
		w.Fatalf("got %s (%s), want inactive (%s)", s.State, s.Reason, reason)
	}
}

func (w *world) handles(n int) {
	w.Helper()
	if got := w.rt.Inventory().Handles; got != n {
		w.Fatalf("%d handles, want %d", got, n)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// counters checks all counters: those not in want must be 0.
func (w *world) counters(want tasks.Counters) {
	w.Helper()
	if got := w.see().Counters; got != want {
		w.Fatalf("counters\n got %+v\nwant %+v", got, want)
	}
}

func idleOnce(context.Context, *tasks.OnceContext) tasks.OnceResult {
	return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
}

func idleAfter(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
	return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.RecurAfterCompletion())
}

func idleWatchdog(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
	return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
}
