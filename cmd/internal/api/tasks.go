package api

import (
	"context"
	"encoding/json"
	"time"
)

// Tasks is the answer of the operator's /v1/tasks: all background work of the daemon at one moment, in the order of its names. Times
// are nanoseconds from 1970 on a clock that does not follow steps of the wall clock: compare them with At.
type Tasks struct {
	At    uint64 `json:"at"`
	Tasks []Task `json:"tasks"`
}

// Task is what "beacond tasks" shows of one task. The answer holds more, as package scheduler/tasks documents it.
type Task struct {
	Identity  string        `json:"identity"`
	Policy    string        `json:"policy"`     // once, after-completion or watchdog
	Cadence   time.Duration `json:"cadence_ns"` // of recurrence; 0 for once
	State     string        `json:"state"`      // inactive, scheduled, running or awaiting-work
	Reason    string        `json:"reason"`     // why it is inactive
	Condition string        `json:"condition"`  // disabled, idle, active, retrying or failed
	Overdue   bool          `json:"overdue"`
	Wakeup    *struct {
		Deadline uint64 `json:"deadline"`
	} `json:"wakeup"` // the next one, if there is one
	Attempt *struct {
		StartedAt *uint64 `json:"started_at"`
		Overrun   bool    `json:"overrun"`
	} `json:"attempt"` // the run under way, if there is one
	LastOutcome *struct {
		Kind   string `json:"kind"`
		Units  uint64 `json:"units"`
		Detail string `json:"detail"`
		At     uint64 `json:"at"`
	} `json:"last_outcome"`
	Failures  uint64 `json:"failures"` // expected ones since the last completion of another kind
	LastPanic string `json:"last_panic"`
	Counters  struct {
		Started        uint64 `json:"work_started"`
		Completed      uint64 `json:"work_completed"`
		Panics         uint64 `json:"panics"`
		Coalesced      uint64 `json:"coalesced"`
		Unacknowledged uint64 `json:"unacknowledged"`
	} `json:"counters"`
	Work struct {
		Elapsed struct {
			Samples uint64         `json:"samples"`
			Mean    *time.Duration `json:"mean"` // nil without samples
			Maximum *time.Duration `json:"maximum"`
		} `json:"elapsed_ns"`
	} `json:"work"`
}

// Tasks asks the operator's listener for the background work. raw is the whole answer.
func (c *Client) Tasks(ctx context.Context) (out Tasks, raw json.RawMessage, err error) {
	if err := c.get(ctx, "/v1/tasks", &raw); err != nil {
		return out, nil, err
	}
	return out, raw, json.Unmarshal(raw, &out)
}
