package tasks_test

import (
	"context"
	"fmt"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// A queue is drained in bounded steps by a watchdog: if a step dies, the successor tries again.
func Example() {
	rt := tasks.New(tasks.Config{})
	queue, drained := []string{"a", "b", "c"}, make(chan struct{})

	var outbox *tasks.WatchdogRegistration // kept by whoever owns the queue
	err := rt.ReconcileWatchdog(&outbox, tasks.MustIdentity("example", "mail", "outbox"), time.Second, tasks.ScheduledImmediately(),
		func(ctx context.Context, c *tasks.WatchdogContext) tasks.WatchdogResult {
			fmt.Println("sent", queue[0])
			queue = queue[1:]
			if len(queue) > 0 {
				return tasks.NewWatchdogResult(tasks.Success(1), tasks.ContinueImmediately())
			}
			close(drained)
			return tasks.NewWatchdogResult(tasks.Success(1), tasks.Stop())
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-drained
	if err := rt.Shutdown(time.Second); err != nil {
		fmt.Println(err)
		return
	}
	for _, task := range rt.Inventory().Tasks {
		fmt.Println(task.Identity, task.State, task.Counters.WorkCompleted, "runs")
	}
	// Output:
	// sent a
	// sent b
	// sent c
	// example/mail/outbox inactive 3 runs
}
