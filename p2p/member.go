package p2p

import (
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/daybreak-beacon/daybreak/p2p/internal/quota"
)

// foreignTime is how long a peer of another genesis is left alone.
const foreignTime = 10 * time.Second

// member is one other peer of genesis and all that we keep about it.
type member struct {
	id    peer.ID
	pid   PeerID
	addrs []ma.Multiaddr
	wake  chan struct{} // to keepConnected: look again now

	regossip  time.Time // when its gossip is worth looking at again; owned by keepConnected
	faults    quota.Penalties
	allowance // what it may send

	mu       sync.Mutex
	verified bool      // identified with our genesis on a connection that still stands
	since    time.Time // of verified
	foreign  string    // the other genesis it was last seen with, to warn once
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
			allowance: newAllowance(),
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

// stood returns how long the member has been connected; 0 if it is not.
func (m *member) stood(now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.verified {
		return 0
	}
	return now.Sub(m.since)
}

// setForeign refuses the member for a while and returns whether its other genesis is news.
func (m *member) setForeign(version string, now time.Time) bool {
	m.faults.Refuse(now, foreignTime)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.foreign == version {
		return false
	}
	m.foreign = version
	return true
}
