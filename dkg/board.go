package dkg

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// board is what everyone can know from the log: the bundles that count and what follows from them. Slices over members have
// index i at i-1. It holds no secrets and decides everything that must come out the same on all nodes.
type board struct {
	cfg *Config
	id  ID
	n   int

	keys       []*bls.G1          // encryption keys announced in time; nil: not a participant
	deals      []*deal            // deals whose form, points and proof are good
	responded  []bool             // a response that counts was given
	complaints [][]uint32         // by dealer: who complained about its deal, ascending
	justified  [][]bls.Scalar     // by dealer: the shares of those who complained, verified
	unverified []partials.Partial // confirmations
	confirmed  []bool
	qual       []uint32
	group      *partials.Group
	transcript [32]byte
	toConfirm  *partials.Prepared
}

func newBoard(cfg *Config, id ID) *board {
	n := len(cfg.Members)
	return &board{
		cfg: cfg, id: id, n: n,
		keys:       make([]*bls.G1, n),
		deals:      make([]*deal, n),
		responded:  make([]bool, n),
		complaints: make([][]uint32, n),
		justified:  make([][]bls.Scalar, n),
		confirmed:  make([]bool, n),
	}
}

// where returns the indices for which f holds, ascending.
func (b *board) where(f func(i int) bool) []uint32 {
	var out []uint32
	for i := range b.n {
		if f(i) {
			out = append(out, uint32(i+1))
		}
	}
	return out
}

func (b *board) participants() []uint32 { return b.where(func(i int) bool { return b.keys[i] != nil }) }
func (b *board) dealers() []uint32      { return b.where(func(i int) bool { return b.deals[i] != nil }) }

// evicted reports whether so many complained about a dealer that answering all would publish its polynomial. Fewer than
// threshold members lie, so it does not happen to an honest one.
func (b *board) evicted(i int) bool { return len(b.complaints[i]) >= b.cfg.Threshold }

func (b *board) mustJustify(i int) bool {
	return b.deals[i] != nil && len(b.complaints[i]) > 0 && !b.evicted(i)
}

func (b *board) qualifies(i int) bool {
	return b.deals[i] != nil && (len(b.complaints[i]) == 0 || b.justified[i] != nil)
}

// expected returns who has a bundle to give in a phase.
func (b *board) expected(p Phase) []uint32 {
	switch p {
	case PhaseAnnounce:
		return b.where(func(int) bool { return true })
	case PhaseJustification:
		return b.where(b.mustJustify)
	case PhaseDeal, PhaseResponse, PhaseConfirm:
		return b.participants()
	}
	return nil
}

// take reads the bundle of index in phase p into the board. An error says what is wrong with it; it then counts as given,
// and as worth nothing.
func (b *board) take(p Phase, index uint32, body []byte) error {
	switch p {
	case PhaseAnnounce:
		return b.takeAnnouncement(index, body)
	case PhaseDeal:
		return b.takeDeal(index, body)
	case PhaseResponse:
		return b.takeResponse(index, body)
	case PhaseJustification:
		return b.takeJustification(index, body)
	case PhaseConfirm:
		return b.takeConfirmation(index, body)
	}
	panic("dkg: internal error: bundle of " + p.String())
}

func (b *board) takeAnnouncement(index uint32, body []byte) error {
	a, err := decodeAnnouncement(body)
	if err != nil {
		return err
	}
	if !a.proof.verify(keyProofTag, statement(b.id, index, []bls.G1{a.key}), a.key) {
		return errors.New("no proof that it knows the secret of its encryption key")
	}
	// Two that share a secret can still announce one key; kyber would take either for the other.
	for i, k := range b.keys {
		if k != nil && k.Equal(a.key) {
			return fmt.Errorf("encryption key of member %d", i+1)
		}
	}
	b.keys[index-1] = &a.key
	return nil
}

func (b *board) takeDeal(index uint32, body []byte) error {
	d, err := decodeDeal(b.cfg.Threshold, len(b.participants())-1, body)
	if err != nil {
		return err
	}
	if !d.proof.verify(dealProofTag, statement(b.id, index, d.commitments), d.commitments[0]) {
		return errors.New("no proof that it knows its constant term")
	}
	b.deals[index-1] = &d
	return nil
}

func (b *board) takeResponse(index uint32, body []byte) error {
	dealers, err := decodeResponse(b.n, body)
	if err != nil {
		return err
	}
	for _, d := range dealers {
		if d == index || b.deals[d-1] == nil {
			return fmt.Errorf("complaint about member %d, who dealt it nothing", d)
		}
	}
	for _, d := range dealers {
		list := b.complaints[d-1]
		at, _ := slices.BinarySearch(list, index)
		b.complaints[d-1] = slices.Insert(list, at, index)
	}
	b.responded[index-1] = true
	return nil
}

func (b *board) takeJustification(index uint32, body []byte) error {
	holders := b.complaints[index-1]
	shares, err := decodeJustification(len(holders), body)
	if err != nil {
		return err
	}
	for i, h := range holders {
		if !bls.MulG1Public(shares[i]).Equal(bls.EvalG1(b.deals[index-1].commitments, h)) {
			return fmt.Errorf("the share of member %d is not on the polynomial", h)
		}
	}
	b.justified[index-1] = shares
	return nil
}

// settle adds up the deals of the dealers that qualified. The error is for a sum that makes no group; it takes dealers who
// chose their commitments for that. context is that of phase confirm.
func (b *board) settle(context [32]byte) error {
	b.qual = b.where(b.qualifies)
	sum := make([]bls.G1, b.cfg.Threshold)
	for k := range sum {
		column := make([]bls.G1, len(b.qual))
		for i, d := range b.qual {
			column[i] = b.deals[d-1].commitments[k]
		}
		sum[k] = bls.SumG1(column)
	}
	group, err := partials.NewGroup(b.cfg.Namespace, b.cfg.Epoch, b.n, sum)
	if err != nil {
		return err
	}
	b.group = group
	b.transcript = b.hashTranscript(context)
	b.toConfirm = partials.PrepareConfirmation(b.cfg.Namespace, b.transcript)
	return nil
}

// firstContext returns the context of phase announce, SHA-256 of a label and the ceremony's id.
func firstContext(id ID) [32]byte {
	return sha256.Sum256(append([]byte("daybreak-dkg-context-v1"), id[:]...))
}

// nextContext returns the context of the phase after p: SHA-256 of the context of p and the bundles of p that count, in the
// order of their indices (phase 1, index 4, length 4, body). It does not depend on their order in the log.
func nextContext(context [32]byte, p Phase, bundles []*record) [32]byte {
	h := sha256.New()
	h.Write(context[:])
	for i, r := range bundles {
		if r == nil {
			continue
		}
		head := binary.BigEndian.AppendUint32([]byte{byte(p)}, uint32(i+1))
		h.Write(binary.BigEndian.AppendUint32(head, uint32(len(r.body))))
		h.Write(r.body)
	}
	return [32]byte(h.Sum(nil))
}

// hashTranscript returns SHA-256 of a label, the context of phase confirm, the number and indices of the qualified dealers (4
// bytes each), and the commitments of the group.
func (b *board) hashTranscript(context [32]byte) [32]byte {
	h := sha256.New()
	h.Write([]byte("daybreak-dkg-transcript-v1"))
	h.Write(context[:])
	tail := binary.BigEndian.AppendUint32(nil, uint32(len(b.qual)))
	for _, i := range b.qual {
		tail = binary.BigEndian.AppendUint32(tail, i)
	}
	h.Write(tail)
	for _, c := range b.group.Commitments() {
		enc := c.Bytes()
		h.Write(enc[:])
	}
	return [32]byte(h.Sum(nil))
}

func (b *board) takeConfirmation(index uint32, body []byte) error {
	c, err := decodeConfirmation(body)
	if err != nil {
		return err
	}
	if c.transcript != b.transcript || c.key != b.group.Key().Bytes() {
		return errors.New("confirms another transcript or group key")
	}
	b.unverified = append(b.unverified, partials.Partial{Index: index, Sig: c.sig})
	return nil
}

// verifyConfirmations verifies what has come in since the last time, all at once, which takes less than half of the time. It
// returns whose share does not belong to the group.
func (b *board) verifyConfirmations() (bad []uint32) {
	bad = b.group.VerifyBatch(b.toConfirm, b.unverified, nil)
	for _, p := range b.unverified {
		b.confirmed[p.Index-1] = !slices.Contains(bad, p.Index)
	}
	b.unverified = nil
	return bad
}
