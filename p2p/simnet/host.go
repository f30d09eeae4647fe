package simnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/quota"
)

// host is one running peer.
type host struct {
	n    *Net
	i    int
	quit chan struct{} // closed when it goes down
	wg   sync.WaitGroup

	// guarded by n.mu
	down     bool
	seqno    uint64
	topics   map[string]*topic
	services map[string]*service
	accounts []*quota.Author    // by peer
	faults   []*quota.Penalties // by peer
}

var _ p2p.Network = (*host)(nil)

var errDown = errors.Join(p2p.ErrClosed, net.ErrClosed)

func newHost(n *Net, i int) *host {
	h := &host{
		n: n, i: i, quit: make(chan struct{}), seqno: uint64(time.Now().UnixNano()),
		topics: make(map[string]*topic), services: make(map[string]*service),
	}
	for range n.ids {
		h.accounts = append(h.accounts, new(quota.Author))
		h.faults = append(h.faults, new(quota.Penalties))
	}
	return h
}

func (h *host) Self() p2p.PeerID { return h.n.ids[h.i] }

func (h *host) Peers() []p2p.PeerID {
	out := slices.Delete(slices.Clone(h.n.ids), h.i, h.i+1)
	slices.Sort(out)
	return out
}

func (h *host) Connected() []p2p.PeerID {
	h.n.mu.Lock()
	defer h.n.mu.Unlock()
	var out []p2p.PeerID
	for j, p := range h.n.pairs[h.i] {
		if p != nil && p.up && !h.down {
			out = append(out, h.n.ids[j])
		}
	}
	slices.Sort(out)
	return out
}

func (h *host) Close() error {
	h.n.mu.Lock()
	if !h.down {
		h.takeDown()
	}
	h.n.mu.Unlock()
	h.wg.Wait()
	return nil
}

// takeDown is what crash and close have in common. n.mu is held.
func (h *host) takeDown() {
	h.down = true
	close(h.quit)
	h.n.hosts[h.i] = nil
	h.n.record("down", h.i, h.i, nil)
	for _, p := range h.n.pairs[h.i] {
		if p == nil {
			continue
		}
		h.n.disconnect(p)
		for s := range p.streams {
			if s.from == h.i {
				s.end()
			}
		}
	}
}

// spawn runs f in a goroutine that Close of the host and of the network wait for. n.mu is held and the host is up.
func (h *host) spawn(f func()) {
	h.wg.Add(1)
	h.n.wg.Go(func() {
		defer h.wg.Done()
		f()
	})
}

// wanted reports whether two peers should be connected. n.mu is held.
func (n *Net) wanted(p *pair) bool {
	a, b, now := n.hosts[p.a], n.hosts[p.b], time.Now()
	return a != nil && b != nil && n.part[p.a] == n.part[p.b] &&
		a.faults[p.b].Refused(now) == 0 && b.faults[p.a].Refused(now) == 0
}

// reconnect plans a connection for every pair that should have one. n.mu is held.
func (n *Net) reconnect() {
	for a := range n.ids {
		for b := range a {
			n.connectAfter(n.pairs[a][b], 0)
		}
	}
}

func (n *Net) connectAfter(p *pair, d time.Duration) {
	if p.up || p.pending || d == 0 && !n.wanted(p) {
		return
	}
	p.pending = true
	l := n.lane(laneConnect, p.a, p.b)
	n.schedule(l, n.now()+d+2*n.latency(l), func() {
		p.pending = false
		if !p.up && n.wanted(p) {
			p.up = true
			n.record("up", p.a, p.b, nil)
		}
	})
}

// disconnect breaks a connection and what runs over it. n.mu is held.
func (n *Net) disconnect(p *pair) {
	if p.up {
		p.up = false
		n.record("cut", p.a, p.b, nil)
	}
	for s := range p.streams {
		s.broken()
	}
}

// penalize counts a fault of a peer in the eyes of h. n.mu is held.
func (h *host) penalize(peer int) {
	if h.down || !h.faults[peer].Add(time.Now()) {
		return
	}
	p := h.n.pairs[h.i][peer]
	h.n.disconnect(p)
	p.pending = false // a connection already planned would be refused
	h.n.connectAfter(p, quota.BanTime)
}

// topic is one joined topic of one host.
type topic struct {
	h     *host
	name  string
	o     p2p.TopicOptions
	queue chan *p2p.Message
	quit  chan struct{}
	done  chan struct{}
	once  sync.Once
}

// queueSize is how many messages wait for a topic's handler, as in package p2p.
const queueSize = 1024

func (h *host) Join(name string, o p2p.TopicOptions) (p2p.Topic, error) {
	if err := p2p.CheckName("topic", name); err != nil {
		return nil, err
	}
	o, err := o.WithDefaults()
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", name, err)
	}
	h.n.mu.Lock()
	defer h.n.mu.Unlock()
	switch {
	case h.down:
		return nil, fmt.Errorf("join %s: %w", name, p2p.ErrClosed)
	case h.topics[name] != nil:
		return nil, fmt.Errorf("join %s: joined already", name)
	}
	t := &topic{
		h: h, name: name, o: o, queue: make(chan *p2p.Message, queueSize),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	h.topics[name] = t
	for _, a := range h.accounts {
		a.Open(name, o.PerAuthor.PerSecond, o.PerAuthor.Burst)
	}
	h.spawn(t.run)
	return t, nil
}

// run judges and handles, one message after the other.
func (t *topic) run() {
	defer close(t.done)
	for {
		select {
		case <-t.quit:
			return
		case <-t.h.quit:
			return
		case m := <-t.queue:
			if !t.left() {
				t.take(m)
			}
		}
	}
}

// left reports whether the topic or the host was closed; of two things that can happen, select picks either.
func (t *topic) left() bool {
	select {
	case <-t.quit:
		return true
	case <-t.h.quit:
		return true
	default:
		return false
	}
}

func (t *topic) take(m *p2p.Message) {
	v := p2p.Accept
	if t.o.Validate != nil {
		v = t.o.Validate(m)
	}
	switch v {
	case p2p.Accept:
		t.o.Handle(m)
	case p2p.Reject:
		t.h.n.mu.Lock()
		defer t.h.n.mu.Unlock()
		t.h.penalize(t.h.n.index[m.Author])
	}
}

func (t *topic) Publish(ctx context.Context, data []byte) error {
	if len(data) > t.o.MaxSize {
		return fmt.Errorf("publish on %s: %d bytes, at most %d: %w", t.name, len(data), t.o.MaxSize, p2p.ErrTooLarge)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("publish on %s: %w", t.name, err)
	}
	h, n := t.h, t.h.n
	n.mu.Lock()
	defer n.mu.Unlock()
	if h.down || h.topics[t.name] != t {
		return fmt.Errorf("publish on %s: %w", t.name, p2p.ErrClosed)
	}
	h.seqno++
	seqno, data := h.seqno, slices.Clone(data)
	for j, p := range n.pairs[h.i] {
		if p == nil || !p.up {
			continue
		}
		l := n.lane(laneGossip, h.i, j)
		lost, way := l.rand.Float64() < n.o.Loss, n.latency(l)
		if !lost {
			n.schedule(l, n.now()+way, func() { n.arrive(t.name, h.i, j, seqno, data) })
		}
	}
	return nil
}

// arrive is what happens at the receiver. n.mu is held.
func (n *Net) arrive(name string, from, to int, seqno uint64, data []byte) {
	h := n.hosts[to]
	if h == nil || !n.pairs[from][to].up {
		return
	}
	n.record(name, from, to, data)
	t := h.topics[name]
	switch {
	case t == nil || h.faults[from].Refused(time.Now()) > 0:
	case len(data) > t.o.MaxSize:
		h.penalize(from)
	case h.accounts[from].Take(name, time.Now()) && h.accounts[from].Admit(name, seqno, true, time.Now()) == quota.Admitted:
		select {
		case t.queue <- &p2p.Message{Author: n.ids[from], From: n.ids[from], Topic: name, Data: data}:
		default: // the handler is too slow
		}
	}
}

func (t *topic) Close() error {
	t.once.Do(func() {
		t.h.n.mu.Lock()
		delete(t.h.topics, t.name)
		for _, a := range t.h.accounts {
			a.Shut(t.name)
		}
		t.h.n.mu.Unlock()
		close(t.quit)
	})
	<-t.done
	return nil
}
