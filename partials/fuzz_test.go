package partials_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Each decoder takes what its encoder writes and nothing else, and says ErrInvalid or ErrForeign to the rest.

func FuzzDecodeEnvelope(f *testing.F) {
	c := newCluster(f, 4, 3)
	for _, id := range []tlock.Identity{tlock.SlotIdentity(7), tlock.ConditionIdentity([32]byte{7})} {
		p := partials.Prepare(c.group.Namespace(), id)
		f.Add(c.group.Seal(id, c.shares[0].Sign(p)).Encode())
	}
	f.Add([]byte{})
	f.Add(make([]byte, partials.MaxEnvelope))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := partials.DecodeEnvelope(b)
		if err != nil {
			if !errors.Is(err, partials.ErrInvalid) {
				t.Fatalf("error without a class: %v", err)
			}
			return
		}
		if got := e.Encode(); !bytes.Equal(got, b) {
			t.Fatalf("%x decodes, but encodes to %x", b, got)
		}
	})
}

func FuzzDecodeGroup(f *testing.F) {
	for _, size := range [][2]int{{1, 1}, {4, 3}, {5, 1}} {
		c := newCluster(f, size[0], size[1])
		f.Add(c.group.Encode(), true)
		f.Add(c.group.Encode()[:100], false)
	}
	f.Add([]byte("daybreak-group-v1\nchecksum 0x\n"), true)
	f.Add([]byte("checksum 0x\n"), false)
	ns := testNamespace(f, 4217)
	f.Fuzz(func(t *testing.T, b []byte, mend bool) {
		if mend {
			b = resum(string(b))
		}
		g, err := partials.DecodeGroup(ns, b)
		if err != nil {
			if !errors.Is(err, partials.ErrInvalid) && !errors.Is(err, partials.ErrForeign) {
				t.Fatalf("error without a class: %v", err)
			}
			return
		}
		if got := g.Encode(); !bytes.Equal(got, b) {
			t.Fatalf("%q decodes, but encodes to %q", b, got)
		}
	})
}

func FuzzDecodeShare(f *testing.F) {
	c := newCluster(f, 4, 3)
	for _, s := range c.shares {
		file, err := s.Encode(c.group)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, true)
		f.Add(file[:len(file)-1], false)
	}
	f.Add([]byte("daybreak-share-v1\n"), true)
	f.Fuzz(func(t *testing.T, b []byte, mend bool) {
		if mend {
			b = resum(string(b))
		}
		s, err := partials.DecodeShare(c.group, b)
		if err != nil {
			if !errors.Is(err, partials.ErrInvalid) && !errors.Is(err, partials.ErrForeign) {
				t.Fatalf("error without a class: %v", err)
			}
			return
		}
		if got, err := s.Encode(c.group); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%q decodes, but encodes to %q, %v", b, got, err)
		}
	})
}

// FuzzVerifyPartial: no bytes but the member's partial verify, and single and batch verification agree.
func FuzzVerifyPartial(f *testing.F) {
	c := newCluster(f, 4, 3)
	p := partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(7))
	parts := c.sign(p)
	for i, part := range parts {
		f.Add(part.Index, part.Sig[:])
		for _, kind := range badnesses {
			sig := kind.spoil(c, parts, i)
			f.Add(part.Index, sig[:])
		}
	}
	f.Fuzz(func(t *testing.T, index uint32, b []byte) {
		part := partials.Partial{Index: index}
		copy(part.Sig[:], b)
		want := c.group.Has(index) && part.Sig == parts[index-1].Sig
		if err := c.group.VerifyPartial(p, part); (err == nil) != want {
			t.Fatalf("verifies: %v, want %v", err, want)
		}
		if bad := c.group.VerifyBatch(p, []partials.Partial{part}, nil); (len(bad) == 0) != want {
			t.Fatalf("batch blames %v, want good: %v", bad, want)
		}
	})
}
