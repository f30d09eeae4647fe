package tasks_test

import (
	"context"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var startingTests = []requirement{
	{"R-20 a start is retained, retained and scheduled, or removed when stopped", func(w *world) {
		g := w.once(tasks.Retained(nil), idleOnce)
		w.inactive(tasks.ReasonDeclared)
		equal(w.T, "condition", w.see().Condition, tasks.ConditionDisabled)
		w.ok(g.Unregister())

		s := tasks.After(time.Second)
		kept := tasks.Retained(&s)
		s = tasks.After(time.Hour) // the start has a copy
		g = w.once(kept, idleOnce)
		w.scheduled(time.Second)
		w.clock.advance(time.Second)
		w.inactive(tasks.ReasonStopped)
		equal(w.T, "condition", w.see().Condition, tasks.ConditionIdle)
		w.ok(g.Unregister())

		w.once(tasks.RemoveWhenStopped(tasks.After(time.Second)), idleOnce)
		w.clock.advance(time.Second)
		w.gone()
		_, err := w.rt.RegisterOnce(job, tasks.Start{}, idleOnce)
		w.is(err, tasks.ErrInvalidStart)
		_, err = w.rt.RegisterOnce(job, tasks.Retained(nil), nil)
		w.is(err, tasks.ErrNoCallback)
		_, err = w.rt.RegisterAfterCompletion(job, time.Second, tasks.Retained(nil), nil)
		w.is(err, tasks.ErrNoCallback)
		_, err = w.rt.RegisterWatchdog(job, time.Second, tasks.Retained(nil), nil)
		w.is(err, tasks.ErrNoCallback)
		w.gone()
	}},
	{"R-21 the lifetime is observed in snapshots", func(w *world) {
		g := w.once(tasks.RetainedAt(tasks.After(time.Second)), idleOnce)
		equal(w.T, "lifetime", w.see().Lifetime, tasks.LifetimeRetained)
		w.ok(g.Unregister())
		w.once(tasks.RemoveWhenStopped(tasks.After(time.Second)), idleOnce)
		equal(w.T, "lifetime", w.see().Lifetime, tasks.LifetimeRemoveWhenStopped)
	}},
	{"R-22 a start that cannot be armed leaves nothing and releases the callback", func(w *world) {
		released := 0
		release := tasks.OnRelease(func() {
			released++
			equal(w.T, "tasks seen by the hook", len(w.rt.Inventory().Tasks), 0) // it deadlocks if the lock is held
		})
		for name, broken := range map[string]func(on bool){
			"error":    func(on bool) { w.clock.failArm = map[bool]int{true: 1}[on] },
			"panic":    func(on bool) { w.clock.panicArm = on },
			"no timer": func(on bool) { w.clock.nilTimer = on },
		} {
			released = 0
			broken(true)
			g, err := w.rt.RegisterWatchdog(job, time.Second, tasks.RetainedAt(tasks.Immediately()), idleWatchdog, release)
			broken(false)
			e, ok := err.(*tasks.ControlError)
			if g != nil || !ok || e.Reason != tasks.ReasonBindingFailed || e.Unwrap() == nil {
				w.Fatalf("%s: got %v, %v", name, g, err)
			}
			equal(w.T, name+": released", released, 1)
			w.gone()
			w.handles(0)
		}
		w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), idleWatchdog) // the identity is free
	}},
	{"R-23 delays are resolved once, with checked arithmetic", func(w *world) {
		g := w.once(tasks.Retained(nil), idleOnce)
		w.is(g.EnsureScheduled(tasks.After(-1)), tasks.ErrDelayOutOfRange)
		w.is(g.EnsureScheduled(tasks.At(math.MaxUint64)), tasks.ErrDelayOutOfRange)
		w.inactive(tasks.ReasonDeclared)
		w.ok(g.EnsureScheduled(tasks.After(math.MaxInt64)))
		w.ok(g.ReconcileSchedule(ptr(tasks.At(at(math.MaxInt64)))))
		w.is(g.ReconcileSchedule(ptr(tasks.At(at(math.MaxInt64)+1))), tasks.ErrDelayOutOfRange)
		equal(w.T, "the last delay asked for that there can be", *w.see().RequestedDelay, math.MaxInt64)
		w.ok(g.ReconcileSchedule(ptr(tasks.After(time.Minute))))
		equal(w.T, "the last delay asked for", *w.see().RequestedDelay, time.Minute)
		w.clock.advance(time.Second)
		w.scheduled(time.Minute) // and not a second later

		ran := 0
		w.ok(g.Unregister())
		g = w.once(tasks.RetainedAt(tasks.At(at(-time.Minute))), func(context.Context, *tasks.OnceContext) tasks.OnceResult {
			ran++
			return tasks.NewOnceResult(tasks.NoWork(), tasks.Stop())
		})
		equal(w.T, "ran within the request", ran, 0)
		equal(w.T, "delay", *w.see().ArmedDelay, 0)
		w.scheduled(time.Second) // now, and not in the past
		w.clock.fire()
		equal(w.T, "ran", ran, 1)

		w.clock.now = math.MaxUint64 - 10
		w.is(g.EnsureScheduled(tasks.After(11)), tasks.ErrDeadlineOverflow)
		w.ok(g.EnsureScheduled(tasks.After(10)))
		equal(w.T, "deadline", w.see().Wakeup.Deadline, math.MaxUint64)
		_, err := w.rt.RegisterOnce(tasks.MustIdentity("a", "b", "c"), tasks.RetainedAt(tasks.After(11)), idleOnce)
		w.is(err, tasks.ErrDeadlineOverflow)
	}},
	{"R-24 a cadence is positive and apart from the first deadline", func(w *world) {
		for _, bad := range []time.Duration{0, -time.Second} {
			_, err := w.rt.RegisterWatchdog(job, bad, tasks.Retained(nil), idleWatchdog)
			w.is(err, tasks.ErrInvalidCadence)
			_, err = w.rt.RegisterAfterCompletion(job, bad, tasks.Retained(nil), idleAfter)
			w.is(err, tasks.ErrInvalidCadence)
		}
		w.after(10*time.Second, tasks.RetainedAt(tasks.After(3*time.Second)), idleAfter)
		w.scheduled(3 * time.Second)
		w.clock.advance(3 * time.Second)
		w.scheduled(13 * time.Second)
	}},
	{"R-25 callbacks and decisions of policies are different types", func(w *world) {
		out, err := exec.Command("go", "build", "./testdata/decisions").CombinedOutput()
		if n := strings.Count(string(out), "does not implement"); err == nil || n != 5 {
			w.Fatalf("the compiler refused %d of 5 (%v):\n%s", n, err, out)
		}
	}},
}
