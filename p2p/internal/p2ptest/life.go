package p2ptest

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
)

var lifeTests = []test{
	{"peers are sorted and without self", 4, func(c *Cluster) {
		c.Connected()
		for _, n := range c.Nets {
			for _, list := range [][]p2p.PeerID{n.Peers(), n.Connected()} {
				if len(list) != 3 || !slices.IsSorted(list) || slices.Contains(list, n.Self()) {
					c.T.Errorf("peers %v of %s", list, n.Self())
				}
			}
		}
	}},
	{"a peer that restarts is found again, gossip and streams included", 3, func(c *Cluster) {
		c.Connected()
		topics, boxes := c.Join("t", p2p.TopicOptions{MaxSize: 64})
		for range 2 {
			gone := c.Nets[2].Self()
			if err := c.Nets[2].Close(); err != nil {
				c.T.Fatal(err)
			}
			for _, n := range c.Nets[:2] {
				c.Eventually("the peer is gone", func() bool { return !slices.Contains(n.Connected(), gone) })
			}
			c.Publish(topics[0], "while it is away")
			c.Restart(2)
			c.Connected()
			for i := range boxes {
				boxes[i] = new(Inbox)
			}
			for i := range topics {
				if i < 2 {
					if err := topics[i].Close(); err != nil {
						c.T.Fatal(err)
					}
				}
				var err error
				if topics[i], err = c.Nets[i].Join("t", p2p.TopicOptions{MaxSize: 64, Handle: boxes[i].Add}); err != nil {
					c.T.Fatal(err)
				}
			}
			c.Greet(topics, boxes)
			c.serve(2, "echo", p2p.StreamLimits{}, echo)
			s := c.open(0, 2, "echo")
			s.Write([]byte("x"))
			if _, err := io.ReadFull(s, make([]byte, 1)); err != nil {
				c.T.Errorf("stream after the restart: %v", err)
			}
			s.Close()
		}
	}},
	{"a closed network says so and breaks its streams", 2, func(c *Cluster) {
		c.Connected()
		topics, _ := c.Join("t", p2p.TopicOptions{MaxSize: 64})
		c.serve(1, "hold", p2p.StreamLimits{}, func(s p2p.Stream) { io.Copy(io.Discard, s) })
		s := c.open(0, 1, "hold")
		s.Write([]byte("x"))
		n, other := c.Nets[0], c.Nets[1].Self()
		for range 2 {
			if err := n.Close(); err != nil {
				c.T.Errorf("close: %v", err)
			}
		}
		if _, err := s.Write([]byte("x")); err == nil {
			c.T.Error("wrote to a stream of a closed network")
		}
		if err := topics[0].Publish(c.T.Context(), []byte("x")); !errors.Is(err, p2p.ErrClosed) {
			c.T.Errorf("publish: %v, want ErrClosed", err)
		}
		if err := topics[0].Close(); err != nil {
			c.T.Errorf("leave: %v", err)
		}
		if _, err := n.Join("u", p2p.TopicOptions{MaxSize: 1, Handle: func(*p2p.Message) {}}); !errors.Is(err, p2p.ErrClosed) {
			c.T.Errorf("join: %v, want ErrClosed", err)
		}
		if _, err := n.Open(c.T.Context(), other, "hold"); !errors.Is(err, p2p.ErrClosed) {
			c.T.Errorf("open: %v, want ErrClosed", err)
		}
		if _, err := n.Serve("more", p2p.StreamLimits{}, echo); !errors.Is(err, p2p.ErrClosed) {
			c.T.Errorf("serve: %v, want ErrClosed", err)
		}
		if got := n.Connected(); len(got) != 0 {
			c.T.Errorf("connected to %v", got)
		}
	}},
	{"a slow handler of one topic does not hold up another", 2, func(c *Cluster) {
		c.Connected()
		release := make(chan struct{})
		slow, err := c.Nets[1].Join("slow", p2p.TopicOptions{MaxSize: 64, Handle: func(*p2p.Message) { <-release }})
		if err != nil {
			c.T.Fatal(err)
		}
		from, err := c.Nets[0].Join("slow", p2p.TopicOptions{MaxSize: 64, Handle: func(*p2p.Message) {}})
		if err != nil {
			c.T.Fatal(err)
		}
		topics, boxes := c.Join("quick", p2p.TopicOptions{MaxSize: 64})
		c.Publish(from, "x")
		time.Sleep(100 * time.Millisecond)
		c.Publish(topics[0], "y")
		c.Eventually("the other topic goes on", func() bool { return boxes[1].Count(c.Nets[0].Self(), "y") == 1 })
		close(release)
		if err := slow.Close(); err != nil {
			c.T.Error(err)
		}
	}},
}
