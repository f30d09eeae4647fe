package tasks_test

import (
	"errors"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// manual is a clock that moves only when told to. Calls that are due are made one after the other, in the order of their
// deadlines and of arming, each in a goroutine of its own that is waited for. A call may itself move the clock.
type manual struct {
	mu    sync.Mutex
	now   uint64
	jump  int64 // added to what Now says: a clock that was set
	queue []*manualTimer
	made  int

	failArm   int                 // the next n calls of AfterFunc fail
	panicArm  bool                // AfterFunc panics
	nilTimer  bool                // AfterFunc gives no timer
	lateStops bool                // Stop always comes too late
	armCost   uint64              // arming takes that long
	holdZero  bool                // calls without delay are held back until release
	held      []*manualTimer      //
	onArm     func(time.Duration) // told of every arming
	async     bool                // calls are not waited for
	running   sync.WaitGroup      // of async
}

type manualTimer struct {
	clock   *manual
	at      uint64
	seq     int
	f       func()
	stopped bool
}

const origin = 1_000 * second

const second = uint64(time.Second)

func newManual() *manual { return &manual{now: origin} }

func (c *manual) Now() tasks.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return tasks.Instant(int64(c.now) + c.jump)
}

func (c *manual) AfterFunc(d time.Duration, f func()) (tasks.Timer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += c.armCost
	switch {
	case c.failArm > 0:
		c.failArm--
		return nil, errors.New("no timers left")
	case c.panicArm:
		panic("broken clock")
	case c.nilTimer:
		return nil, nil
	}
	if c.onArm != nil {
		c.onArm(d)
	}
	c.made++
	t := &manualTimer{clock: c, at: c.now + uint64(d), seq: c.made, f: f}
	if c.holdZero && d == 0 {
		c.held = append(c.held, t)
	} else {
		c.queue = append(c.queue, t)
	}
	return t, nil
}

func (t *manualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	if t.clock.lateStops || t.stopped {
		return false
	}
	t.stopped = true
	return true
}

// advance moves the clock by d and makes the calls that fall due on the way, each at its time.
func (c *manual) advance(d time.Duration) {
	c.mu.Lock()
	target := c.now + uint64(d)
	c.mu.Unlock()
	for c.next(target) {
	}
	c.mu.Lock()
	c.now = max(c.now, target)
	c.mu.Unlock()
}

// fire makes the calls that are due now.
func (c *manual) fire() { c.advance(0) }

// freeze moves the clock by d with nothing happening meanwhile; what fell due is called afterwards.
func (c *manual) freeze(d time.Duration) {
	c.mu.Lock()
	c.now += uint64(d)
	c.mu.Unlock()
	c.fire()
}

// set makes Now say something else, by d, without touching the timers.
func (c *manual) set(d time.Duration) {
	c.mu.Lock()
	c.jump += int64(d)
	c.mu.Unlock()
}

// release queues the calls that were held back.
func (c *manual) release() {
	c.mu.Lock()
	c.queue = append(c.queue, c.held...)
	c.held = nil
	c.mu.Unlock()
	c.fire()
}

func (c *manual) next(target uint64) bool {
	c.mu.Lock()
	best := -1
	for i, t := range c.queue {
		if t.at <= target && (best < 0 || t.at < c.queue[best].at || t.at == c.queue[best].at && t.seq < c.queue[best].seq) {
			best = i
		}
	}
	if best < 0 {
		c.mu.Unlock()
		return false
	}
	t := c.queue[best]
	c.queue = append(c.queue[:best], c.queue[best+1:]...)
	c.now = max(c.now, t.at)
	stopped, async := t.stopped, c.async
	c.mu.Unlock()
	if stopped {
		return true
	}
	if async {
		c.running.Go(t.f)
		return true
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.f()
	}()
	<-done
	return true
}
