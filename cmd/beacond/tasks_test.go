package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// TestTasksTable: each state that a task can be in, as an operator reads it.
func TestTasksTable(t *testing.T) {
	for name, c := range map[string]struct {
		task string // fields of the task's JSON, at instant 10,000,000,000
		want string // the line behind the task's name, one blank between columns
		fail bool
	}{
		"scheduled": {
			`"state":"scheduled","condition":"active","wakeup":{"deadline":10250000000},"last_outcome":{"kind":"success","units":3,"at":9900000000},
			 "counters":{"work_started":7},"work":{"elapsed_ns":{"samples":7,"mean":1500000,"maximum":2500000000}}`,
			"active in 250ms success (3) 100ms ago 0 7 1.5ms 2.5s", false,
		},
		"never run": {`"state":"inactive","reason":"declared","condition":"disabled"`, "disabled when there is work - 0 0 - -", false},
		"idle":      {`"state":"inactive","reason":"stopped","condition":"idle","last_outcome":{"kind":"no-work","at":8000000000}`, "idle when there is work no-work 2s ago 0 0 - -", false},
		"overdue":   {`"state":"scheduled","condition":"active","overdue":true,"wakeup":{"deadline":7000000000}`, "active overdue by 3s - 0 0 - -", false},
		"running":   {`"state":"running","condition":"active","attempt":{"started_at":9000000000}`, "active running for 1s - 0 0 - -", false},
		"overrunning": {`"state":"awaiting-work","condition":"active","attempt":{"started_at":1000000000,"overrun":true},"wakeup":{"deadline":10500000000}`,
			"active running for 9s, too long - 0 0 - -", false},
		"retrying": {
			`"state":"scheduled","condition":"retrying","wakeup":{"deadline":11000000000},"failures":4,"last_outcome":{"kind":"retryable-failure","detail":"no peer","at":9999000000}`,
			"retrying in 1s retryable-failure 1ms ago: no peer 4 0 - -", false,
		},
		"failed": {`"state":"inactive","reason":"abandoned","condition":"failed"`, "failed never: abandoned - 0 0 - -", true},
	} {
		var all api.Tasks
		if err := json.Unmarshal([]byte(`{"at":10000000000,"tasks":[{"identity":"a/b/c",`+c.task+`}]}`), &all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var out strings.Builder
		if err := printTasks(&out, all); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if got := strings.Join(strings.Fields(lines[1]), " "); got != "a/b/c "+c.want {
			t.Errorf("%s: printed %q, want %q", name, got, "a/b/c "+c.want)
		}
		if err := judgeTasks(all); (err != nil) != c.fail {
			t.Errorf("%s: judged %v", name, err)
		}
	}
}

func TestTasksTellOfPanics(t *testing.T) {
	var out strings.Builder
	all := api.Tasks{Tasks: []api.Task{{Identity: "a/b/c", LastPanic: "boom"}}}
	all.Tasks[0].Counters.Panics = 2
	if err := printTasks(&out, all); err != nil || !strings.Contains(out.String(), "a/b/c panicked 2 times, the last time with: boom\n") {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}
