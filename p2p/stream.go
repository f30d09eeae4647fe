package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"
)

// stream is a libp2p stream that knows when it was closed.
type stream struct {
	h     *Host
	s     network.Stream
	peer  PeerID
	proto string
	once  sync.Once
	done  chan struct{}
}

func (s *stream) Peer() PeerID          { return s.peer }
func (s *stream) Protocol() string      { return s.proto }
func (s *stream) Done() <-chan struct{} { return s.done }
func (s *stream) LocalAddr() net.Addr   { return Addr(s.h.self) }
func (s *stream) RemoteAddr() net.Addr  { return Addr(s.peer) }

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.s.Read(b)
	return n, s.wrap(err)
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.s.Write(b)
	return n, s.wrap(err)
}

// wrap gives deadlines and ended streams the standard library's names. io.EOF passes as it is.
func (s *stream) wrap(err error) error {
	if err == nil {
		return nil
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, os.ErrDeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	select {
	case <-s.done:
		return net.ErrClosed
	default:
		return err
	}
}

func (s *stream) CloseWrite() error { return s.s.CloseWrite() }

func (s *stream) Close() error {
	err := net.ErrClosed
	s.finish(func() { err = s.s.Close() })
	return err
}

func (s *stream) Reset() error {
	err := net.ErrClosed
	s.finish(func() { err = s.s.Reset() })
	return err
}

func (s *stream) finish(f func()) {
	s.once.Do(func() {
		close(s.done)
		f()
		s.h.mu.Lock()
		delete(s.h.streams, s)
		s.h.mu.Unlock()
	})
}

func (s *stream) SetDeadline(t time.Time) error      { return s.s.SetDeadline(t) }
func (s *stream) SetReadDeadline(t time.Time) error  { return s.s.SetReadDeadline(t) }
func (s *stream) SetWriteDeadline(t time.Time) error { return s.s.SetWriteDeadline(t) }

// track registers a stream with the host, or resets it if the host closes.
func (h *Host) track(raw network.Stream, peer PeerID, proto string) (*stream, error) {
	s := &stream{h: h, s: raw, peer: peer, proto: proto, done: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		raw.Reset()
		return nil, errNetClosed
	}
	h.streams[s] = struct{}{}
	return s, nil
}

// Open implements Network.
func (h *Host) Open(ctx context.Context, peer PeerID, proto string) (Stream, error) {
	fail := func(err error) (Stream, error) {
		return nil, fmt.Errorf("open %s to %s: %w", proto, peer.Short(), err)
	}
	if err := CheckName("protocol", proto); err != nil {
		return nil, err
	}
	id, err := decodeID(peer)
	if err != nil {
		return nil, errors.Join(ErrUnknownPeer, err)
	}
	switch m := h.members[id]; {
	case m == nil:
		return fail(ErrUnknownPeer)
	case h.isDown():
		return fail(errNetClosed)
	case !m.isVerified():
		return fail(ErrNotConnected)
	}
	raw, err := h.host.NewStream(network.WithNoDial(ctx, "only to connected peers"), id, h.protocol(proto))
	if err != nil {
		switch {
		case errors.Is(err, multistream.ErrNotSupported[protocol.ID]{}):
			return fail(ErrNotServed)
		case ctx.Err() != nil:
			return fail(ctx.Err())
		case h.host.Network().Connectedness(id) != network.Connected:
			return fail(ErrNotConnected)
		}
		return fail(err)
	}
	s, err := h.track(raw, peer, proto)
	if err != nil {
		return fail(err)
	}
	return s, nil
}

func (h *Host) protocol(name string) protocol.ID { return protocol.ID(h.prefix() + name) }
