package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// taskCollector shows the inventory of background work to Prometheus.
type taskCollector struct{ inventory func() tasks.Inventory }

// newTaskDesc describes one figure of a task.
func newTaskDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("daybreak_task_"+name, help, append([]string{"task"}, labels...), nil)
}

var (
	taskCondition = newTaskDesc("condition", "1 for the condition that the task is in: disabled, idle, active, retrying or failed.", "condition")
	taskOverdue   = newTaskDesc("overdue", "1 while the task's deadline has passed and it has not run.")
	taskFailures  = newTaskDesc("failure_streak", "Retryable failures since the last completion of another kind.")
	taskRuns      = newTaskDesc("runs_total", "Runs of the task by how they ended.", "outcome")
	taskPanics    = newTaskDesc("panics_total", "Panics of the task's work.")
	taskCoalesced = newTaskDesc("coalesced_total", "Wake-ups that an armed one already met, or that came during an overrun.")
	taskSeconds   = newTaskDesc("run_seconds", "Sum and number of the times that completed runs took.")
)

// Describe implements prometheus.Collector.
func (c taskCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{taskCondition, taskOverdue, taskFailures, taskRuns, taskPanics, taskCoalesced, taskSeconds} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c taskCollector) Collect(to chan<- prometheus.Metric) {
	for _, t := range c.inventory().Tasks {
		collectTask(to, t)
	}
}

func collectTask(to chan<- prometheus.Metric, t tasks.Snapshot) {
	name, k := t.Identity.String(), t.Counters
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{name}, labels...)...)
	}
	counter := func(d *prometheus.Desc, v tasks.Counter, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), append([]string{name}, labels...)...)
	}
	gauge(taskCondition, 1, string(t.Condition))
	gauge(taskOverdue, map[bool]float64{true: 1}[t.Overdue])
	gauge(taskFailures, float64(t.Failures))
	counter(taskRuns, k.Succeeded, string(tasks.OutcomeSuccess))
	counter(taskRuns, k.NoWork, string(tasks.OutcomeNoWork))
	counter(taskRuns, k.RetryableFailure, string(tasks.OutcomeRetryableFailure))
	counter(taskRuns, k.InvariantFailure, string(tasks.OutcomeInvariantFailure))
	counter(taskRuns, k.Unacknowledged, string(tasks.OutcomeUnacknowledged))
	counter(taskPanics, k.Panics)
	counter(taskCoalesced, k.Coalesced)
	const nanoseconds = 1e9
	hi, lo := t.Work.Elapsed.Total()
	sum := (float64(hi)*(1<<64) + float64(lo)) / nanoseconds
	to <- prometheus.MustNewConstSummary(taskSeconds, t.Work.Elapsed.Samples(), sum, nil, name)
}
