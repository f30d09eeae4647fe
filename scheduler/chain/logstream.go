package chain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// streamLayer carries raft's connections over the listener and dialer the caller gave, and can end them all: raft's own
// transport leaves accepted connections open when it is closed.
type streamLayer struct {
	self     uint32
	listener net.Listener
	dial     func(ctx context.Context, member uint32) (net.Conn, error)
	ctx      context.Context // ends dials in progress
	cancel   context.CancelFunc

	mu      sync.Mutex
	stopped bool
	conns   map[*streamConn]struct{}
}

func newStreamLayer(self uint32, l net.Listener, dial func(context.Context, uint32) (net.Conn, error)) *streamLayer {
	ctx, cancel := context.WithCancel(context.Background())
	return &streamLayer{self: self, listener: l, dial: dial, ctx: ctx, cancel: cancel, conns: make(map[*streamConn]struct{})}
}

// streamConn is a connection that its layer remembers until it is closed.
type streamConn struct {
	net.Conn
	layer *streamLayer
}

func (c *streamConn) Close() error {
	c.layer.mu.Lock()
	delete(c.layer.conns, c)
	c.layer.mu.Unlock()
	return c.Conn.Close()
}

func (s *streamLayer) track(conn net.Conn) (net.Conn, error) {
	c := &streamConn{conn, s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	s.conns[c] = struct{}{}
	return c, nil
}

// Accept implements net.Listener.
func (s *streamLayer) Accept() (net.Conn, error) {
	conn, err := s.listener.Accept()
	if err != nil {
		return nil, err
	}
	return s.track(conn)
}

// Dial implements raft.StreamLayer. A member's raft address is its index.
func (s *streamLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	member, ok := memberOf(raft.ServerID(address))
	if !ok {
		return nil, fmt.Errorf("log member %q has no index", address)
	}
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	conn, err := s.dial(ctx, member)
	if err != nil {
		return nil, err
	}
	return s.track(conn)
}

// Close implements net.Listener.
func (s *streamLayer) Close() error { return s.listener.Close() }

// Addr implements net.Listener: the address under which raft knows this member.
func (s *streamLayer) Addr() net.Addr { return memberAddr(s.self) }

// stop ends dials and closes every connection.
func (s *streamLayer) stop() error {
	s.cancel()
	s.mu.Lock()
	s.stopped = true
	conns := make([]*streamConn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		_ = c.Close() // its other side may have closed it first
	}
	return nil
}

// memberAddr is a member's raft address.
type memberAddr uint32

func (memberAddr) Network() string  { return "member" }
func (a memberAddr) String() string { return string(serverID(uint32(a))) }
