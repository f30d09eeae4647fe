package tasks_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var watchdogTests = []requirement{
	{"R-40 the successor is armed before the work starts, in a delivery of its own", func(w *world) {
		var trace []string
		w.clock.onArm = func(d time.Duration) { trace = append(trace, d.String()) }
		w.watchdog(10*time.Second, tasks.RetainedAt(tasks.After(time.Second)), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			trace = append(trace, "work")
			s := w.see()
			equal(w.T, "state", s.State, tasks.StateAwaitingWork)
			equal(w.T, "attempt", s.Attempt.State, tasks.AttemptRunning)
			equal(w.T, "started", *s.Attempt.StartedAt, at(time.Second))
			equal(w.T, "successor", s.Wakeup.Deadline, at(11*time.Second))
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
		})
		w.clock.holdZero = true
		w.clock.advance(time.Second)
		s := w.see()
		equal(w.T, "attempt", s.Attempt.State, tasks.AttemptDispatched)
		equal(w.T, "scheduler steps", s.Counters.SchedulerStarted, 1)
		equal(w.T, "starts", s.Counters.WorkStarted, 0)
		w.clock.release()
		want := []string{"1s", "10s", "0s", "work"}
		if len(trace) != 4 || trace[0] != want[0] || trace[1] != want[1] || trace[2] != want[2] || trace[3] != want[3] {
			w.Fatalf("got %v, want %v", trace, want)
		}
	}},
	{"R-41 the scheduler step calls no code of the owner and allocates little", func(w *world) {
		w.clock.holdZero = true
		calls := 0
		w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			calls++
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
		}, tasks.OnRelease(func() { calls++ }))
		w.clock.advance(time.Second)
		allocs := testing.AllocsPerRun(100, func() { w.clock.advance(time.Second) }) // each a step that retires the queued attempt
		equal(w.T, "calls", calls, 0)
		if allocs > 30 { // most of them are the manual clock's
			w.Fatalf("a step allocates %v times", allocs)
		}
	}},
	{"R-42 work that panics or ends its goroutine is retired by the successor", func(w *world) {
		for _, end := range []func(){func() { panic(errors.New("boom")) }, runtime.Goexit, func() { panic(nil) }} {
			w := newWorld(w.T)
			runs := 0
			w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
				if runs++; runs == 1 {
					end()
				}
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
			})
			w.clock.fire()
			equal(w.T, "attempt", w.see().Attempt.State, tasks.AttemptLost)
			equal(w.T, "unacknowledged", w.see().Counters.Unacknowledged, 0)
			w.clock.advance(time.Second)
			equal(w.T, "runs", runs, 2)
			equal(w.T, "unacknowledged", w.see().Counters.Unacknowledged, 1)
			w.inactive(tasks.ReasonStopped)
		}
	}},
	{"R-43 the successor counts from the dispatch, and missed periods come once", func(w *world) {
		for _, pause := range []time.Duration{1500 * time.Millisecond, 10 * time.Second, 1000 * time.Hour} { // TI-35
			w := newWorld(w.T)
			w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
			w.clock.freeze(pause)
			w.scheduled(pause + time.Second)
			equal(w.T, "armed", w.see().Counters.WakeupsArmed, 2)
			equal(w.T, "runs", w.see().Counters.WorkStarted, 1)
		}
	}},
	{"R-44 continuing at once replaces the successor", func(w *world) {
		w.clock.lateStops = true // the replaced successor comes nevertheless
		runs := 0
		w.watchdog(10*time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			runs++
			w.handles(1)
			if runs == 1 {
				w.clock.advance(time.Second)
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.ContinueImmediately())
			}
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
		})
		w.clock.fire() // its work takes a second
		w.clock.fire()
		equal(w.T, "runs", runs, 2)
		w.scheduled(11 * time.Second)
		w.handles(1)
		w.clock.advance(9 * time.Second) // when the first successor was due
		equal(w.T, "runs", runs, 2)
		equal(w.T, "stale", w.see().Counters.StaleWakeups, 1)
		w.clock.advance(time.Second)
		equal(w.T, "runs", runs, 3)
	}},
	{"R-45 scheduling at once never calls the work from the request", func(w *world) {
		runs := 0
		f := func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			runs++
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
		}
		g := w.watchdog(time.Hour, tasks.Retained(nil), f)
		w.ok(g.EnsureScheduledImmediately())
		equal(w.T, "runs", runs, 0)
		w.scheduled(0)
		w.clock.fire()
		equal(w.T, "runs", runs, 1)
		w.ok(w.rt.ReconcileWatchdog(&g, job, time.Hour, tasks.ScheduledImmediately(), f))
		equal(w.T, "runs", runs, 1)
		w.clock.fire()
		equal(w.T, "runs", runs, 2)
	}},
	{"R-46 the watchdog's wake-up can be moved exactly", func(w *world) {
		g := w.watchdog(10*time.Second, tasks.RetainedAt(tasks.After(10*time.Second)), idleWatchdog)
		move := func(d time.Duration) { w.Helper(); w.ok(g.ReconcileSchedule(ptr(tasks.At(at(d))))); w.scheduled(d) }
		move(20 * time.Second)
		move(5 * time.Second)
		armed := w.see().Counters.WakeupsArmed
		move(5 * time.Second) // equal: coalesced
		equal(w.T, "armed", w.see().Counters.WakeupsArmed, armed)
		equal(w.T, "coalesced", w.see().Counters.Coalesced, 1)
		w.clock.mu.Lock()
		w.clock.now += uint64(6 * time.Second) // its wake-up is due and on its way
		w.clock.mu.Unlock()
		w.ok(g.ReconcileSchedule(ptr(tasks.Immediately())))
		equal(w.T, "armed for what is due already", w.see().Counters.WakeupsArmed, armed)
		equal(w.T, "coalesced", w.see().Counters.Coalesced, 2)

		for _, dies := range []bool{false, true} { // a later deadline, proposed by work that then returns or dies
			for _, running := range []bool{true, false} {
				w := newWorld(w.T)
				w.clock.holdZero = !running
				var g *tasks.WatchdogRegistration
				propose := func() { w.ok(g.ReconcileSchedule(ptr(tasks.At(at(30 * time.Second))))) }
				g = w.watchdog(10*time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
					if running {
						propose()
					}
					equal(w.T, "still at the cadence", w.see().Wakeup.Deadline, at(10*time.Second))
					if dies {
						panic("dies")
					}
					return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
				})
				if running {
					w.clock.fire()
				} else {
					w.clock.release() // the scheduler step
					propose()         // while the work is queued
					w.clock.release()
				}
				want := 30 * time.Second
				if dies {
					want = 10 * time.Second
				}
				equal(w.T, "wake-up", w.see().Wakeup.Deadline, at(want))
			}
		}
	}},
	{"R-47 a scheduler step that cannot arm stops the task visibly", func(w *world) {
		for name, c := range map[string]struct {
			fault  func(*world)
			reason tasks.InactiveReason
		}{
			"error":      {func(w *world) { w.clock.failArm = 1 }, tasks.ReasonBindingFailed},
			"panic":      {func(w *world) { w.clock.panicArm = true }, tasks.ReasonBindingFailed},
			"no timer":   {func(w *world) { w.clock.nilTimer = true }, tasks.ReasonBindingFailed},
			"overflow":   {func(w *world) { w.clock.jump = math.MaxInt64; w.clock.now = math.MaxUint64/2 + 1 }, tasks.ReasonDeadlineOverflow},
			"generation": {func(w *world) { w.rt.ExhaustGenerations(job, 0) }, tasks.ReasonGenerationExhausted},
			"work only":  {func(w *world) { w.rt.ExhaustGenerations(job, 1) }, tasks.ReasonGenerationExhausted},
		} {
			w := newWorld(w.T)
			w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
			c.fault(w)
			w.clock.advance(time.Second)
			s := w.see()
			if s.State != tasks.StateInactive || s.Reason != c.reason || s.Condition != tasks.ConditionFailed {
				w.Fatalf("%s: got %s (%s), %s", name, s.State, s.Reason, s.Condition)
			}
			equal(w.T, name+": counted", s.Counters.SchedulerStarted, 1)
			w.handles(0)
		}
	}},
	{"R-48 attempts never overlap: successors during a run are coalesced", func(w *world) {
		runs := 0
		w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(ctx context.Context, _ *tasks.WatchdogContext) tasks.WatchdogResult {
			if runs++; runs > 1 {
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
			}
			w.clock.advance(1500 * time.Millisecond)
			w.ok(ctx.Err())
			equal(w.T, "overrun", w.see().Attempt.Overrun, true)
			w.clock.advance(time.Second)
			equal(w.T, "not canceled before its limit", ctx.Err() == nil, false)
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
		}, tasks.WorkLimit(2*time.Second))
		w.clock.fire()
		equal(w.T, "runs", runs, 1)
		equal(w.T, "coalesced", w.see().Counters.Coalesced, 2)
		w.scheduled(3 * time.Second)
		w.clock.advance(500 * time.Millisecond)
		equal(w.T, "runs", runs, 2)

		// A successor that cannot be armed during a run stops the task when the run ends, however it ends.
		for _, dies := range []bool{false, true} {
			w := newWorld(w.T)
			w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
				w.clock.failArm = 1
				w.clock.advance(time.Second)
				equal(w.T, "state", w.see().State, tasks.StateAwaitingWork)
				if dies {
					panic("dies")
				}
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
			})
			w.clock.fire()
			w.inactive(tasks.ReasonBindingFailed)
		}
	}},
	{"R-49 queued work that did not start is retired, and stale when it comes", func(w *world) {
		w.clock.holdZero, w.clock.lateStops = true, true
		runs := 0
		w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			runs++
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
		})
		w.clock.advance(2 * time.Second)
		equal(w.T, "unacknowledged", w.see().Counters.Unacknowledged, 1)
		equal(w.T, "dispatched", w.see().Counters.WorkDispatched, 2)
		equal(w.T, "outcome", w.see().LastOutcome.Kind, tasks.OutcomeUnacknowledged)
		w.clock.release()
		equal(w.T, "runs", runs, 1)
		equal(w.T, "stale work", w.see().Counters.StaleWork, 1)
		equal(w.T, "started", w.see().Counters.WorkStarted, 1)

		// What was asked for while it was queued goes to its heir.
		w = newWorld(w.T)
		w.clock.holdZero, w.clock.lateStops = true, true
		g := w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
		w.clock.advance(time.Second)
		w.ok(g.ReconcileSchedule(ptr(tasks.At(at(time.Minute)))))
		w.clock.advance(time.Second)
		equal(w.T, "unacknowledged", w.see().Counters.Unacknowledged, 1)
		w.clock.release()
		w.scheduled(time.Minute)
	}},
}
