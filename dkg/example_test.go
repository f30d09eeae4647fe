package dkg_test

import (
	"crypto/ed25519"
	"fmt"
	"math/big"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Four members make a key. Here the log is a slice, and everyone is in time.
func Example() {
	ns, err := tlock.NewNamespace(big.NewInt(4217), [32]byte{1})
	if err != nil {
		panic(err)
	}
	cfg := dkg.Config{Namespace: ns, Epoch: 1, Attempt: 1}
	var keys []ed25519.PrivateKey
	for i := range uint32(4) {
		public, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			panic(err)
		}
		keys = append(keys, private)
		cfg.Members = append(cfg.Members, dkg.Member{Index: i + 1, NetworkKey: public})
	}

	var machines []*dkg.Machine
	var log [][]byte
	for i, key := range keys {
		own := cfg
		own.Self, own.Signer = uint32(i+1), key
		own.Seed = dkg.Seed{byte(i + 1)} // 32 bytes of crypto/rand, stored before this line
		m, err := dkg.New(own)
		if err != nil {
			panic(err)
		}
		machines = append(machines, m)
		log = append(log, m.Pending()...)
	}
	for len(log) > 0 {
		entry := log[0]
		log = log[1:]
		for i, m := range machines {
			step, err := m.Apply(entry)
			if err != nil {
				continue // of no use here; the log goes on
			}
			log = append(log, step.Publish...)
			if step.Done != nil {
				fmt.Printf("member %d: %d of %d, share fits: %v\n", i+1,
					step.Done.Group.Threshold(), step.Done.Group.N(), step.Done.Share.Check(step.Done.Group) == nil)
			}
		}
	}
	// Output:
	// member 1: 3 of 4, share fits: true
	// member 2: 3 of 4, share fits: true
	// member 3: 3 of 4, share fits: true
	// member 4: 3 of 4, share fits: true
}
