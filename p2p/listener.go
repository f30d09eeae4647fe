package p2p

import (
	"net"
	"sync"
)

// Listen serves a protocol as a net.Listener, for code that wants connections, like a log's transport: what Accept
// returns is a Stream, and the other side's Open is its dialler. Close ends the service; like any listener's, but
// unlike TCP's, it also resets the connections that it has accepted. A peer's stream that waits for Accept counts in
// limits like an accepted one.
func Listen(n Network, protocol string, limits StreamLimits) (net.Listener, error) {
	l := &listener{self: n.Self(), accepted: make(chan Stream), closed: make(chan struct{})}
	stop, err := n.Serve(protocol, limits, l.handle)
	if err != nil {
		return nil, err
	}
	l.stop = stop
	return l, nil
}

type listener struct {
	self     PeerID
	accepted chan Stream
	closed   chan struct{}
	once     sync.Once
	stop     func()
}

// handle lives as long as its stream, so that the stream keeps its place in the limits.
func (l *listener) handle(s Stream) {
	select {
	case l.accepted <- s:
		<-s.Done()
	case <-s.Done():
	case <-l.closed:
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case s := <-l.accepted:
		return s, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Addr() net.Addr { return Addr(l.self) }

func (l *listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		err = nil
		close(l.closed)
		l.stop()
	})
	return err
}
