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
	if backlog, lost, _ := b.subscribe(localhost, 1); !lost || len(backlog) != len(b.kept) {
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
	_, _, slow := b.subscribe(localhost, 0)
	_, _, quick := b.subscribe(localhost, 0)
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

// localhost is a client on this machine, which may be a proxy for all.
var localhost = clientOf("127.0.0.1:1")

func TestOneAddressCannotHoldAllPlacesOfTheStream(t *testing.T) {
	b := newBroker(1)
	greedy := []string{"203.0.113.7:1", "203.0.113.7:2", "[::ffff:203.0.113.7]:3"}
	var last *subscriber
	for i := range maxSubscribersOf {
		_, _, last = b.subscribe(clientOf(greedy[i%len(greedy)]), 0)
	}
	for name, c := range map[string]struct {
		remote string
		ok     bool
	}{
		"the same address":            {"203.0.113.7:9", false},
		"another address":             {"203.0.113.8:9", true},
		"an address of IPv6":          {"[2001:db8::1]:9", true},
		"a proxy on this machine":     {"127.0.0.1:9", true},
		"a proxy on this machine, v6": {"[::1]:9", true},
	} {
		_, _, s := b.subscribe(clientOf(c.remote), 0)
		if (s != nil) != c.ok {
			t.Errorf("%s gets a place: %v, want %v", name, s != nil, c.ok)
		}
	}
	b.unsubscribe(last)
	if _, _, s := b.subscribe(clientOf(greedy[0]), 0); s == nil {
		t.Error("a place that was given back is lost")
	}
	for range maxSubscribersOf {
		b.subscribe(clientOf("[2001:db8:0:1::1]:9"), 0)
	}
	if _, _, s := b.subscribe(clientOf("[2001:db8:0:1:ffff::2%eth0]:9"), 0); s != nil {
		t.Error("a customer of IPv6 gets a place for each of his addresses")
	}
	for range maxSubscribersOf + 1 {
		_, _, last = b.subscribe(localhost, 0)
	}
	if last == nil {
		t.Error("a proxy on this machine is limited as one client")
	}
}
