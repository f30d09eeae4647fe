package node

import (
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// megabyte is an event's data, as blocks full of transactions make them.
var megabyte = strings.Repeat("x", 1<<20)

func TestBrokerKeepsEventsWithinItsBytes(t *testing.T) {
	b := newBroker(1)
	for range 100 {
		b.publish(api.EventBlock, megabyte)
	}
	kept := 0
	for _, e := range b.kept {
		kept += len(e.Data)
	}
	if kept != b.size || kept > keptEventBytes || len(b.kept) < 10 {
		t.Errorf("%d events of %d bytes are kept and %d counted; at most %d", len(b.kept), kept, b.size, keptEventBytes)
	}
	if last := b.kept[len(b.kept)-1].ID; last != 100 {
		t.Errorf("the newest event kept is %d, want 100", last)
	}
	if backlog, lost, _ := b.subscribe(1); !lost || len(backlog) != len(b.kept) {
		t.Errorf("who comes back after event 1 gets %d events and is told of a loss: %v", len(backlog), lost)
	}
}

func TestBrokerKeepsEventsWithinTheirNumber(t *testing.T) {
	b := newBroker(1)
	for i := range 3 * keptEvents {
		b.publish(api.EventKey, i)
	}
	kept := 0
	for i, e := range b.kept {
		kept += len(e.Data)
		if i > 0 && e.ID != b.kept[i-1].ID+1 {
			t.Fatalf("event %d follows event %d", e.ID, b.kept[i-1].ID)
		}
	}
	if len(b.kept) > keptEvents || len(b.kept) < keptEvents/2 || kept != b.size {
		t.Errorf("%d events of %d bytes are kept, %d bytes counted", len(b.kept), kept, b.size)
	}
}

func TestBrokerCutsOffAClientThatLetsTooManyBytesWait(t *testing.T) {
	b := newBroker(1)
	_, _, slow := b.subscribe(0)
	_, _, quick := b.subscribe(0)
	for range 40 {
		b.publish(api.EventBlock, megabyte)
		quick.took(<-quick.events)
	}
	if !slow.cut.Load() || quick.cut.Load() {
		t.Errorf("the slow client is cut off: %v, the quick one: %v", slow.cut.Load(), quick.cut.Load())
	}
	if n := len(slow.events); n > 20 {
		t.Errorf("%d megabytes wait for the slow client", n)
	}
}
