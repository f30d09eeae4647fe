package tasks

// commandKind is what a command asks for.
type commandKind uint8

const (
	commandNone commandKind = iota
	commandSchedule
	commandCancel
	commandUnregister
)

// command is a request about a task, or the one pending request that several during one run amount to.
type command struct {
	kind     commandKind
	deadline Instant // of commandSchedule
	// exact: the deadline is to be met as it stands. Otherwise it is an upper bound, and an earlier wake-up that is armed stays.
	exact bool
}

// terminal says that no later schedule can undo the command.
func (c command) terminal(life Lifetime) bool {
	return c.kind == commandUnregister || c.kind == commandCancel && life == LifetimeRemoveWhenStopped
}

// then arbitrates: what c and the later command next amount to, and whether next changed anything.
//
//   - Unregister is final, and so is the cancellation of a task that is removed when it stops.
//   - Cancel beats the schedules before it; a schedule after it stands by itself.
//   - An exact schedule replaces the one before it, whether it is earlier or later.
//   - Any other schedule only brings the deadline forward.
func (c command) then(next command, life Lifetime) (out command, changed bool) {
	switch {
	case c.kind == commandUnregister, c.terminal(life) && next.kind != commandUnregister:
		return c, false
	case next.kind != commandSchedule:
		return next, c.kind != next.kind
	case c.kind == commandCancel:
		return command{commandSchedule, next.deadline, true}, true
	case c.kind == commandNone:
		return next, true
	case next.exact:
		return next, c.deadline != next.deadline
	case next.deadline >= c.deadline:
		return c, false
	}
	return command{commandSchedule, next.deadline, c.exact}, true
}
