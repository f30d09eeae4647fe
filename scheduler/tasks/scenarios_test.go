package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

func TestScenarios(t *testing.T) {
	for name, f := range map[string]func(*world){
		"TS41 a watchdog's panic is survived by its successor":   scenarioPanic,
		"TS42 a backlog is drained at once, then nothing":        scenarioDrain,
		"TS43 missed periods come once":                          scenarioOverdue,
		"TS44 commands during a run are arbitrated":              scenarioArbitration,
		"TS45 an ordinary run that does not return is abandoned": scenarioAbandonment,
		"TS46 capacity of registrations and handles":             scenarioCapacity,
		"TS48 stale deliveries do nothing":                       scenarioStale,
	} {
		t.Run(name, func(t *testing.T) { f(newWorld(t)) })
	}
}

func scenarioPanic(w *world) {
	runs := 0
	g := w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
		if runs++; runs == 1 {
			w.clock.advance(200 * time.Millisecond)
			panic("first run")
		}
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
	})
	w.clock.fire()
	s := w.see()
	equal(w.T, "state", s.State, tasks.StateAwaitingWork)
	equal(w.T, "attempt", s.Attempt.State, tasks.AttemptLost)
	equal(w.T, "successor", s.Wakeup.Deadline, at(time.Second))
	equal(w.T, "panics at once", s.Counters.Panics, 1)
	equal(w.T, "unacknowledged not yet", s.Counters.Unacknowledged, 0)

	w.clock.advance(800 * time.Millisecond)
	w.scheduled(2 * time.Second)
	w.counters(tasks.Counters{ScheduleRequests: 1, WakeupsArmed: 3, SchedulerStarted: 2, WorkDispatched: 2, WorkStarted: 2,
		WorkCompleted: 1, Succeeded: 1, Unacknowledged: 1, Panics: 1, Units: 1})
	s = w.see()
	equal(w.T, "work samples", s.Work.Elapsed.Samples(), 1)
	equal(w.T, "scheduler samples", s.Scheduler.Elapsed.Samples(), 2)
	equal(w.T, "streak", must(g.Failures())(w.T), 0)
	equal(w.T, "last panic", s.LastPanic, "first run")
}

func scenarioDrain(w *world) {
	backlog := 3
	w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
		w.clock.advance(50 * time.Millisecond)
		if backlog--; backlog > 0 {
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.ContinueImmediately())
		}
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
	})
	w.clock.advance(10 * time.Second)
	w.inactive(tasks.ReasonStopped)
	w.counters(tasks.Counters{ScheduleRequests: 1, WakeupsArmed: 6, SchedulerStarted: 3, WorkDispatched: 3, WorkStarted: 3,
		WorkCompleted: 3, Succeeded: 3, Units: 3})
	equal(w.T, "end of the last run", w.see().LastOutcome.At, at(150*time.Millisecond))
	w.handles(0)
}

func scenarioOverdue(w *world) {
	w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
	w.clock.freeze(301 * time.Second)
	w.scheduled(302 * time.Second)
	w.counters(tasks.Counters{ScheduleRequests: 1, WakeupsArmed: 2, SchedulerStarted: 1, WorkDispatched: 1, WorkStarted: 1,
		WorkCompleted: 1, Succeeded: 1, Units: 1})
}

func scenarioArbitration(w *world) {
	type ending struct {
		name string
		last func(*tasks.OnceContext) error
		done tasks.Completion
	}
	for _, e := range []ending{
		{"armed at 130", func(*tasks.OnceContext) error { return nil }, tasks.Success(1)},
		{"removed", (*tasks.OnceContext).Unregister, tasks.Success(1)},
		{"invariant failure", func(*tasks.OnceContext) error { return nil }, tasks.InvariantFailure(1)},
	} {
		w := newWorld(w.T)
		w.clock.now = 100 * second
		when := func(s uint64) tasks.Schedule { return tasks.At(tasks.Instant(s * second)) }
		w.once(tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
			w.ok(errors.Join(c.EnsureScheduled(when(110)), c.EnsureScheduled(when(105)), c.ReconcileSchedule(ptr(when(120))),
				c.Cancel(), c.EnsureScheduled(when(130)), e.last(c)))
			return tasks.NewOnceResult(e.done, tasks.RetryAfter(time.Second))
		})
		w.clock.fire()
		switch e.name {
		case "armed at 130":
			s := w.see()
			equal(w.T, "state", s.State, tasks.StateScheduled)
			equal(w.T, "deadline", s.Wakeup.Deadline, tasks.Instant(130*second))
			w.handles(1)
		case "removed":
			w.gone()
			w.handles(0)
		default:
			w.inactive(tasks.ReasonInvariantFailure)
			w.handles(0)
		}
	}
}

func scenarioAbandonment(w *world) {
	broken := true
	f := func(context.Context, *tasks.OnceContext) tasks.OnceResult {
		if broken {
			panic("broken")
		}
		return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
	}
	g := w.once(tasks.RetainedAt(tasks.Immediately()), f)
	id := g.ID()
	w.clock.fire()
	w.inactive(tasks.ReasonAbandoned)
	s := w.see()
	equal(w.T, "condition", s.Condition, tasks.ConditionFailed)
	equal(w.T, "outcome", s.LastOutcome.Kind, tasks.OutcomeUnacknowledged)
	equal(w.T, "samples", s.Work.Elapsed.Samples(), 0)
	w.counters(tasks.Counters{ScheduleRequests: 1, WakeupsArmed: 1, WorkStarted: 1, Unacknowledged: 1, Panics: 1})
	broken = false
	w.ok(g.EnsureScheduled(tasks.Immediately()))
	equal(w.T, "registration", w.see().Registration, id)
	w.clock.fire()
	equal(w.T, "completed", w.see().Counters.WorkCompleted, 1)
	w.ok(g.Unregister())

	broken = true
	g = w.once(tasks.RemoveWhenStopped(tasks.Immediately()), f)
	w.clock.fire()
	w.gone()
	w.handles(0)
	w.is(g.EnsureScheduled(tasks.Immediately()), tasks.ErrRegistrationExpired)
}

func scenarioCapacity(w *world) {
	w.clock.holdZero = true // queued work stays queued
	var last *tasks.WatchdogRegistration
	for i := range tasks.MaxRegistrations {
		last = must(w.rt.RegisterWatchdog(tasks.MustIdentity("test", "capacity", fmt.Sprintf("n%02d", i)), time.Second,
			tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog))(w.T)
	}
	w.clock.advance(time.Second)
	w.handles(tasks.MaxHandles)
	_, err := w.rt.RegisterWatchdog(job, time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
	w.is(err, tasks.ErrCapacity)
	equal(w.T, "tasks", len(w.rt.Inventory().Tasks), tasks.MaxRegistrations)
	w.handles(tasks.MaxHandles)

	w.ok(last.Unregister())
	w.handles(tasks.MaxHandles - 2)
	g := w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
	if g.ID().Sequence <= last.ID().Sequence {
		w.Fatalf("sequence %d is not after %d", g.ID().Sequence, last.ID().Sequence)
	}
}

func scenarioStale(w *world) {
	w.clock.lateStops = true
	runs := 0
	f := func(context.Context, *tasks.OnceContext) tasks.OnceResult {
		runs++
		return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
	}
	g := w.once(tasks.RetainedAt(tasks.After(10*time.Second)), f)
	w.ok(g.ReconcileSchedule(ptr(tasks.After(20 * time.Second))))
	w.clock.advance(10 * time.Second)
	equal(w.T, "stale", w.see().Counters.StaleWakeups, 1)
	equal(w.T, "runs", runs, 0)
	w.clock.advance(10 * time.Second)
	equal(w.T, "runs", runs, 1)

	// Another claim of the same identity, whose first timer has the same generation as an old one.
	w.ok(g.Unregister())
	g = w.once(tasks.RetainedAt(tasks.After(time.Second)), f)
	w.ok(g.Unregister())
	w.once(tasks.RetainedAt(tasks.After(10*time.Second)), f)
	w.clock.advance(time.Second)
	equal(w.T, "runs", runs, 1)
	equal(w.T, "stale for a claim that is gone", w.rt.Inventory().Stale, 1)
	w.scheduled(30 * time.Second)
}
