package tasks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

var observabilityTests = []requirement{
	{"R-70 snapshots and inventories are copies", func(w *world) {
		inv := w.rt.Inventory()
		if inv.Epoch == 0 || inv.Epoch != w.rt.Epoch() || len(inv.Tasks) != 0 {
			w.Fatalf("the empty inventory is %+v", inv)
		}
		store := uint64(7)
		w = newWorldWith(w.T, tasks.Config{Meter: &meter{clock: w.clock, store: &store}})
		w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), idleWatchdog)
		w.clock.fire()
		text := func() string { return string(must(json.Marshal(w.see()))(w.T)) }
		before, spoilt := text(), w.see()
		spoilt.Wakeup.Deadline, *spoilt.LatestDecision, *spoilt.RequestedDelay, *spoilt.ArmedDelay = 1, tasks.Decision{}, 1, 1
		spoilt.LastOutcome.Units, spoilt.Counters.Succeeded = 99, 99
		spoilt.Work.Memory.Start.Heap, *spoilt.Work.Memory.End.Store, *spoilt.Work.Memory.MaxHeapGrowth = 99, 99, 99
		spoilt.Scheduler.Memory.End.Heap = 99
		w.rt.Inventory().Tasks[0] = tasks.Snapshot{}
		equal(w.T, "the task, after a snapshot of it was written into", text(), before) // as text: two snapshots may share what they should not
		if _, ok := w.rt.Snapshot(tasks.MustIdentity("no", "such", "task")); ok {
			w.Fatal("a snapshot of nothing")
		}
	}},
	{"R-71 a snapshot tells all there is to know", goldenSnapshot},
	{"R-72 counters have the scenarios' exact values", func(w *world) {
		for _, f := range []func(*world){scenarioPanic, scenarioDrain, scenarioOverdue, scenarioAbandonment} {
			f(newWorld(w.T))
		}
		names := reflect.TypeFor[tasks.Counters]()
		var got []string
		for i := range names.NumField() {
			got = append(got, names.Field(i).Tag.Get("json"))
		}
		want := []string{"schedule_requests", "wakeups_armed", "work_dispatched", "scheduler_started", "work_started", "work_completed",
			"succeeded", "no_work", "retryable_failure", "invariant_failure", "cancelled", "stale_wakeups", "stale_work", "coalesced",
			"unacknowledged", "panics", "units"}
		if !slices.Equal(got, want) {
			w.Fatalf("got %v", got)
		}
	}},
	{"R-73 completions are the sum of their four kinds", func(w *world) {
		script := []tasks.Completion{tasks.Success(5), tasks.NoWork(), tasks.RetryableFailure(2), tasks.Success(1), tasks.InvariantFailure(4)}
		i := 0
		w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			i++
			return tasks.NewWatchdogResult(script[i-1], tasks.Continue())
		})
		w.clock.advance(time.Minute)
		w.inactive(tasks.ReasonInvariantFailure)
		c := w.see().Counters
		equal(w.T, "completed", c.WorkCompleted, 5)
		equal(w.T, "sum", c.Succeeded+c.NoWork+c.RetryableFailure+c.InvariantFailure, 5)
		equal(w.T, "units", c.Units, 12)
	}},
	{"R-74 counters stay at their greatest value", func(w *world) {
		top := tasks.Counter(math.MaxUint64)
		equal(w.T, "reached", (top - 1).Increment(), top)
		equal(w.T, "passed", top.Increment(), top)
		equal(w.T, "saturated, even if reached exactly", top.Saturated(), true)
		equal(w.T, "not saturated", (top - 1).Saturated(), false)
		w.once(tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.OnceContext) tasks.OnceResult {
			return tasks.NewOnceResult(tasks.Success(9), tasks.Stop())
		})
		w.rt.SetCounters(job, tasks.Counters{WorkCompleted: top, Succeeded: top, Units: top - 3})
		w.clock.fire()
		c := w.see().Counters
		equal(w.T, "counters", [3]tasks.Counter{c.WorkCompleted, c.Succeeded, c.Units}, [3]tasks.Counter{top, top, top})
		m := tasks.MemorySummary{Samples: top}.RecordMemory(tasks.MemoryReading{}, tasks.MemoryReading{})
		equal(w.T, "memory samples", m.Samples, top)
	}},
	{"R-75 totals are exact over 128 bits and marked beyond", func(w *world) {
		m := tasks.SummaryAt(1, 0, math.MaxUint64).Record(5)
		hi, lo := m.Total()
		equal(w.T, "total", [2]uint64{hi, lo}, [2]uint64{1, 4})
		m = tasks.SummaryAt(1, math.MaxUint64, math.MaxUint64-5).Record(5)
		hi, lo = m.Total()
		equal(w.T, "the bound, reached exactly", [2]uint64{hi, lo}, [2]uint64{math.MaxUint64, math.MaxUint64})
		equal(w.T, "is exact", m.TotalSaturated(), false)
		m = m.Record(1)
		equal(w.T, "beyond it", m.TotalSaturated(), true)
		m = tasks.SummaryAt(math.MaxUint64-1, 0, 0).Record(1)
		equal(w.T, "samples, reached exactly", m.SamplesSaturated(), false)
		m = m.Record(7).Record(3)
		equal(w.T, "samples beyond", m.SamplesSaturated(), true)
		latest, _ := m.Latest()
		maximum, _ := m.Maximum()
		equal(w.T, "latest and maximum go on", [2]uint64{latest, maximum}, [2]uint64{3, 7})
		text := string(must(json.Marshal(tasks.SummaryAt(2, 1, 4)))(w.T))
		equal(w.T, "json", text, `{"samples":2,"total":"18446744073709551620","latest":0,"maximum":0,"mean":9223372036854775810}`)
	}},
	{"R-76 means are exact, rounded down once, and refused after an overflow", means},
	{"R-77 scheduler and work are measured apart, from acceptance to the binding of the successor", func(w *world) {
		clock := w.clock
		w = &world{w.T, clock, tasks.New(tasks.Config{Clock: clock, Meter: &meter{clock: clock, readCost: 1000}})}
		clock.armCost = 7
		w.watchdog(time.Second, tasks.RetainedAt(tasks.After(time.Second)), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			clock.mu.Lock()
			clock.now += 100 // the work
			clock.mu.Unlock()
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.ScheduleAt(at(time.Hour)))
		})
		clock.advance(time.Second + time.Millisecond)
		s := w.see()
		step, _ := s.Scheduler.Elapsed.Latest()
		work, _ := s.Work.Elapsed.Latest()
		equal(w.T, "a step arms the successor and the work", step, 14)
		equal(w.T, "work and the binding of what follows", work, 107)
	}},
	{"R-78 elapsed time always, thread CPU time for steps and watchdogs' work where it is known", func(w *world) {
		for _, m := range []*meter{nil, {noCPU: true}, {}} {
			cfg := tasks.Config{}
			if m != nil {
				cfg.Meter = m
			}
			w := newWorldWith(w.T, cfg)
			if m != nil {
				m.clock = w.clock
			}
			g := w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), idleWatchdog)
			w.clock.fire()
			want := uint64(0)
			if m != nil && !m.noCPU {
				want = 1
			}
			s := w.see()
			equal(w.T, "elapsed", s.Work.Elapsed.Samples()+s.Scheduler.Elapsed.Samples(), 2)
			equal(w.T, "cpu of the step", s.Scheduler.CPU.Samples(), want)
			equal(w.T, "cpu of the work", s.Work.CPU.Samples(), want)
			for _, p := range []tasks.Performance{s.Scheduler, s.Work} {
				cpu, known := p.CPU.Latest()
				equal(w.T, "cpu is measured", known, want == 1)
				equal(w.T, "cpu of the run alone, not of the thread before it", cpu, 10*want)
			}
			w.ok(g.Unregister())
			w.once(tasks.RetainedAt(tasks.Immediately()), idleOnce)
			w.clock.fire()
			equal(w.T, "cpu of ordinary work", w.see().Work.CPU.Samples(), 0)
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		process := tasks.ProcessMeter(nil)
		before, known := process.ThreadCPU()
		equal(w.T, "known on Linux", known, runtime.GOOS == "linux")
		for i := 0; known; i++ {
			if after, _ := process.ThreadCPU(); after > before {
				break
			}
		}
	}},
	{"R-79 memory growth is in bytes, never negative, and read outside the timed interval", memory},
	{"R-80 work that does not return gives no sample", func(w *world) {
		w = newWorldWith(w.T, tasks.Config{Meter: &meter{clock: w.clock}})
		runs := 0
		w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			if runs++; runs == 2 {
				panic("second")
			}
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
		})
		w.clock.fire()
		before := w.see().Work
		w.clock.advance(time.Second)
		equal(w.T, "attempt", w.see().Attempt.State, tasks.AttemptLost)
		if !reflect.DeepEqual(w.see().Work, before) {
			w.Fatal("the panic left a sample")
		}
	}},
	{"R-81 no sample is not a sample of zero", func(w *world) {
		var none tasks.MeasurementSummary
		zero := none.Record(0)
		for name, get := range map[string]func(tasks.MeasurementSummary) (uint64, bool){
			"latest": tasks.MeasurementSummary.Latest, "maximum": tasks.MeasurementSummary.Maximum,
			"mean": func(m tasks.MeasurementSummary) (uint64, bool) { v, ok, _ := m.Mean(); return v, ok },
		} {
			_, ok := get(none)
			equal(w.T, name+" of nothing", ok, false)
			v, ok := get(zero)
			equal(w.T, name+" of zero", ok && v == 0, true)
		}
		equal(w.T, "json of nothing", string(must(json.Marshal(none))(w.T)), `{"samples":0,"total":"0"}`)
		equal(w.T, "json of zero", string(must(json.Marshal(zero))(w.T)), `{"samples":1,"total":"0","latest":0,"maximum":0,"mean":0}`)
		var m tasks.MemorySummary
		if m.Start != nil || m.End != nil || m.MaxHeapGrowth != nil || m.MaxStoreGrowth != nil {
			w.Fatal("memory of nothing")
		}
		m = m.RecordMemory(tasks.MemoryReading{}, tasks.MemoryReading{})
		if m.Start == nil || m.MaxHeapGrowth == nil || *m.MaxHeapGrowth != 0 || m.MaxStoreGrowth != nil {
			w.Fatal("memory of zero, without a store")
		}
	}},
	{"R-82 observations are subtracted only if they continue each other", deltas},
	{"R-83 an armed wake-up is a watchdog's successor too, never queued work", func(w *world) {
		var d *tasks.WatchdogRegistration
		d = w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			equal(w.T, "watchdog that runs", d.HasArmedWakeup(), true)
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
		})
		equal(w.T, "scheduled", d.HasArmedWakeup(), true)
		w.clock.fire()
		equal(w.T, "stopped", d.HasArmedWakeup(), false)
		w.ok(d.Unregister())
		var g *tasks.OnceRegistration
		g = w.once(tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.OnceContext) tasks.OnceResult {
			equal(w.T, "once that runs", g.HasArmedWakeup(), false)
			w.ok(g.EnsureScheduled(tasks.After(1))) // unconditionally
			equal(w.T, "with a pending command", g.HasArmedWakeup(), false)
			return tasks.NewOnceResult(tasks.Success(1), tasks.Stop())
		})
		w.clock.fire()
		equal(w.T, "armed again", g.HasArmedWakeup(), true)
	}},
	{"R-84 panics are counted at once, apart from completions", func(w *world) {
		w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
			panic(bytes.Repeat([]byte("x"), 1000))
		})
		w.clock.fire()
		s := w.see()
		equal(w.T, "panics", s.Counters.Panics, 1)
		equal(w.T, "completed", s.Counters.WorkCompleted, 0)
		equal(w.T, "unacknowledged", s.Counters.Unacknowledged, 0)
		equal(w.T, "text", len(s.LastPanic), 256)
		w.rt.SetCounters(job, tasks.Counters{Panics: math.MaxUint64})
		w.clock.advance(time.Second)
		equal(w.T, "saturated", w.see().Counters.Panics, math.MaxUint64)
	}},
}

// meter reads a rising CPU time and a given memory; each reading of memory takes readCost of the clock's time.
type meter struct {
	clock    *manual
	cpu      uint64
	noCPU    bool
	readCost uint64
	heap     []uint64 // one a reading, then 0
	store    *uint64
}

func (m *meter) ThreadCPU() (uint64, bool) {
	m.cpu += 10
	return m.cpu, !m.noCPU
}

func (m *meter) Memory() (tasks.MemoryReading, bool) {
	m.clock.mu.Lock()
	defer m.clock.mu.Unlock()
	m.clock.now += m.readCost
	r := tasks.MemoryReading{Store: m.store}
	if len(m.heap) > 0 {
		r.Heap, m.heap = m.heap[0], m.heap[1:]
	}
	return r, true
}

func goldenSnapshot(w *world) {
	w.watchdog(10*time.Second, tasks.RetainedAt(tasks.After(time.Second)), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
		return tasks.NewWatchdogResult(tasks.RetryableFailure(2).Because(os.ErrDeadlineExceeded), tasks.ScheduleAt(at(30*time.Second)))
	})
	must(w.rt.RegisterOnce(tasks.MustIdentity("test", "unit", "declared"), tasks.Retained(nil), idleOnce))(w.T)
	w.clock.advance(time.Second)
	got := must(json.MarshalIndent(w.rt.Inventory(), "", "  "))(w.T)
	want := must(os.ReadFile("testdata/inventory.json"))(w.T)
	if !bytes.Equal(append(got, '\n'), want) {
		w.Fatalf("got\n%s\nwant testdata/inventory.json:\n%s", got, want)
	}
	// Overdue is derived, while the wake-up has not come.
	equal(w.T, "overdue", w.see().Overdue, false)
	w.clock.mu.Lock()
	w.clock.now = uint64(at(30 * time.Second))
	w.clock.mu.Unlock()
	equal(w.T, "overdue", w.see().Overdue, true)
}

func means(w *world) {
	mean := func(m tasks.MeasurementSummary, scale uint64) (uint64, bool) {
		v, ok, err := m.ScaledMean(scale)
		w.ok(err)
		return v, ok
	}
	var none tasks.MeasurementSummary
	seven := none.Record(3).Record(4)
	for _, c := range []struct {
		name  string
		m     tasks.MeasurementSummary
		scale uint64
		want  uint64
		ok    bool
	}{
		{"mean of 3 and 4", seven, 1, 3, true}, {"in thousandths", seven, 1000, 3500, true}, {"scale 0", seven, 0, 0, true},
		{"of nothing", none, 1, 0, false}, {"of nothing, scale 0", none, 0, 0, false}, {"of one zero", none.Record(0), 1, 0, true},
		{"a wide total", tasks.SummaryAt(1, 0, math.MaxUint64).Record(5), 1, 1<<63 + 2, true},
		{"a wide product", tasks.SummaryAt(1<<63, 3, 0), 1 << 60, 6 << 60, true},
	} {
		got, ok := mean(c.m, c.scale)
		if got != c.want || ok != c.ok {
			w.Fatalf("%s: got %d, %v; want %d, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	full := tasks.SummaryAt(math.MaxUint64, 0, 10).Record(3)
	latest, _ := full.Latest()
	equal(w.T, "latest", latest, 3)
	over := tasks.SummaryAt(1, math.MaxUint64, math.MaxUint64).Record(1)
	for _, scale := range []uint64{0, 1} {
		_, _, err := full.ScaledMean(scale)
		w.is(err, tasks.ErrSamplesSaturated)
		_, _, err = over.ScaledMean(scale)
		w.is(err, tasks.ErrTotalSaturated)
	}
	_, _, err := seven.ScaledMean(math.MaxUint64)
	w.is(err, tasks.ErrMeanOverflow)
	// The low half's carry alone makes the product wider than 128 bits.
	_, _, err = tasks.SummaryAt(1<<63, math.MaxUint64/3, math.MaxUint64).ScaledMean(3)
	w.is(err, tasks.ErrMeanOverflow)
}

func memory(w *world) {
	store := uint64(40)
	m := &meter{clock: w.clock, readCost: 1000, store: ptr(store),
		heap: []uint64{0, 0, 100, 175, 0, 0, 500, 200}} // a step and a run, a step and a run that shrinks the heap
	w = &world{w.T, w.clock, tasks.New(tasks.Config{Clock: w.clock, Meter: m})}
	w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
		store += 2
		m.store = ptr(store)
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
	})
	w.clock.advance(time.Millisecond)
	got := w.see().Work.Memory
	equal(w.T, "heap growth", *got.MaxHeapGrowth, 75)
	equal(w.T, "store growth", *got.MaxStoreGrowth, 2)
	w.clock.advance(time.Second + time.Millisecond)
	got = w.see().Work.Memory
	equal(w.T, "samples", got.Samples, 2)
	equal(w.T, "heap at the start", got.Start.Heap, 500)
	equal(w.T, "heap at the end", got.End.Heap, 200)
	equal(w.T, "shrinking is no growth", *got.MaxHeapGrowth, 75)
	shrunk := tasks.MemorySummary{}.RecordMemory(tasks.MemoryReading{Heap: 9}, tasks.MemoryReading{Heap: 1})
	equal(w.T, "only shrinking", *shrunk.MaxHeapGrowth, 0)
	maximum, measured := w.see().Work.Elapsed.Maximum()
	equal(w.T, "reading takes none of a run's time", measured && maximum == 0, true)

	reading, ok := tasks.ProcessMeter(sizer(123)).Memory()
	if !ok || reading.Heap == 0 || reading.Allocated < reading.Heap || reading.Store == nil || *reading.Store != 123 {
		w.Fatalf("the process's memory: %+v, %v", reading, ok)
	}
	reading, _ = tasks.ProcessMeter(nil).Memory()
	equal(w.T, "no store", reading.Store, nil)
}

type sizer uint64

func (s sizer) StoreSize() (uint64, bool) { return uint64(s), true }

func deltas(w *world) {
	w.watchdog(time.Second, tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
		w.clock.advance(3)
		return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
	})
	observe := func() tasks.Observation {
		o, ok := w.see().Observe(tasks.RoleWork, tasks.UnitElapsed)
		equal(w.T, "observed", ok, true)
		return o
	}
	w.clock.fire()
	a := observe()
	w.clock.advance(2 * time.Second)
	b := observe()
	got := must(tasks.Delta(a, b))(w.T)
	hi, lo := got.Total()
	mean, ok, err := got.Mean()
	equal(w.T, "delta", [5]any{got.Samples, hi, lo, mean, ok}, [5]any{uint64(2), uint64(0), uint64(6), uint64(3), true})
	w.ok(err)
	equal(w.T, "time between", got.Elapsed, 2*time.Second)

	for name, c := range map[string]struct {
		spoil func(a, b *tasks.Observation)
		want  error
	}{
		"process":       {func(a, _ *tasks.Observation) { a.Registration.Epoch++ }, tasks.ErrOtherProcess},
		"registration":  {func(a, _ *tasks.Observation) { a.Registration.Sequence++ }, tasks.ErrOtherRegistration},
		"role":          {func(a, _ *tasks.Observation) { a.Role = tasks.RoleScheduler }, tasks.ErrOtherRole},
		"unit":          {func(_, b *tasks.Observation) { b.Unit = tasks.UnitCPU }, tasks.ErrOtherUnit},
		"time":          {func(a, b *tasks.Observation) { b.At = a.At }, tasks.ErrTimeStoodStill},
		"samples fell":  {func(_, b *tasks.Observation) { b.Summary = tasks.SummaryAt(0, 9, 0) }, tasks.ErrNotMonotone},
		"total fell":    {func(a, _ *tasks.Observation) { a.Summary = tasks.SummaryAt(1, 9, 0) }, tasks.ErrNotMonotone},
		"samples bound": {func(_, b *tasks.Observation) { b.Summary = tasks.SummaryAt(math.MaxUint64, 9, 0).Record(1) }, tasks.ErrSamplesSaturated},
		"total bound": {func(a, _ *tasks.Observation) {
			a.Summary = tasks.SummaryAt(1, math.MaxUint64, math.MaxUint64).Record(1)
		},
			tasks.ErrTotalSaturated},
	} {
		a, b := a, b
		c.spoil(&a, &b)
		if _, err := tasks.Delta(a, b); err == nil {
			w.Fatalf("%s: subtracted", name)
		} else {
			w.is(err, c.want)
		}
	}
	for _, role := range []tasks.Role{tasks.RoleScheduler, tasks.RoleWork, "other"} {
		for _, unit := range []tasks.Unit{tasks.UnitElapsed, tasks.UnitCPU, tasks.UnitAllocated, "other"} {
			if _, ok := w.see().Observe(role, unit); ok == (role == "other" || unit == "other") {
				w.Fatalf("%s %s: %v", role, unit, ok)
			}
		}
	}
}
