package node

import (
	"fmt"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// health is what /healthz says: good only if the key of the last slot came in time.
type health struct {
	mu     sync.Mutex // guards what follows
	judged uint64     // newest slot judged
	ok     bool
	why    string
}

// judge looks at the newest slot whose time for a key is over.
func (h *health) judge(s *slots, hasKey func(uint64) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.reported == h.judged || s.reported <= s.started {
		return
	}
	h.judged, h.ok, h.why = s.reported, hasKey(s.reported), ""
	if !h.ok {
		h.why = s.last.sentence()
	}
}

// healthState is the answer of /healthz: whether all is well with this validator, and a sentence.
func (n *Node) healthState() (ok bool, text string) {
	if n.ceremony.tellShare() == api.ShareLost {
		return false, "this validator has no share of the group key, so it does not sign: " + shareRemedy
	}
	if n.catchingUp() {
		head := n.chain.Head()
		return false, fmt.Sprintf("catching up: block %d of slot %d", head.Number, head.Time)
	}
	if name, why, failed := n.failedTask(); failed {
		return false, fmt.Sprintf("task %s has stopped: %s; restart the daemon and report this", name, why)
	}
	if _, _, err := n.finality.state(); err != nil {
		return false, fmt.Sprintf("this validator votes for no block: %v", err)
	}
	return n.health.state()
}

// catchingUpFrom is how old the head of a validator is at least that counts as catching up, in seconds.
const catchingUpFrom = 5

// catchingUp tells whether this validator has yet to apply what it knows the log to hold, so that what it says of the chain is
// of the past.
func (n *Node) catchingUp() bool {
	if n.ceremony.behind() {
		return true
	}
	log := n.raft.Status()
	return log.Applied < log.Commit && n.chain.Head().Time+catchingUpFrom < uint64(time.Now().Unix())
}

// state is what the last slot says: whether all is well, and a sentence.
func (h *health) state() (ok bool, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.judged == 0:
		return false, "no slot has ended since the start"
	case !h.ok:
		return false, fmt.Sprintf("slot %d has no key: %s", h.judged, h.why)
	}
	return true, fmt.Sprintf("the key of slot %d came in time", h.judged)
}
