package node

import (
	"encoding/json"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// Bounds of the event stream. Blocks may be of megabytes, and whoever sends transactions decides so: events are bounded in
// bytes too.
const (
	keptEvents       = 2048 // for clients that come back: several minutes of a quiet network
	keptEventBytes   = 16 << 20
	subscriberEvents = 256 // that one slow client may lag behind before it is cut off
	subscriberBytes  = 16 << 20
	maxSubscribers   = 256
	maxSubscribersOf = 32 // one address; a proxy on this machine, through which all may come, has them all
)

// broker hands the node's events to the clients of /v1/stream. Event ids grow by one and go on growing over restarts,
// since they begin at a time of the clock; so a client that comes back with its last id misses nothing that is kept.
type broker struct {
	mu   sync.Mutex // guards all below
	kept []api.Event
	size int // bytes of kept
	next uint64
	subs map[*subscriber]struct{}
	from map[netip.Prefix]int // how many of subs an address has
	done bool
}

// subscriber is one client. Its channel is closed when it lags too far behind, or when the broker closes.
type subscriber struct {
	events  chan api.Event
	pings   chan struct{} // holds one: that the stream should show that it is alive
	from    netip.Prefix
	waiting atomic.Int64 // bytes in events
	cut     atomic.Bool  // the broker has let go of it: what still waits is not worth sending
}

// took tells that the client was handed an event that it received from events.
func (s *subscriber) took(e api.Event) { s.waiting.Add(-int64(len(e.Data))) }

// newBroker numbers events from firstID on.
func newBroker(firstID uint64) *broker {
	return &broker{next: firstID, subs: make(map[*subscriber]struct{}), from: make(map[netip.Prefix]int)}
}

// publish never blocks: a client that cannot keep up is cut off.
func (b *broker) publish(kind string, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic("node: internal error: encoding an event: " + err.Error())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := api.Event{ID: b.next, Kind: kind, Data: raw}
	b.next++
	b.keep(e)
	for s := range b.subs {
		if s.waiting.Load() > subscriberBytes {
			b.drop(s)
			continue
		}
		select {
		case s.events <- e:
			s.waiting.Add(int64(len(e.Data)))
		default:
			b.drop(s)
		}
	}
}

// keep remembers an event. When there are too many it forgets the oldest quarter, and more if they take too many bytes.
func (b *broker) keep(e api.Event) {
	forget := 0
	if len(b.kept) == keptEvents {
		forget = keptEvents / 4
	}
	for _, old := range b.kept[:forget] {
		b.size -= len(old.Data)
	}
	for b.size += len(e.Data); forget < len(b.kept) && b.size > keptEventBytes; forget++ {
		b.size -= len(b.kept[forget].Data)
	}
	if forget > 0 {
		rest := copy(b.kept, b.kept[forget:])
		clear(b.kept[rest:]) // let go of the data
		b.kept = b.kept[:rest]
	}
	b.kept = append(b.kept, e)
}

// subscribe returns the kept events after the id `after` (none for 0), whether some in between are lost, and a
// subscription to what follows; nil if there are too many, in all or from that address, or the node is stopping.
func (b *broker) subscribe(from netip.Prefix, after uint64) (backlog []api.Event, lost bool, s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done || len(b.subs) >= maxSubscribers || b.from[from] >= maxSubscribersOf && !from.Addr().IsLoopback() {
		return nil, false, nil
	}
	if after > 0 {
		missed := 0
		for missed < len(b.kept) && b.kept[missed].ID <= after {
			missed++
		}
		backlog = append(backlog, b.kept[missed:]...)
		first := b.next
		if len(backlog) > 0 {
			first = backlog[0].ID
		}
		lost = first != after+1
	}
	s = &subscriber{events: make(chan api.Event, subscriberEvents), pings: make(chan struct{}, 1), from: from}
	b.subs[s] = struct{}{}
	b.from[from]++
	return backlog, lost, s
}

// ping asks every stream to show that it is alive, and tells how many there are.
func (b *broker) ping() (streams uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		select {
		case s.pings <- struct{}{}:
		default: // it has not come to the last one yet
		}
	}
	return uint64(len(b.subs))
}

func (b *broker) unsubscribe(s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(s)
}

func (b *broker) drop(s *subscriber) {
	if _, ok := b.subs[s]; ok {
		delete(b.subs, s)
		if b.from[s.from]--; b.from[s.from] == 0 {
			delete(b.from, s.from)
		}
		s.cut.Store(true)
		close(s.events)
	}
}

// close ends all subscriptions.
func (b *broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	for s := range b.subs {
		b.drop(s)
	}
}
