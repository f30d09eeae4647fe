package tasks_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// herd starts 64 watchdogs of 1 ms cadence and checks that no two runs of one overlap.
func herd(t *testing.T, rt *tasks.Runtime, work func(i int)) {
	for i := range tasks.MaxRegistrations {
		var running atomic.Int32
		must(rt.RegisterWatchdog(tasks.MustIdentity("soak", "herd", fmt.Sprintf("%02d", i)), time.Millisecond,
			tasks.RetainedAt(tasks.Immediately()), func(context.Context, *tasks.WatchdogContext) tasks.WatchdogResult {
				if running.Add(1) != 1 {
					t.Error("two runs at a time")
				}
				defer running.Add(-1)
				work(i)
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
			}))(t)
	}
}

// judge checks the herd's inventory, which is consistent at each moment.
func judge(t *testing.T, inv tasks.Inventory) (runs tasks.Counter) {
	if inv.Handles > tasks.MaxHandles || len(inv.Tasks) != tasks.MaxRegistrations {
		t.Fatalf("%d handles of %d tasks", inv.Handles, len(inv.Tasks))
	}
	for _, s := range inv.Tasks {
		if s.Wakeup == nil && !inv.ShutDown {
			t.Fatalf("%v has no successor", s.Identity)
		}
		runs += s.Counters.WorkStarted
	}
	return runs
}

func TestSoakOfVirtualTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		rt := tasks.New(tasks.Config{})
		herd(t, rt, func(i int) {
			if i == 0 { // one of them overruns, another panics
				<-time.After(2500 * time.Microsecond)
			} else if i == 1 {
				panic("soak")
			}
		})
		for range 10 {
			<-time.After(20*time.Millisecond + 500*time.Microsecond)
			synctest.Wait()
			judge(t, rt.Inventory())
		}
		if err := rt.Shutdown(time.Second); err != nil {
			t.Fatal(err)
		}
		for i, s := range rt.Inventory().Tasks {
			if c := s.Counters; i > 1 && (c.WorkStarted != 206 || c.WorkCompleted != 206 || c.Coalesced != 0 || c.Unacknowledged != 0) {
				t.Fatalf("%v: %+v", s.Identity, c)
			}
		}
	})
	goleak.VerifyNone(t)
}

func TestSoakOfRealTime(t *testing.T) {
	span := 300 * time.Millisecond
	if os.Getenv("DAYBREAK_SOAK") != "" {
		span = time.Minute
	}
	rt := tasks.New(tasks.Config{Meter: tasks.ProcessMeter(nil)})
	before := cpu(t)
	began := time.Now()
	herd(t, rt, func(int) {})
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for time.Since(began) < span {
		<-ticks.C
		judge(t, rt.Inventory())
	}
	if err := rt.Shutdown(time.Minute); err != nil {
		t.Fatal(err)
	}
	took, used := time.Since(began), cpu(t)-before
	inv := rt.Inventory()
	runs := judge(t, inv)
	var coalesced, stale tasks.Counter
	for _, s := range inv.Tasks {
		c := s.Counters
		coalesced, stale = coalesced+c.Coalesced, stale+c.StaleWakeups+c.StaleWork
		// Work that the machine was too busy to start within a cadence was retired, and each start ended.
		if c.WorkStarted != c.WorkCompleted || c.WorkDispatched > c.WorkStarted+c.Unacknowledged {
			t.Errorf("%v: %+v", s.Identity, c)
		}
	}
	t.Logf("%d runs in %v: %v of CPU, %.1f us a run; %d coalesced, %d stale", runs, took.Round(time.Millisecond),
		used.Round(time.Millisecond), float64(used.Microseconds())/float64(runs), coalesced, stale)
	if inv.Handles != 0 || inv.Running != 0 || runs < tasks.MaxRegistrations {
		t.Fatalf("after the shutdown: %d handles, %d running, %d runs", inv.Handles, inv.Running, runs)
	}
	goleak.VerifyNone(t)
}

// cpu is the CPU time of the process.
func cpu(t *testing.T) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
