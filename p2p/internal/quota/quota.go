// Package quota counts an author's messages: what is new, what is a replay, and what is too much.
package quota

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// windowSize is how far below the highest sequence number a message may lie and still be recognised as new or old.
const windowSize = 1024

// Window remembers which of an author's sequence numbers were seen, as IPsec's anti-replay window does (RFC 4303,
// section 3.4.3). An author counts up by one for each message; when it starts anew it goes on at the clock's
// nanoseconds, far above. The zero value has seen nothing.
type Window struct {
	top  uint64 // highest number seen
	any  bool
	bits [windowSize / 64]uint64 // bit of n is n mod windowSize, valid for top-windowSize < n <= top
}

// Standing of a sequence number.
type Standing int

const (
	New  Standing = iota // not seen; it is now
	Seen                 // seen before
	Old                  // too far below to tell
)

// Mark tells the standing of n and remembers it if it is new.
func (w *Window) Mark(n uint64) Standing {
	switch {
	case !w.any || n > w.top && n-w.top >= windowSize:
		w.restart(n)
		return New
	case n > w.top:
		for k := w.top + 1; k != n; k++ {
			w.clear(k)
		}
		w.top = n
		w.set(n)
		return New
	case w.top-n >= windowSize:
		return Old
	case w.has(n):
		return Seen
	}
	w.set(n)
	return New
}

// Rewind starts anew at n, when the author itself counts from there.
func (w *Window) Rewind(n uint64) { w.restart(n) }

func (w *Window) restart(n uint64) {
	*w = Window{top: n, any: true}
	w.set(n)
}

func (w *Window) set(n uint64)      { w.bits[n%windowSize/64] |= 1 << (n % 64) }
func (w *Window) clear(n uint64)    { w.bits[n%windowSize/64] &^= 1 << (n % 64) }
func (w *Window) has(n uint64) bool { return w.bits[n%windowSize/64]>>(n%64)&1 == 1 }

// Outcome of Admit.
type Outcome int

const (
	Admitted Outcome = iota
	Replayed         // seen before, or too old to tell: it costs the author nothing
	Exceeded         // the author's quota for this way is used up
)

// Author is one author's account: its window over all topics, and its buckets for each.
type Author struct {
	mu     sync.Mutex
	window Window
	topics map[string]*buckets
}

type buckets struct{ direct, forwarded *rate.Limiter }

// Open gives the author its buckets of a topic.
func (a *Author) Open(topic string, perSecond float64, burst int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.topics == nil {
		a.topics = make(map[string]*buckets)
	}
	a.topics[topic] = &buckets{
		direct:    rate.NewLimiter(rate.Limit(perSecond), burst),
		forwarded: rate.NewLimiter(rate.Limit(perSecond), burst),
	}
}

// Shut forgets the buckets of a topic.
func (a *Author) Shut(topic string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.topics, topic)
}

// Take spends one of the messages that the author itself may hand us on a topic. The connection it came over proves
// the author, so no signature need be checked first, and nobody else can spend that bucket. A topic that is not open
// has none.
func (a *Author) Take(topic string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.topics[topic]
	return b != nil && b.direct.AllowN(now, 1)
}

// Admit judges a message whose signature was verified. direct means that the author itself handed it to us, and Take
// has allowed it; other messages spend the bucket of what others forward.
func (a *Author) Admit(topic string, seqno uint64, direct bool, now time.Time) Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.topics[topic]
	if b == nil {
		return Exceeded
	}
	switch a.window.Mark(seqno) {
	case Seen:
		return Replayed
	case Old:
		if !direct {
			return Replayed
		}
		// The author counts from a lower number than before: its clock was set back between two runs. It is the
		// authority on that, and others cannot make it appear so.
		a.window.Rewind(seqno)
	}
	if !direct && !b.forwarded.AllowN(now, 1) {
		return Exceeded
	}
	return Admitted
}
