package tlock_test

import (
	"bytes"
	"crypto/rand"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func random32() (b [32]byte) {
	rand.Read(b[:])
	return b
}

func TestSealedMessageOpensWithItsKey(t *testing.T) {
	ns, gk, secret := network(t)
	for _, id := range []tlock.Identity{tlock.SlotIdentity(0), tlock.SlotIdentity(1<<64 - 1), tlock.ConditionIdentity(random32())} {
		k := keyOf(t, ns, secret, id)
		msg := random32()
		fresh, err := tlock.Encrypt(ns, gk, id, &msg)
		if err != nil {
			t.Fatal(err)
		}
		many, err := tlock.NewSealer(ns, gk, id).Seal(&msg)
		if err != nil {
			t.Fatal(err)
		}
		if fresh == many {
			t.Errorf("%v: two ciphertexts of one message are equal", id)
		}
		for how, ct := range map[string]tlock.Ciphertext{"Encrypt": fresh, "Sealer": many} {
			if got, err := tlock.Decrypt(k, ct); err != nil || got != msg {
				t.Errorf("%v: %s: opened %x, %v; want %x", id, how, got, err, msg)
			}
		}
	}
}

func TestWhatIsNotForThisKeyIsWrongKey(t *testing.T) {
	ns, gk, secret := network(t)
	otherNS, otherGK, otherSecret := network(t)
	otherNS, err := tlock.NewNamespace(otherNS.ChainID(), [32]byte{9})
	if err != nil {
		t.Fatal(err)
	}
	id := tlock.SlotIdentity(1800000000)
	msg := random32()
	ct, err := tlock.Encrypt(ns, gk, id, &msg)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key    tlock.Key
		verify func(tlock.Key) error
	}{
		"key of another slot":    {keyOf(t, ns, secret, tlock.SlotIdentity(1800000001)), nil},
		"key of another group":   {keyOf(t, ns, otherSecret, id), nil},
		"key of another network": {keyOf(t, otherNS, secret, id), nil},
		"no key":                 {tlock.Key{}, nil},
	} {
		_, err := tlock.Decrypt(c.key, ct)
		wantClass(t, name+": open", err, tlock.ErrWrongKey)
		wantClass(t, name+": verify", gk.Verify(ns, id, c.key), tlock.ErrWrongKey)
	}
	good := keyOf(t, ns, secret, id)
	if err := gk.Verify(ns, id, good); err != nil {
		t.Errorf("the right key: %v", err)
	}
	wantClass(t, "other group's verify", otherGK.Verify(ns, id, good), tlock.ErrWrongKey)
}

// The opener leaves the subgroup check to the comparison of U with r*G1. It must still refuse U plus a point of small
// order, with which the pairing's value does not change, and name it malformed.
func TestPointsOutsideTheGroupAreMalformed(t *testing.T) {
	small := smallOrderPoint(t)
	ns, gk, secret := network(t)
	id := tlock.SlotIdentity(5)
	msg := random32()
	ct, err := tlock.Encrypt(ns, gk, id, &msg)
	if err != nil {
		t.Fatal(err)
	}
	u, err := bls.DecodeG1(ct[:48])
	if err != nil {
		t.Fatal(err)
	}
	twisted := u.Add(small).Bytes()
	bad := ct
	copy(bad[:], twisted[:])
	_, err = tlock.Decrypt(keyOf(t, ns, secret, id), bad)
	wantClass(t, "U plus a point of small order", err, tlock.ErrMalformed)

	if _, err := tlock.GroupKeyFromPoint(small); err == nil {
		t.Error("a group key outside the group was accepted")
	}
	if _, err := tlock.GroupKeyFromPoint(bls.G1{}); err == nil {
		t.Error("the identity point was accepted as group key")
	}
	if _, err := tlock.KeyFromPoint(bls.G2{}); err == nil {
		t.Error("the identity point was accepted as key")
	}
}

// smallOrderPoint returns r*P of a point P outside the group: its order divides the cofactor, and e(T, K) = 1 for every K.
func smallOrderPoint(t *testing.T) bls.G1 {
	t.Helper()
	for _, v := range cases(t, "beacon.json", "group_key", 11) {
		if v.Name != "group-key-bad-outside-subgroup" {
			continue
		}
		p, err := bls.DecodeG1Unchecked(v.GroupKey)
		if err != nil {
			t.Fatal(err)
		}
		// (r-1)*P + P by doubling and adding: Mul itself assumes points of the group.
		var small bls.G1
		for bit, minusOne := 0, bls.ScalarFromUint64(1).Neg().Bytes(); bit < 256; bit++ {
			small = small.Add(small)
			if minusOne[bit/8]>>(7-bit%8)&1 == 1 {
				small = small.Add(p)
			}
		}
		if small = small.Add(p); small.IsInfinity() || small.InSubgroup() {
			t.Fatal("the recorded point is in the group after all")
		}
		return small
	}
	t.Fatal("the vectors have no point outside the group")
	return bls.G1{}
}

func TestZeroValuesSealNothing(t *testing.T) {
	ns, gk, _ := network(t)
	id := tlock.SlotIdentity(1)
	var msg [32]byte
	for name, f := range map[string]func() error{
		"namespace": func() error { _, err := tlock.Encrypt(tlock.Namespace{}, gk, id, &msg); return err },
		"group key": func() error { _, err := tlock.Encrypt(ns, tlock.GroupKey{}, id, &msg); return err },
		"identity":  func() error { _, err := tlock.Encrypt(ns, gk, tlock.Identity{}, &msg); return err },
		"sealer":    func() error { _, err := tlock.NewSealer(ns, tlock.GroupKey{}, id).Seal(&msg); return err },
		"payload":   func() error { _, _, err := tlock.SealCalls(ns, gk, tlock.SealedTo{}, nil); return err },
	} {
		if f() == nil {
			t.Errorf("sealing with a zero %s succeeded", name)
		}
	}
}

func TestOpenManyKeepsOrderUnderAnyRunner(t *testing.T) {
	ns, gk, secret := network(t)
	id := tlock.SlotIdentity(77)
	sealer := tlock.NewSealer(ns, gk, id)
	msgs, cts := make([][32]byte, 9), make([]tlock.Ciphertext, 9)
	for i := range msgs {
		msgs[i] = random32()
		var err error
		if cts[i], err = sealer.Seal(&msgs[i]); err != nil {
			t.Fatal(err)
		}
	}
	cts[4][60] ^= 1 // V
	backwards := func(n int, f func(int)) {
		for i := n - 1; i >= 0; i-- {
			f(i)
		}
	}
	opener := tlock.NewOpener(keyOf(t, ns, secret, id))
	for name, run := range map[string]tlock.Runner{"none": nil, "backwards": backwards, "two goroutines": twoCores} {
		got, errs := opener.OpenMany(cts, run)
		for i := range msgs {
			if i == 4 {
				wantClass(t, name, errs[i], tlock.ErrWrongKey)
			} else if errs[i] != nil || got[i] != msgs[i] {
				t.Errorf("runner %s: message %d: got %x, %v", name, i, got[i], errs[i])
			}
		}
	}
}

func TestKeysRoundTripAndCompare(t *testing.T) {
	ns, gk, secret := network(t)
	b := gk.Bytes()
	again, err := tlock.ParseGroupKey(b[:])
	if err != nil || !again.Equal(gk) || again.Equal(tlock.GroupKey{}) || (tlock.GroupKey{}).Equal(again) {
		t.Errorf("group key does not round trip: %v", err)
	}
	k := keyOf(t, ns, secret, tlock.SlotIdentity(3))
	kb := k.Bytes()
	k2, err := tlock.ParseKey(kb[:])
	if err != nil || !k2.Equal(k) || k2.Equal(tlock.Key{}) || k2.Equal(keyOf(t, ns, secret, tlock.SlotIdentity(4))) {
		t.Errorf("key does not round trip: %v", err)
	}
}

func FuzzDecrypt(f *testing.F) {
	ns, gk, secret := network(f)
	id := tlock.SlotIdentity(1800000000)
	opener := tlock.NewOpener(keyOf(f, ns, secret, id))
	msg := [32]byte{1}
	good, err := tlock.Encrypt(ns, gk, id, &msg)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[:])
	f.Add(make([]byte, tlock.CiphertextSize))
	f.Add(bytes.Repeat([]byte{0xff}, tlock.CiphertextSize))
	f.Add(good[:111])
	f.Fuzz(func(t *testing.T, b []byte) {
		ct, err := tlock.ParseCiphertext(b)
		if err != nil {
			return
		}
		// Nobody can hit another valid ciphertext by chance: all that opens is what was sealed.
		if got, err := opener.Open(ct); err == nil && (ct != good || got != msg) {
			t.Fatalf("opened %x to %x", ct, got)
		}
	})
}

func FuzzParseKeys(f *testing.F) {
	ns, gk, secret := network(f)
	k, g := keyOf(f, ns, secret, tlock.SlotIdentity(1)).Bytes(), gk.Bytes()
	f.Add(k[:])
	f.Add(g[:])
	f.Add(append([]byte{0xc0}, make([]byte, 95)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := tlock.ParseKey(b); err == nil {
			if again := k.Bytes(); !bytes.Equal(again[:], b) {
				t.Fatalf("key %x encodes back to %x", b, again)
			}
		}
		if gk, err := tlock.ParseGroupKey(b); err == nil {
			if again := gk.Bytes(); !bytes.Equal(again[:], b) {
				t.Fatalf("group key %x encodes back to %x", b, again)
			}
		}
	})
}
