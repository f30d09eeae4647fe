package tasks_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var policyTests = []requirement{
	{"R-30 once: stop, continue at once, retry, schedule", func(w *world) {
		for _, c := range []struct {
			d    tasks.OnceDecision
			next time.Duration
		}{
			{tasks.Stop(), -1}, {nil, -1}, {tasks.ContinueImmediately(), 0},
			{tasks.RetryAfter(5 * time.Second), 5 * time.Second}, {tasks.ScheduleAt(at(7 * time.Second)), 7 * time.Second},
		} {
			w := newWorld(w.T)
			runs := 0
			w.once(tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.OnceContext) tasks.OnceResult {
				if runs++; runs > 1 {
					return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
				}
				return tasks.NewOnceResult(tasks.Success(1), c.d)
			})
			w.clock.fire()
			if c.next < 0 {
				w.clock.advance(time.Hour)
				equal(w.T, "runs", runs, 1)
				continue
			}
			if c.next > 0 {
				w.scheduled(c.next)
				w.clock.advance(c.next)
			}
			equal(w.T, "runs", runs, 2)
			w.inactive(tasks.ReasonStopped)
		}
	}},
	{"R-31 after completion: the cadence counts from the completion", func(w *world) {
		w.after(10*time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
			w.clock.advance(3 * time.Second)
			return tasks.NewAfterCompletionResult(tasks.Success(1), tasks.RecurAfterCompletion())
		})
		w.clock.fire()
		w.scheduled(13 * time.Second)
		w.clock.advance(10 * time.Second)
		w.scheduled(26 * time.Second)
		for _, d := range []tasks.AfterCompletionDecision{tasks.Stop(), tasks.RetryAfter(time.Second), tasks.ScheduleAt(at(time.Second)), nil} {
			w := newWorld(w.T)
			w.after(10*time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
				return tasks.NewAfterCompletionResult(tasks.Success(1), d)
			})
			w.clock.fire()
			if d == nil || d == tasks.AfterCompletionDecision(tasks.Stop()) {
				w.inactive(tasks.ReasonStopped)
			} else {
				w.scheduled(time.Second)
			}
		}
	}},
	{"R-32 watchdog: continue, continue at once, stop, schedule", func(w *world) {
		for _, c := range []struct {
			d    tasks.WatchdogDecision
			next time.Duration
		}{
			{tasks.Continue(), 10 * time.Second}, {tasks.ScheduleAt(at(3 * time.Second)), 3 * time.Second},
			{tasks.ScheduleAt(at(30 * time.Second)), 30 * time.Second}, {tasks.Stop(), -1}, {nil, -1}, {tasks.ContinueImmediately(), 0},
		} {
			w := newWorld(w.T)
			runs := 0
			w.watchdog(10*time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
				if runs++; runs > 1 {
					return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
				}
				return tasks.NewWatchdogResult(tasks.Success(1), c.d)
			})
			w.clock.fire()
			switch {
			case c.next > 0:
				w.scheduled(c.next)
				w.handles(1)
			case c.next == 0:
				equal(w.T, "runs", runs, 2)
			default:
				w.inactive(tasks.ReasonStopped)
				w.handles(0)
			}
		}
	}},
	{"R-33 a completion records, a decision selects", func(w *world) {
		for _, c := range []struct {
			done tasks.Completion
			kind tasks.OutcomeKind
			n    uint64
		}{
			{tasks.Success(3), tasks.OutcomeSuccess, 3}, {tasks.NoWork(), tasks.OutcomeNoWork, 0},
			{tasks.RetryableFailure(2), tasks.OutcomeRetryableFailure, 2},
		} {
			for _, d := range []tasks.AfterCompletionDecision{tasks.Stop(), tasks.RetryAfter(time.Second), tasks.RecurAfterCompletion(), tasks.ScheduleAt(at(9 * time.Second))} {
				w := newWorld(w.T)
				w.after(5*time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
					return tasks.NewAfterCompletionResult(c.done, d)
				})
				w.clock.fire()
				s := w.see()
				equal(w.T, "outcome", *s.LastOutcome, tasks.Outcome{Kind: c.kind, Units: c.n, At: at(0)})
				want := tasks.StateScheduled
				if s.LatestDecision.Kind == tasks.DecisionStop {
					want = tasks.StateInactive
				}
				equal(w.T, "state", s.State, want)
				if c.kind == tasks.OutcomeRetryableFailure {
					condition := map[tasks.State]tasks.Condition{tasks.StateScheduled: tasks.ConditionRetrying, tasks.StateInactive: tasks.ConditionFailed}
					equal(w.T, "condition", s.Condition, condition[want])
				}
			}
		}
	}},
	{"R-34 an invariant failure stops, in the result and at the completion", func(w *world) {
		for _, d := range []tasks.AfterCompletionDecision{tasks.Stop(), tasks.ContinueImmediately(), tasks.RetryAfter(time.Second), tasks.RecurAfterCompletion()} {
			res := tasks.NewAfterCompletionResult(tasks.InvariantFailure(1), d)
			equal(w.T, "decision", res.Decision().Kind, tasks.DecisionStop)
			equal(w.T, "completion", res.Completion().Kind(), tasks.OutcomeInvariantFailure)
			w := newWorld(w.T)
			w.after(time.Second, tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, c *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
				w.ok(c.EnsureScheduledImmediately()) // commands do not help
				return res
			})
			w.clock.fire()
			w.inactive(tasks.ReasonInvariantFailure)
			equal(w.T, "condition", w.see().Condition, tasks.ConditionFailed)
			w.handles(0)
		}
		equal(w.T, "zero once result", tasks.OnceResult{}.Completion().Kind(), tasks.OutcomeInvariantFailure)
		equal(w.T, "zero watchdog result", tasks.WatchdogResult{}.Decision().Kind, tasks.DecisionStop)
		w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			return tasks.WatchdogResult{}
		})
		w.clock.fire()
		w.inactive(tasks.ReasonInvariantFailure)
		equal(w.T, "counted", w.see().Counters.InvariantFailure, 1)
	}},
	{"R-35 only the selected delay is checked, after arbitration", func(w *world) {
		for _, c := range []struct {
			name   string
			now    uint64
			delay  time.Duration
			reason tasks.InactiveReason
		}{
			{"negative", origin, -1, tasks.ReasonDelayOutOfRange},
			{"overflow", math.MaxUint64 - 10, 11, tasks.ReasonDeadlineOverflow},
		} {
			for _, nested := range []bool{false, true} {
				w := newWorld(w.T)
				w.clock.now = c.now
				w.once(tasks.RetainedAt(tasks.Immediately()), func(_ context.Context, x *tasks.OnceContext) tasks.OnceResult {
					if nested {
						w.ok(x.ReconcileSchedule(ptr(tasks.After(5))))
					}
					return tasks.NewOnceResult(tasks.Success(1), tasks.RetryAfter(c.delay))
				})
				w.clock.advance(0)
				if nested {
					equal(w.T, c.name, w.see().State, tasks.StateScheduled)
					continue
				}
				w.inactive(c.reason)
				equal(w.T, c.name, w.see().Reason.ControlFailure(), true)
				equal(w.T, c.name, w.see().Condition, tasks.ConditionFailed)
				equal(w.T, "the completion counts", w.see().Counters.Succeeded, 1)
			}
		}
	}},
	{"R-36 an ordinary callback that does not return schedules nothing", func(w *world) {
		g := w.after(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
			panic("gone")
		})
		w.clock.advance(time.Hour)
		w.inactive(tasks.ReasonAbandoned)
		equal(w.T, "started", w.see().Counters.WorkStarted, 1)
		equal(w.T, "armed", g.HasArmedWakeup(), false)
	}},
	{"R-37 the streak counts retryable failures since another completion", func(w *world) {
		script := "FFSF!FN" // ! panics, which leaves the streak as it is
		want := []uint64{1, 2, 0, 1, 1, 2, 0}
		i := 0
		g := w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			done := map[byte]tasks.Completion{'F': tasks.RetryableFailure(0), 'S': tasks.Success(1), 'N': tasks.NoWork()}
			if script[i] == '!' {
				panic("!")
			}
			return tasks.NewWatchdogResult(done[script[i]], tasks.Continue())
		})
		for i = range script {
			w.clock.advance(time.Second)
			equal(w.T, script[:i+1], must(g.Failures())(w.T), want[i])
			equal(w.T, "in the snapshot", uint64(w.see().Failures), want[i])
		}
		invariant := must(w.rt.RegisterAfterCompletion(tasks.MustIdentity("a", "b", "i"), time.Second, tasks.RetainedAt(tasks.Immediately()),
			func(_ context.Context, c *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
				if c.Now() > at(7*time.Second) {
					return tasks.NewAfterCompletionResult(tasks.InvariantFailure(0), tasks.Stop())
				}
				return tasks.NewAfterCompletionResult(tasks.RetryableFailure(0), tasks.RecurAfterCompletion())
			}))(w.T)
		w.clock.fire()
		equal(w.T, "before an invariant failure", must(invariant.Failures())(w.T), 1)
		w.clock.advance(time.Second)
		equal(w.T, "an invariant failure is no failure that is expected", must(invariant.Failures())(w.T), 0)
		g2 := must(w.rt.RegisterOnce(tasks.MustIdentity("a", "b", "c"), tasks.RetainedAt(tasks.Immediately()),
			func(context.Context, *tasks.OnceContext) tasks.OnceResult {
				return tasks.NewOnceResult(tasks.RetryableFailure(0).Because(errors.New(strings.Repeat("é", 200))), tasks.Stop())
			}))(w.T)
		w.clock.fire()
		equal(w.T, "why", must(g2.Snapshot())(w.T).LastOutcome.Detail, strings.Repeat("é", 128))
	}},
}
