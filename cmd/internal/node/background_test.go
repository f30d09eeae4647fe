package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
)

// inventory asks a node for its tasks.
func inventory(t *testing.T, n *node.Node) map[string]api.Task {
	t.Helper()
	c, err := api.NewClient(n.OperatorURL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	all, _, err := c.Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]api.Task)
	for _, task := range all.Tasks {
		byName[task.Identity] = task
	}
	return byName
}

// TestInventory: every task of the daemon is in the inventory, works, and is derived anew at each start: the ceremony's is driven in
// the first life and wanted no more in the second.
func TestInventory(t *testing.T) {
	home := newHomes(t, 1)[0]
	for life := range 2 {
		n := start(t, home)
		k := waitKey(t, client(t, n), 0)
		waitKey(t, client(t, n), k.Slot+1)
		all := inventory(t, n)
		var names []string
		for name, task := range all {
			names = append(names, name)
			if task.Condition == "failed" || task.Counters.Panics+task.Counters.Unacknowledged > 0 {
				t.Errorf("life %d: %s is %s, %d panics", life, name, task.Condition, task.Counters.Panics)
			}
		}
		slices.Sort(names)
		var helped []string
		for _, task := range node.TaskHelp {
			helped = append(helped, task[0])
		}
		if !slices.Equal(names, helped) {
			t.Errorf("tasks %s; TaskHelp has %s", names, helped)
		}
		for _, name := range []string{"beacon/partials/gossip", "beacon/slot/ticker", "chain/blocks/produce", "chain/finality/vote", "p2p/peers/refresh"} {
			if all[name].Counters.Completed == 0 || all[name].Work.Elapsed.Samples == 0 {
				t.Errorf("life %d: %s has not run: %+v", life, name, all[name])
			}
		}
		if ran := all["dkg/ceremony/drive"].Counters.Started > 0; ran != (life == 0) {
			t.Errorf("life %d: the ceremony was driven: %t", life, ran)
		}
		if _, _, metrics := request(t, "GET", n.OperatorURL()+"/metrics", ""); !strings.Contains(metrics, `daybreak_task_runs_total{outcome="success",task="beacon/slot/ticker"}`) {
			t.Error("the metrics do not show the tasks' runs")
		}
		closeNode(t, n)
	}
}

// TestTheSlotAfterARestartIsSigned: a validator that comes back goes on at once with what keys, head and pending slots say.
func TestTheSlotAfterARestartIsSigned(t *testing.T) {
	home := newHomes(t, 1)[0]
	n := start(t, home)
	waitKey(t, client(t, n), 0)
	closeNode(t, n)
	down := uint64(time.Now().Unix())
	n = start(t, home)
	defer closeNode(t, n)
	back := uint64(time.Now().Unix())
	c := client(t, n)
	waitKey(t, c, back)
	for slot := down + 1; slot <= back+1; slot++ {
		if _, err := c.Key(t.Context(), slot); err != nil {
			t.Error(fmt.Errorf("slot %d, down from %d, back at %d: %w", slot, down, back, err))
		}
	}
}
