package node

import "context"

// loop runs functions one after the other in one goroutine: it is where the node's serial state lives. Whoever wants to
// read or change that state sends a function.
type loop struct {
	inbox chan func()
}

// loopBacklog is how many functions may wait; beyond it the sender waits too, which is what slows gossip down.
const loopBacklog = 1024

func newLoop() *loop { return &loop{inbox: make(chan func(), loopBacklog)} }

// run works until ctx is done.
func (l *loop) run(ctx context.Context) {
	for {
		select {
		case f := <-l.inbox:
			f()
		case <-ctx.Done():
			return
		}
	}
}

// do sends f; false if the loop has ended and f will not run.
func (l *loop) do(ctx context.Context, f func()) bool {
	select {
	case l.inbox <- f:
		return true
	case <-ctx.Done():
		return false
	}
}

// call sends f and waits until it has run; false if the loop has ended.
func (l *loop) call(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	if !l.do(ctx, func() { f(); close(done) }) {
		return false
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
