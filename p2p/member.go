package p2p

import (
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
)

// A member's penalties: a bucket that empties into a ban.
const (
	penaltyBurst = 16
	penaltyEvery = 10 * time.Second
	banTime      = time.Minute
	foreignTime  = 30 * time.Second // how long a peer of another genesis is left alone
)

// member is one other peer of genesis and all that we keep about it.
type member struct {
	id    peer.ID
	pid   PeerID
	addrs []ma.Multiaddr
	wake  chan struct{} // to keepConnected: look again now

	penalty *rate.Limiter // a token for each penalty
	rpcs    *rate.Limiter // gossip entries it may send, set by the topics joined
	gossips *rate.Limiter // gossip streams it may open

	mu       sync.Mutex
	verified bool      // identified with our genesis on a connection that still stands
	since    time.Time // of verified
	foreign  string    // the other genesis it was last seen with, to warn once
	blocked  time.Time // refuse it until then
}

func newMembers(self PeerID, peers []Peer) (map[peer.ID]*member, error) {
	out := make(map[peer.ID]*member, len(peers))
	for i, p := range peers {
		if p.ID == self {
			continue
		}
		id, err := decodeID(p.ID)
		if err != nil {
			return nil, fmt.Errorf("peer %d: %w", i+1, err)
		}
		if out[id] != nil {
			return nil, fmt.Errorf("peer %d: %s is listed twice", i+1, p.ID)
		}
		m := &member{
			id: id, pid: p.ID, wake: make(chan struct{}, 1),
			penalty: rate.NewLimiter(rate.Every(penaltyEvery), penaltyBurst),
			rpcs:    rate.NewLimiter(idleRPCs, idleRPCs),
			gossips: rate.NewLimiter(rate.Every(2*time.Second), 16),
		}
		for _, s := range p.Addrs {
			if err := CheckAddr(s); err != nil {
				return nil, fmt.Errorf("peer %d (%s): %w", i+1, p.ID, err)
			}
			a, err := ma.NewMultiaddr(s)
			if err != nil {
				return nil, fmt.Errorf("peer %d (%s): %w", i+1, p.ID, err)
			}
			m.addrs = append(m.addrs, a)
		}
		out[id] = m
	}
	return out, nil
}

func (m *member) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *member) isVerified() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.verified
}

// setVerified returns whether that is news.
func (m *member) setVerified(v bool, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.verified == v {
		return false
	}
	m.verified, m.since = v, now
	if v {
		m.foreign = ""
	}
	return true
}

// setForeign blocks the member for a while and returns whether its other genesis is news.
func (m *member) setForeign(version string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocked = now.Add(foreignTime)
	if m.foreign == version {
		return false
	}
	m.foreign = version
	return true
}

// penalize takes one penalty and returns whether the member is banned now by it.
func (m *member) penalize(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Before(m.blocked) || m.penalty.AllowN(now, 1) {
		return false
	}
	m.blocked = now.Add(banTime)
	return true
}

// blockedFor returns how long the member is to be refused still; 0 means it is welcome.
func (m *member) blockedFor(now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, m.blocked.Sub(now))
}
