package node

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// TestWritesAreTold: each event of the catalog stands decoded in the stream, in receipts and in the log.
func TestWritesAreTold(t *testing.T) {
	genesis := &chain.Genesis{Catalog: &chain.Catalog{Items: []chain.Item{{Name: "ETH/USD"}}}}
	named, other := chain.Item{Name: "ETH/USD"}.ID(), common.Hash{1}
	itemLog := func(signature string, item common.Hash, args ...any) *types.Log {
		l := schedulerLog(signature, 0, args...)
		l.Address, l.Topics = Address(scheduler.OracleAddress), append(l.Topics, item)
		return l
	}
	var lines bytes.Buffer
	n := &Node{metrics: newMetrics(), events: newBroker(1), log: slog.New(slog.NewTextHandler(&lines, nil)), itemNames: itemNames(genesis)}
	_, _, sub := n.events.subscribe(localhost, 0)
	for _, c := range []struct {
		log  *types.Log
		want api.ItemEvent
		line string
	}{
		{itemLog("Written(bytes32,uint256)", named, 3500),
			api.ItemEvent{Item: named.Hex(), Name: "ETH/USD", What: "Written", Args: api.Args{"item": named.Hex(), "value": "3500"}},
			`msg="oracle item written" item=ETH/USD height=11 slot=100 value=3500`},
		{itemLog("Flags(bytes32,bool,bool)", named, true, false),
			api.ItemEvent{Item: named.Hex(), Name: "ETH/USD", What: "Flags", Args: api.Args{"item": named.Hex(), "halted": "true", "disputed": "false"}},
			`msg="oracle item flags" item=ETH/USD height=11 slot=100 halted=true disputed=false`},
		{itemLog("Listed(bytes32)", other), api.ItemEvent{Item: other.Hex(), What: "Listed", Args: api.Args{"item": other.Hex()}},
			`msg="oracle item listed" item=` + other.Hex()},
		{itemLog("Delisted(bytes32)", other), api.ItemEvent{Item: other.Hex(), What: "Delisted", Args: api.Args{"item": other.Hex()}},
			`msg="oracle item delisted" item=` + other.Hex()},
	} {
		lines.Reset()
		header := chain.Header{Number: 11, Time: 100}
		receipt := &chain.Receipt{Status: 1, Logs: []*types.Log{c.log}}
		n.tellReceipt(&header, receipt)
		event := <-sub.events
		var got api.ItemEvent
		if err := json.Unmarshal(event.Data, &got); err != nil {
			t.Fatal(err)
		}
		if event.Kind != api.EventItem || got.Item != c.want.Item || got.Name != c.want.Name || got.What != c.want.What ||
			got.Block != 11 || got.Time != 100 || !maps.Equal(got.Args, c.want.Args) {
			t.Errorf("%s: %s", event.Kind, event.Data)
		}
		if !strings.Contains(lines.String(), c.line) {
			t.Errorf("the log says %q, want %q", lines.String(), c.line)
		}
		told := receiptJSON(&chain.Applied{Block: &chain.Block{Header: header}, Receipts: []*chain.Receipt{receipt}}, 0)
		if l := told.Logs[0]; l.Name != c.want.What || l.ID != 0 || !maps.Equal(l.Args, c.want.Args) {
			t.Errorf("receipt: %+v", l)
		}
	}
	if _, _, _, ok := decodeItemLog(schedulerLog("Written(bytes32,uint256)", 1, named, 3500)); ok {
		t.Error("a log of another contract counts as the catalog's")
	}
}
