package dkg

import (
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/partials"
)

func (m *Machine) endAnnounce() {
	in := m.board.participants()
	if m.tooFew(in, "encryption keys") {
		return
	}
	m.enter(PhaseDeal)
	if m.problem != nil || !slices.Contains(in, m.cfg.Self) {
		return
	}
	p, err := newParticipant(m.board)
	if err != nil {
		m.quit(err)
		return
	}
	m.participant = p
	m.act(func() ([]byte, error) {
		d, err := p.deal()
		if err != nil {
			return nil, err
		}
		return d.encode(), nil
	})
}

func (m *Machine) endDeal() {
	if m.tooFew(m.board.dealers(), "deals") {
		return
	}
	m.enter(PhaseResponse)
	m.act(func() ([]byte, error) {
		complaints, err := m.participant.judge(m.board)
		if err != nil {
			return nil, err
		}
		return encodeResponse(len(m.cfg.Members), complaints), nil
	})
}

func (m *Machine) endResponse() {
	m.enter(PhaseJustification)
	m.act(func() ([]byte, error) {
		shares, err := m.participant.answer(m.board)
		if err != nil || shares == nil {
			return nil, err
		}
		return encodeJustification(shares), nil
	})
	// If nobody has to justify, the phase is complete and ends at once.
}

// settle ends the justifications: who qualified is known, and so is the group.
func (m *Machine) settle() {
	qual := m.board.where(m.board.qualifies)
	if m.tooFew(qual, "qualified dealers") {
		return
	}
	m.enter(PhaseConfirm)
	if err := m.board.settle(m.contexts[PhaseConfirm]); err != nil {
		m.fail(nil, fmt.Sprintf("the deals add up to no group: %v", err))
		return
	}
	m.act(func() ([]byte, error) {
		share, c, err := m.participant.finish(m.board)
		if err != nil {
			return nil, err
		}
		m.share = share
		return c.encode(), nil
	})
}

func (m *Machine) endConfirm() {
	if n := count(m.board.confirmed); n < m.cfg.Threshold {
		m.fail(m.others(m.board.where(func(i int) bool { return m.board.confirmed[i] })),
			fmt.Sprintf("%d confirmations, and %d are needed", n, m.cfg.Threshold))
		return
	}
	m.phase = PhaseDone
	m.result = &Result{Group: m.board.group, Share: m.share, Transcript: m.board.transcript, Qual: slices.Clone(m.board.qual), Holders: m.board.participants()}
	m.forget()
}

// enter begins the phase after the present one.
func (m *Machine) enter(p Phase) {
	m.contexts[p] = nextContext(m.contexts[m.phase], m.phase, m.bundles[m.phase])
	m.phase = p
}

// act lets the participant, if there is one, make the own body of the phase that has just begun. What goes wrong there is this
// node's trouble alone and ends its part.
func (m *Machine) act(f func() ([]byte, error)) {
	if m.participant == nil {
		return
	}
	body, err := f()
	if err != nil {
		m.quit(fmt.Errorf("own part in phase %s: %w", m.phase, err))
		return
	}
	m.own[m.phase] = body
}

// tooFew fails the ceremony if fewer than MinQual members are left.
func (m *Machine) tooFew(left []uint32, what string) bool {
	if len(left) >= m.cfg.MinQual {
		return false
	}
	m.fail(m.others(left), fmt.Sprintf("%d %s, and %d are needed", len(left), what, m.cfg.MinQual))
	return true
}

// others returns the members that are not in the list.
func (m *Machine) others(list []uint32) []uint32 {
	return m.board.where(func(i int) bool { return !slices.Contains(list, uint32(i+1)) })
}

func (m *Machine) fail(culprits []uint32, reason string) {
	reason = fmt.Sprintf("phase %s: %s", m.phase, reason)
	m.phase = PhaseFailed
	m.failure = &Failure{Culprits: culprits, Reason: reason}
	m.share = partials.Share{}
	m.forget()
}

// forget drops all secrets but the share in the result.
func (m *Machine) forget() {
	m.cfg.Seed = Seed{}
	m.participant = nil
	m.share = partials.Share{}
}
