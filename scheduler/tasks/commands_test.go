package tasks_test

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var commandTests = []requirement{
	{"R-50 callbacks run without the lock", func(w *world) {
		w.once(tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
			equal(w.T, "tasks", len(w.rt.Inventory().Tasks), 1)
			other := must(w.rt.RegisterOnce(tasks.MustIdentity("a", "b", "c"), tasks.RetainedAt(tasks.After(time.Second)), idleOnce))(w.T)
			w.ok(errors.Join(other.Unregister(), c.EnsureScheduled(tasks.After(1)), c.ReconcileSchedule(nil), c.Cancel(), c.Unregister()))
			equal(w.T, "now", c.Now(), at(0))
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		})
		w.clock.fire()
		w.gone()
	}},
	{"R-51 all commands of a run amount to one pending command of that run", func(w *world) {
		runs := 0
		var g *tasks.OnceRegistration
		g = w.once(tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
			if runs++; runs == 1 {
				w.ok(errors.Join(c.EnsureScheduled(tasks.After(5*time.Second)), g.EnsureScheduled(tasks.After(3*time.Second)),
					c.EnsureScheduled(tasks.After(4*time.Second))))
				equal(w.T, "nothing is armed yet", w.rt.Inventory().Handles, 0)
			}
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		})
		w.clock.fire()
		w.scheduled(3 * time.Second)
		equal(w.T, "armed", w.see().Counters.WakeupsArmed, 2)
		equal(w.T, "coalesced", w.see().Counters.Coalesced, 1)
		w.clock.advance(time.Minute) // the second run inherits nothing
		equal(w.T, "runs", runs, 2)
		w.inactive(tasks.ReasonStopped)
	}},
	{"R-52 every three commands are arbitrated as the oracle says", everyThreeCommands},
	{"R-52 a schedule after a cancellation stands by itself, and one that waited is due at once", func(w *world) {
		for _, cancelled := range []bool{false, true} {
			w := newWorld(w.T)
			w.watchdog(6*time.Second, tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
				w.clock.advance(time.Second)
				if cancelled {
					w.ok(c.Cancel())
				}
				w.ok(c.EnsureScheduled())
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
			})
			w.clock.fire()
			w.scheduled(map[bool]time.Duration{false: 6 * time.Second, true: 7 * time.Second}[cancelled])
		}
		w.once(tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
			w.ok(c.EnsureScheduled(tasks.After(time.Second)))
			w.clock.advance(3 * time.Second)
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		})
		w.clock.fire()
		w.scheduled(3 * time.Second)
	}},
	{"R-53 what a callback asked for goes with it if it does not return", func(w *world) {
		for _, ask := range []func(*tasks.WatchdogContext) error{
			(*tasks.WatchdogContext).Cancel, (*tasks.WatchdogContext).Unregister,
			func(c *tasks.WatchdogContext) error { return c.ReconcileSchedule(ptr(tasks.After(time.Hour))) },
			(*tasks.WatchdogContext).EnsureScheduledImmediately,
		} {
			w := newWorld(w.T)
			runs := 0
			w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
				if runs++; runs == 1 {
					w.ok(ask(c))
					panic("first")
				}
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
			})
			w.clock.fire()
			equal(w.T, "successor", w.see().Wakeup.Deadline, at(time.Second))
			w.clock.advance(time.Second)
			equal(w.T, "runs", runs, 2)
			equal(w.T, "cancelled", w.see().Counters.Cancelled, 0)
		}
		// What the owner asked for stands: it was told that it would be done.
		for _, unregister := range []bool{false, true} {
			w := newWorld(w.T)
			var g *tasks.WatchdogRegistration
			g = w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
				w.ok(map[bool]func() error{false: g.Cancel, true: g.Unregister}[unregister]())
				if !unregister {
					w.ok(c.EnsureScheduled())
				}
				panic("always")
			})
			w.clock.advance(time.Hour)
			w.handles(0)
			if unregister {
				w.gone()
				continue
			}
			w.inactive(tasks.ReasonCancelled)
			equal(w.T, "starts", w.see().Counters.WorkStarted, 1)
			equal(w.T, "unacknowledged", w.see().Counters.Unacknowledged, 1)
		}
	}},
	{"R-54 cancelling never interrupts running work", func(w *world) {
		var g *tasks.OnceRegistration
		g = w.once(tasks.RetainedAt(tasks.Immediately()), func(ctx context.Context, _ *tasks.OnceContext) tasks.OnceResult {
			w.ok(g.Cancel())
			w.ok(ctx.Err())
			equal(w.T, "state", w.see().State, tasks.StateRunning)
			return tasks.NewOnceResult(tasks.Success(1), tasks.RetryAfter(time.Second))
		})
		w.clock.fire()
		w.inactive(tasks.ReasonCancelled)
		equal(w.T, "it completed", w.see().Counters.Succeeded, 1)
	}},
	{"R-55 cancelling clears what is armed or queued at once, and again changes nothing", func(w *world) {
		w.clock.lateStops = true
		w.clock.holdZero = true
		g := w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog)
		w.ok(g.Cancel())
		w.inactive(tasks.ReasonCancelled)
		w.handles(0)
		w.clock.advance(time.Second)
		equal(w.T, "late wake-up", w.see().Counters.StaleWakeups, 1)

		w.ok(g.EnsureScheduled())
		w.clock.advance(time.Second) // the step; the work stays queued
		w.handles(2)
		w.ok(g.Cancel())
		w.inactive(tasks.ReasonCancelled)
		w.handles(0)
		w.clock.release()
		equal(w.T, "late work", w.see().Counters.StaleWork, 1)
		equal(w.T, "starts", w.see().Counters.WorkStarted, 0)
		equal(w.T, "cancelled", w.see().Counters.Cancelled, 2)

		before := w.see()
		w.ok(g.Cancel())
		w.ok(g.ReconcileSchedule(nil))
		if !reflect.DeepEqual(w.see(), before) {
			w.Fatal("cancelling an inactive task changed it")
		}
		w.ok(g.Unregister())
		w.once(tasks.Retained(nil), idleOnce)
		w.inactive(tasks.ReasonDeclared)
	}},
	{"R-56 a delivery that is not the task's own does nothing", scenarioStale},
	{"R-57 generations and registration numbers end in an error, not at zero", func(w *world) {
		g := w.once(tasks.Retained(nil), idleOnce)
		w.rt.ExhaustGenerations(job, 1)
		w.ok(g.EnsureScheduled(tasks.After(time.Second)))
		w.is(g.ReconcileSchedule(ptr(tasks.After(time.Minute))), &tasks.ControlError{})
		w.inactive(tasks.ReasonGenerationExhausted)
		w.handles(0)

		w.rt.ExhaustClaims()
		last := must(w.rt.RegisterOnce(tasks.MustIdentity("a", "b", "c"), tasks.Retained(nil), idleOnce))(w.T)
		_, err := w.rt.RegisterOnce(tasks.MustIdentity("a", "b", "d"), tasks.Retained(nil), idleOnce)
		w.is(err, tasks.ErrClaimGenerationExhausted)
		w.ok(last.Cancel())
	}},
	{"R-58 a failed arming leaves the task inactive, not looking scheduled", func(w *world) {
		for _, start := range []tasks.Start{tasks.Retained(nil), tasks.RetainedAt(tasks.After(time.Hour)), tasks.RemoveWhenStopped(tasks.After(time.Hour))} {
			w := newWorld(w.T)
			g := w.once(start, idleOnce)
			w.clock.failArm = 1
			err := g.ReconcileSchedule(ptr(tasks.After(time.Second)))
			var control *tasks.ControlError
			if !errors.As(err, &control) || control.Reason != tasks.ReasonBindingFailed || control.Unwrap() == nil {
				w.Fatalf("got %v", err)
			}
			w.handles(0)
			if s, there := w.rt.Snapshot(job); there {
				equal(w.T, "reason", s.Reason, tasks.ReasonBindingFailed)
				w.ok(g.EnsureScheduled(tasks.After(time.Second)))
				w.scheduled(time.Second)
			} else {
				w.is(g.Cancel(), tasks.ErrRegistrationExpired)
			}
		}
		w.once(tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.OnceContext) tasks.OnceResult {
			w.clock.failArm = 1
			return tasks.NewOnceResult(tasks.Success(1), tasks.RetryAfter(time.Second))
		})
		w.clock.fire()
		w.inactive(tasks.ReasonBindingFailed)
		equal(w.T, "condition", w.see().Condition, tasks.ConditionFailed)
	}},
	{"R-59 a context that outlives its callback controls nothing", func(w *world) {
		var leaked *tasks.AfterCompletionContext
		w.after(time.Second, tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
			if leaked != nil {
				w.is(leaked.Cancel(), tasks.ErrRegistrationExpired) // also while another run of the task is on
			}
			leaked = c
			return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.RecurAfterCompletion())
		})
		w.clock.advance(time.Second)
		before := w.see()
		w.is(leaked.Cancel(), tasks.ErrRegistrationExpired)
		w.is(leaked.Unregister(), tasks.ErrRegistrationExpired)
		w.is(leaked.EnsureScheduled(), tasks.ErrRegistrationExpired)
		w.is(leaked.EnsureScheduledImmediately(), tasks.ErrRegistrationExpired)
		w.is(leaked.ReconcileSchedule(ptr(tasks.Immediately())), tasks.ErrRegistrationExpired)
		equal(w.T, "identity", leaked.Identity(), job)
		if !reflect.DeepEqual(w.see(), before) {
			w.Fatal("an expired context changed its task")
		}
	}},
	{"R-60 unregistering waits for the end of a run and changes the registration, cancelling does not", func(w *world) {
		g := w.once(tasks.RetainedAt(tasks.After(time.Second)), idleOnce)
		id := g.ID()
		w.ok(g.Cancel())
		equal(w.T, "after a cancellation", w.see().Registration, id)
		w.ok(g.Unregister())
		var again *tasks.OnceRegistration
		again = w.once(tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.OnceContext) tasks.OnceResult {
			w.ok(again.Unregister())
			equal(w.T, "state", w.see().State, tasks.StateRunning)
			_, err := w.rt.RegisterOnce(job, tasks.Retained(nil), idleOnce)
			w.is(err, tasks.ErrIdentityAlreadyRegistered)
			w.is(again.EnsureScheduled(tasks.Immediately()), tasks.ErrRegistrationExpired) // it would never come
			w.ok(again.Unregister())
			return tasks.NewOnceResult(tasks.Success(1), tasks.ContinueImmediately())
		})
		if again.ID().Sequence <= id.Sequence || again.ID().Epoch != id.Epoch {
			w.Fatalf("got %v after %v", again.ID(), id)
		}
		w.clock.fire()
		w.gone()
		w.handles(0)
	}},
}
