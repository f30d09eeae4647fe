package tasks_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// disorder drives a few tasks with random commands, callbacks and deliveries, and knows what must hold after each.
type disorder struct {
	t       *rapid.T
	clock   *manual
	rt      *tasks.Runtime
	owned   map[tasks.Identity]owner
	running map[tasks.Identity]int
	quiet   map[tasks.Identity]bool // idle work was cancelled or unregistered, and nothing was asked for since
	last    map[tasks.RegistrationID]tasks.Counters
	depth   int // of callbacks that move the clock themselves
	steps   int // of one delivery at most
	failure any // a failed check within a callback, whose panic the runtime takes for the callback's
}

// owner is what a registration of any policy can do.
type owner interface {
	commander
	HasArmedWakeup() bool
}

func newDisorder(t *rapid.T, testing *testing.T) *disorder {
	d := &disorder{t: t, clock: newManual(), owned: map[tasks.Identity]owner{}, running: map[tasks.Identity]int{},
		quiet: map[tasks.Identity]bool{}, last: map[tasks.RegistrationID]tasks.Counters{}}
	d.clock.lateStops = rapid.Bool().Draw(t, "stops come too late")
	d.rt = tasks.New(tasks.Config{Clock: d.clock})
	return d
}

var disorderly = []tasks.Identity{tasks.MustIdentity("a", "a", "a"), tasks.MustIdentity("a", "b", "a"), tasks.MustIdentity("b", "a", "a")}

func (d *disorder) someID() tasks.Identity { return rapid.SampledFrom(disorderly).Draw(d.t, "task") }

func (d *disorder) someSchedule() tasks.Schedule {
	seconds := time.Duration(rapid.IntRange(-1, 6).Draw(d.t, "seconds")) * time.Second
	if rapid.Bool().Draw(d.t, "absolute") {
		return tasks.At(d.rt.Now() + tasks.Instant(seconds))
	}
	return tasks.After(seconds)
}

// register declares a task of a random policy, if its identity is free.
func (d *disorder) register() {
	id := d.someID()
	start := tasks.Retained(nil)
	switch rapid.IntRange(0, 2).Draw(d.t, "start") {
	case 1:
		start = tasks.RetainedAt(d.someSchedule())
	case 2:
		start = tasks.RemoveWhenStopped(d.someSchedule())
	}
	var g owner
	var err error
	switch rapid.IntRange(0, 2).Draw(d.t, "policy") {
	case 0:
		g, err = d.rt.RegisterOnce(id, start, func(_ context.Context, c *tasks.OnceContext) tasks.OnceResult {
			done := d.run(id, c)
			return tasks.NewOnceResult(done, rapid.SampledFrom([]tasks.OnceDecision{tasks.Stop(), tasks.ContinueImmediately(),
				tasks.RetryAfter(time.Second), tasks.RetryAfter(-1), tasks.ScheduleAt(c.Now() + 3)}).Draw(d.t, "decision"))
		})
	case 1:
		g, err = d.rt.RegisterAfterCompletion(id, time.Second, start, func(_ context.Context, c *tasks.AfterCompletionContext) tasks.AfterCompletionResult {
			done := d.run(id, c)
			return tasks.NewAfterCompletionResult(done, rapid.SampledFrom([]tasks.AfterCompletionDecision{tasks.Stop(),
				tasks.RecurAfterCompletion(), tasks.RetryAfter(5 * time.Second)}).Draw(d.t, "decision"))
		})
	default:
		g, err = d.rt.RegisterWatchdog(id, time.Second, start, func(_ context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
			done := d.run(id, c)
			return tasks.NewWatchdogResult(done, rapid.SampledFrom([]tasks.WatchdogDecision{tasks.Stop(), tasks.Continue(), tasks.Continue(),
				tasks.ContinueImmediately(), tasks.ScheduleAt(c.Now() + tasks.Instant(4*time.Second))}).Draw(d.t, "decision"))
		})
	}
	if err == nil {
		d.owned[id] = g
		d.quiet[id] = false
	}
}

// deliberate is the panic that belongs to the disorder.
const deliberate = "disorder"

// run is the body of every callback.
func (d *disorder) run(id tasks.Identity, c commander) tasks.Completion {
	d.running[id]++
	defer func() {
		d.running[id]--
		if v := recover(); v != nil {
			if v != deliberate {
				d.failure = v
			}
			panic(v)
		}
	}()
	if d.running[id] > 1 {
		d.t.Fatalf("TI-30: two runs of %v at a time", id)
	}
	if d.quiet[id] {
		d.t.Fatalf("TI-32: %v ran after it had been cancelled", id)
	}
	if d.steps++; d.steps > 50 {
		return tasks.InvariantFailure(0) // an immediate continuation without end
	}
	for range rapid.IntRange(0, 2).Draw(d.t, "commands within") {
		d.command(c, nil)
	}
	if d.depth < 2 && rapid.IntRange(0, 3).Draw(d.t, "time passes within") == 0 {
		d.depth++
		d.clock.advance(time.Duration(rapid.IntRange(0, 2500).Draw(d.t, "ms")) * time.Millisecond)
		d.depth--
	}
	switch rapid.IntRange(0, 9).Draw(d.t, "ending") {
	case 0:
		panic(deliberate)
	case 1:
		return tasks.InvariantFailure(1)
	case 2:
		return tasks.RetryableFailure(1)
	case 3:
		return tasks.NoWork()
	}
	return tasks.Success(1)
}

// command gives one command; id is the task's if it comes from outside.
func (d *disorder) command(c commander, id *tasks.Identity) {
	kind := rapid.IntRange(0, 5).Draw(d.t, "command")
	idle := false
	if id != nil {
		s, ok := d.rt.Snapshot(*id)
		idle = !ok || s.Attempt == nil || s.Attempt.State != tasks.AttemptRunning
		idle = idle && (!ok || s.State != tasks.StateRunning)
	}
	var err error
	switch s := d.someSchedule(); kind {
	case 0:
		err = c.Cancel()
	case 1:
		if err = c.Unregister(); err == nil && id != nil && idle {
			delete(d.owned, *id)
		}
	case 2:
		err = c.ReconcileSchedule(&s)
	case 3:
		err = c.ReconcileSchedule(nil)
	default:
		switch c := c.(type) {
		case interface{ EnsureScheduled(tasks.Schedule) error }:
			err = c.EnsureScheduled(s)
		case interface{ EnsureScheduledImmediately() error }:
			err = c.EnsureScheduledImmediately()
		}
	}
	if id != nil {
		d.quiet[*id] = idle && (kind == 0 || kind == 1 || kind == 3) && err == nil || d.quiet[*id] && err != nil
	}
}

// check is what must hold at every moment outside of a scheduler step.
func (d *disorder) check() {
	if d.failure != nil {
		panic(d.failure)
	}
	inv := d.rt.Inventory()
	handles := 0
	if len(inv.Tasks) > tasks.MaxRegistrations || inv.Handles > tasks.MaxHandles {
		d.t.Fatalf("TI-29: %d tasks, %d handles", len(inv.Tasks), inv.Handles)
	}
	for _, s := range inv.Tasks {
		own := 0
		if s.Wakeup != nil {
			own++
		}
		if s.Attempt != nil && s.Attempt.State == tasks.AttemptDispatched {
			own++
		}
		if own > 1 && s.Policy != tasks.PolicyWatchdog {
			d.t.Fatalf("TI-29: %v owns %d handles", s.Identity, own)
		}
		handles += own
		if s.Policy == tasks.PolicyWatchdog && s.State != tasks.StateInactive && s.Wakeup == nil {
			d.t.Fatalf("TI-31: %v is %s without a successor", s.Identity, s.State)
		}
		if s.Lifetime == tasks.LifetimeRemoveWhenStopped && s.State == tasks.StateInactive {
			d.t.Fatalf("%v is transient and inactive", s.Identity)
		}
		d.checkCounters(s)
	}
	if handles != inv.Handles {
		d.t.Fatalf("TI-29: tasks show %d handles, the runtime counts %d", handles, inv.Handles)
	}
}

func (d *disorder) checkCounters(s tasks.Snapshot) {
	c := s.Counters
	if c.WorkCompleted != c.Succeeded+c.NoWork+c.RetryableFailure+c.InvariantFailure {
		d.t.Fatalf("TI-33: %+v", c)
	}
	now, before := reflect.ValueOf(c), reflect.ValueOf(d.last[s.Registration])
	for i := range now.NumField() {
		if now.Field(i).Uint() < before.Field(i).Uint() {
			d.t.Fatalf("TI-33: %s fell from %+v to %+v", now.Type().Field(i).Name, d.last[s.Registration], c)
		}
	}
	d.last[s.Registration] = c
}

func TestDisorder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDisorder(rt, t)
		rt.Repeat(map[string]func(*rapid.T){
			"":         func(*rapid.T) { d.check() },
			"register": func(*rapid.T) { d.register() },
			"command": func(*rapid.T) {
				if id := d.someID(); d.owned[id] != nil {
					d.command(d.owned[id], &id)
				}
			},
			"advance": func(t *rapid.T) {
				d.steps = 0
				d.clock.advance(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			},
			"freeze": func(t *rapid.T) {
				d.steps = 0
				d.clock.freeze(time.Duration(rapid.IntRange(0, 30).Draw(t, "seconds")) * time.Second)
			},
			"hold":    func(*rapid.T) { d.clock.holdZero = true },
			"release": func(*rapid.T) { d.steps, d.clock.holdZero = 0, false; d.clock.release() },
			"one":     func(*rapid.T) { d.steps = 0; d.clock.next(d.clock.now + uint64(time.Second)) },
		})
		d.end()
	})
}

// end: after a shutdown nothing runs and nothing is owned.
func (d *disorder) end() {
	d.clock.holdZero = false
	if err := d.rt.Shutdown(0); err != nil {
		d.t.Fatalf("shutdown: %v", err)
	}
	for id := range d.owned {
		d.quiet[id] = true
	}
	d.clock.release()
	d.clock.advance(time.Hour)
	inv := d.rt.Inventory()
	if inv.Handles != 0 || inv.Running != 0 || inv.Waiting != 0 {
		d.t.Fatalf("after the shutdown: %s", fmt.Sprintf("%+v", inv))
	}
}

// TI-35: however long a pause and however short the cadence, one successor is armed after it.
func TestOneSuccessorAfterAnyPause(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cadence := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "cadence"))
		pause := cadence + time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(rt, "pause"))
		w := newWorld(t)
		w.watchdog(cadence, tasks.RetainedAt(tasks.After(cadence)), idleWatchdog)
		w.clock.freeze(pause)
		if s := w.see(); s.Counters.WakeupsArmed != 2 || s.Counters.WorkStarted != 1 || s.Wakeup.Deadline != at(pause+cadence) {
			rt.Fatalf("cadence %v, pause %v: %+v", cadence, pause, s)
		}
	})
}
