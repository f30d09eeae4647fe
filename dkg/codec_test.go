package dkg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func fuzzConfig(n int) Config {
	ns, err := tlock.NewNamespace(big.NewInt(4217), [32]byte{1})
	if err != nil {
		panic(err)
	}
	c := Config{Namespace: ns, Epoch: 1, Attempt: 1, Self: 1, Seed: Seed{7}}
	for i := range n {
		key := fuzzKey(i)
		c.Members = append(c.Members, Member{Index: uint32(i + 1), NetworkKey: key.Public().(ed25519.PublicKey)})
	}
	c.Signer = fuzzKey(0)
	return c
}

func fuzzKey(i int) ed25519.PrivateKey {
	seed := make([]byte, 32)
	seed[0] = byte(i)
	return ed25519.NewKeyFromSeed(seed)
}

// FuzzCheckEntry feeds raw bytes to the outer decoder: whatever it accepts has one encoding, a bounded size, and a signature.
func FuzzCheckEntry(f *testing.F) {
	cfg := fuzzConfig(4)
	m, err := New(cfg)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.Pending()[0])
	f.Add(m.Timeout()[1])
	f.Add([]byte{})
	f.Add(make([]byte, MaxEntrySize(4)))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		e, err := decodeEntry(4, b)
		if checked := CheckEntry(cfg.Members, b); err != nil && checked == nil {
			t.Fatal("an entry that does not decode passes")
		} else if checked != nil && !errors.Is(checked, ErrInvalid) {
			t.Fatalf("class of %v", checked)
		}
		if !bytes.Equal(b, before) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		if len(b) > MaxEntrySize(4) || e.index < 1 || e.index > 4 {
			t.Fatalf("%d bytes of index %d", len(b), e.index)
		}
		again := slices.Concat([]byte{byte(e.kind)}, e.ceremony[:], e.context[:], []byte{0, 0, 0, byte(e.index)}, e.body, b[len(b)-64:])
		if !bytes.Equal(again, b) {
			t.Fatal("another encoding")
		}
	})
}

// FuzzBundles feeds bytes to the decoder of every bundle: what decodes encodes to the same bytes.
func FuzzBundles(f *testing.F) {
	for kind := range uint8(6) {
		f.Add(kind, uint8(3), uint8(3), make([]byte, 300))
	}
	cfg := fuzzConfig(4)
	cfg, err := cfg.withDefaults()
	if err != nil {
		f.Fatal(err)
	}
	b := newBoard(&cfg, cfg.id())
	a := announce(&cfg, b.id)
	f.Add(uint8(PhaseAnnounce), uint8(0), uint8(0), a.encode())
	if err := b.takeAnnouncement(1, a.encode()); err != nil {
		f.Fatal(err)
	}
	p, err := newParticipant(b)
	if err != nil {
		f.Fatal(err)
	}
	d, err := p.deal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(PhaseDeal), uint8(3), uint8(0), d.encode())
	f.Add(uint8(PhaseResponse), uint8(9), uint8(0), encodeResponse(9, []uint32{1, 9}))
	f.Add(uint8(PhaseJustification), uint8(0), uint8(2), encodeJustification([]bls.Scalar{{}, bls.ScalarFromUint64(7)}))
	f.Add(uint8(PhaseConfirm), uint8(0), uint8(0), confirmation{}.encode())
	f.Fuzz(func(t *testing.T, kind, x, y uint8, raw []byte) {
		var again []byte
		var err error
		switch Phase(kind) {
		case PhaseAnnounce:
			var a announcement
			if a, err = decodeAnnouncement(raw); err == nil {
				again = a.encode()
			}
		case PhaseDeal:
			var d deal
			if d, err = decodeDeal(int(x%MaxMembers), int(y%MaxMembers), raw); err == nil {
				again = d.encode()
			}
		case PhaseResponse:
			n := int(x%MaxMembers) + 1
			var complaints []uint32
			if complaints, err = decodeResponse(n, raw); err == nil {
				again = encodeResponse(n, complaints)
				if !slices.IsSorted(complaints) || len(complaints) > n {
					t.Fatalf("complaints %v of %d", complaints, n)
				}
			}
		case PhaseJustification:
			var s []bls.Scalar
			if s, err = decodeJustification(int(y), raw); err == nil {
				again = encodeJustification(s)
			}
		case PhaseConfirm:
			var c confirmation
			if c, err = decodeConfirmation(raw); err == nil {
				again = c.encode()
			}
		default:
			return
		}
		if err == nil && !bytes.Equal(again, raw) {
			t.Fatalf("kind %d: decodes, and encodes to other bytes", kind)
		}
	})
}

// FuzzMachine gives a machine signed bundles and timeouts with arbitrary bodies, in any order. It must not panic, refuse with
// a class and without a change, and replay to the same state.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{1, 2, 2, 3, 3, 4, 6, 1, 6, 2, 6, 3, 2, 2})
	f.Add([]byte{6, 1, 6, 2, 6, 3, 6, 4, 0, 0, 6, 1, 6, 2})
	f.Add([]byte{0, 0, 1, 1, 1, 2, 1, 3, 1, 4, 2, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 64 {
			return
		}
		cfg := fuzzConfig(4)
		var machines []*Machine
		for i := range cfg.Members {
			c := cfg
			c.Self, c.Seed, c.Signer = uint32(i+1), Seed{byte(i + 1)}, fuzzKey(i)
			m, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			machines = append(machines, m)
		}
		var log [][]byte
		apply := func(e []byte) {
			log = append(log, e)
			for _, m := range machines {
				before := len(m.Entries())
				if _, err := m.Apply(e); err != nil {
					if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrStale) && !errors.Is(err, ErrNotYet) {
						t.Fatalf("error without a class: %v", err)
					}
					if len(m.Entries()) != before {
						t.Fatal("refused, and kept")
					}
				}
			}
		}
		for len(script) >= 2 {
			op, arg := script[0], script[1]
			script = script[2:]
			i := int(arg) % 4
			m := machines[i]
			switch op % 8 {
			case 0: // everyone's honest entries
				for _, m := range machines {
					for _, e := range m.Pending() {
						apply(e)
					}
				}
			case 6:
				for _, e := range m.Timeout() {
					apply(e)
				}
			default: // a bundle that is well signed and made up
				kind, size := Phase(op%8), 0
				for !bodyFits(kind, 4, size) && size < MaxEntrySize(4) {
					size++
				}
				body := bytes.Repeat([]byte{arg}, size)
				if own := m.own[min(kind, PhaseConfirm)]; own != nil && arg > 127 {
					body = bytes.Clone(own)
					body[int(arg)%len(body)] ^= arg
				}
				e, err := signEntry(fuzzKey(i), kind, m.id, m.contexts[m.phase%kindTimeout], uint32(i+1), body)
				if err != nil {
					t.Fatal(err)
				}
				apply(e)
			}
		}
		observer := cfg
		observer.Self = 0
		o, err := New(observer)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range log {
			_, _ = o.Apply(e)
		}
		for i, m := range machines {
			if m.phase != o.phase || m.contexts != o.contexts || len(m.faults) != len(o.faults) {
				t.Fatalf("member %d is in phase %s, the observer in %s", i+1, m.phase, o.phase)
			}
		}
	})
}
