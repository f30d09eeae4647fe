// Package tasks is a shared registry of a process's background work. One inventory tells which task is idle, armed, running,
// overdue, stopped or failed, how its last run ended and what its runs cost. It needs nothing but the standard library.
//
// A program with one timer is better off with time.AfterFunc. This package is for a daemon whose parts all run something in
// the background, where an operator asks the same questions of each, and where some work must be tried again even if an
// attempt dies.
//
// # Concepts
//
//   - A task has an Identity of three parts, owner, subsystem and name, and one declaration in its Runtime.
//   - A registration is the sole right to control the task. It cannot be copied; keep it. It expires when the task is
//     unregistered, or removed because it stopped (RemoveWhenStopped). Snapshots and inventories are copies and control nothing.
//   - A policy says how often the task runs. Once runs one time, unless it is scheduled again. AfterCompletion runs again a
//     cadence after each normal return that asks for it. Watchdog runs again a cadence after each wake-up, whatever becomes
//     of the work. AfterCompletion is the right one unless the next wake-up must be armed before fallible work begins.
//   - A callback returns a completion, which says what happened, and a decision, which alone says what follows. An invariant
//     failure stops the task whatever else was decided or asked for.
//
// # Protocol
//
//  1. A task is scheduled by its start, its registration, its context or its decision. The deadline is resolved at once, with
//     checked arithmetic, and one timer is armed for it. A new timer has a new generation.
//  2. The timer delivers identity, claim, generation and role in a goroutine of its own. If any of them is not the task's own
//     by then, the delivery is stale: it is counted and does nothing.
//  3. Once and AfterCompletion: the wake-up is used up, and the callback runs.
//  4. Watchdog, scheduler step: the successor is armed, a cadence from now, so periods that were missed do not come again; the
//     work is queued. An attempt that was lost or never started is retired by this as unacknowledged. If the last attempt
//     still runs there is no second one: the wake-up is coalesced into the next.
//  5. Watchdog, work step: a delivery of its own runs the callback.
//  6. While a callback runs, commands are arbitrated into one pending command: unregistering is final; a cancellation beats
//     the schedules before it, and a schedule after it stands; an exact schedule replaces the one before it; any other
//     schedule only brings the deadline forward. Running work is never interrupted.
//  7. At a normal return: unregistering removes the task; else an invariant failure stops it; else the pending command is
//     applied; else the decision. A selected delay is checked only now, and a bad one stops the task with a control failure.
//  8. A callback that panics or ends its goroutine has not returned. A Once or AfterCompletion task becomes inactive
//     (abandoned), and its owner may schedule it again. A watchdog's attempt is lost, and its successor begins another. What
//     the callback asked for through its context is discarded with it; a cancellation that came through the registration
//     stands. No completion and no sample is made up.
//  9. Shutdown arms nothing more, cancels the callbacks' context, waits for a grace period and abandons the rest.
//
// A daemon makes its runtime first, then derives from its durable state what each task should do, with ReconcileOnce,
// ReconcileAfterCompletion and ReconcileWatchdog, the same calls at every start, before anything of it is reachable. The
// runtime stores nothing.
//
// # Security
//
// Callbacks are the program's own code; the package keeps their faults apart, and does not defend against malice. A panic is
// recovered and does not reach other tasks; a fatal error of the Go runtime (a concurrent map write, memory used up) ends the
// process nevertheless. A callback that never returns holds its own task and one place among the running ones, nothing else.
// A callback's context ends at shutdown and, for a watchdog with a WorkLimit, at an overrun; nothing else stops Go code. The
// texts of errors and panics are kept, cut to 256 bytes, and shown in snapshots: they must not carry secrets.
//
// # Limits
//
// A runtime has at most MaxRegistrations tasks and MaxHandles armed timers and queued works, one a task and two a watchdog.
// Nothing is run exactly once: a process may die between the effect and the return. Wake-ups come at or after their deadline,
// never at a guaranteed time. A watchdog protects against the failure of its work; if its scheduler step itself cannot arm a
// timer, the task stops with a control failure, which the inventory shows. Memory readings are of the whole process, so work
// that runs at the same time shows in them. Counters stay at their greatest value, measurement totals are exact over 128 bits
// and say so when they no longer are.
//
// # Why not
//
// Why not suspend the whole runtime? Owners cancel what they hold; a switch for all would make every task's state depend on
// a second one. Why no persistent timers? A stored timer is a second truth beside the daemon's state, and the two drift
// apart. Why not cancel the context on Cancel? Half-done work is worse than work done once too often: Cancel decides what
// follows, and the context says that the process ends.
package tasks
