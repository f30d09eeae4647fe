package proctest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
)

// settle stops the load, waits until all that was accepted has run and all validators have shown all their blocks, and then
// checks every promise over the whole chain. All validators run.
func (l *load) settle() {
	c := l.c
	c.Helper()
	l.hold(true)
	c.until("every transaction is in a block", func() error {
		waiting, err := l.unconfirmed()
		if err != nil {
			c.Fatal(err)
		}
		if waiting > 0 {
			return fmt.Errorf("%d are not", waiting)
		}
		return nil
	})
	ran, missed := l.outcome()
	l.expire(missed)
	height, _, _ := l.audit.newest()
	for i, m := range c.members {
		c.until(m.Name+" agrees on every block", func() error { return l.audit.readTo(i, m, height) })
	}
	l.audit.check(c)
	l.checkRuns(ran)
	l.checkFees(ran, missed)
	l.checkKeys()
	c.note("settled at block %d: %d entries ran once, %d missed their grace and expired, %d came too late to be accepted",
		height, len(ran), len(missed), len(l.entries)-len(ran)-len(missed))
}

// outcome waits until every accepted entry has run, or has missed the time in which its key may open it.
func (l *load) outcome() (ran, missed []*entry) {
	c := l.c
	c.Helper()
	c.until("every accepted entry has run", func() error {
		l.audit.check(c)
		ran, missed = nil, nil
		_, timestamp, _ := l.audit.newest()
		for _, e := range l.accepted(c.began) {
			switch {
			case l.audit.ran(e.id):
				ran = append(ran, e)
			case e.sealed && timestamp > e.slot+1+scheduler.GraceSlots:
				missed = append(missed, e)
			default:
				return fmt.Errorf("entry %d (slot %d, sealed: %t) has not run by second %d", e.id, e.slot, e.sealed, timestamp)
			}
		}
		return nil
	})
	return ran, missed
}

// lateProposals is how many blocks may come in a slot's grace without its key: a leader that has just lost its followers may have
// proposed a block or two that are committed only after the outage, with the timestamps of its beginning.
const lateProposals = 2

// expire ends missed entries as anyone may, and checks that the network stood still for as long as that takes.
func (l *load) expire(missed []*entry) {
	c := l.c
	c.Helper()
	for _, e := range missed {
		if n := l.audit.graceBlocks(e.slot); n > lateProposals {
			c.Errorf("entry %d sealed to slot %d was not opened, though %d blocks came in its grace", e.id, e.slot, n)
		}
		l.send(common.Address(scheduler.Address), scheduler.ExpireInput(e.id), nil)
	}
	c.until("missed entries are expired", func() error {
		waiting, err := l.unconfirmed()
		if err != nil {
			c.Fatal(err)
		}
		if waiting > 0 {
			return fmt.Errorf("%d transactions wait", waiting)
		}
		return nil
	})
}

// checkRuns checks that the accepted entries ran, once, in time and as sealed, and that nothing else did.
func (l *load) checkRuns(ran []*entry) {
	c := l.c
	c.Helper()
	l.audit.mu.Lock()
	defer l.audit.mu.Unlock()
	if len(ran) < 4 {
		c.Errorf("only %d entries ran: the load did not work", len(ran))
	}
	if len(l.audit.runs) != len(ran) {
		c.Errorf("%d entries ran, of those that were accepted %d", len(l.audit.runs), len(ran))
	}
	for _, e := range l.entries {
		if e.refused != "" && !strings.HasPrefix(e.refused, "SlotNotInFuture") {
			c.Errorf("an entry was refused: %s", e.refused)
		}
	}
	for _, e := range ran {
		runs := l.audit.runs[e.id]
		if len(runs) != 1 {
			c.Errorf("entry %d has %d run receipts", e.id, len(runs))
			continue
		}
		l.checkRun(e, runs[0])
	}
}

// checkRun checks one entry's only run. The caller holds the audit's lock.
func (l *load) checkRun(e *entry, run api.Receipt) {
	c := l.c
	c.Helper()
	block := l.audit.blocks[run.Block]
	calls, executed := 0, 0
	for _, log := range run.Logs {
		if log.Address == strings.ToLower(target.Hex()) && strings.Contains(log.Data, e.marker) {
			calls++
		}
		if log.Name == "Executed" && log.ID == e.id {
			executed++
		}
	}
	if !run.Success || calls != 1 || executed != 1 {
		c.Errorf("entry %d ran in block %d: success %t, %d calls of its own, %d Executed events; want one each", e.id, run.Block, run.Success, calls, executed)
	}
	if block.Timestamp < e.slot || e.sealed && block.Timestamp <= e.slot {
		c.Errorf("entry %d (sealed: %t) for slot %d ran in block %d of second %d", e.id, e.sealed, e.slot, block.Number, block.Timestamp)
	}
	if !e.sealed {
		return
	}
	for n := block.Number; n > 0; n-- {
		at, ok := l.audit.blocks[n]
		if !ok {
			break
		}
		if slices.ContainsFunc(at.Keys, func(k api.Key) bool { return k.Slot == e.slot }) {
			return
		}
	}
	c.Errorf("entry %d ran in block %d, and neither that block nor an earlier one carries the key of slot %d", e.id, block.Number, e.slot)
}

// checkFees compares, on every validator, status and money with what was accepted and who built the blocks.
func (l *load) checkFees(ran, missed []*entry) {
	c := l.c
	c.Helper()
	earned, total := make([]uint256.Int, validators), new(uint256.Int)
	l.audit.mu.Lock()
	for _, e := range ran {
		for _, run := range l.audit.runs[e.id] {
			proposer := l.audit.blocks[run.Block].Proposer
			earned[proposer-1].Add(&earned[proposer-1], &e.fee)
			total.Add(total, &e.fee)
		}
	}
	l.audit.mu.Unlock()
	escrow, balance := new(uint256.Int).Sub(&l.deposit, total), new(uint256.Int).Sub(&l.funds, &l.deposit)
	for _, m := range c.members {
		for _, e := range ran {
			l.status(m, e, "executed", false)
		}
		for _, e := range missed {
			l.status(m, e, "expired", true)
		}
		a, err := m.client.Account(c.ctx, l.payer.Hex())
		if err != nil {
			c.Fatal(err)
		}
		if a.Escrow != escrow.Dec() || a.Balance != balance.Dec() {
			c.Errorf("%s: the payer has %s in escrow and %s outside, want %s and %s", m.Name, a.Escrow, a.Balance, escrow.Dec(), balance.Dec())
		}
		for i, v := range c.net.Genesis.Validators {
			a, err := m.client.Account(c.ctx, v.Proposer.Hex())
			if err != nil {
				c.Fatal(err)
			}
			if a.Balance != earned[i].Dec() {
				c.Errorf("%s: proposer %d has %s, the entries in its blocks paid %s", m.Name, i+1, a.Balance, earned[i].Dec())
			}
		}
	}
}

// status checks what a validator says of an entry at the end.
func (l *load) status(m *member, e *entry, want string, sealed bool) {
	l.c.Helper()
	if got, err := m.client.Entry(l.c.ctx, e.id); err != nil || got.Status != want || got.Sealed != sealed {
		l.c.Errorf("%s: entry %d is %q (sealed: %t), want %q (%t): %v", m.Name, e.id, got.Status, got.Sealed, want, sealed, err)
	}
}

// checkKeys waits until every validator serves the same key for every slot since the first that was seen.
func (l *load) checkKeys() {
	c := l.c
	c.Helper()
	_, _, newest := l.audit.newest()
	for _, m := range c.members {
		slot := l.audit.firstKey
		c.until(fmt.Sprintf("%s has the keys of slots %d to %d", m.Name, slot, newest), func() error {
			for ; slot <= newest; slot++ {
				k, err := m.client.Key(c.ctx, slot)
				if err != nil {
					return fmt.Errorf("slot %d: %w", slot, err)
				}
				l.audit.sawKey(m.Name, k, nil)
			}
			return nil
		})
	}
	l.audit.check(c)
}
