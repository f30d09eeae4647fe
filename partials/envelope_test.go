package partials_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"github.com/daybreak-beacon/daybreak/vectors"
)

func TestEnvelopeLayout(t *testing.T) {
	sig := [bls.G2Size]byte(append([]byte{0x9a}, bytes.Repeat([]byte{0xab}, 95)...))
	for name, test := range map[string]struct {
		envelope partials.Envelope
		want     string
	}{
		"slot": {
			partials.Envelope{GenesisHash: [32]byte(bytes.Repeat([]byte{0x11}, 32)), Epoch: 0x0203, Identity: tlock.SlotIdentity(0x6ab13b80),
				Partial: partials.Partial{Index: 0x64, Sig: sig}},
			"01" + strings.Repeat("11", 32) + "0000000000000203" + "01" + "000000006ab13b80" + "00000064" + "9a" + strings.Repeat("ab", 95),
		},
		"condition": {
			partials.Envelope{GenesisHash: [32]byte(bytes.Repeat([]byte{0x22}, 32)), Epoch: 1, Identity: tlock.ConditionIdentity([32]byte(bytes.Repeat([]byte{0x33}, 32))),
				Partial: partials.Partial{Index: 1, Sig: sig}},
			"01" + strings.Repeat("22", 32) + "0000000000000001" + "02" + strings.Repeat("33", 32) + "00000001" + "9a" + strings.Repeat("ab", 95),
		},
	} {
		wire := test.envelope.Encode()
		if got := hex.EncodeToString(wire); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if len(wire) > partials.MaxEnvelope {
			t.Errorf("%s: %d bytes, more than MaxEnvelope", name, len(wire))
		}
		if back, err := partials.DecodeEnvelope(wire); err != nil || back != test.envelope {
			t.Errorf("%s: decodes to %+v, %v", name, back, err)
		}
		for i := range wire {
			if _, err := partials.DecodeEnvelope(wire[:i]); !errors.Is(err, partials.ErrInvalid) {
				t.Errorf("%s: first %d bytes: got %v, want ErrInvalid", name, i, err)
			}
		}
		for what, spoil := range map[string]func(b []byte) []byte{
			"a byte more":        func(b []byte) []byte { return append(b, 0) },
			"format 0":           func(b []byte) []byte { b[0] = 0; return b },
			"format 2":           func(b []byte) []byte { b[0] = 2; return b },
			"kind 0":             func(b []byte) []byte { b[41] = 0; return b },
			"kind 3":             func(b []byte) []byte { b[41] = 3; return b },
			"the other kind":     func(b []byte) []byte { b[41] ^= 3; return b },
			"index 0":            func(b []byte) []byte { copy(b[len(b)-100:], make([]byte, 4)); return b },
			"the identity point": func(b []byte) []byte { b[len(b)-96] |= 0x40; return b },
			"not compressed":     func(b []byte) []byte { b[len(b)-96] &^= 0x80; return b },
			"nothing":            func([]byte) []byte { return nil },
		} {
			if _, err := partials.DecodeEnvelope(spoil(bytes.Clone(wire))); !errors.Is(err, partials.ErrInvalid) {
				t.Errorf("%s with %s: got %v, want ErrInvalid", name, what, err)
			}
		}
	}
}

// TestEnvelopeVectors: the bytes that another implementation makes.
func TestEnvelopeVectors(t *testing.T) {
	b, err := vectors.FS.ReadFile("envelope.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name        string
			Valid       bool
			ChainID     string   `json:"chain_id"`
			GenesisHash hexBytes `json:"genesis_hash"`
			Identity    hexBytes
			Epoch       string
			Index       uint32
			Share       hexBytes
			Encoded     hexBytes
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 18 {
		t.Errorf("%d cases, want 18", len(file.Cases))
	}
	for _, c := range file.Cases {
		e, err := partials.DecodeEnvelope(c.Encoded)
		if !c.Valid {
			if !errors.Is(err, partials.ErrInvalid) {
				t.Errorf("%s: got %v, want ErrInvalid", c.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		chain, _ := new(big.Int).SetString(c.ChainID, 10)
		ns, err := tlock.NewNamespace(chain, [32]byte(c.GenesisHash))
		if err != nil {
			t.Fatal(err)
		}
		id, err := tlock.IdentityFromBytes(c.Identity)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := bls.ScalarFromBytes(c.Share)
		if err != nil {
			t.Fatal(err)
		}
		share, err := partials.NewShare(c.Index, secret)
		if err != nil {
			t.Fatal(err)
		}
		want := partials.Envelope{GenesisHash: ns.GenesisHash(), Identity: id, Partial: share.Sign(partials.Prepare(ns, id))}
		if want.Epoch, err = strconv.ParseUint(c.Epoch, 10, 64); err != nil {
			t.Fatal(err)
		}
		if e != want || !bytes.Equal(want.Encode(), c.Encoded) {
			t.Errorf("%s: decodes to %+v, want %+v", c.Name, e, want)
		}
	}
}

func TestAdmit(t *testing.T) {
	c := newCluster(t, 4, 3)
	p := partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(7))
	good := c.group.Seal(p.Identity(), c.shares[3].Sign(p))
	if err := c.group.Admit(good); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		spoil func(e *partials.Envelope)
		want  error
	}{
		"another chain":           {func(e *partials.Envelope) { e.GenesisHash[31]++ }, partials.ErrInvalid},
		"an epoch ago":            {func(e *partials.Envelope) { e.Epoch-- }, partials.ErrStale},
		"the next epoch":          {func(e *partials.Envelope) { e.Epoch++ }, partials.ErrNotYet},
		"nobody's index":          {func(e *partials.Envelope) { e.Partial.Index = 5 }, partials.ErrIndex},
		"a huge index":            {func(e *partials.Envelope) { e.Partial.Index = 1<<32 - 1 }, partials.ErrIndex},
		"both of chain and epoch": {func(e *partials.Envelope) { e.GenesisHash[0]++; e.Epoch = 0 }, partials.ErrInvalid},
	} {
		e := good
		test.spoil(&e)
		if err := c.group.Admit(e); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}
