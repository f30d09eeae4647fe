package tlock_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestPayloadRoundTrips(t *testing.T) {
	ns, gk, secret := network(t)
	cond := tlock.Condition{Payer: [20]byte{0xaa}, Item: [32]byte{0xbb}, Kind: tlock.WhenValueAtLeast, NotBefore: 9}
	toCondition, err := tlock.ConditionSeal(cond)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]tlock.SealedTo{"slot": tlock.SlotSeal(1800000000, [20]byte{0xaa}), "condition": toCondition} {
		sealer := tlock.NewSealer(ns, gk, to.Identity())
		opener := tlock.NewOpener(keyOf(t, ns, secret, to.Identity()))
		rapid.Check(t, func(t *rapid.T) {
			calls := rapid.SliceOfN(rapid.Byte(), 0, tlock.MaxSealedCalls).Draw(t, "calls")
			ciphertext, commitment, err := sealer.SealCalls(to, calls)
			if err != nil {
				t.Fatal(err)
			}
			got, err := opener.OpenCalls(to, ciphertext, commitment)
			if err != nil || !bytes.Equal(got, calls) {
				t.Fatalf("%s: %d bytes of calls opened to %x, %v", name, len(calls), got, err)
			}
		})
	}
}

func TestPayloadLengthTellsItsClassOnly(t *testing.T) {
	ns, gk, _ := network(t)
	to := tlock.SlotSeal(1, [20]byte{})
	sealer := tlock.NewSealer(ns, gk, to.Identity())
	for calls, want := range map[int]int{
		0: 428, 224: 428, 252: 428, 253: 684, 480: 684, 508: 684, 509: 1196, 1020: 1196, 1021: 2220, 2044: 2220, 2045: 4268, 4064: 4268, 4092: 4268,
	} {
		ciphertext, _, err := sealer.SealCalls(to, make([]byte, calls))
		if err != nil || len(ciphertext) != want {
			t.Errorf("%d bytes of calls: ciphertext of %d bytes (%v), want %d", calls, len(ciphertext), err, want)
		}
		if got := tlock.PayloadSize(calls); got != want {
			t.Errorf("%d bytes of calls: PayloadSize %d, want %d", calls, got, want)
		}
	}
	_, _, err := sealer.SealCalls(to, make([]byte, tlock.MaxSealedCalls+1))
	wantClass(t, "one byte too many", err, tlock.ErrMalformed)
}

func TestPayloadRefusalsNameTheirCause(t *testing.T) {
	ns, gk, secret := network(t)
	payer := [20]byte{0xaa}
	to := tlock.SlotSeal(1800000000, payer)
	key := keyOf(t, ns, secret, to.Identity())
	ciphertext, commitment, err := tlock.SealCalls(ns, gk, to, []byte("calls"))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int) []byte {
		b := bytes.Clone(ciphertext)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		key        tlock.Key
		to         tlock.SealedTo
		ciphertext []byte
		commitment [32]byte
		class      error
	}{
		"empty":              {key, to, nil, commitment, tlock.ErrMalformed},
		"cut by a byte":      {key, to, ciphertext[:len(ciphertext)-1], commitment, tlock.ErrMalformed},
		"between classes":    {key, to, make([]byte, 500), commitment, tlock.ErrMalformed},
		"class of 8192":      {key, to, make([]byte, tlock.PayloadOverhead+8192), commitment, tlock.ErrMalformed},
		"key of other slot":  {keyOf(t, ns, secret, tlock.SlotIdentity(1)), to, ciphertext, commitment, tlock.ErrWrongKey},
		"V changed":          {key, to, changed(50), commitment, tlock.ErrWrongKey},
		"nonce changed":      {key, to, changed(112), commitment, tlock.ErrTampered},
		"body changed":       {key, to, changed(200), commitment, tlock.ErrTampered},
		"tag changed":        {key, to, changed(len(ciphertext) - 1), commitment, tlock.ErrTampered},
		"other payer":        {key, tlock.SlotSeal(1800000000, [20]byte{0xab}), ciphertext, commitment, tlock.ErrTampered},
		"other slot":         {key, tlock.SlotSeal(1800000001, payer), ciphertext, commitment, tlock.ErrTampered},
		"commitment changed": {key, to, ciphertext, [32]byte{1}, tlock.ErrTampered},
	} {
		got, err := tlock.OpenCalls(c.key, c.to, c.ciphertext, c.commitment)
		wantClass(t, name, err, c.class)
		if got != nil {
			t.Errorf("%s: refused, yet calls came back", name)
		}
	}
	if _, _, err := tlock.NewSealer(ns, gk, tlock.SlotIdentity(5)).SealCalls(to, nil); err == nil {
		t.Error("a sealer for slot 5 sealed to another slot")
	}
	if _, err := tlock.ConditionSeal(tlock.Condition{Kind: 4}); err == nil {
		t.Error("a condition of kind 4 was accepted")
	}
}

func TestOneChangedByteOpensNothing(t *testing.T) {
	t.Run("I-37 any changed byte of ciphertext, commitment, payer, slot or key makes opening fail", func(t *testing.T) {
		ns, gk, secret := network(t)
		payer, slot := [20]byte{0xaa}, uint64(1800000000)
		to := tlock.SlotSeal(slot, payer)
		key := keyOf(t, ns, secret, to.Identity())
		ciphertext, commitment, err := tlock.SealCalls(ns, gk, to, []byte("calls"))
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, at int, k tlock.Key, to tlock.SealedTo, ciphertext []byte, commitment [32]byte) {
			t.Helper()
			if got, err := tlock.OpenCalls(k, to, ciphertext, commitment); err == nil || got != nil {
				t.Errorf("byte %d of %s changed: opened to %x", at, what, got)
			}
		}
		for at := range ciphertext {
			changed := bytes.Clone(ciphertext)
			changed[at] ^= 0x04
			refused("ciphertext", at, key, to, changed, commitment)
		}
		for at := range commitment {
			changed := commitment
			changed[at] ^= 0x80
			refused("commitment", at, key, to, ciphertext, changed)
		}
		for at := range payer {
			changed := payer
			changed[at] ^= 0x01
			refused("payer", at, key, tlock.SlotSeal(slot, changed), ciphertext, commitment)
		}
		for at := range 8 {
			refused("slot", at, key, tlock.SlotSeal(slot^1<<(8*at), payer), ciphertext, commitment)
		}
		encoded := key.Bytes()
		for at := range encoded {
			changed := encoded
			changed[at] ^= 0x20
			if k, err := tlock.ParseKey(changed[:]); err == nil {
				refused("key", at, k, to, ciphertext, commitment)
			}
		}
	})
}

func FuzzUnpadBody(f *testing.F) {
	for _, n := range []int{0, 1, 252, 253, 4092} {
		body, err := tlock.PadBody(bytes.Repeat([]byte{0x5a}, n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add(binary.BigEndian.AppendUint32(nil, 1<<31))
	f.Fuzz(func(t *testing.T, body []byte) {
		calls, err := tlock.UnpadBody(body)
		if err != nil {
			return
		}
		again, err := tlock.PadBody(calls)
		if err != nil || !bytes.Equal(again, body) {
			t.Fatalf("accepted a body that pads differently (%v)", err)
		}
	})
}

func FuzzOpenCalls(f *testing.F) {
	ns, gk, secret := network(f)
	to := tlock.SlotSeal(3, [20]byte{4})
	opener := tlock.NewOpener(keyOf(f, ns, secret, to.Identity()))
	good, commitment, err := tlock.SealCalls(ns, gk, to, []byte("calls"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, commitment[:])
	f.Add(good[:172], commitment[:])
	f.Add(make([]byte, 684), make([]byte, 32))
	f.Fuzz(func(t *testing.T, ciphertext, commit []byte) {
		var c [32]byte
		copy(c[:], commit)
		if calls, err := opener.OpenCalls(to, ciphertext, c); err == nil && (string(calls) != "calls" || !bytes.Equal(ciphertext, good)) {
			t.Fatalf("a payload nobody sealed opened to %x", calls)
		}
	})
}
