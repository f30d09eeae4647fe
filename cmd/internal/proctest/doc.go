// Package proctest tests the daemon as its operators run it: real processes, real files, real sockets, and kill -9.
//
// It holds tests only. Each starts a network of validators, keeps scheduling sealed and open entries on it, and does to its
// processes and folders what crashes do. Meanwhile an auditor reads every block and key that any validator serves. At the end
// it must be true of the whole chain that every entry that was accepted ran once, in a block not older than its slot, and
// was paid for once; that no key could be had before its slot was over; and that all validators have the same blocks.
//
// Every random choice follows from one seed, printed by each test; SEED=n repeats them. (What the operating system
// schedules in between it cannot repeat.) A failure shows the seed, what was done when, and the end of every validator's log.
package proctest
