package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var reconcileTests = []requirement{
	{"R-90 the same reconciliation twice changes nothing", func(w *world) {
		var once *tasks.OnceRegistration
		var after *tasks.AfterCompletionRegistration
		var dog *tasks.WatchdogRegistration
		clear := func() {
			once, after, dog = nil, nil, nil
			*w = *newWorld(w.T)
		}
		for name, reconcile := range map[string]func() error{
			"once, none":  func() error { return w.rt.ReconcileOnce(&once, job, nil, idleOnce) },
			"once, after": func() error { return w.rt.ReconcileOnce(&once, job, ptr(tasks.After(time.Second)), idleOnce) },
			"once, at":    func() error { return w.rt.ReconcileOnce(&once, job, ptr(tasks.At(at(time.Second))), idleOnce) },
			"after, none": func() error {
				return w.rt.ReconcileAfterCompletion(&after, job, time.Second, tasks.Inactive(), idleAfter)
			},
			"after, active": func() error {
				return w.rt.ReconcileAfterCompletion(&after, job, time.Second, tasks.Scheduled(), idleAfter)
			},
			"dog, none":   func() error { return w.rt.ReconcileWatchdog(&dog, job, time.Second, tasks.Inactive(), idleWatchdog) },
			"dog, active": func() error { return w.rt.ReconcileWatchdog(&dog, job, time.Second, tasks.Scheduled(), idleWatchdog) },
			"dog, at once": func() error {
				return w.rt.ReconcileWatchdog(&dog, job, time.Second, tasks.ScheduledImmediately(), idleWatchdog)
			},
			"dog, at": func() error {
				return w.rt.ReconcileWatchdog(&dog, job, time.Second, tasks.ScheduledAt(at(time.Second)), idleWatchdog)
			},
		} {
			clear()
			w.ok(reconcile())
			first := w.see()
			equal(w.T, name, first.Lifetime, tasks.LifetimeRetained)
			equal(w.T, name+": active", first.State == tasks.StateScheduled, name[len(name)-4:] != "none")
			w.ok(reconcile())
			second := w.see()
			first.Counters.ScheduleRequests, second.Counters.ScheduleRequests = 0, 0
			first.Counters.Coalesced, second.Counters.Coalesced = 0, 0
			if !reflect.DeepEqual(first, second) {
				w.Fatalf("%s: %+v became %+v", name, first, second)
			}
		}
		clear()
		w.ok(w.rt.ReconcileWatchdog(&dog, job, time.Second, tasks.ScheduledAt(at(time.Hour)), idleWatchdog))
		w.ok(w.rt.ReconcileWatchdog(&dog, job, time.Second, tasks.ScheduledAt(at(2*time.Hour)), idleWatchdog))
		w.scheduled(2 * time.Hour)
		w.ok(w.rt.ReconcileWatchdog(&dog, job, time.Second, tasks.Inactive(), idleWatchdog))
		w.inactive(tasks.ReasonCancelled)
	}},
	{"R-91 a slot is filled when its first state stands, and then keeps its callback", func(w *world) {
		var slot *tasks.WatchdogRegistration
		ran := ""
		named := func(name string) tasks.WatchdogFunc {
			return func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
				ran += name
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
			}
		}
		w.clock.failArm = 1
		err := w.rt.ReconcileWatchdog(&slot, job, time.Second, tasks.ScheduledImmediately(), named("a"))
		w.is(err, &tasks.ControlError{})
		if slot != nil {
			w.Fatal("the slot was filled")
		}
		w.gone()
		w.ok(w.rt.ReconcileWatchdog(&slot, job, time.Second, tasks.ScheduledAt(at(time.Second)), named("b")))
		kept := slot
		w.clock.failArm = 1
		err = w.rt.ReconcileWatchdog(&slot, job, time.Second, tasks.ScheduledAt(at(2*time.Second)), named("c"))
		w.is(err, &tasks.ControlError{})
		equal(w.T, "slot", slot, kept)
		w.ok(w.rt.ReconcileWatchdog(&slot, job, time.Second, tasks.ScheduledImmediately(), named("d")))
		w.clock.fire()
		equal(w.T, "callback", ran, "b")
	}},
	{"R-92 a slot of another declaration is a conflict", func(w *world) {
		var slot *tasks.AfterCompletionRegistration
		w.ok(w.rt.ReconcileAfterCompletion(&slot, job, time.Second, tasks.Scheduled(), idleAfter))
		before := w.see()
		other := tasks.MustIdentity("a", "b", "c")
		w.is(w.rt.ReconcileAfterCompletion(&slot, job, 2*time.Second, tasks.Scheduled(), idleAfter), tasks.ErrReconciliationConflict)
		w.is(w.rt.ReconcileAfterCompletion(&slot, other, time.Second, tasks.Scheduled(), idleAfter), tasks.ErrReconciliationConflict)
		w.is(newWorld(w.T).rt.ReconcileAfterCompletion(&slot, job, time.Second, tasks.Inactive(), idleAfter), tasks.ErrReconciliationConflict)
		if !reflect.DeepEqual(w.see(), before) {
			w.Fatal("a conflict changed the task")
		}
		w.ok(slot.Unregister())
		w.is(w.rt.ReconcileAfterCompletion(&slot, job, time.Second, tasks.Scheduled(), idleAfter), tasks.ErrRegistrationExpired)
		transient := must(w.rt.RegisterAfterCompletion(job, time.Second, tasks.RemoveWhenStopped(tasks.Immediately()), idleAfter))(w.T)
		w.is(w.rt.ReconcileAfterCompletion(&transient, job, time.Second, tasks.Scheduled(), idleAfter), tasks.ErrReconciliationConflict)
	}},
	{"R-93 tasks are rebuilt from the owner's own state, before anything runs", func(w *world) {
		// The owner's durable state: what is owed, and when the next work is due.
		type state struct {
			owed int
			next tasks.Instant
		}
		for _, c := range []struct {
			durable state
			want    tasks.State
			at      tasks.Instant
		}{
			{state{}, tasks.StateInactive, 0},
			{state{owed: 2}, tasks.StateScheduled, at(0)},
			{state{next: at(time.Hour)}, tasks.StateScheduled, at(time.Hour)},
		} {
			for range 2 { // a start and a restart: the runtime brings nothing along
				w := newWorld(w.T)
				desired := tasks.Inactive()
				switch {
				case c.durable.owed > 0:
					desired = tasks.ScheduledImmediately()
				case c.durable.next > 0:
					desired = tasks.ScheduledAt(c.durable.next)
				}
				var slot *tasks.WatchdogRegistration
				ran := false
				w.ok(w.rt.ReconcileWatchdog(&slot, job, time.Second, desired, func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
					ran = true
					return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
				}))
				s := w.see()
				equal(w.T, "state", s.State, c.want)
				equal(w.T, "ran within the call", ran, false)
				if s.Wakeup != nil {
					equal(w.T, "deadline", s.Wakeup.Deadline, c.at)
				}
			}
		}
	}},
	{"R-94 every error is of a kind and says what to do", func(w *world) {
		kinds := []error{tasks.ErrNotInitialized, tasks.ErrCapacity, tasks.ErrIdentityAlreadyRegistered, tasks.ErrClaimGenerationExhausted,
			tasks.ErrDelayOutOfRange, tasks.ErrDeadlineOverflow, tasks.ErrInvalidCadence, tasks.ErrRegistrationExpired,
			tasks.ErrOwnershipInvariant, tasks.ErrReconciliationConflict, tasks.ErrInvalidStart, tasks.ErrNoCallback, tasks.ErrShutdown,
			&tasks.IdentityError{Field: "name", Cause: tasks.IdentityEmpty}, &tasks.ControlError{Reason: tasks.ReasonBindingFailed}}
		for i, a := range kinds {
			if len(a.Error()) < 20 || a.Error()[:7] != "tasks: " {
				w.Errorf("%q", a)
			}
			for j, b := range kinds {
				if errors.Is(fmt.Errorf("around: %w", a), b) != (i == j) {
					w.Errorf("%v is %v", a, b)
				}
			}
		}
		cause := errors.New("no timers left")
		e := &tasks.ControlError{Reason: tasks.ReasonBindingFailed, Err: cause}
		w.is(e, cause)
		equal(w.T, "text", e.Error(), "tasks: the task was stopped (provider-binding-failed): no timers left")
		_, err := tasks.Instant(math.MaxUint64).Add(1)
		w.is(err, tasks.ErrDeadlineOverflow)
		equal(w.T, "the longest time", tasks.Instant(math.MaxUint64).Since(0), math.MaxInt64)
	}},
	{"R-95 work beyond the limit waits its turn and is not dropped", func(w *world) {
		for _, limit := range []int{0, 1, 3} {
			bubble(w.T, func(t *testing.T) { limited(t, limit) })
		}
		bubble(w.T, waitingIsOwned)
	}},
	{"R-96 the manual clock fires by deadline, then by arming; the system clock is monotonic", func(w *world) {
		ran := ""
		named := func(name string, s tasks.Schedule) {
			must(w.rt.RegisterOnce(tasks.MustIdentity("test", "order", name), tasks.RetainedAt(s), func(context.Context, *tasks.OnceContext) tasks.OnceResult {
				ran += name
				return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
			}))(w.T)
		}
		named("c", tasks.After(2))
		named("a", tasks.After(1))
		named("d", tasks.After(2))
		named("b", tasks.At(at(1)))
		w.clock.advance(5)
		equal(w.T, "order", ran, "abcd")

		bubble(w.T, func(t *testing.T) {
			c := tasks.SystemClock()
			began := c.Now()
			equal(t, "from 1970", began.Time().Unix(), time.Now().Unix())
			fired := make(chan tasks.Instant)
			must(c.AfterFunc(time.Minute, func() { fired <- c.Now() }))(t)
			equal(t, "elapsed", (<-fired).Since(began), time.Minute)
			if timer := must(c.AfterFunc(time.Minute, func() { t.Error("stopped timer fired") }))(t); !timer.Stop() {
				t.Error("not stopped")
			}
		})
	}},
	{"R-97 shutdown gives running work a grace and abandons the rest", func(w *world) {
		shutDownIdle(newWorld(w.T))
		bubble(w.T, shutDownInGrace)
		bubble(w.T, shutDownForsaken)
		bubble(w.T, shutDownIntoAPanic)
		goleak.VerifyNone(w.T)
	}},
}

// limited has 64 tasks due at once.
func limited(t *testing.T, limit int) {
	rt := tasks.New(tasks.Config{MaxConcurrentWork: limit})
	var mu sync.Mutex
	running, most := 0, 0
	for i := range tasks.MaxRegistrations {
		must(rt.RegisterOnce(tasks.MustIdentity("test", "limit", fmt.Sprint(i)), tasks.RetainedAt(tasks.After(time.Second)),
			func(context.Context, *tasks.OnceContext) tasks.OnceResult {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				<-time.After(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				if i%7 == 0 {
					panic("a panic frees its place too")
				}
				return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
			}))(t)
	}
	<-time.After(1500 * time.Millisecond)
	synctest.Wait()
	if limit > 0 {
		equal(t, "waiting", rt.Inventory().Waiting, tasks.MaxRegistrations-limit)
		equal(t, "running", rt.Inventory().Running, limit)
	}
	<-time.After(2 * time.Minute)
	if limit == 0 {
		limit = tasks.MaxRegistrations
	}
	equal(t, "most at a time", most, limit)
	for _, s := range rt.Inventory().Tasks {
		equal(t, s.Identity.String(), s.Counters.WorkStarted, 1)
	}
	equal(t, "running", rt.Inventory().Running, 0)
}

// waitingIsOwned: work that waits can be cancelled, and a watchdog's keeps its place when it is retired.
func waitingIsOwned(t *testing.T) {
	rt := tasks.New(tasks.Config{MaxConcurrentWork: 1})
	release := make(chan struct{})
	must(rt.RegisterOnce(tasks.MustIdentity("test", "wait", "blocker"), tasks.RetainedAt(tasks.Immediately()),
		func(context.Context, *tasks.OnceContext) tasks.OnceResult {
			<-release
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		}))(t)
	synctest.Wait()
	ran := ""
	dog := must(rt.RegisterWatchdog(tasks.MustIdentity("test", "wait", "dog"), time.Second, tasks.RetainedAt(tasks.Immediately()),
		func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			ran += "dog "
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
		}))(t)
	synctest.Wait()
	once := func(name string) *tasks.OnceRegistration {
		g := must(rt.RegisterOnce(tasks.MustIdentity("test", "wait", name), tasks.RetainedAt(tasks.Immediately()),
			func(context.Context, *tasks.OnceContext) tasks.OnceResult {
				ran += name + " "
				return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
			}))(t)
		synctest.Wait()
		return g
	}
	first, second := once("first"), once("second")
	equal(t, "waiting", rt.Inventory().Waiting, 3)
	<-time.After(2500 * time.Millisecond) // two more scheduler steps, each with a new attempt in the old one's place
	s, _ := rt.Snapshot(first.Identity())
	equal(t, "overdue", s.Overdue, true)
	equal(t, "retired", must(dog.Snapshot())(t).Counters.Unacknowledged, 2)
	if err := first.Cancel(); err != nil {
		t.Fatal(err)
	}
	equal(t, "waiting", rt.Inventory().Waiting, 2)
	close(release)
	synctest.Wait()
	equal(t, "in order", ran, "dog second ")
	equal(t, "handles", rt.Inventory().Handles, 0)
	_ = second
}

func shutDownIdle(w *world) {
	w.clock.holdZero = true
	queued := must(w.rt.RegisterWatchdog(tasks.MustIdentity("a", "b", "queued"), time.Second, tasks.RetainedAt(tasks.After(time.Second)), idleWatchdog))(w.T)
	w.clock.advance(time.Second)
	released := 0
	w.once(tasks.RemoveWhenStopped(tasks.After(time.Hour)), idleOnce, tasks.OnRelease(func() { released++ }))
	armed := must(w.rt.RegisterOnce(tasks.MustIdentity("a", "b", "armed"), tasks.RetainedAt(tasks.After(time.Hour)), idleOnce))(w.T)
	w.ok(w.rt.Shutdown(time.Second))
	w.handles(0)
	w.gone()
	equal(w.T, "released", released, 1)
	equal(w.T, "armed", must(armed.Snapshot())(w.T).Reason, tasks.ReasonShutDown)
	s := must(queued.Snapshot())(w.T)
	equal(w.T, "queued", s.Reason, tasks.ReasonAbandoned)
	equal(w.T, "queued", s.Counters.Unacknowledged, 1)
	equal(w.T, "inventory", w.rt.Inventory().ShutDown, true)
	w.is(armed.EnsureScheduled(tasks.Immediately()), tasks.ErrShutdown)
	w.ok(armed.Cancel())
	_, err := w.rt.RegisterOnce(job, tasks.Retained(nil), idleOnce)
	w.is(err, tasks.ErrShutdown)
	w.ok(w.rt.Shutdown(0)) // again
	w.clock.holdZero = false
	w.clock.release()
	w.clock.advance(time.Hour)
	equal(w.T, "starts", must(queued.Snapshot())(w.T).Counters.WorkStarted, 0)
}

func shutDownInGrace(t *testing.T) {
	rt := tasks.New(tasks.Config{})
	dog := must(rt.RegisterWatchdog(job, time.Second, tasks.RetainedAt(tasks.Immediately()), func(ctx context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
		<-ctx.Done()
		<-time.After(3 * time.Second) // several cadences within the grace
		if s, _ := rt.Snapshot(job); s.Counters.Coalesced != 0 || s.Wakeup != nil {
			t.Errorf("the successor outlives the shutdown: %+v", s)
		}
		if err := c.EnsureScheduledImmediately(); !errors.Is(err, tasks.ErrShutdown) {
			t.Errorf("scheduled: %v", err)
		}
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.ContinueImmediately())
	}))(t)
	synctest.Wait()
	if err := rt.Shutdown(time.Minute); err != nil {
		t.Fatal(err)
	}
	s := must(dog.Snapshot())(t)
	equal(t, "reason", s.Reason, tasks.ReasonShutDown)
	equal(t, "condition", s.Condition, tasks.ConditionDisabled)
	equal(t, "completed", s.Counters.Succeeded, 1)
	equal(t, "handles", rt.Inventory().Handles, 0)
}

func shutDownForsaken(t *testing.T) {
	rt := tasks.New(tasks.Config{})
	release := make(chan struct{})
	block := func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
		<-release
		if err := c.Cancel(); !errors.Is(err, tasks.ErrRegistrationExpired) {
			t.Errorf("cancelled: %v", err)
		}
		if c.Identity() == job {
			panic("late")
		}
		return tasks.NewOnceResult(tasks.Success(1), tasks.ContinueImmediately())
	}
	g := must(rt.RegisterOnce(job, tasks.RetainedAt(tasks.Immediately()), block))(t)
	other := must(rt.RegisterOnce(tasks.MustIdentity("a", "b", "c"), tasks.RetainedAt(tasks.Immediately()), block))(t)
	must(rt.RegisterOnce(tasks.MustIdentity("a", "b", "d"), tasks.RemoveWhenStopped(tasks.Immediately()), block))(t)
	synctest.Wait()
	began := time.Now()
	err := rt.Shutdown(5 * time.Second)
	if !errors.Is(err, tasks.ErrUnfinished) || err.Error() != tasks.ErrUnfinished.Error()+": a/b/c, a/b/d, test/unit/job" {
		t.Fatalf("got %v", err)
	}
	equal(t, "grace", time.Since(began), 5*time.Second)
	s := must(g.Snapshot())(t)
	equal(t, "reason", s.Reason, tasks.ReasonAbandoned)
	equal(t, "unacknowledged", s.Counters.Unacknowledged, 1)
	equal(t, "still runs", rt.Inventory().Running, 3)
	if err := rt.Shutdown(time.Second); !errors.Is(err, tasks.ErrUnfinished) {
		t.Fatalf("again: %v", err)
	}
	close(release)
	synctest.Wait()
	equal(t, "stale", must(other.Snapshot())(t).Counters.StaleWork, 1)
	s = must(g.Snapshot())(t)
	equal(t, "late panic", [3]tasks.Counter{s.Counters.StaleWork, s.Counters.Panics, s.Counters.WorkCompleted}, [3]tasks.Counter{1, 1, 0})
	equal(t, "gone", rt.Inventory().Stale, 1)
	equal(t, "running", rt.Inventory().Running, 0)
	if err := rt.Shutdown(time.Second); err != nil {
		t.Fatal(err)
	}
}

// shutDownIntoAPanic: no successor will retire a watchdog that panics while the runtime ends.
func shutDownIntoAPanic(t *testing.T) {
	rt := tasks.New(tasks.Config{})
	dog := must(rt.RegisterWatchdog(job, time.Second, tasks.RetainedAt(tasks.Immediately()), func(ctx context.Context, _ *tasks.WatchdogContext) tasks.WatchdogResult {
		<-ctx.Done()
		panic("interrupted")
	}))(t)
	synctest.Wait()
	if err := rt.Shutdown(time.Minute); err != nil {
		t.Fatal(err)
	}
	s := must(dog.Snapshot())(t)
	equal(t, "reason", s.Reason, tasks.ReasonAbandoned)
	equal(t, "ended", [2]tasks.Counter{s.Counters.Panics, s.Counters.Unacknowledged}, [2]tasks.Counter{1, 1})
	equal(t, "nothing runs or is lost", s.Attempt == nil && s.State == tasks.StateInactive, true)
}
