package tasks_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var abandonmentTests = []requirement{
	{"R-65 an ordinary run that does not return is abandoned, and its task can be armed again", func(w *world) {
		for _, end := range []func(){func() { panic("boom") }, runtime.Goexit} {
			w := newWorld(w.T)
			runs := 0
			g := w.after(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
				if runs++; runs == 1 {
					end()
				}
				return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.Stop())
			})
			w.clock.advance(time.Minute)
			w.inactive(tasks.ReasonAbandoned)
			equal(w.T, "condition", w.see().Condition, tasks.ConditionFailed)
			equal(w.T, "outcome", w.see().LastOutcome.Kind, tasks.OutcomeUnacknowledged)
			w.ok(g.EnsureScheduled())
			equal(w.T, "condition", w.see().Condition, tasks.ConditionRetrying)
			w.clock.advance(time.Second)
			equal(w.T, "runs", runs, 2)
		}
	}},
	{"R-66 abandonment removes what is to go and makes nothing up", func(w *world) {
		for _, c := range []struct {
			name  string
			start tasks.Start
			ask   func(*tasks.OnceContext) error
			there bool
		}{
			{"transient", tasks.RemoveWhenStopped(tasks.Immediately()), func(*tasks.OnceContext) error { return nil }, false},
			{"unregistered", tasks.RetainedAt(tasks.Immediately()), (*tasks.OnceContext).Unregister, false},
			{"scheduled", tasks.RetainedAt(tasks.Immediately()), func(c *tasks.OnceContext) error { return c.EnsureScheduled(tasks.After(1)) }, true},
		} {
			w := newWorld(w.T)
			released := 0
			w.once(c.start, func(_ context.Context, x *tasks.OnceContext) tasks.OnceResult {
				w.ok(c.ask(x))
				panic(c.name)
			}, tasks.OnRelease(func() { released++ }))
			w.clock.advance(time.Minute)
			w.handles(0)
			if !c.there {
				w.gone()
				equal(w.T, "released", released, 1)
				continue
			}
			w.inactive(tasks.ReasonAbandoned)
			got := w.see().Counters
			equal(w.T, "counters", got, tasks.Counters{ScheduleRequests: 2, WakeupsArmed: 1, WorkStarted: 1, Unacknowledged: 1, Panics: 1})
			equal(w.T, "samples", w.see().Work.Elapsed.Samples(), 0)
		}
	}},
	{"R-67 slow work is running work", func(w *world) {
		w.once(tasks.RetainedAt(tasks.Immediately()), func(ctx context.Context, _ *tasks.OnceContext) tasks.OnceResult {
			w.clock.advance(10 * time.Minute)
			equal(w.T, "state", w.see().State, tasks.StateRunning)
			equal(w.T, "since", w.see().Attempt.StartedAt.Time(), at(0).Time())
			equal(w.T, "running", w.rt.Inventory().Running, 1)
			w.ok(ctx.Err())
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		})
		w.clock.fire()
		w.inactive(tasks.ReasonStopped)
		latest, _ := w.see().Work.Elapsed.Latest()
		equal(w.T, "elapsed", latest, uint64(10*time.Minute))
	}},
	{"R-68 captures are released once, outside the lock", func(w *world) {
		released := 0
		hook := tasks.OnRelease(func() {
			released++
			w.rt.Inventory() // it deadlocks if the lock is held
		})
		g := w.once(tasks.RetainedAt(tasks.After(time.Second)), idleOnce, hook)
		w.ok(g.Unregister())
		equal(w.T, "unregistered", released, 1)
		w.once(tasks.RemoveWhenStopped(tasks.Immediately()), idleOnce, hook)
		w.clock.fire()
		equal(w.T, "removed", released, 2)
		g = w.once(tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
			w.ok(c.Unregister())
			equal(w.T, "while it runs", released, 2)
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		}, hook)
		w.clock.fire()
		equal(w.T, "unregistered by itself", released, 3)
		w.is(g.Cancel(), tasks.ErrRegistrationExpired)
		_, err := (*tasks.Runtime)(nil).RegisterOnce(job, tasks.Retained(nil), idleOnce, hook)
		w.is(err, tasks.ErrNotInitialized)
		equal(w.T, "never registered", released, 4)
	}},
}

// The inventory says the truth about work that goes wrong, and the rest of the runtime is untouched.

func TestWorkThatBlocksForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		rt := tasks.New(tasks.Config{})
		release := make(chan struct{})
		stuck := tasks.MustIdentity("test", "stuck", "watchdog")
		must(rt.RegisterWatchdog(stuck, time.Second, tasks.RetainedAt(tasks.Immediately()),
			func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
				<-release
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
			}))(t)
		must(rt.RegisterWatchdog(job, time.Second, tasks.RetainedAt(tasks.Immediately()), idleWatchdog))(t)
		<-time.After(time.Hour + 500*time.Millisecond) // of the bubble's time
		s, _ := rt.Snapshot(stuck)
		equal(t, "state", s.State, tasks.StateAwaitingWork)
		equal(t, "attempt", s.Attempt.State, tasks.AttemptRunning)
		equal(t, "overrun", s.Attempt.Overrun, true)
		equal(t, "coalesced", s.Counters.Coalesced, 3600)
		equal(t, "starts", s.Counters.WorkStarted, 1)
		other, _ := rt.Snapshot(job)
		equal(t, "the other's runs", other.Counters.WorkCompleted, 3601)
		equal(t, "running", rt.Inventory().Running, 1)
		close(release)
		synctest.Wait()
		s, _ = rt.Snapshot(stuck)
		equal(t, "state", s.State, tasks.StateScheduled)
		equal(t, "completed", s.Counters.WorkCompleted, 1)
		if err := rt.Shutdown(time.Second); err != nil {
			t.Fatal(err)
		}
	})
}

func TestWorkThatOverrunsItsCadenceEveryTime(t *testing.T) {
	w := newWorld(t)
	w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
		w.clock.advance(1500 * time.Millisecond)
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
	})
	for range 10 {
		w.clock.advance(0)
		w.clock.advance(500 * time.Millisecond)
	}
	s := w.see()
	equal(t, "each run", s.Counters.Coalesced, tasks.Counter(s.Work.Elapsed.Samples()))
	equal(t, "none lost", s.Counters.WorkCompleted, s.Counters.WorkStarted)
	if s.Counters.WorkStarted < 9 {
		t.Fatalf("%d runs", s.Counters.WorkStarted)
	}
	w.handles(1)
}

func TestWorkThatStopsWhileItIsCancelled(t *testing.T) {
	w := newWorld(t)
	var g *tasks.WatchdogRegistration
	g = w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
		w.ok(g.Cancel())
		w.ok(c.Cancel())
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
	})
	w.clock.advance(time.Hour)
	w.inactive(tasks.ReasonCancelled)
	w.counters(tasks.Counters{ScheduleRequests: 1, WakeupsArmed: 2, SchedulerStarted: 1, WorkDispatched: 1, WorkStarted: 1,
		WorkCompleted: 1, Succeeded: 1, Units: 1, Cancelled: 1})
	w.handles(0)
}

func TestAClockThatJumpsAnHourAndBack(t *testing.T) {
	w := newWorld(t)
	runs := 0
	w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
		runs++
		w.clock.set(-time.Minute) // also while the work runs
		defer w.clock.set(time.Minute)
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
	})
	w.clock.set(time.Hour)
	s := w.see()
	equal(t, "overdue by the clock", s.Overdue, true)
	equal(t, "runs", runs, 0)
	w.clock.set(-time.Hour)
	equal(t, "not overdue", w.see().Overdue, false)

	w.clock.set(time.Hour)
	w.clock.advance(time.Second)
	equal(t, "no storm", runs, 1)
	s = w.see()
	equal(t, "from the clock's now", s.Wakeup.Deadline, s.At+tasks.Instant(time.Second))
	w.clock.set(-time.Hour)
	w.clock.advance(time.Second)
	equal(t, "nothing is lost", runs, 2)
	if latest, _ := w.see().Work.Elapsed.Latest(); latest > uint64(2*time.Minute) {
		t.Fatalf("a run took %d ns", latest)
	}
	w.counters(tasks.Counters{ScheduleRequests: 1, WakeupsArmed: 3, SchedulerStarted: 2, WorkDispatched: 2, WorkStarted: 2,
		WorkCompleted: 2, Succeeded: 2, Units: 2})
}

func TestPanicsAreToldWithTheirStack(t *testing.T) {
	var told []string
	w := newWorldWith(t, tasks.Config{OnPanic: func(id tasks.Identity, v any, stack []byte) {
		told = append(told, id.String())
		if v != "boom" || len(stack) == 0 {
			t.Errorf("told %v with %d bytes of stack", v, len(stack))
		}
	}})
	other := must(w.rt.RegisterOnce(tasks.MustIdentity("a", "b", "c"), tasks.RetainedAt(tasks.After(time.Second)), idleOnce))(t)
	w.once(tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.OnceContext) tasks.OnceResult { panic("boom") })
	w.clock.advance(time.Second)
	if len(told) != 1 || told[0] != job.String() {
		t.Fatalf("told of %v", told)
	}
	equal(t, "the other", must(other.Snapshot())(t).Counters.Succeeded, 1)
}

// saying is a panic value whose text is made by code.
type saying func() string

func (s saying) String() string { return s() }

// TestWhatAPanicSaysOfItself: a panic value's own code may use the runtime, panic, and end the goroutine.
func TestWhatAPanicSaysOfItself(t *testing.T) {
	for name, c := range map[string]struct {
		text func(*world) string
		want string
	}{
		"asks the runtime":     {func(w *world) string { return string(w.see().State) }, "running"},
		"panics":               {func(*world) string { panic("no") }, "%!v(PANIC=String method: no)"},
		"panics in a panic":    {func(*world) string { panic(saying(func() string { panic("no") })) }, "tasks_test.saying, which cannot be printed"},
		"ends its goroutine":   {func(*world) string { runtime.Goexit(); return "" }, ""},
		"is not valid Unicode": {func(*world) string { return "\xff" }, "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			var w *world
			told := 0
			w = newWorldWith(t, tasks.Config{OnPanic: func(tasks.Identity, any, []byte) {
				told++
				w.rt.Inventory() // it deadlocks if the lock is held
				panic("the log is full")
			}})
			runs := 0
			w.after(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
				if runs++; runs == 1 {
					panic(saying(func() string { return c.text(w) }))
				}
				return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.Stop())
			})
			w.clock.advance(time.Minute)
			w.inactive(tasks.ReasonAbandoned)
			equal(t, "panics", w.see().Counters.Panics, 1)
			equal(t, "text", w.see().LastPanic, c.want)
			equal(t, "told", told, 1)
			equal(t, "running", w.rt.Inventory().Running, 0)
			w.ok(w.rt.Shutdown(time.Second))
		})
	}
}
