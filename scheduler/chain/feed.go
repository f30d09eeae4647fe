package chain

import (
	"context"
	"sync"
)

// Event is something the log made happen on this validator.
type Event struct {
	Index      uint64 // of the log entry
	Replay     bool   // the entry was in this validator's log when it started; it may have been seen before
	Block      *Applied
	Activation *Activation // a group key was agreed on; it becomes active at the height it names
	Skipped    error       // why the entry changed nothing
}

// feed hands events to subscribers and never waits for one.
type feed struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// Subscription is a subscriber's queue of events. When it is full the oldest events are lost and counted.
type Subscription struct {
	feed  *feed
	limit int
	ready chan struct{} // holds a token while there is something to take

	mu      sync.Mutex
	events  []Event
	dropped uint64
}

func (f *feed) subscribe(limit int) *Subscription {
	s := &Subscription{feed: f, limit: max(limit, 1), ready: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subs == nil {
		f.subs = make(map[*Subscription]struct{})
	}
	f.subs[s] = struct{}{}
	return s
}

func (f *feed) publish(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		s.put(e)
	}
}

func (s *Subscription) put(e Event) {
	s.mu.Lock()
	if len(s.events) == s.limit {
		s.events = append(s.events[:0:0], s.events[1:]...)
		s.dropped++
	}
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Next waits for the next event. dropped counts the events lost since the last call because this subscriber was slow.
func (s *Subscription) Next(ctx context.Context) (e Event, dropped uint64, err error) {
	for {
		if e, dropped, ok := s.take(); ok {
			return e, dropped, nil
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return Event{}, 0, ctx.Err()
		}
	}
}

func (s *Subscription) take() (e Event, dropped uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 {
		return Event{}, 0, false
	}
	e, dropped = s.events[0], s.dropped
	s.events[0] = Event{} // let go of the block
	s.events, s.dropped = s.events[1:], 0
	return e, dropped, true
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subs, s)
}
