package p2p

import (
	"context"
	"errors"
	"fmt"
	"sync"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

// topic is one joined topic.
type topic struct {
	g      *gossip
	name   string
	full   string
	o      TopicOptions
	ps     *pubsub.Topic
	sub    *pubsub.Subscription
	done   chan struct{} // the handling goroutine has ended
	cancel context.CancelFunc
	once   sync.Once
	closed error
}

// defaultRate is an author's quota on a topic that names none.
var defaultRate = Rate{PerSecond: 32, Burst: 128}

// WithDefaults returns the options with what is zero filled in, or what is wrong with them.
func (o TopicOptions) WithDefaults() (TopicOptions, error) {
	if o.MaxSize < 1 || o.MaxSize > MaxMessageSize {
		return o, fmt.Errorf("maximum size %d: want 1 to %d", o.MaxSize, MaxMessageSize)
	}
	if o.PerAuthor == (Rate{}) {
		o.PerAuthor = defaultRate
	}
	if o.PerAuthor.PerSecond <= 0 || o.PerAuthor.Burst < 1 {
		return o, errors.New("rate per author: want both parts above zero")
	}
	if o.Handle == nil {
		return o, errors.New("no Handle")
	}
	return o, nil
}

// Join implements Network.
func (h *Host) Join(name string, o TopicOptions) (Topic, error) {
	if err := CheckName("topic", name); err != nil {
		return nil, err
	}
	o, err := o.WithDefaults()
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", name, err)
	}
	t, err := h.gossip.join(name, o)
	if err != nil {
		return nil, fmt.Errorf("join %s: %w", name, err)
	}
	return t, nil
}

func (g *gossip) join(name string, o TopicOptions) (*topic, error) {
	if g.h.isDown() {
		return nil, ErrClosed
	}
	t := &topic{g: g, name: name, full: g.h.prefix() + name, o: o, done: make(chan struct{})}
	g.mu.Lock()
	if g.topics[t.full] != nil {
		g.mu.Unlock()
		return nil, errors.New("joined already")
	}
	if len(g.topics) >= maxTopics {
		g.mu.Unlock()
		return nil, fmt.Errorf("more than %d topics", maxTopics)
	}
	g.topics[t.full] = t
	g.setAllowances()
	g.mu.Unlock()
	for _, a := range g.authors {
		a.Open(name, o.PerAuthor.PerSecond, o.PerAuthor.Burst)
	}
	if err := t.start(); err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

func (t *topic) start() (err error) {
	judge := func(_ context.Context, from peer.ID, m *pubsub.Message) pubsub.ValidationResult {
		return t.g.judge(t, from, m)
	}
	// In line: as many at a time as there are workers, and the queue before them is the one that counts.
	if err := t.g.ps.RegisterTopicValidator(t.full, judge, pubsub.WithValidatorInline(true)); err != nil {
		return err
	}
	if t.ps, err = t.g.ps.Join(t.full); err != nil {
		return errors.Join(err, t.g.ps.UnregisterTopicValidator(t.full))
	}
	if t.sub, err = t.ps.Subscribe(pubsub.WithBufferSize(handleQueue)); err != nil {
		return errors.Join(err, t.ps.Close(), t.g.ps.UnregisterTopicValidator(t.full))
	}
	ctx, cancel := context.WithCancel(t.g.h.ctx)
	t.cancel = cancel
	t.g.h.goDown(func() { t.handle(ctx) })
	return nil
}

func (t *topic) handle(ctx context.Context) {
	defer close(t.done)
	for {
		msg, err := t.sub.Next(ctx)
		if err != nil {
			return
		}
		// Our own messages carry none: they were not judged.
		if m, ok := msg.ValidatorData.(*Message); ok {
			t.o.Handle(m)
		}
	}
}

// Publish implements Topic.
func (t *topic) Publish(ctx context.Context, data []byte) error {
	if len(data) > t.o.MaxSize {
		return fmt.Errorf("publish on %s: %d bytes, at most %d: %w", t.name, len(data), t.o.MaxSize, ErrTooLarge)
	}
	err := t.ps.Publish(ctx, data)
	switch {
	case err == nil:
		return nil
	case t.g.h.isDown() || errors.Is(err, pubsub.ErrTopicClosed):
		return fmt.Errorf("publish on %s: %w", t.name, ErrClosed)
	}
	return fmt.Errorf("publish on %s: %w", t.name, err)
}

// Close implements Topic.
func (t *topic) Close() error {
	t.once.Do(func() { t.closed = t.close() })
	return t.closed
}

func (t *topic) close() error {
	t.cancel()
	<-t.done
	t.sub.Cancel()
	var err error
	if !t.g.h.isDown() {
		// Cancel is asynchronous and Close refuses until it is done; both go through the same loop in this order.
		err = errors.Join(t.ps.Close(), t.g.ps.UnregisterTopicValidator(t.full))
		if t.g.h.isDown() {
			err = nil // the host was closed in between: nothing is left to leave
		}
	}
	t.remove()
	if err != nil {
		return fmt.Errorf("leave %s: %w", t.name, err)
	}
	return nil
}

func (t *topic) remove() {
	for _, a := range t.g.authors {
		a.Shut(t.name)
	}
	t.g.mu.Lock()
	defer t.g.mu.Unlock()
	delete(t.g.topics, t.full)
	t.g.setAllowances()
}
