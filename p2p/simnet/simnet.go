// Package simnet is a p2p.Network in memory, for tests of many nodes in one process: with latency, loss, reordering,
// partitions and crashes, all decided by one seed.
//
// # Concept
//
// A [Net] is the genesis: a fixed list of peers. [Net.Start] brings one of them up and gives it its p2p.Network;
// [Net.Crash] takes it down as kill -9 does; Start brings it up again. Two peers that are up and in the same part of the
// network connect after a moment. A message published reaches each connected peer after a latency of its own, or is
// lost; streams neither lose nor reorder bytes, but a partition or a crash breaks them. Authors are authentic: a host
// speaks for itself only. Quotas, verdicts and bans are those of package p2p.
//
// # Time and determinism
//
// The package sleeps by package time. In a bubble of testing/synctest that is virtual time: a minute of network passes
// in an instant, and a run depends on the seed alone, on two conditions that make concurrency harmless:
//
//  1. Everything the network does happens at an instant of its own: no two events share a nanosecond, and time moves on
//     only when every goroutine of the bubble waits. So the consequences of one event are over before the next.
//  2. Chance is drawn separately for each ordered pair of peers, in the order in which the sender sends. It does not
//     matter which of two hosts was scheduled first.
//
// What is left to the nodes is not to race within themselves. [Net.Digest] is a hash over all that happened: run twice
// and compare. Outside of a bubble the network works as well, in real time, without that promise.
//
// # Limits
//
// Messages are not forwarded: with disjoint parts, gossip would find no detour either. What is lost in a partition
// stays lost, as it does after gossip's few seconds of memory. Topics of a host are handled side by side.
package simnet

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
)

// Options shape the network. The zero value is a fast one that loses nothing.
type Options struct {
	// MinLatency and MaxLatency bound the way of one message or one piece of a stream, evenly distributed; the spread is
	// what reorders messages. Both zero mean 5 to 25 ms.
	MinLatency, MaxLatency time.Duration
	// Loss is the probability that a gossip message does not reach one of its receivers.
	Loss float64
}

// Net is a simulated network.
type Net struct {
	o       Options
	ids     []p2p.PeerID
	index   map[p2p.PeerID]int
	quantum time.Duration // between two events of one lane; a lane has its own offset within

	mu     sync.Mutex
	hosts  []*host // nil: down
	part   []int   // part of the network each peer is in
	pairs  [][]*pair
	lanes  []*lane
	events events
	start  time.Time
	digest hash.Hash
	closed bool
	wake   chan struct{}
	quit   chan struct{}
	wg     sync.WaitGroup
}

// pair is the connection between two peers.
type pair struct {
	a, b    int
	up      bool
	pending bool // a connect event is scheduled
	streams map[*stream]struct{}
}

// lane is one kind of traffic of one ordered pair: its chance and its instants.
type lane struct {
	offset time.Duration
	rand   *rand.Rand
	taken  map[int64]struct{} // quanta with an event to come
}

const (
	laneGossip = iota
	laneStream
	laneConnect
	laneKinds
)

// New makes a network of the given peers, all down.
func New(seed uint64, peers []p2p.PeerID, o Options) (*Net, error) {
	if o.MinLatency == 0 && o.MaxLatency == 0 {
		o.MinLatency, o.MaxLatency = 5*time.Millisecond, 25*time.Millisecond
	}
	if o.MinLatency < 0 || o.MaxLatency < o.MinLatency || o.Loss < 0 || o.Loss > 1 {
		return nil, fmt.Errorf("simulated network: latency %v to %v, loss %v: want 0 <= min <= max and loss in 0..1", o.MinLatency, o.MaxLatency, o.Loss)
	}
	size := len(peers)
	n := &Net{
		o: o, ids: slices.Clone(peers), index: make(map[p2p.PeerID]int),
		quantum: max(time.Microsecond, time.Duration(laneKinds*size*size)),
		hosts:   make([]*host, size), part: make([]int, size),
		start: time.Now(), digest: sha256.New(), wake: make(chan struct{}, 1), quit: make(chan struct{}),
	}
	for i, id := range peers {
		if _, twice := n.index[id]; twice {
			return nil, fmt.Errorf("simulated network: peer %s is listed twice", id)
		}
		n.index[id] = i
	}
	for k := range laneKinds * size * size {
		n.lanes = append(n.lanes, &lane{
			offset: time.Duration(k), rand: rand.New(rand.NewPCG(seed, uint64(k))), taken: make(map[int64]struct{}),
		})
	}
	for a := range size {
		n.pairs = append(n.pairs, make([]*pair, size))
		for b := range a {
			p := &pair{a: b, b: a, streams: make(map[*stream]struct{})}
			n.pairs[a][b], n.pairs[b][a] = p, p
		}
	}
	n.wg.Go(n.pump)
	return n, nil
}

// Start brings a peer up, for the first time or after Crash or its own Close.
func (n *Net) Start(id p2p.PeerID) (p2p.Network, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i, ok := n.index[id]
	switch {
	case !ok:
		return nil, fmt.Errorf("start %s: %w", id, p2p.ErrUnknownPeer)
	case n.closed:
		return nil, fmt.Errorf("start %s: %w", id, p2p.ErrClosed)
	case n.hosts[i] != nil:
		return nil, fmt.Errorf("start %s: up already", id)
	}
	n.hosts[i] = newHost(n, i)
	n.reconnect()
	return n.hosts[i], nil
}

// Crash takes a peer down at once: its streams break, messages under way to and from it are lost, its Network is closed. It does
// not wait for the peer's handlers.
func (n *Net) Crash(id p2p.PeerID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, ok := n.index[id]; ok && n.hosts[i] != nil {
		n.hosts[i].takeDown()
	}
}

// Partition splits the network: peers of different groups lose their connections, and those named in no group form one
// of their own. It replaces an earlier partition. Naming a peer twice, or one that does not exist, panics.
func (n *Net) Partition(groups ...[]p2p.PeerID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	part := make([]int, len(n.ids))
	for g, ids := range groups {
		for _, id := range ids {
			i, ok := n.index[id]
			if !ok || part[i] != 0 {
				panic(fmt.Sprintf("simnet: partition names %s twice, or it is no peer", id))
			}
			part[i] = g + 1
		}
	}
	n.part = part
	for a := range n.ids {
		for b := range a {
			if part[a] != part[b] {
				n.disconnect(n.pairs[a][b])
			}
		}
	}
	n.reconnect()
}

// Heal ends the partition.
func (n *Net) Heal() { n.Partition() }

// Digest is a hash over everything that has arrived so far: when, where, from whom and what.
func (n *Net) Digest() [32]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return [32]byte(n.digest.Sum(nil))
}

// Close takes all peers down and waits until nothing of the network runs any more.
func (n *Net) Close() {
	n.mu.Lock()
	if !n.closed {
		n.closed = true
		close(n.quit)
		for _, h := range n.hosts {
			if h != nil {
				h.takeDown()
			}
		}
	}
	n.mu.Unlock()
	n.wg.Wait()
}

// record adds to the digest. n.mu is held.
func (n *Net) record(what string, from, to int, data []byte) {
	var head [32]byte
	binary.BigEndian.PutUint64(head[0:], uint64(n.now()))
	binary.BigEndian.PutUint32(head[8:], uint32(from))
	binary.BigEndian.PutUint32(head[12:], uint32(to))
	binary.BigEndian.PutUint32(head[16:], uint32(len(data)))
	copy(head[20:], what)
	n.digest.Write(head[:])
	n.digest.Write(data)
}

// now is the network's time. n.mu need not be held.
func (n *Net) now() time.Duration { return time.Since(n.start) }

func (n *Net) lane(kind, from, to int) *lane {
	return n.lanes[(kind*len(n.ids)+from)*len(n.ids)+to]
}

// latency draws one way's duration.
func (n *Net) latency(l *lane) time.Duration {
	d := n.o.MinLatency
	if spread := n.o.MaxLatency - n.o.MinLatency; spread > 0 {
		d += time.Duration(l.rand.Int64N(int64(spread)))
	}
	return d
}

// schedule plans run on a lane, not before the given time, and returns when it will be. run is called with n.mu held.
func (n *Net) schedule(l *lane, earliest time.Duration, run func()) time.Duration {
	slot := int64((earliest + n.quantum - 1) / n.quantum)
	for {
		if _, taken := l.taken[slot]; !taken {
			break
		}
		slot++
	}
	l.taken[slot] = struct{}{}
	at := time.Duration(slot)*n.quantum + l.offset
	heap.Push(&n.events, event{at: at, run: func() {
		delete(l.taken, slot)
		run()
	}})
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return at
}

// pump runs events when their time comes.
func (n *Net) pump() {
	for {
		n.mu.Lock()
		wait := time.Duration(-1)
		if len(n.events) > 0 {
			if wait = max(0, n.events[0].at-n.now()); wait == 0 {
				heap.Pop(&n.events).(event).run()
				n.mu.Unlock()
				continue
			}
		}
		n.mu.Unlock()
		if !n.sleep(wait) {
			return
		}
	}
}

// sleep waits for d, or for ever if d is negative, or for a new event; false means the network closes.
func (n *Net) sleep(d time.Duration) bool {
	var due <-chan time.Time
	if d >= 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-n.quit:
		return false
	case <-n.wake:
	case <-due:
	}
	return true
}

// event is something that happens at an instant.
type event struct {
	at  time.Duration
	run func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = event{}
	*e = old[:len(old)-1]
	return last
}
