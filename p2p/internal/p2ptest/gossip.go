package p2ptest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/daybreak-beacon/daybreak/p2p"
)

var gossipTests = []test{
	{"gossip reaches all others once and not its author", 4, func(c *Cluster) {
		c.Connected()
		topics, boxes := c.Join("partials", p2p.TopicOptions{MaxSize: 64})
		for i, t := range topics {
			c.Publish(t, fmt.Sprint("from ", i))
		}
		for i, n := range c.Nets {
			text := fmt.Sprint("from ", i)
			for j, box := range boxes {
				if j != i {
					c.Eventually(text+" arrives", func() bool { return box.Count(n.Self(), text) == 1 })
				}
			}
		}
		// A later message of each marks the end: whatever comes twice has come by now, in all likelihood.
		for _, t := range topics {
			c.Publish(t, "end")
		}
		for j, box := range boxes {
			for i, n := range c.Nets {
				if i == j {
					continue
				}
				c.Eventually("end arrives", func() bool { return box.Count(n.Self(), "end") == 1 })
				if got := box.Count(n.Self(), fmt.Sprint("from ", i)); got != 1 {
					c.T.Errorf("peer %d got %d copies of the message of peer %d", j, got, i)
				}
			}
			for _, m := range box.All() {
				if m.Author == c.Nets[j].Self() {
					c.T.Errorf("peer %d got its own message %q", j, m.Data)
				}
				if m.Topic != "partials" {
					c.T.Errorf("message on topic %q, want partials", m.Topic)
				}
			}
		}
	}},
	{"equal data published again arrives again", 2, func(c *Cluster) {
		c.Connected()
		topics, boxes := c.Join("t", p2p.TopicOptions{MaxSize: 64})
		c.Publish(topics[0], "again")
		c.Publish(topics[0], "again")
		c.Eventually("both arrive", func() bool { return boxes[1].Count(c.Nets[0].Self(), "again") == 2 })
	}},
	{"only what Validate accepts is handled, with what it parsed", 3, func(c *Cluster) {
		c.Connected()
		topics, boxes := c.Join("t", p2p.TopicOptions{MaxSize: 64, Validate: func(m *p2p.Message) p2p.Verdict {
			switch string(m.Data) {
			case "ignore":
				return p2p.Ignore
			case "reject":
				return p2p.Reject
			case "nonsense":
				return p2p.Verdict(42)
			}
			m.Parsed = "parsed " + string(m.Data)
			return p2p.Accept
		}})
		for _, data := range []string{"ignore", "reject", "nonsense", "accept"} {
			c.Publish(topics[0], data)
		}
		for _, box := range boxes[1:] {
			c.Eventually("the accepted one arrives", func() bool { return box.Count(c.Nets[0].Self(), "accept") == 1 })
			for _, m := range box.All() {
				if d := string(m.Data); d != "accept" && d != greeting {
					c.T.Errorf("handled %q", d)
				}
				if m.Parsed != "parsed "+string(m.Data) {
					c.T.Errorf("parsed is %v", m.Parsed)
				}
			}
		}
	}},
	{"a message over the topic's size is not published", 2, func(c *Cluster) {
		c.Connected()
		topics, boxes := c.Join("t", p2p.TopicOptions{MaxSize: 10})
		if err := topics[0].Publish(c.T.Context(), make([]byte, 11)); !errors.Is(err, p2p.ErrTooLarge) {
			c.T.Errorf("publish of 11 bytes: %v, want ErrTooLarge", err)
		}
		full := strings.Repeat("x", 10)
		c.Publish(topics[0], full)
		c.Eventually("10 bytes arrive", func() bool { return boxes[1].Count(c.Nets[0].Self(), full) == 1 })
	}},
	{"an author over its quota is ignored, others are not", 3, func(c *Cluster) {
		c.Connected()
		// Slow enough that the test cannot refill it: one message in a hundred seconds. Greetings take some of it.
		topics, boxes := c.Join("t", p2p.TopicOptions{MaxSize: 64, PerAuthor: p2p.Rate{PerSecond: 0.01, Burst: 40}})
		for range 200 {
			c.Publish(topics[0], "flood")
		}
		c.Publish(topics[1], "end")
		for _, j := range []int{0, 2} {
			c.Eventually("another author gets through", func() bool { return boxes[j].Count(c.Nets[1].Self(), "end") == 1 })
		}
		// An author has one bucket for what it hands over itself and one for what others forward.
		c.Eventually("some of the flood arrives", func() bool { return boxes[2].Count(c.Nets[0].Self(), "flood") >= 20 })
		if got := boxes[2].Count(c.Nets[0].Self(), "flood"); got > 80 {
			c.T.Errorf("%d messages of the flood were handled, want at most 80", got)
		}
	}},
	{"who is rejected too often is disconnected by those who reject", 3, func(c *Cluster) {
		c.Connected()
		topics, boxes := c.Join("t", p2p.TopicOptions{MaxSize: 64, Validate: func(m *p2p.Message) p2p.Verdict {
			if string(m.Data) == "bad" {
				return p2p.Reject
			}
			return p2p.Accept
		}})
		bad := c.Nets[0].Self()
		for range 40 {
			c.Publish(topics[0], "bad")
		}
		for i, n := range c.Nets[1:] {
			other := c.Nets[2-i].Self()
			c.Eventually("the bad peer is cut off", func() bool {
				now := n.Connected()
				return len(now) == 1 && now[0] == other
			})
		}
		c.Publish(topics[1], "still here")
		c.Eventually("the others go on", func() bool { return boxes[2].Count(c.Nets[1].Self(), "still here") == 1 })
		if n := boxes[1].Count(bad, "bad"); n != 0 {
			c.T.Errorf("%d bad messages handled", n)
		}
	}},
	{"a topic can be left and joined again", 3, func(c *Cluster) {
		c.Connected()
		topics, boxes := c.Join("t", p2p.TopicOptions{MaxSize: 64})
		if _, err := c.Nets[0].Join("t", p2p.TopicOptions{MaxSize: 64, Handle: boxes[0].Add}); err == nil {
			c.T.Error("joined twice")
		}
		for range 2 {
			if err := topics[0].Close(); err != nil {
				c.T.Fatalf("leave: %v", err)
			}
		}
		if err := topics[0].Publish(c.T.Context(), []byte("x")); !errors.Is(err, p2p.ErrClosed) {
			c.T.Errorf("publish on a topic that was left: %v, want ErrClosed", err)
		}
		boxes[0] = new(Inbox)
		var err error
		if topics[0], err = c.Nets[0].Join("t", p2p.TopicOptions{MaxSize: 64, Handle: boxes[0].Add}); err != nil {
			c.T.Fatal(err)
		}
		c.Greet(topics, boxes)
	}},
	{"topic options are checked", 1, func(c *Cluster) {
		handle := func(*p2p.Message) {}
		for name, o := range map[string]p2p.TopicOptions{
			"no size":       {Handle: handle},
			"size too big":  {Handle: handle, MaxSize: p2p.MaxMessageSize + 1},
			"no handler":    {MaxSize: 1},
			"negative rate": {Handle: handle, MaxSize: 1, PerAuthor: p2p.Rate{PerSecond: -1, Burst: 1}},
			"no burst":      {Handle: handle, MaxSize: 1, PerAuthor: p2p.Rate{PerSecond: 1}},
		} {
			if _, err := c.Nets[0].Join("t", o); err == nil {
				c.T.Errorf("%s: joined", name)
			}
		}
		for _, name := range []string{"", strings.Repeat("n", 65)} {
			if _, err := c.Nets[0].Join(name, p2p.TopicOptions{MaxSize: 1, Handle: handle}); err == nil {
				c.T.Errorf("topic name of %d characters: joined", len(name))
			}
			if _, err := c.Nets[0].Serve(name, p2p.StreamLimits{}, func(p2p.Stream) {}); err == nil {
				c.T.Errorf("protocol name of %d characters: served", len(name))
			}
		}
	}},
}
