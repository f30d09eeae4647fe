package dkg

import (
	"bytes"
	"crypto"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/partials"
)

// Machine is one member's, or an observer's, view of one ceremony. It is a function of the configuration and of the entries
// applied. One caller at a time.
type Machine struct {
	cfg      Config
	id       ID
	phase    Phase
	board    *board
	bundles  [PhaseConfirm + 1][]*record // by phase and index-1: the first of each, which counts
	contexts [PhaseConfirm + 1][32]byte
	late     []bool   // who signed the timeout of the present phase
	entries  [][]byte // all that changed the state, in order
	faults   []Fault

	// The own part. Nothing of it influences the board.
	signer      crypto.Signer
	participant *participant             // nil for observers, for members that did not announce in time, and when the part is over
	own         [PhaseConfirm + 1][]byte // own bodies, as far as they are made
	impatient   bool                     // Timeout was called in the present phase
	problem     error                    // why the own part is over
	signing     error                    // the last failure of the signer
	share       partials.Share

	result  *Result
	failure *Failure
}

// record is the bundle of one member in one phase that counts.
type record struct {
	raw, body   []byte
	equivocated bool // a second, different one was seen
}

// New returns the machine of a ceremony that no entry was applied to yet. The error lists everything wrong with cfg.
func New(cfg Config) (*Machine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("ceremony configuration: %w", err)
	}
	m := &Machine{cfg: cfg, id: cfg.id(), phase: PhaseAnnounce, late: make([]bool, len(cfg.Members)), signer: cfg.Signer}
	m.board = newBoard(&m.cfg, m.id)
	m.contexts[PhaseAnnounce] = firstContext(m.id)
	for p := range m.bundles {
		m.bundles[p] = make([]*record, len(cfg.Members))
	}
	if cfg.Self != 0 {
		m.own[PhaseAnnounce] = announce(&m.cfg, m.id).encode()
	}
	return m, nil
}

// ID returns the ceremony's id.
func (m *Machine) ID() ID { return m.id }

// Format prints id and phase under every verb: a machine holds secrets.
func (m *Machine) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "ceremony %s in phase %s", m.id, m.phase)
}

// Entries returns the entries that changed the state, in order. Applied to a new machine of the same configuration they give
// the same state: they are what a snapshot of the log has to keep of a running ceremony.
func (m *Machine) Entries() [][]byte { return slices.Clone(m.entries) }

// Faults returns what members provably did wrong so far, in the order of the log.
func (m *Machine) Faults() []Fault { return slices.Clone(m.faults) }

// Pending returns the own entries that the log should have and has not: the bundle of the present phase, and the timeout if
// Timeout was called. To be proposed at the start, after a replay, and whenever a proposal may have been lost; every call
// returns the same bytes, and an entry that enters the log twice does no harm.
func (m *Machine) Pending() [][]byte {
	if m.cfg.Self == 0 || m.phase.over() {
		return nil
	}
	var out [][]byte
	if body := m.own[m.phase]; body != nil && m.bundles[m.phase][m.cfg.Self-1] == nil && m.problem == nil {
		out = m.sign(out, m.phase, body)
	}
	if m.impatient && !m.late[m.cfg.Self-1] {
		out = m.sign(out, kindTimeout, []byte{byte(m.phase)})
	}
	return out
}

func (m *Machine) sign(out [][]byte, kind Phase, body []byte) [][]byte {
	e, err := signEntry(m.signer, kind, m.id, m.contexts[m.phase], m.cfg.Self, body)
	m.signing = err
	if err != nil {
		return out
	}
	return append(out, e)
}

// Timeout says that by the caller's clock the present phase has lasted too long, and returns what Pending does: the signed
// timeout, to be put into the log, and the own bundle if that is still missing. The phase ends once threshold members have
// said so.
func (m *Machine) Timeout() [][]byte {
	m.impatient = true
	return m.Pending()
}

// Apply takes the next entry of the log, whoever wrote it. All nodes apply the same entries in the same order and get the same
// result. An error, ErrInvalid, ErrStale or ErrNotYet, means that the entry changed nothing.
func (m *Machine) Apply(b []byte) (Step, error) {
	if m.phase.over() {
		return Step{}, stale("the ceremony is over: %s", m.phase)
	}
	e, err := decodeEntry(len(m.cfg.Members), b)
	if err != nil {
		return Step{}, err
	}
	if e.ceremony != m.id {
		return Step{}, ErrForeign
	}
	if err := e.verify(m.cfg.Members); err != nil {
		return Step{}, err
	}
	e.raw = bytes.Clone(b)
	e.body = e.raw[headerSize : headerSize+len(e.body)]

	phase, faults := m.phase, len(m.faults)
	if e.kind == kindTimeout {
		err = m.applyTimeout(e)
	} else {
		err = m.applyBundle(e)
	}
	if err != nil {
		return Step{}, err
	}
	m.entries = append(m.entries, e.raw)
	m.confirm()
	m.advance()
	step := Step{Phase: m.phase, Faults: slices.Clone(m.faults[faults:]), Done: m.result, Failed: m.failure}
	if m.phase != phase {
		step.Publish = m.Pending()
	}
	return step, nil
}

func (m *Machine) applyTimeout(e entry) error {
	switch p := Phase(e.body[0]); {
	case p < PhaseAnnounce || p > PhaseConfirm:
		return invalid("timeout of %s", p)
	case p < m.phase:
		return stale("timeout of phase %s, which is over", p)
	case p > m.phase:
		return notYet("timeout of phase %s in phase %s", p, m.phase)
	case e.context != m.contexts[p]:
		return m.forked(e)
	case m.late[e.index-1]:
		return stale("second timeout of member %d", e.index)
	}
	m.late[e.index-1] = true
	return nil
}

func (m *Machine) applyBundle(e entry) error {
	if e.kind > m.phase {
		return notYet("%s bundle of member %d in phase %s", e.kind, e.index, m.phase)
	}
	if e.context != m.contexts[e.kind] {
		return m.forked(e)
	}
	if first := m.bundles[e.kind][e.index-1]; first != nil {
		return m.applySecond(first, e)
	}
	if e.kind < m.phase {
		return stale("%s bundle of member %d in phase %s", e.kind, e.index, m.phase)
	}
	if !slices.Contains(m.board.expected(e.kind), e.index) {
		return stale("%s bundle of member %d, who has none to give", e.kind, e.index)
	}
	m.bundles[e.kind][e.index-1] = &record{raw: e.raw, body: e.body}
	if err := m.board.take(e.kind, e.index, e.body); err != nil {
		m.faults = append(m.faults, Fault{Index: e.index, Phase: e.kind, Reason: err.Error(), Evidence: [][]byte{e.raw}})
	}
	if e.index == m.cfg.Self && !bytes.Equal(e.body, m.own[e.kind]) {
		m.quit(fmt.Errorf("the log has another %s bundle of this member than its seed gives; is the seed of another run, or the network key in use elsewhere?", e.kind))
	}
	return nil
}

// forked refuses an entry that was made upon another log. If this member itself made it, it was shown two logs, and whatever
// it adds to this one may be used against it in the other.
func (m *Machine) forked(e entry) error {
	if e.index == m.cfg.Self {
		m.quit(fmt.Errorf("the log has a %s entry that this member made upon another log", e.kind))
	}
	return ErrFork
}

// applySecond takes a bundle whose author gave one before. The first counts whatever follows; two different ones are kept
// as evidence. Bodies are compared, since a signer may sign one body in many ways.
func (m *Machine) applySecond(first *record, e entry) error {
	if bytes.Equal(first.body, e.body) {
		return stale("%s bundle of member %d a second time", e.kind, e.index)
	}
	if first.equivocated {
		return stale("%s bundle of member %d, who is known to equivocate", e.kind, e.index)
	}
	first.equivocated = true
	m.faults = append(m.faults, Fault{
		Index: e.index, Phase: e.kind, Reason: "two different bundles in one phase", Evidence: [][]byte{first.raw, e.raw},
	})
	return nil
}

// quit ends the member's own part: it goes on as an observer and ends without a share.
func (m *Machine) quit(err error) {
	m.problem = err
	m.participant = nil
	m.share = partials.Share{}
}

// advance ends phases as long as their end has come.
func (m *Machine) advance() {
	for !m.phase.over() && m.complete() {
		m.impatient = false
		clear(m.late)
		switch m.phase {
		case PhaseAnnounce:
			m.endAnnounce()
		case PhaseDeal:
			m.endDeal()
		case PhaseResponse:
			m.endResponse()
		case PhaseJustification:
			m.settle()
		case PhaseConfirm:
			m.endConfirm()
		}
	}
}

// confirm verifies the confirmations that wait as soon as they could end the phase, or it ends without them.
func (m *Machine) confirm() {
	waiting := len(m.board.unverified)
	if waiting == 0 || count(m.board.confirmed)+waiting < m.cfg.Threshold && count(m.late) < m.cfg.Threshold && len(m.missing()) > 0 {
		return
	}
	for _, i := range m.board.verifyConfirmations() {
		m.faults = append(m.faults, Fault{
			Index: i, Phase: PhaseConfirm, Reason: "its share does not belong to the group", Evidence: [][]byte{m.bundles[PhaseConfirm][i-1].raw},
		})
	}
}

// complete reports whether the present phase is over: everyone gave what was expected, or threshold members signed its
// timeout; and the last one as soon as threshold members confirmed.
func (m *Machine) complete() bool {
	if count(m.late) >= m.cfg.Threshold {
		return true
	}
	if m.phase == PhaseConfirm && count(m.board.confirmed) >= m.cfg.Threshold {
		return true
	}
	return len(m.missing()) == 0
}

// missing returns who has not yet given the bundle that the present phase expects.
func (m *Machine) missing() []uint32 {
	return slices.DeleteFunc(m.board.expected(m.phase), func(i uint32) bool { return m.bundles[m.phase][i-1] != nil })
}

func count(set []bool) (n int) {
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}
