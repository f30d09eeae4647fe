package p2p

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

const defaultPerPeer = 16

// service is one served protocol.
type service struct {
	h      *Host
	name   string
	limits StreamLimits
	handle func(Stream)

	mu    sync.Mutex
	open  map[*stream]struct{}
	count map[peer.ID]int
	ended bool
}

// WithDefaults fills in what is zero, in a network of n peers.
func (l StreamLimits) WithDefaults(n int) StreamLimits {
	if l.PerPeer <= 0 {
		l.PerPeer = defaultPerPeer
	}
	if l.Total <= 0 {
		l.Total = l.PerPeer * max(1, n)
	}
	return l
}

// Serve implements Network.
func (h *Host) Serve(name string, limits StreamLimits, handle func(Stream)) (stop func(), err error) {
	if err := CheckName("protocol", name); err != nil {
		return nil, err
	}
	sv := &service{
		h: h, name: name, limits: limits.WithDefaults(len(h.members)), handle: handle,
		open: make(map[*stream]struct{}), count: make(map[peer.ID]int),
	}
	id := h.protocol(name)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		return nil, fmt.Errorf("serve %s: %w", name, errNetClosed)
	}
	if h.services[id] != nil {
		return nil, fmt.Errorf("serve %s: %w", name, errors.New("served already"))
	}
	h.services[id] = sv
	h.host.SetStreamHandler(id, sv.accept)
	var once sync.Once
	return func() { once.Do(sv.stop) }, nil
}

// accept runs in the stream's own goroutine.
func (sv *service) accept(raw network.Stream) {
	from := raw.Conn().RemotePeer()
	m := sv.h.members[from]
	if m == nil || !sv.admit(from) {
		raw.ResetWithError(network.StreamResourceLimitExceeded)
		sv.h.metrics.drop("stream-limit")
		return
	}
	defer sv.release(from)
	s, err := sv.h.track(raw, m.pid, sv.name)
	if err != nil {
		return
	}
	defer s.Close()
	if !sv.add(s) {
		s.Reset()
		return
	}
	defer sv.remove(s)
	sv.handle(s)
}

// admit takes a place for a stream of the peer, and one in the group Close waits for.
func (sv *service) admit(p peer.ID) bool {
	sv.h.mu.Lock()
	defer sv.h.mu.Unlock()
	if sv.h.down {
		return false
	}
	sv.mu.Lock()
	defer sv.mu.Unlock()
	total := 0
	for _, n := range sv.count {
		total += n
	}
	if sv.ended || sv.count[p] >= sv.limits.PerPeer || total >= sv.limits.Total {
		return false
	}
	sv.count[p]++
	sv.h.wg.Add(1)
	return true
}

func (sv *service) release(p peer.ID) {
	sv.mu.Lock()
	sv.count[p]--
	sv.mu.Unlock()
	sv.h.wg.Done()
}

func (sv *service) add(s *stream) bool {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if sv.ended {
		return false
	}
	sv.open[s] = struct{}{}
	return true
}

func (sv *service) remove(s *stream) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	delete(sv.open, s)
}

func (sv *service) stop() {
	id := sv.h.protocol(sv.name)
	sv.h.host.RemoveStreamHandler(id)
	sv.h.mu.Lock()
	delete(sv.h.services, id)
	sv.h.mu.Unlock()
	sv.mu.Lock()
	sv.ended = true
	open := slices.Collect(maps.Keys(sv.open))
	sv.mu.Unlock()
	for _, s := range open {
		s.Reset()
	}
}
