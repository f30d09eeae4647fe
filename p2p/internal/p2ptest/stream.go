package p2ptest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
)

// serve serves on peer i or fails the test.
func (c *Cluster) serve(i int, proto string, l p2p.StreamLimits, h func(p2p.Stream)) (stop func()) {
	c.T.Helper()
	stop, err := c.Nets[i].Serve(proto, l, h)
	if err != nil {
		c.T.Fatal(err)
	}
	return stop
}

// open opens a stream from peer i to peer j or fails the test.
func (c *Cluster) open(i, j int, proto string) p2p.Stream {
	c.T.Helper()
	s, err := c.Nets[i].Open(c.T.Context(), c.Nets[j].Self(), proto)
	if err != nil {
		c.T.Fatal(err)
	}
	return s
}

func echo(s p2p.Stream) { io.Copy(s, s) }

var streamTests = []test{
	{"a stream carries bytes both ways, in order and whole", 2, func(c *Cluster) {
		c.Connected()
		c.serve(1, "echo", p2p.StreamLimits{}, echo)
		s := c.open(0, 1, "echo")
		defer s.Close()
		data := make([]byte, 2<<20)
		rand.NewChaCha8([32]byte{7}).Read(data)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Write(data); err != nil {
				c.T.Errorf("write: %v", err)
			}
			s.CloseWrite()
		})
		got, err := io.ReadAll(s)
		wg.Wait()
		if err != nil || !bytes.Equal(got, data) {
			c.T.Errorf("read %d bytes of %d, equal %v, error %v", len(got), len(data), bytes.Equal(got, data), err)
		}
	}},
	{"both ends know each other and the protocol", 2, func(c *Cluster) {
		c.Connected()
		far := make(chan p2p.Stream, 1)
		c.serve(1, "who", p2p.StreamLimits{}, func(s p2p.Stream) { far <- s; io.Copy(io.Discard, s) })
		s := c.open(0, 1, "who")
		s.Write([]byte("x"))
		a, b := c.Nets[0].Self(), c.Nets[1].Self()
		if s.Peer() != b || s.Protocol() != "who" || s.RemoteAddr() != net.Addr(p2p.Addr(b)) || s.LocalAddr() != net.Addr(p2p.Addr(a)) {
			c.T.Errorf("near end: %s %s %s %s", s.Peer(), s.Protocol(), s.LocalAddr(), s.RemoteAddr())
		}
		f := <-far
		if f.Peer() != a || f.Protocol() != "who" || f.RemoteAddr() != net.Addr(p2p.Addr(a)) {
			c.T.Errorf("far end: %s %s %s", f.Peer(), f.Protocol(), f.RemoteAddr())
		}
		s.Close()
		<-s.Done()
		<-f.Done() // the handler sees the end and returns
	}},
	{"a passed deadline is os.ErrDeadlineExceeded and a timeout", 2, func(c *Cluster) {
		c.Connected()
		c.serve(1, "silent", p2p.StreamLimits{}, func(s p2p.Stream) { <-s.Done() })
		s := c.open(0, 1, "silent")
		defer s.Reset()
		s.Write([]byte("x"))
		check := func(err error) {
			var timeout net.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
				c.T.Errorf("after the deadline: %v", err)
			}
		}
		s.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := s.Read(make([]byte, 1))
		check(err)
		s.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		_, err = s.Write(make([]byte, 64<<20)) // more than any window holds
		check(err)
	}},
	{"a reset is an error on the other side", 2, func(c *Cluster) {
		c.Connected()
		seen := make(chan error, 1)
		c.serve(1, "r", p2p.StreamLimits{}, func(s p2p.Stream) {
			io.ReadFull(s, make([]byte, 1))
			_, err := s.Read(make([]byte, 1))
			seen <- err
		})
		s := c.open(0, 1, "r")
		s.Write([]byte("x"))
		time.Sleep(100 * time.Millisecond) // let the byte arrive: a reset may overtake it
		s.Reset()
		if err := <-seen; err == nil || err == io.EOF {
			c.T.Errorf("read after a reset: %v", err)
		}
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			c.T.Errorf("read on a stream we have reset: %v, want net.ErrClosed", err)
		}
	}},
	{"streams over the limit are reset, and places come free", 2, func(c *Cluster) {
		c.Connected()
		c.serve(1, "e", p2p.StreamLimits{PerPeer: 2}, echo)
		works := func(s p2p.Stream) bool {
			s.SetDeadline(time.Now().Add(10 * time.Second))
			if _, err := s.Write([]byte("x")); err != nil {
				return false
			}
			_, err := io.ReadFull(s, make([]byte, 1))
			return err == nil
		}
		a, b := c.open(0, 1, "e"), c.open(0, 1, "e")
		if !works(a) || !works(b) {
			c.T.Fatal("the first two streams do not work")
		}
		third := c.open(0, 1, "e")
		if works(third) {
			c.T.Error("a third stream works, want it reset")
		}
		third.Reset()
		a.Close()
		c.Eventually("a place is free again", func() bool {
			s := c.open(0, 1, "e")
			defer s.Close()
			return works(s)
		})
		b.Close()
	}},
	{"open says why not", 3, func(c *Cluster) {
		c.Connected()
		a, b := c.Nets[0], c.Nets[1]
		if _, err := a.Open(c.T.Context(), b.Self(), "nothing"); !errors.Is(err, p2p.ErrNotServed) {
			c.T.Errorf("protocol that is not served: %v", err)
		}
		if _, err := a.Open(c.T.Context(), "12D3KooWNobody", "x"); !errors.Is(err, p2p.ErrUnknownPeer) {
			c.T.Errorf("no peer: %v", err)
		}
		if _, err := a.Open(c.T.Context(), a.Self(), "x"); !errors.Is(err, p2p.ErrUnknownPeer) {
			c.T.Errorf("self: %v", err)
		}
		stop := c.serve(1, "once", p2p.StreamLimits{}, echo)
		if _, err := b.Serve("once", p2p.StreamLimits{}, echo); err == nil {
			c.T.Error("served twice")
		}
		stop()
		c.Eventually("not served any more", func() bool {
			s, err := a.Open(c.T.Context(), b.Self(), "once")
			if err == nil {
				s.Reset()
			}
			return errors.Is(err, p2p.ErrNotServed)
		})
		b.Close()
		c.Eventually("not connected", func() bool {
			s, err := a.Open(c.T.Context(), b.Self(), "nothing")
			if err == nil {
				s.Reset()
			}
			return errors.Is(err, p2p.ErrNotConnected)
		})
	}},
	{"a listener accepts streams and its close ends them", 2, func(c *Cluster) {
		c.Connected()
		l, err := p2p.Listen(c.Nets[1], "raft", p2p.StreamLimits{})
		if err != nil {
			c.T.Fatal(err)
		}
		if got := l.Addr().String(); got != string(c.Nets[1].Self()) {
			c.T.Errorf("address %s", got)
		}
		s := c.open(0, 1, "raft")
		s.Write([]byte("ping"))
		conn, err := l.Accept()
		if err != nil {
			c.T.Fatal(err)
		}
		buf := make([]byte, 4)
		if _, err := io.ReadFull(conn, buf); err != nil || string(buf) != "ping" {
			c.T.Errorf("got %q, %v", buf, err)
		}
		if got := conn.RemoteAddr().String(); got != string(c.Nets[0].Self()) {
			c.T.Errorf("remote address %s", got)
		}
		conn.Write([]byte("pong"))
		if _, err := io.ReadFull(s, buf); err != nil || string(buf) != "pong" {
			c.T.Errorf("got %q, %v", buf, err)
		}
		if err := l.Close(); err != nil {
			c.T.Errorf("close: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			c.T.Errorf("accept after close: %v", err)
		}
		if _, err := s.Read(buf); err == nil || err == io.EOF {
			c.T.Errorf("read after the listener closed: %v", err)
		}
		s.Close()
	}},
}

var requestTests = []test{
	{"a request is answered, refused, or too large", 2, func(c *Cluster) {
		c.Connected()
		a, b := c.Nets[0], c.Nets[1]
		stop, err := p2p.ServeRequests(b, "upper", p2p.RequestLimits{MaxRequest: 1000}, func(_ context.Context, from p2p.PeerID, req []byte) ([]byte, error) {
			if from != a.Self() {
				c.T.Errorf("request from %s", from)
			}
			if len(req) == 0 {
				return nil, errors.New("nothing to do")
			}
			return bytes.ToUpper(req), nil
		})
		if err != nil {
			c.T.Fatal(err)
		}
		defer stop()
		ask := func(req []byte, maxAnswer int) ([]byte, error) {
			return p2p.Request(c.T.Context(), a, b.Self(), "upper", req, maxAnswer)
		}
		if got, err := ask([]byte("abc"), 3); err != nil || string(got) != "ABC" {
			c.T.Errorf("got %q, %v", got, err)
		}
		var remote *p2p.RemoteError
		if _, err := ask(nil, 3); !errors.As(err, &remote) || remote.Text != "nothing to do" {
			c.T.Errorf("refused request: %v", err)
		}
		if _, err := ask([]byte("abc"), 2); !errors.Is(err, p2p.ErrTooLarge) {
			c.T.Errorf("answer over our limit: %v", err)
		}
		if _, err := ask(make([]byte, 1001), 2000); err == nil {
			c.T.Error("request over the peer's limit was answered")
		}
		if got, err := ask([]byte("still"), 5); err != nil || string(got) != "STILL" {
			c.T.Errorf("after all that: %q, %v", got, err)
		}
	}},
	{"a peer that asks too much is told so", 2, func(c *Cluster) {
		c.Connected()
		limits := p2p.RequestLimits{MaxRequest: 10, PerPeer: p2p.Rate{PerSecond: 0.001, Burst: 3}}
		stop, err := p2p.ServeRequests(c.Nets[1], "q", limits, func(context.Context, p2p.PeerID, []byte) ([]byte, error) { return nil, nil })
		if err != nil {
			c.T.Fatal(err)
		}
		defer stop()
		for i := range 5 {
			_, err := p2p.Request(c.T.Context(), c.Nets[0], c.Nets[1].Self(), "q", []byte("x"), 10)
			if i < 3 && err != nil || i >= 3 && !errors.Is(err, p2p.ErrBusy) {
				c.T.Errorf("request %d: %v", i, err)
			}
		}
	}},
	{"a request ends with its context", 2, func(c *Cluster) {
		c.Connected()
		ended := make(chan struct{})
		stop, err := p2p.ServeRequests(c.Nets[1], "slow", p2p.RequestLimits{MaxRequest: 10}, func(ctx context.Context, _ p2p.PeerID, _ []byte) ([]byte, error) {
			<-ctx.Done()
			close(ended)
			return nil, ctx.Err()
		})
		if err != nil {
			c.T.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(c.T.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := p2p.Request(ctx, c.Nets[0], c.Nets[1].Self(), "slow", []byte("x"), 10); !errors.Is(err, context.DeadlineExceeded) {
			c.T.Errorf("request past its deadline: %v", err)
		}
		stop() // resets the stream, which ends the handler's context
		<-ended
	}},
}
