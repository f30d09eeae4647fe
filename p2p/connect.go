package p2p

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
)

const (
	dialTimeout   = 5 * time.Second
	firstRetry    = 100 * time.Millisecond
	lastRetry     = 2 * time.Second
	unreachableAt = 8               // failed dials in a row that are worth one line
	checkEvery    = 2 * time.Second // how often a standing connection is looked at
	gossipGrace   = 4 * time.Second // how long a connection may be without gossip
	steady        = 5 * time.Second // how long a connection must stand for the next to be tried at once
	staleAfter    = 5 * time.Second // an older connection of a peer that has just made a new one is dead
	foreignGrace  = time.Second     // how long a connection to a peer of another genesis stays, so that it learns of ours too
)

// watch starts following what happens to connections.
func (h *Host) watch() error {
	sub, err := h.host.EventBus().Subscribe([]any{
		new(event.EvtPeerIdentificationCompleted),
		new(event.EvtPeerIdentificationFailed),
		new(event.EvtPeerConnectednessChanged),
	}, eventbus.BufSize(256))
	if err != nil {
		return fmt.Errorf("watch connections: %w", err)
	}
	h.wg.Go(func() {
		defer sub.Close()
		for {
			select {
			case <-h.ctx.Done():
				return
			case e := <-sub.Out():
				h.onEvent(e)
			}
		}
	})
	return nil
}

func (h *Host) onEvent(e any) {
	switch e := e.(type) {
	case event.EvtPeerIdentificationCompleted:
		if m := h.members[e.Peer]; m != nil {
			h.onIdentified(m, e)
		}
	case event.EvtPeerIdentificationFailed:
		h.log.Debug("peer does not identify itself", "peer", e.Peer.String(), "err", e.Reason)
		h.disconnect(e.Peer)
	case event.EvtPeerConnectednessChanged:
		if m := h.members[e.Peer]; m != nil && e.Connectedness != network.Connected {
			h.onDisconnected(m)
		}
	}
}

func (h *Host) onIdentified(m *member, e event.EvtPeerIdentificationCompleted) {
	now := time.Now()
	if e.ProtocolVersion != h.version() {
		if m.setForeign(e.ProtocolVersion, now) {
			other, ok := strings.CutPrefix(e.ProtocolVersion, versionPrefix)
			if !ok {
				other = "none that we know"
			}
			h.log.Warn("peer runs another genesis: not connecting", "peer", string(m.pid), "genesis", clip(other, 64), "ours", h.genesis)
		}
		h.leave(m.id)
		return
	}
	for _, c := range h.host.Network().ConnsToPeer(m.id) {
		// A peer connects anew only when its side of the old connection is gone, as after a crash of its machine.
		// libp2p would go on using the old one here, because it carries more streams.
		if c != e.Conn && c.Stat().Opened.Add(staleAfter).Before(e.Conn.Stat().Opened) {
			h.wg.Go(func() { c.Close() })
		}
	}
	if h.host.Network().Connectedness(m.id) == network.Connected && m.setVerified(true, now) {
		h.metrics.connected.Inc()
		h.log.Info("peer connected", "peer", string(m.pid), "at", e.Conn.RemoteMultiaddr().String())
	}
}

func (h *Host) onDisconnected(m *member) {
	if h.host.Network().Connectedness(m.id) == network.Connected {
		return // it is back already
	}
	if m.setVerified(false, time.Now()) {
		h.metrics.connected.Dec()
		h.log.Info("peer disconnected", "peer", string(m.pid))
	}
	h.gossip.forget(m.id)
	m.poke()
}

// disconnect closes all connections to a peer, in the background: closing waits for what may wait for the caller.
func (h *Host) disconnect(p peer.ID) {
	h.goDown(func() { h.host.Network().ClosePeer(p) })
}

// leave closes all connections to a peer of another genesis a moment later. Nothing of it is taken meanwhile; but closed at once, the
// connection would often end before the peer has heard what we run, and its operator would look for the fault elsewhere.
func (h *Host) leave(p peer.ID) {
	h.goDown(func() {
		t := time.NewTimer(foreignGrace)
		defer t.Stop()
		select {
		case <-h.ctx.Done():
		case <-t.C:
		}
		h.host.Network().ClosePeer(p)
	})
}

// goDown runs f in a goroutine that Close waits for, unless Close has begun.
func (h *Host) goDown(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.down {
		h.wg.Go(f)
	}
}

// penalize counts a fault that is provably the peer's own, and bans it when there are too many.
func (h *Host) penalize(p peer.ID, reason string) {
	m := h.members[p]
	if m == nil || !m.faults.Add(time.Now()) {
		return
	}
	h.log.Warn("peer banned for a minute: too many faults", "peer", string(m.pid), "last", reason)
	h.disconnect(p)
}

// keepConnected dials one member whenever it is not connected.
func (h *Host) keepConnected(m *member) {
	// Both sides start at the same time and both see a connection end: let one of them dial first, lest they make two.
	wait := time.Duration(0)
	if h.host.ID() > m.id {
		wait = 250 * time.Millisecond
	}
	failed := 0 // dials that gave no connection which stood for a while
	for {
		lost, ok := h.pause(m, wait)
		if !ok {
			return
		}
		switch {
		case h.host.Network().Connectedness(m.id) == network.Connected:
			if m.stood(time.Now()) > steady {
				failed = 0
			}
			h.checkGossip(m)
			wait = checkEvery
		case m.faults.Refused(time.Now()) > 0:
			wait = m.faults.Refused(time.Now())
		case lost && failed > 0:
			// It was up for a moment only, as when the other side refuses us.
			wait = retryAfter(failed)
		default:
			failed++
			wait = checkEvery
			if err := h.dial(m); err != nil {
				wait = retryAfter(failed)
				h.complain(m, failed, err)
			}
		}
	}
}

func (h *Host) complain(m *member, failed int, err error) {
	h.log.Debug("dial", "peer", string(m.pid), "err", oneLine(err))
	if failed == unreachableAt && !h.isDown() {
		h.log.Warn("peer cannot be reached: still trying", "peer", string(m.pid), "err", clip(oneLine(err), 300))
	}
}

// pause waits for d, or until the connection is lost; not ok means that the host closes.
func (h *Host) pause(m *member, d time.Duration) (lost, ok bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-h.ctx.Done():
		return false, false
	case <-t.C:
		return false, true
	case <-m.wake:
	}
	if h.host.ID() > m.id {
		select {
		case <-h.ctx.Done():
			return false, false
		case <-time.After(firstRetry):
		}
	}
	return true, true
}

// retryAfter doubles from firstRetry to lastRetry and takes off up to half, so that a network that starts at once does
// not dial in step.
func retryAfter(failed int) time.Duration {
	d := lastRetry
	if shift := failed - 1; shift < 5 {
		d = min(lastRetry, firstRetry<<shift)
	}
	return d - rand.N(d/2)
}

func (h *Host) dial(m *member) error {
	ctx, cancel := context.WithTimeout(h.ctx, dialTimeout)
	defer cancel()
	// Genesis knows the addresses; what peers tell about themselves and the library's own pauses do not count.
	ps := h.host.Peerstore()
	ps.ClearAddrs(m.id)
	ps.AddAddrs(m.id, m.addrs, peerstore.PermanentAddrTTL)
	if sw, ok := h.host.Network().(*swarm.Swarm); ok {
		sw.Backoff().Clear(m.id)
	}
	return h.host.Connect(ctx, peer.AddrInfo{ID: m.id})
}

// checkGossip reconnects to a peer whose gossip stream has ended while the connection stands: after a few duplicate
// connections in a row the library does not open that stream again.
func (h *Host) checkGossip(m *member) {
	now := time.Now()
	if m.stood(now) < gossipGrace || now.Before(m.regossip) || h.gossip.has(m.id) {
		return
	}
	h.log.Debug("reconnecting to a peer without gossip", "peer", string(m.pid))
	m.regossip = now.Add(30 * time.Second) // a peer that never opens it is not to be cut off all the time
	h.disconnect(m.id)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
