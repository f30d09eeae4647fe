package node

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// schedulerLog is a log of the scheduler as a chain stores it: the signature's topic, the indexed arguments, the others.
func schedulerLog(signature string, indexed int, args ...any) *types.Log {
	l := &types.Log{Address: Address(scheduler.Address), Topics: []common.Hash{crypto.Keccak256Hash([]byte(signature))}}
	for i, arg := range args {
		var word common.Hash
		switch a := arg.(type) {
		case uint64:
			word = uint256.NewInt(a).Bytes32()
		case int:
			word = uint256.NewInt(uint64(a)).Bytes32()
		case bool:
			word[31] = map[bool]byte{true: 1}[a]
		case Address:
			copy(word[12:], a[:])
		}
		if i < indexed {
			l.Topics = append(l.Topics, word)
		} else {
			l.Data = append(l.Data, word[:]...)
		}
	}
	return l
}

// tenEvents is one log of each event that the scheduler has, and what the stream says of it.
var tenEvents = []struct {
	log  *types.Log
	kind string
	id   uint64
	what string
	args api.Args
}{
	{schedulerLog("Scheduled(uint64,address,uint64,uint256)", 2, 7, Address{1}, 99, 5000), api.EventEntry, 7, "Scheduled",
		api.Args{"id": "7", "payer": "0x0100000000000000000000000000000000000000", "key": "99", "reserved": "5000"}},
	{schedulerLog("Executed(uint64,uint8)", 1, 7, 1), api.EventEntry, 7, "Executed", api.Args{"id": "7", "attempt": "1"}},
	{schedulerLog("ExecutionFailed(uint64,uint8,bool)", 1, 7, 0, true), api.EventEntry, 7, "ExecutionFailed",
		api.Args{"id": "7", "attempt": "0", "willRetry": "true"}},
	{schedulerLog("Recurred(uint64,uint64,uint64)", 2, 7, 8, 199), api.EventEntry, 7, "Recurred", api.Args{"id": "7", "nextId": "8", "key": "199"}},
	{schedulerLog("RecurrenceStarved(uint64)", 1, 7), api.EventEntry, 7, "RecurrenceStarved", api.Args{"id": "7"}},
	{schedulerLog("Paused(uint64)", 1, 7), api.EventEntry, 7, "Paused", api.Args{"id": "7"}},
	{schedulerLog("Cancelled(uint64,uint256)", 1, 7, 90), api.EventEntry, 7, "Cancelled", api.Args{"id": "7", "refund": "90"}},
	{schedulerLog("Expired(uint64,uint256)", 1, 7, 100), api.EventEntry, 7, "Expired", api.Args{"id": "7", "refund": "100"}},
	{schedulerLog("Deposited(address,uint256)", 1, Address{2}, 3), api.EventEscrow, 0, "Deposited",
		api.Args{"payer": "0x0200000000000000000000000000000000000000", "amount": "3"}},
	{schedulerLog("Withdrawn(address,uint256)", 1, Address{2}, 4), api.EventEscrow, 0, "Withdrawn",
		api.Args{"payer": "0x0200000000000000000000000000000000000000", "amount": "4"}},
}

func TestTheStreamTellsEveryEventWithItsArgumentsByName(t *testing.T) {
	n := &Node{metrics: newMetrics(), events: newBroker(1), log: slog.New(slog.DiscardHandler)}
	_, _, sub := n.events.subscribe(localhost, 0)
	for _, c := range tenEvents {
		t.Run("S-ITF-07 "+c.what+" in the stream", func(t *testing.T) {
			n.tellReceipt(&chain.Header{Number: 11, Time: 100}, &chain.Receipt{Status: 1, Logs: []*types.Log{c.log}})
			event := <-sub.events
			var got api.SchedulerEvent
			if err := json.Unmarshal(event.Data, &got); err != nil {
				t.Fatal(err)
			}
			if event.Kind != c.kind || got.ID != c.id || got.What != c.what || got.Block != 11 || got.Time != 100 || !maps.Equal(got.Args, c.args) {
				t.Errorf("%s: %s", event.Kind, event.Data)
			}
		})
	}
}

func TestTheLogHasOneLineARun(t *testing.T) {
	ran, failed := tenEvents[1].log, tenEvents[2].log
	recurred, starved, paused := tenEvents[3].log, tenEvents[4].log, tenEvents[5].log
	final := schedulerLog("ExecutionFailed(uint64,uint8,bool)", 1, 7, 2, false)
	cancelled := schedulerLog("Cancelled(uint64,uint256)", 1, 3, 90)
	for name, c := range map[string]struct {
		entry  uint64
		reason string
		logs   []*types.Log
		want   []string
	}{
		"a run":                      {7, "", []*types.Log{ran}, []string{"7 entry ran attempt=1"}},
		"a retry follows":            {7, "", []*types.Log{failed}, []string{"7 entry failed attempt=0 will_retry=true"}},
		"a period follows":           {7, "", []*types.Log{ran, recurred}, []string{"7 entry ran attempt=1 next=8 for=slot:199"}},
		"a failed period pauses":     {7, "", []*types.Log{final, paused}, []string{"7 entry failed attempt=2 will_retry=false series=paused"}},
		"the next period starves":    {7, "", []*types.Log{ran, starved}, []string{"7 entry ran attempt=1 series=recurrence starved"}},
		"it was skipped":             {7, "short", nil, []string{"7 entry not run reason=short"}},
		"its calls canceled another": {7, "", []*types.Log{cancelled, ran}, []string{"7 entry ran attempt=1", "3 entry cancelled refund=90"}},
		"a user schedules":           {0, "", []*types.Log{tenEvents[0].log}, []string{"7 entry scheduled for=slot:99 payer=0x0100000000000000000000000000000000000000"}},
		"at a height":                {0, "", []*types.Log{schedulerLog("Scheduled(uint64,address,uint64,uint256)", 2, 7, Address{1}, uint64(scheduler.HeightKey|12), 5)}, []string{"7 entry scheduled for=height:12 payer=0x0100000000000000000000000000000000000000"}},
		"with a condition":           {0, "", []*types.Log{schedulerLog("Scheduled(uint64,address,uint64,uint256)", 2, 7, Address{1}, uint64(scheduler.WatchKey), 5)}, []string{"7 entry scheduled for=condition payer=0x0100000000000000000000000000000000000000"}},
		"a deposit":                  {0, "", []*types.Log{tenEvents[8].log}, nil},
	} {
		r := &chain.Receipt{Entry: c.entry, Reason: c.reason, Logs: c.logs}
		var got []string
		for _, l := range entryLines(r, eventsOf(r)) {
			line := fmt.Sprintf("%d %s", l.entry, l.text)
			for i := 0; i < len(l.attrs); i += 2 {
				line += fmt.Sprintf(" %s=%s", l.attrs[i], l.attrs[i+1])
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != strings.Join(c.want, "; ") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
