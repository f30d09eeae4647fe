package tasks

// noCopy makes go vet refuse copies: a registration has one owner.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// RegistrationID tells registrations apart, those of one identity too: a later one has a greater Sequence, and another
// process another Epoch. Counters and measurements of two registrations do not continue each other.
type RegistrationID struct {
	Epoch    uint64 `json:"epoch"`
	Sequence uint64 `json:"sequence"`
}

// registration is the owner's right to a task, until it is unregistered or removed. Keep it: nothing else controls the task.
type registration struct{ claim }

// Snapshot is the task as it is now.
func (g *registration) Snapshot() (Snapshot, error) {
	var out Snapshot
	err := g.read(func(t *task, now Instant) { out = t.snapshot(now, g.rt.epoch) })
	return out, err
}

// HasArmedWakeup says whether the registration owns an armed wake-up. A watchdog's successor is one, its queued work is not.
// It is an observation: who needs the task scheduled calls one of the Ensure methods, whatever this says.
func (g *registration) HasArmedWakeup() bool {
	armed := false
	_ = g.read(func(t *task, _ Instant) { armed = t.wake != nil }) // an expired registration owns nothing
	return armed
}

// Failures is the streak of retryable failures: their number since the last completion of another kind.
func (g *registration) Failures() (uint64, error) {
	var n uint64
	err := g.read(func(t *task, _ Instant) { n = uint64(t.streak) })
	return n, err
}

func (g *registration) read(f func(*task, Instant)) error {
	if g.rt == nil {
		return ErrRegistrationExpired
	}
	g.rt.mu.Lock()
	defer g.rt.unlock()
	t, err := g.task()
	if err == nil {
		f(t, g.rt.clock.Now())
	}
	return err
}

// callback is what a context has in common with others: the claim, good until the callback returns, and the time.
type callback struct{ claim }

// Now is the runtime's clock.
func (c *callback) Now() Instant { return c.rt.clock.Now() }
