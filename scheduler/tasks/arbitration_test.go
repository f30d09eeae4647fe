package tasks_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// order is one command of the matrix. Deadlines are in seconds after the start; the watchdog's cadence is 6.
type order struct {
	name  string
	what  byte // e ensure, x exact, c cancel, u unregister
	after int
}

var orders = []order{
	{"ensure 0", 'e', 0}, {"ensure 5", 'e', 5}, {"ensure 9", 'e', 9}, {"ensure cadence", 'e', 6},
	{"reconcile 3", 'x', 3}, {"reconcile 12", 'x', 12}, {"reconcile none", 'c', 0}, {"cancel", 'c', 0}, {"unregister", 'u', 0},
}

const matrixCadence = 6 * time.Second

// setting is what the orders are given in.
type setting struct {
	policy    tasks.Policy
	transient bool
	invariant bool
	inside    bool // through the context, else through the registration
}

// fate is what becomes of the task: a deadline in seconds, or why there is none.
type fate struct {
	gone   bool
	reason tasks.InactiveReason
	at     int
}

// oracle says what must become of the task, from the list of orders as a whole. The decision asks for second 2.
func oracle(s setting, given []order) fate {
	end := func(reason tasks.InactiveReason) fate {
		if s.transient {
			return fate{gone: true}
		}
		return fate{reason: reason}
	}
	if slices.ContainsFunc(given, func(o order) bool { return o.what == 'u' }) {
		return fate{gone: true}
	}
	if s.invariant {
		return end(tasks.ReasonInvariantFailure)
	}
	cancelled := false
	for i := len(given) - 1; i >= 0; i-- {
		if given[i].what == 'c' {
			cancelled, given = true, given[i+1:]
			break
		}
	}
	if cancelled && (s.transient || len(given) == 0) {
		return end(tasks.ReasonCancelled)
	}
	if len(given) == 0 {
		return fate{at: 2}
	}
	exact := cancelled
	for i := len(given) - 1; i >= 0; i-- {
		if given[i].what == 'x' {
			exact, given = true, given[i:]
			break
		}
	}
	best := given[0].after
	for _, o := range given[1:] {
		best = min(best, o.after)
	}
	if s.policy == tasks.PolicyWatchdog && !exact {
		best = min(best, 6) // the successor stays
	}
	return fate{at: best}
}

// commander is what registrations and contexts of all policies have in common.
type commander interface {
	Cancel() error
	Unregister() error
	ReconcileSchedule(*tasks.Schedule) error
}

func give(c commander, o order) error {
	switch o.name {
	case "ensure cadence":
		if c, ok := c.(interface{ EnsureScheduled() error }); ok {
			return c.EnsureScheduled()
		}
	case "ensure 0":
		if c, ok := c.(interface{ EnsureScheduledImmediately() error }); ok {
			return c.EnsureScheduledImmediately()
		}
	}
	s := tasks.At(at(time.Duration(o.after) * time.Second))
	switch o.what {
	case 'x':
		return c.ReconcileSchedule(&s)
	case 'c':
		return c.Cancel()
	case 'u':
		return c.Unregister()
	}
	if c, ok := c.(interface{ EnsureScheduled(tasks.Schedule) error }); ok {
		return c.EnsureScheduled(s)
	}
	return errNoSuchOrder
}

var errNoSuchOrder = fmt.Errorf("the policy has no such order")

// refused says that an order given after the ones before it must be refused: the task will be gone before it could matter.
func refused(s setting, before []order, o order) bool {
	return (o.what == 'e' || o.what == 'x') && slices.ContainsFunc(before, func(b order) bool {
		return b.what == 'u' || s.transient && b.what == 'c'
	})
}

// carryOut gives the orders during one run and says what became of the task; false if the policy does not know one of them.
func carryOut(t *testing.T, s setting, given []order) (fate, bool) {
	w := newWorld(t)
	done, known := tasks.Success(1), true
	if s.invariant {
		done = tasks.InvariantFailure(1)
	}
	var outside commander
	obey := func(inside commander) {
		c := outside
		if s.inside {
			c = inside
		}
		for i, o := range given {
			switch err := give(c, o); {
			case err == errNoSuchOrder:
				known = false
			case (err != nil) != refused(s, given[:i], o):
				t.Errorf("%+v %v: order %d: %v", s, given, i, err)
			}
		}
	}
	start, next := tasks.RetainedAt(tasks.Immediately()), tasks.ScheduleAt(at(2*time.Second))
	if s.transient {
		start = tasks.RemoveWhenStopped(tasks.Immediately())
	}
	switch s.policy {
	case tasks.PolicyOnce:
		outside = w.once(start, func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
			obey(c)
			return tasks.NewOnceResult(done, next)
		})
	case tasks.PolicyAfterCompletion:
		outside = w.after(matrixCadence, start, func(_ context.Context, c *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
			obey(c)
			return tasks.NewAfterCompletionResult(done, next)
		})
	default:
		outside = w.watchdog(matrixCadence, start, func(_ context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
			obey(c)
			return tasks.NewWatchdogResult(done, next)
		})
	}
	w.clock.next(origin)
	if s.policy == tasks.PolicyWatchdog {
		w.clock.next(origin)
	}
	got, ok := w.rt.Snapshot(job)
	if !ok {
		w.handles(0)
		return fate{gone: true}, known
	}
	if got.State == tasks.StateInactive {
		w.handles(0)
		return fate{reason: got.Reason}, known
	}
	w.handles(1)
	return fate{at: int((uint64(got.Wakeup.Deadline) - origin) / second)}, known
}

func everyThreeCommands(w *world) {
	cases := 0
	for _, policy := range []tasks.Policy{tasks.PolicyOnce, tasks.PolicyAfterCompletion, tasks.PolicyWatchdog} {
		for bits := range 8 {
			s := setting{policy, bits&1 != 0, bits&2 != 0, bits&4 != 0}
			for _, a := range orders {
				for _, b := range orders {
					for _, c := range orders {
						given := []order{a, b, c}
						got, known := carryOut(w.T, s, given)
						if !known {
							continue
						}
						cases++
						if want := oracle(s, given); got != want {
							w.Fatalf("%+v: %s, %s, %s: got %+v, want %+v", s, a.name, b.name, c.name, got, want)
						}
					}
				}
			}
		}
	}
	if cases != 8*(9*9*9+2*7*7*7) {
		w.Fatalf("%d cases", cases)
	}
}

// TI-34: the same for lists of any length.
func TestAnyCommandsAreArbitratedAsTheOracleSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom([]tasks.Policy{tasks.PolicyOnce, tasks.PolicyAfterCompletion, tasks.PolicyWatchdog}).Draw(rt, "policy")
		s := setting{policy, rapid.Bool().Draw(rt, "transient"), rapid.Bool().Draw(rt, "invariant"), rapid.Bool().Draw(rt, "inside")}
		given := rapid.SliceOfN(rapid.SampledFrom(orders), 0, 12).Draw(rt, "orders")
		if got, known := carryOut(t, s, given); known && got != oracle(s, given) {
			rt.Fatalf("%+v %v: got %+v, want %+v", s, given, got, oracle(s, given))
		}
	})
}
