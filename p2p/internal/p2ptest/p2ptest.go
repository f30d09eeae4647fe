// Package p2ptest holds the tests that every p2p.Network must pass: the one over libp2p and the simulated one.
package p2ptest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
)

// Cluster is a running network of a few peers.
type Cluster struct {
	T    testing.TB
	Nets []p2p.Network
	// Restart starts peer i again after its Close.
	Restart func(i int)
}

// Env runs body with a new cluster of n peers and takes the cluster down afterwards.
type Env func(t *testing.T, n int, body func(c *Cluster))

// Run runs the whole suite.
func Run(t *testing.T, env Env) {
	for _, group := range [][]test{gossipTests, streamTests, requestTests, lifeTests} {
		for _, tt := range group {
			t.Run(tt.name, func(t *testing.T) { env(t, tt.peers, tt.run) })
		}
	}
}

type test struct {
	name  string
	peers int
	run   func(c *Cluster)
}

// Eventually waits until f holds. Its limit is for a test that has failed, not a measure.
func (c *Cluster) Eventually(what string, f func() bool) {
	c.T.Helper()
	Eventually(c.T, what, f)
}

// Eventually waits until f holds.
func Eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not so after 30 s: %s", what)
		}
	}
}

// Connected waits until all peers are connected.
func (c *Cluster) Connected() {
	c.T.Helper()
	for _, n := range c.Nets {
		c.Eventually("all peers connected", func() bool { return slices.Equal(n.Connected(), n.Peers()) })
	}
}

// Inbox collects what a topic hands over.
type Inbox struct {
	mu   sync.Mutex
	msgs []*p2p.Message
}

// Add is a Handle.
func (b *Inbox) Add(m *p2p.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.msgs = append(b.msgs, m)
}

// All returns what has come so far.
func (b *Inbox) All() []*p2p.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.msgs)
}

// Count counts the messages of an author with the given data.
func (b *Inbox) Count(author p2p.PeerID, data string) int {
	n := 0
	for _, m := range b.All() {
		if m.Author == author && string(m.Data) == data {
			n++
		}
	}
	return n
}

// Join joins all peers to a topic and waits until each hears each, by greetings that are repeated as needed.
func (c *Cluster) Join(name string, o p2p.TopicOptions) ([]p2p.Topic, []*Inbox) {
	c.T.Helper()
	var topics []p2p.Topic
	var boxes []*Inbox
	for _, n := range c.Nets {
		box := new(Inbox)
		mine := o
		mine.Handle = box.Add
		t, err := n.Join(name, mine)
		if err != nil {
			c.T.Fatal(err)
		}
		topics, boxes = append(topics, t), append(boxes, box)
	}
	c.Greet(topics, boxes)
	return topics, boxes
}

const greeting = "hello"

// Greet publishes greetings until each peer has heard each other one.
func (c *Cluster) Greet(topics []p2p.Topic, boxes []*Inbox) {
	c.T.Helper()
	for i, n := range c.Nets {
		last := time.Time{}
		c.Eventually("all hear a greeting", func() bool {
			if time.Since(last) > 200*time.Millisecond {
				last = time.Now()
				c.Publish(topics[i], greeting)
			}
			for j, box := range boxes {
				if j != i && box.Count(n.Self(), greeting) == 0 {
					return false
				}
			}
			return true
		})
	}
}

// Publish publishes or fails the test.
func (c *Cluster) Publish(t p2p.Topic, data string) {
	c.T.Helper()
	if err := t.Publish(c.T.Context(), []byte(data)); err != nil {
		c.T.Fatal(err)
	}
}
