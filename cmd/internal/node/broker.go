package node

import (
	"encoding/json"
	"sync"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// Bounds of the event stream.
const (
	keptEvents       = 2048 // for clients that come back: several minutes of a quiet network
	subscriberEvents = 256  // that one slow client may lag behind before it is cut off
	maxSubscribers   = 256
)

// broker hands the node's events to the clients of /v1/stream. Event ids grow by one and go on growing over restarts,
// since they begin at a time of the clock; so a client that comes back with its last id misses nothing that is kept.
type broker struct {
	mu   sync.Mutex // guards all below
	kept []api.Event
	next uint64
	subs map[*subscriber]struct{}
	done bool
}

// subscriber is one client. Its channel is closed when it lags too far behind, or when the broker closes.
type subscriber struct {
	events chan api.Event
}

// newBroker numbers events from firstID on.
func newBroker(firstID uint64) *broker {
	return &broker{next: firstID, subs: make(map[*subscriber]struct{})}
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
	if len(b.kept) == keptEvents {
		b.kept = b.kept[:copy(b.kept, b.kept[keptEvents/4:])]
	}
	b.kept = append(b.kept, e)
	for s := range b.subs {
		select {
		case s.events <- e:
		default:
			b.drop(s)
		}
	}
}

// subscribe returns the kept events after the id `after` (none for 0), whether some in between are lost, and a
// subscription to what follows; nil if there are too many or the node is stopping.
func (b *broker) subscribe(after uint64) (backlog []api.Event, lost bool, s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done || len(b.subs) >= maxSubscribers {
		return nil, false, nil
	}
	if after > 0 {
		from := 0
		for from < len(b.kept) && b.kept[from].ID <= after {
			from++
		}
		backlog = append(backlog, b.kept[from:]...)
		first := b.next
		if len(backlog) > 0 {
			first = backlog[0].ID
		}
		lost = first != after+1
	}
	s = &subscriber{events: make(chan api.Event, subscriberEvents)}
	b.subs[s] = struct{}{}
	return backlog, lost, s
}

func (b *broker) unsubscribe(s *subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(s)
}

func (b *broker) drop(s *subscriber) {
	if _, ok := b.subs[s]; ok {
		delete(b.subs, s)
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
