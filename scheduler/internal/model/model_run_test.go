package model

import (
	"math/big"
	"slices"
	"strings"
)

// run is one system transaction: its outcome.
func (m *model) run(id uint64) string {
	e := m.entries[id]
	if e.status != scheduled || less(m.gas, self, e.fee()) {
		return "skipped"
	}
	if m.refuses[m.proposer] {
		return "reverted"
	}
	m.running = true
	defer func() { m.running = false }()
	e.status = executed
	sub(m.gas, self, e.fee())
	add(m.gas, m.proposer, e.fee())

	final := len(e.calls) == 0 // a payload that did not open
	for _, d := range e.deps {
		if on := m.entries[uint64(d.ID)]; !d.Finished && on.status != executed {
			final = true
		}
	}
	ok := false
	if !final {
		before := m.copyState()
		if ok = m.calls(e); !ok {
			m.seen.errors["CallFailed"]++
			*m = before
			e = m.entries[id]
		}
	}
	if ok {
		done := *e
		m.finish(e, executed)
		m.emit("Executed", id, done.attempts)
		m.recur(&done)
		return "success"
	}

	if !final && m.retry(e) {
		m.emit("ExecutionFailed", id, e.attempts-1, true)
		return "success"
	}
	m.emit("ExecutionFailed", id, e.attempts, false)
	m.release(e)
	if e.has(flagPause) && e.remaining > 0 {
		e.status = paused
		m.emit("Paused", id)
		return "success"
	}
	done := *e
	m.finish(e, failed)
	m.recur(&done)
	return "success"
}

func (m *model) recur(e *entry) {
	if e.period == 0 || e.remaining == 0 {
		return
	}
	next, err := m.nextPeriod(e)
	if err != "" {
		m.emit("RecurrenceStarved", e.id)
		return
	}
	m.emit("Recurred", e.id, next.id, next.key)
}

func (m *model) retry(e *entry) bool {
	if e.attempts >= e.maxRetries || less(m.available, e.payer, e.fee()) {
		return false
	}
	key, ok := m.firstRoom(m.time + max(1, uint64(e.backoff)))
	if !ok {
		return false
	}
	sub(m.available, e.payer, e.fee())
	e.status = scheduled
	e.attempts++
	e.flags = e.flags&^flagDetached | flagBestEffort
	e.deadline = key + uint64(m.g.Policy.MaxLateSlots)
	m.enqueue(e, key)
	return true
}

// calls captures the reserve and makes the calls. The caller undoes them if one fails.
func (m *model) calls(e *entry) bool {
	if new(big.Int).SetUint64(e.gasLimit).Cmp(needs(e.calls, e.reserved())) < 0 {
		return false
	}
	if slices.ContainsFunc(e.calls, func(c call) bool { return m.forbidden(c.Target) }) {
		return false
	}
	if e.reserved() {
		m.capture(e, e.calls[0].Target)
	}
	for _, c := range e.calls {
		if !m.target(c.Target) {
			return false
		}
	}
	return true
}

// target is what an account does when it is called.
func (m *model) target(a addr) bool {
	kind, data, _ := strings.Cut(m.targets[a], ":")
	switch kind {
	case "revert", "burn":
		return false
	case "call", "try":
		input, err := unhex([]byte(data), nil)
		if err != nil {
			panic(err)
		}
		return m.count(m.callback(a, input)) == "" || kind == "try"
	}
	return true
}
