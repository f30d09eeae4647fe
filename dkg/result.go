package dkg

import (
	"cmp"
	"slices"

	"github.com/daybreak-beacon/daybreak/partials"
)

// Step is what an applied entry led to.
type Step struct {
	Phase   Phase    // the phase now
	Publish [][]byte // own entries to put into the log, if a phase began; to be ignored while replaying, in favour of Pending
	Faults  []Fault  // what came to light with this entry
	Done    *Result  // set by the entry that ends the ceremony well
	Failed  *Failure // set by the entry that ends it badly
}

// Result is a shared key. It is the same on all nodes, except for the share.
type Result struct {
	Group *partials.Group
	// Share is the member's share, which belongs to the group; the zero Share for observers, for members that did not
	// announce in time, and for those whose Status tells a Problem.
	Share      partials.Share
	Transcript [32]byte // hash of all that counted
	Qual       []uint32 // the dealers whose deals make up the key
	Holders    []uint32 // the members that announced in time, to whom shares were dealt
}

// Failure says why a ceremony made no key, and whose fault it was: who was silent in the phase that failed it, or whose
// bundle was worth nothing. A new attempt is a new Machine with the next Attempt.
type Failure struct {
	Culprits []uint32
	Reason   string
}

// Fault is something that a member provably did wrong: the entries of the evidence bear its signature. A fault by itself does
// not end a ceremony.
type Fault struct {
	Index    uint32
	Phase    Phase
	Reason   string
	Evidence [][]byte // one entry whose bundle is worth nothing, or two that contradict each other
}

// Status is for people and metrics.
type Status struct {
	Phase    Phase
	Missing  []uint32 // whose bundles the phase waits for
	Timeouts []uint32 // who signed the phase's timeout; at threshold it ends
	// Problem says why this member takes no further part and will get no share, or why it cannot sign; nil if all is well.
	Problem error
}

// Status returns where the ceremony stands.
func (m *Machine) Status() Status {
	s := Status{Phase: m.phase, Problem: cmp.Or(m.problem, m.signing)}
	if !m.phase.over() {
		s.Missing = slices.Clip(m.missing())
		s.Timeouts = m.board.where(func(i int) bool { return m.late[i] })
	}
	return s
}

// Result returns the result of a ceremony that is done, or nil.
func (m *Machine) Result() *Result { return m.result }

// Failure returns why a ceremony failed, or nil.
func (m *Machine) Failure() *Failure { return m.failure }
