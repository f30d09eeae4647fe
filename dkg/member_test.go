package dkg_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// play orders what the others have published for the present phase, and then the puppet's bundle; nil is silence, which takes a
// timeout.
func (p *puppet) play(kind int, body []byte) {
	p.c.flush()
	if body != nil {
		p.c.order(p.entry(kind, body))
		p.c.catchUp(nil)
		return
	}
	p.c.timeout()
	p.c.flush()
}

// misdeal is something a dealer can do.
type misdeal struct {
	name    string
	deal    func(p *puppet) []byte // nil is silence
	justify func(p *puppet) []byte // asked for if there are complaints that can be answered
	fault   string                 // in the reason of the fault that all machines record
	qualify bool
}

func honestExcept(liedTo ...uint32) func(*puppet) []byte {
	return func(p *puppet) []byte {
		return p.dealWith(func(h uint32, share scalar) scalar {
			if slices.Contains(liedTo, h) {
				return number("a lie")
			}
			return share
		})
	}
}

// edited is an honest deal with some bytes overwritten.
func edited(at func(p *puppet) int, with []byte) func(*puppet) []byte {
	return func(p *puppet) []byte {
		body := p.deal()
		copy(body[at(p):], with)
		return body
	}
}

// others returns the first members that are not p.
func (p *puppet) others(count int) []uint32 {
	list := slices.DeleteFunc(all(p.c.n()), func(i uint32) bool { return i == p.index })
	return list[:count]
}

func justifies(holders ...uint32) func(*puppet) []byte {
	return func(p *puppet) []byte { return p.justification(holders...) }
}

func commitmentAt(k int) func(*puppet) int { return func(*puppet) int { return 48 * k } }
func ciphertextAt(k, byteOf int) func(*puppet) int {
	return func(p *puppet) int { return 48*p.c.threshold() + 64 + 96*k + byteOf }
}

// outsideSubgroup is a point of the curve that is not in G1.
func outsideSubgroup(t testing.TB) []byte {
	for x := byte(1); ; x++ {
		b := make([]byte, 48)
		b[0], b[47] = 0x80, x
		if p, err := bls.DecodeG1Unchecked(b); err == nil && !p.InSubgroup() {
			return b
		}
	}
}

func misdeals(t testing.TB) []misdeal {
	identity := append([]byte{0xc0}, make([]byte, 47)...)
	const unproven = "no proof that it knows its constant term"
	return []misdeal{
		{name: "an honest deal", deal: (*puppet).deal, qualify: true},
		{name: "a wrong share for one member, justified", deal: honestExcept(3), justify: justifies(3), qualify: true},
		{name: "a wrong share for one member, not justified", deal: honestExcept(3)},
		{name: "a wrong share for one member, justified with another wrong one", deal: honestExcept(3),
			justify: func(*puppet) []byte { return bytes32(number("another lie")) }, fault: "the share of member 3 is not on the polynomial"},
		{name: "a wrong share for one member, justified with an integer above the order", deal: honestExcept(3),
			justify: func(*puppet) []byte { return bytes32(order) }, fault: "scalar"},
		{name: "a wrong share for one member, justified with two shares", deal: honestExcept(3), justify: justifies(3, 4), fault: "justification has 64 bytes, want 32"},
		{name: "wrong shares for two members, justified", deal: honestExcept(1, 4), justify: justifies(1, 4), qualify: true},
		{name: "wrong shares for threshold-1 members, justified",
			deal:    func(p *puppet) []byte { return honestExcept(p.others(p.c.threshold() - 1)...)(p) },
			justify: func(p *puppet) []byte { return p.justification(p.others(p.c.threshold() - 1)...) }, qualify: true},
		{name: "wrong shares for threshold members, which it may not justify",
			deal:    func(p *puppet) []byte { return honestExcept(p.others(p.c.threshold())...)(p) },
			justify: func(p *puppet) []byte { return p.justification(p.others(p.c.threshold())...) }},
		{name: "wrong shares for everyone", deal: honestExcept(1, 3, 4, 5, 6, 7)},
		{name: "a share above the order", deal: func(p *puppet) []byte {
			return p.dealWith(func(h uint32, share scalar) scalar {
				if h == 3 {
					share.Set(order)
				}
				return share
			})
		}, justify: justifies(3), qualify: true},
		{name: "a ciphertext that does not decrypt", deal: edited(ciphertextAt(1, 95), []byte{0}), justify: justifies(3), qualify: true},
		{name: "a ciphertext whose ephemeral is no point", deal: edited(ciphertextAt(1, 0), make([]byte, 48)), justify: justifies(3), qualify: true},
		{name: "a ciphertext whose ephemeral is the identity", deal: edited(ciphertextAt(1, 0), identity), justify: justifies(3), qualify: true},
		{name: "a ciphertext whose ephemeral is outside of the subgroup", deal: edited(ciphertextAt(1, 0), outsideSubgroup(t)), justify: justifies(3), qualify: true},
		{name: "no deal"},
		{name: "no proof", deal: func(p *puppet) []byte {
			return p.dealFrom(commit(p.poly), make([]byte, 64), func(h uint32) scalar { return eval(p.poly, h) })
		}, fault: unproven},
		{name: "a proof above the order", deal: edited(func(p *puppet) int { return 48 * p.c.threshold() }, bytes32(order)), fault: "scalar"},
		{name: "a proof made for another index", deal: func(p *puppet) []byte {
			c := commit(p.poly)
			return p.dealFrom(c, prove(dealProofTag, p.c.view().id, 3, c, p.poly[0]), func(h uint32) scalar { return eval(p.poly, h) })
		}, fault: unproven},
		{name: "a proof made for another ceremony", deal: func(p *puppet) []byte {
			c := commit(p.poly)
			return p.dealFrom(c, prove(dealProofTag, make([]byte, 32), p.index, c, p.poly[0]), func(h uint32) scalar { return eval(p.poly, h) })
		}, fault: unproven},
		{name: "a proof made for the encryption key", deal: func(p *puppet) []byte {
			c := commit(p.poly)
			return p.dealFrom(c, prove(keyProofTag, p.c.view().id, p.index, c, p.poly[0]), func(h uint32) scalar { return eval(p.poly, h) })
		}, fault: unproven},
		{name: "a copy of another's deal", deal: func(p *puppet) []byte { return p.c.view().bodies[kindDeal][1] }, fault: unproven},
		{name: "the identity as constant term", deal: edited(commitmentAt(0), identity), fault: "commitment 0"},
		{name: "the identity as leading term", deal: edited(commitmentAt(2), identity), fault: "commitment 2"},
		{name: "a commitment outside of the subgroup", deal: edited(commitmentAt(1), outsideSubgroup(t)), fault: "commitment 1"},
		{name: "a commitment that is no point", deal: edited(commitmentAt(1), make([]byte, 48)), fault: "commitment 1"},
		{name: "one share too few", deal: func(p *puppet) []byte { d := p.deal(); return d[:len(d)-96] }, fault: "deal has"},
		{name: "a polynomial of a lower degree", deal: func(p *puppet) []byte { d := p.deal(); return d[48:] }, fault: "deal has"},
	}
}

// play runs a misdeal up to the end of the ceremony and checks the faults that the machines record.
func (d *misdeal) play(t *testing.T, c *cluster) {
	p := c.puppet(2)
	c.begin()
	p.play(kindAnnounce, p.announcement())
	var body []byte
	c.flush()
	if d.deal != nil {
		body = d.deal(p)
	}
	p.play(kindDeal, body)
	if !c.over() {
		p.play(kindResponse, p.response())
	}
	if c.machines[0].Status().Phase == dkg.PhaseJustification {
		var answer []byte
		if d.justify != nil {
			answer = d.justify(p)
		}
		p.play(kindJustification, answer)
	}
	c.settle()
	for i, m := range c.machines {
		if i == 1 {
			continue
		}
		f := m.Faults()
		switch {
		case d.fault == "" && len(f) != 0:
			t.Errorf("machine %d records %v", i+1, f)
		case d.fault != "" && (len(f) != 1 || f[0].Index != 2 || !strings.Contains(f[0].Reason, d.fault)):
			t.Errorf("machine %d records %v, want one fault of member 2: %s", i+1, f, d.fault)
		case d.fault != "" && dkg.CheckEntry(c.cfg.Members, f[0].Evidence[0]) != nil:
			t.Errorf("machine %d has evidence that the member did not sign", i+1)
		}
	}
}

// TestADealerThatCheatsIsLeftOut where the operator let one dealer be missing: everyone else ends with the group of the others
// and a share of it.
func TestADealerThatCheatsIsLeftOut(t *testing.T) {
	for _, d := range misdeals(t) {
		t.Run(d.name, func(t *testing.T) {
			c := newCluster(t, 7, func(cfg *dkg.Config) { cfg.MinQual = 6 })
			d.play(t, c)
			c.group(1, 3, 4, 5, 6, 7)
			want := all(7)
			if !d.qualify {
				want = []uint32{1, 3, 4, 5, 6, 7}
			}
			if got := c.machines[0].Result().Qual; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("qualified %v, want %v", got, want)
			}
		})
	}
}

// TestADealerThatCheatsFailsTheCeremony where all must deal, as is the default; all name it.
func TestADealerThatCheatsFailsTheCeremony(t *testing.T) {
	for _, d := range misdeals(t) {
		t.Run(d.name, func(t *testing.T) {
			c := newCluster(t, 4, nil)
			d.play(t, c)
			if d.qualify {
				c.group(1, 3, 4)
				return
			}
			if got := c.failed(); fmt.Sprint(got.Culprits) != "[2]" || got.Reason == "" {
				t.Errorf("failure %+v, want culprit 2", got)
			}
			for i, m := range c.machines {
				if len(m.Pending())+len(m.Timeout()) != 0 {
					t.Errorf("machine %d goes on after the end", i+1)
				}
			}
		})
	}
}
