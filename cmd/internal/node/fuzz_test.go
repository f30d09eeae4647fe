package node

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// FuzzDecodeKeys holds that a peer's answer gives only keys that were asked for and that are the group's.
func FuzzDecodeKeys(f *testing.F) {
	ns, group, shares := testGroup(f, 1)
	good := func(slot uint64) []byte {
		key := keyOf(f, ns, group, shares, slot)
		raw := key.Bytes()
		return append(binary.BigEndian.AppendUint64(nil, slot), raw[:]...)
	}
	f.Add([]byte{})
	f.Add(good(7))
	f.Add(append(good(7), good(8)...))
	f.Add(append(good(7), good(9)...))
	f.Add(good(7)[:keyRecord-1])
	f.Fuzz(func(t *testing.T, answer []byte) {
		want := []uint64{7, 8}
		keys, err := decodeKeys(ns, group, want, answer)
		for slot, key := range keys {
			if !slices.Contains(want, slot) {
				t.Errorf("key of slot %d, which was not asked for", slot)
			}
			if err := group.Key().Verify(ns, tlock.SlotIdentity(slot), key); err != nil {
				t.Error(err)
			}
		}
		if err == nil && len(answer)%keyRecord != 0 {
			t.Errorf("%d bytes are taken", len(answer))
		}
	})
}

func FuzzDecodeSlots(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 3})
	f.Add(make([]byte, 8*maxWants))
	f.Add(make([]byte, 8*maxWants+8))
	f.Fuzz(func(t *testing.T, data []byte) {
		slots, err := decodeSlots(data, maxWants)
		if err != nil {
			return
		}
		var again []byte
		for _, slot := range slots {
			again = binary.BigEndian.AppendUint64(again, slot)
		}
		if len(slots) == 0 || len(slots) > maxWants || !slices.Equal(again, data) {
			t.Errorf("%x gives %d slots, which are %x", data, len(slots), again)
		}
	})
}

// FuzzConfig holds that a config that is taken says the same when it is written and read again.
func FuzzConfig(f *testing.F) {
	f.Add(DefaultConfig().Encode())
	f.Add([]byte(`{"listen":["/ip4/0.0.0.0/tcp/1"],"public":"[::1]:0","operator":":9","log_level":"warn","log_format":"json"}`))
	f.Add([]byte(`{"listen":null} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, again Config
		if decodeJSON(data, &c) != nil || c.Validate() != nil {
			return
		}
		if err := decodeJSON(c.Encode(), &again); err != nil || !reflect.DeepEqual(c, again) || again.Validate() != nil {
			t.Errorf("%+v gives %+v, %v", c, again, err)
		}
		for _, a := range c.Listen {
			if err := p2p.CheckAddr(a); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzDescriptor holds the same of a validator's descriptor, and that a genesis can be made of it.
func FuzzDescriptor(f *testing.F) {
	d, err := Home(f.TempDir()).Init(DefaultConfig(), "alice", Address{1}, []string{"/ip4/203.0.113.7/tcp/26600"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(d.Encode())
	f.Add([]byte(`{"name":"a","network_key":"","proposer":"0x0000000000000000000000000000000000000000","addrs":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d, again Descriptor
		if decodeJSON(data, &d) != nil || d.Validate() != nil {
			return
		}
		if err := decodeJSON(d.Encode(), &again); err != nil || !reflect.DeepEqual(d, again) || again.Validate() != nil {
			t.Errorf("%+v gives %+v, %v", d, again, err)
		}
	})
}

func FuzzDecodeSeed(f *testing.F) {
	f.Add(encodeSeed(dkg.Seed{1, 2, 3}))
	f.Add([]byte(seedPrefix + "00"))
	f.Add([]byte("daybreak-network-key-v1:00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		seed, ok := decodeSeed(data)
		if !ok {
			return
		}
		if again, ok := decodeSeed(encodeSeed(seed)); !ok || again != seed {
			t.Errorf("%q gives a seed that is another when it is written", data)
		}
	})
}
