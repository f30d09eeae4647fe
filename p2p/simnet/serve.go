package simnet

import (
	"context"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/p2p"
)

func (h *host) Open(ctx context.Context, peer p2p.PeerID, proto string) (p2p.Stream, error) {
	if err := p2p.CheckName("protocol", proto); err != nil {
		return nil, err
	}
	s, err := h.dial(peer, proto)
	if err == nil {
		select {
		case err = <-s.opened:
		case <-ctx.Done():
			err = ctx.Err()
		case <-h.quit:
			err = errDown
		}
		if err != nil {
			s.Reset()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s to %s: %w", proto, peer.Short(), err)
	}
	return s, nil
}

// dial sends the wish to open a stream on its way; the answer comes in opened.
func (h *host) dial(peer p2p.PeerID, proto string) (*stream, error) {
	n := h.n
	n.mu.Lock()
	defer n.mu.Unlock()
	j, ok := n.index[peer]
	switch {
	case !ok || j == h.i:
		return nil, p2p.ErrUnknownPeer
	case h.down:
		return nil, errDown
	case !n.pairs[h.i][j].up:
		return nil, p2p.ErrNotConnected
	}
	near, far := n.pipe(h.i, j, proto)
	n.pairs[h.i][j].streams[near] = struct{}{}
	near.later(near.out, func() {
		err := n.accept(far)
		far.later(far.out, func() { far.answer(err) })
	})
	return near, nil
}

// accept gives a stream to the service at its end. n.mu is held. The connection stands, or the stream had been reset.
func (n *Net) accept(far *stream) error {
	h := n.hosts[far.from]
	sv := h.services[far.proto]
	if sv == nil {
		return p2p.ErrNotServed
	}
	if sv.count[far.to] >= sv.limits.PerPeer || len(sv.open) >= sv.limits.Total {
		far.later(far.out, far.abort) // the opener has its stream for a moment, as over a real network
		return nil
	}
	n.pairs[far.from][far.to].streams[far] = struct{}{}
	sv.count[far.to]++
	sv.open = append(sv.open, far)
	h.spawn(func() {
		defer sv.release(far)
		defer far.Close()
		sv.handle(far)
	})
	return nil
}

// service is one served protocol of one host. All of it is guarded by Net.mu.
type service struct {
	h      *host
	limits p2p.StreamLimits
	handle func(p2p.Stream)
	count  map[int]int
	open   []*stream
}

func (sv *service) release(s *stream) {
	sv.h.n.mu.Lock()
	defer sv.h.n.mu.Unlock()
	sv.count[s.to]--
	sv.open = slices.DeleteFunc(sv.open, func(o *stream) bool { return o == s })
}

func (h *host) Serve(proto string, limits p2p.StreamLimits, handle func(p2p.Stream)) (stop func(), err error) {
	if err := p2p.CheckName("protocol", proto); err != nil {
		return nil, err
	}
	h.n.mu.Lock()
	defer h.n.mu.Unlock()
	switch {
	case h.down:
		return nil, fmt.Errorf("serve %s: %w", proto, errDown)
	case h.services[proto] != nil:
		return nil, fmt.Errorf("serve %s: served already", proto)
	}
	sv := &service{
		h: h, limits: limits.WithDefaults(len(h.n.ids) - 1), handle: handle,
		count: make(map[int]int),
	}
	h.services[proto] = sv
	return func() { h.unserve(proto, sv) }, nil
}

func (h *host) unserve(proto string, sv *service) {
	h.n.mu.Lock()
	var open []*stream
	if h.services[proto] == sv {
		delete(h.services, proto)
		open = slices.Clone(sv.open)
	}
	h.n.mu.Unlock()
	for _, s := range open {
		s.Reset()
	}
}
