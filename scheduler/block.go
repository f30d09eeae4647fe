package scheduler

import (
	"fmt"
	"slices"
)

// Plan is what a block's beginning decided: its leading transactions, and what EndBlock has to open.
type Plan struct {
	Runs    []Run    // one 0x7e transaction each, in this order
	opening []uint64 // sealed entries whose key came with this block
}

// BeginBlock selects the entries that block (env.Height, env.Time) runs and makes them ready: pipeline steps 3 to 9. The block's
// beacon update, fresh, must have been applied. Every node derives the same plan from its state and refuses a block whose leading
// transactions differ from it (S-SEL-02). Errors: a height or time out of range.
func (m *Machine) BeginBlock(env Env, h *Host, fresh Update, run Runner) (*Plan, error) {
	if env.Height >= maxBlockTime || env.Time >= maxBlockTime {
		return nil, fmt.Errorf("begin block: height %d or time %d is out of range", env.Height, env.Time)
	}
	c := &call{m, env, h}
	plan := &Plan{opening: append(c.sealedAt(fresh.Slots), c.firedAt(fresh.Conditions)...)}
	fired := c.evaluateWatchers()
	s := c.scanQueues()
	s.fired = fired
	chosen := c.selectRuns(s)
	c.place(s)
	plan.opening = append(plan.opening, c.firedOpenable(fired)...)
	c.advance(s)
	c.reveal(sealedOf(chosen), run)
	for _, e := range chosen {
		plan.Runs = append(plan.Runs, c.runOf(e.entry))
	}
	return plan, nil
}

// EndBlock ends a block, after its user transactions: the opening sweep reveals the entries whose key is on chain and that were not
// selected, slots' and conditions' alike, by (key, id), at most maxEntriesPerBlock of them; the following blocks open the rest (A-08; pipeline step 11).
func (m *Machine) EndBlock(env Env, h *Host, plan *Plan, run Runner) {
	c := &call{m, env, h}
	backlog := readSweep(c.State)
	waiting := c.sweepable(append(slices.Clone(backlog), plan.opening...))
	n := min(len(waiting), int(m.policy.MaxEntriesPerBlock))
	c.reveal(waiting[:n], run)
	var rest []uint64
	for _, e := range waiting[n:] {
		rest = append(rest, e.id)
	}
	writeSweep(c.State, uint64(len(backlog)), rest)
}
