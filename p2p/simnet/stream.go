package simnet

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
)

// window is how many bytes may be under way or unread in one direction.
const window = 256 << 10

var errReset = errors.New("stream reset")

// half is one direction of a stream. All of it is guarded by Net.mu.
type half struct {
	buf     []byte
	flying  int           // bytes under way
	last    time.Duration // when the last piece under way arrives: bytes stay in order
	ended   bool          // the writer has called CloseWrite
	eof     bool          // and the reader may know
	reset   bool
	discard bool          // nobody reads any more
	changed chan struct{} // closed and replaced at each change
}

func newHalf() *half { return &half{changed: make(chan struct{})} }

func (f *half) touch() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// stream is one end.
type stream struct {
	n        *Net
	from, to int
	proto    string
	out, in  *half
	opened   chan error    // shared by both ends: whether it could be opened, for the opener, once
	done     chan struct{} // closed under n.mu

	// guarded by n.mu
	deadlines [2]time.Time // read, write
}

// pipe makes both ends of a stream from a to b.
func (n *Net) pipe(a, b int, proto string) (*stream, *stream) {
	there, back := newHalf(), newHalf()
	opened := make(chan error, 1)
	mk := func(from, to int, out, in *half) *stream {
		return &stream{n: n, from: from, to: to, proto: proto, out: out, in: in, opened: opened, done: make(chan struct{})}
	}
	return mk(a, b, there, back), mk(b, a, back, there)
}

func (s *stream) Peer() p2p.PeerID      { return s.n.ids[s.to] }
func (s *stream) Protocol() string      { return s.proto }
func (s *stream) Done() <-chan struct{} { return s.done }
func (s *stream) LocalAddr() net.Addr   { return p2p.Addr(s.n.ids[s.from]) }
func (s *stream) RemoteAddr() net.Addr  { return p2p.Addr(s.n.ids[s.to]) }

func (s *stream) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *stream) Read(b []byte) (int, error) {
	for {
		s.n.mu.Lock()
		f := s.in
		switch {
		case s.isDone():
			s.n.mu.Unlock()
			return 0, net.ErrClosed
		case f.reset:
			s.n.mu.Unlock()
			return 0, errReset
		case len(f.buf) > 0:
			k := copy(b, f.buf)
			f.buf = f.buf[k:]
			f.touch()
			s.n.mu.Unlock()
			return k, nil
		case f.eof:
			s.n.mu.Unlock()
			return 0, io.EOF
		}
		if err := s.wait(f, 0); err != nil {
			return 0, err
		}
	}
}

func (s *stream) Write(b []byte) (int, error) {
	sent := 0
	for {
		s.n.mu.Lock()
		f := s.out
		switch {
		case s.isDone() || f.ended:
			s.n.mu.Unlock()
			return sent, net.ErrClosed
		case f.reset:
			s.n.mu.Unlock()
			return sent, errReset
		case sent == len(b):
			s.n.mu.Unlock()
			return sent, nil
		}
		if k := min(len(b)-sent, window-len(f.buf)-f.flying); k > 0 {
			s.send(f, append([]byte(nil), b[sent:sent+k]...))
			sent += k
			s.n.mu.Unlock()
			continue
		}
		if err := s.wait(f, 1); err != nil {
			return sent, err
		}
	}
}

// send puts one piece on its way. n.mu is held.
func (s *stream) send(f *half, piece []byte) {
	f.flying += len(piece)
	s.later(f, func() {
		f.flying -= len(piece)
		if !f.discard {
			f.buf = append(f.buf, piece...)
		}
		s.n.record("stream "+s.proto, s.from, s.to, piece)
	})
}

// later does something at the reader's end of f, after all that was sent before. n.mu is held.
func (s *stream) later(f *half, do func()) {
	l := s.n.lane(laneStream, s.from, s.to)
	at := max(s.n.now()+s.n.latency(l), f.last+1)
	f.last = s.n.schedule(l, at, func() {
		if !f.reset {
			do()
			f.touch()
		}
	})
}

// wait unlocks n.mu and waits for a change of f, the end of the stream or the deadline of a side.
func (s *stream) wait(f *half, side int) error {
	changed, deadline := f.changed, s.deadlines[side]
	s.n.mu.Unlock()
	var due <-chan time.Time
	if !deadline.IsZero() {
		d := time.Until(deadline)
		if d <= 0 {
			return os.ErrDeadlineExceeded
		}
		t := time.NewTimer(d)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-changed:
	case <-s.done:
	case <-due:
		return os.ErrDeadlineExceeded
	}
	return nil
}

func (s *stream) CloseWrite() error {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	if s.isDone() {
		return net.ErrClosed
	}
	s.endWrite()
	return nil
}

func (s *stream) endWrite() {
	if f := s.out; !f.ended && !f.reset {
		f.ended = true
		f.touch()
		s.later(f, func() { f.eof = true })
	}
}

func (s *stream) Close() error {
	return s.finish(func() {
		s.endWrite()
		s.in.discard, s.in.buf = true, nil
		s.in.touch()
	})
}

func (s *stream) Reset() error {
	return s.finish(func() {
		l := s.n.lane(laneStream, s.from, s.to)
		s.n.schedule(l, s.n.now()+s.n.latency(l), s.abort)
	})
}

// finish ends this side once. A later call gets net.ErrClosed.
func (s *stream) finish(f func()) error {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	if s.isDone() {
		return net.ErrClosed
	}
	s.end()
	f()
	return nil
}

// end closes done and forgets the stream. n.mu is held; the stream is not done yet.
func (s *stream) end() {
	close(s.done)
	delete(s.n.pairs[s.from][s.to].streams, s)
}

// answer tells the opener how it went, unless it knows already.
func (s *stream) answer(err error) {
	select {
	case s.opened <- err:
	default:
	}
}

// abort makes both directions fail for whoever uses them still. n.mu is held.
func (s *stream) abort() {
	s.answer(nil) // opened it was, and reset at once
	for _, f := range []*half{s.in, s.out} {
		if !f.reset {
			f.reset, f.buf = true, nil
			f.touch()
		}
	}
}

// broken is what a lost connection does. n.mu is held.
func (s *stream) broken() {
	s.answer(p2p.ErrNotConnected)
	s.abort()
}

func (s *stream) setDeadline(t time.Time, sides ...int) error {
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	for _, side := range sides {
		s.deadlines[side] = t
	}
	s.in.touch()
	s.out.touch()
	return nil
}

func (s *stream) SetDeadline(t time.Time) error      { return s.setDeadline(t, 0, 1) }
func (s *stream) SetReadDeadline(t time.Time) error  { return s.setDeadline(t, 0) }
func (s *stream) SetWriteDeadline(t time.Time) error { return s.setDeadline(t, 1) }
