package tlock_test

import (
	"errors"
	"fmt"
	"log"
	"math/big"
	"time"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// A real network's secret is shared among its validators and its keys come from them; the examples play all of them.
var exampleSecret = bls.ScalarFromUint64(123456789)

func exampleNetwork() (tlock.Namespace, tlock.GroupKey) {
	ns, err := tlock.NewNamespace(big.NewInt(31337), [32]byte{0x11})
	if err != nil {
		log.Fatal(err)
	}
	gk, err := tlock.GroupKeyFromPoint(bls.MulG1Secret(exampleSecret))
	if err != nil {
		log.Fatal(err)
	}
	return ns, gk
}

func exampleKey(ns tlock.Namespace, id tlock.Identity) []byte {
	sig := ns.Point(id).Mul(exampleSecret).Bytes()
	return sig[:]
}

// Seal a message to New Year 2027, and open it with that slot's key.
func Example() {
	ns, gk := exampleNetwork() // in practice from a network file: ParseNetwork
	slot := tlock.SlotAt(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	id := tlock.SlotIdentity(slot)

	msg := [32]byte([]byte("a message of exactly 32 bytes ok"))
	ct, err := tlock.Encrypt(ns, gk, id, &msg)
	if err != nil {
		log.Fatal(err)
	}

	// Once the slot is over, its key is public. Check it before use: it came over a network.
	key, err := tlock.ParseKey(exampleKey(ns, id))
	if err != nil {
		log.Fatal(err)
	}
	if err := gk.Verify(ns, id, key); err != nil {
		log.Fatal(err)
	}
	opened, err := tlock.Decrypt(key, ct)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, %d bytes sealed: %s\n", id, len(ct), opened)

	// The key of another slot opens nothing.
	early, err := tlock.ParseKey(exampleKey(ns, tlock.SlotIdentity(slot-1)))
	if err != nil {
		log.Fatal(err)
	}
	_, err = tlock.Decrypt(early, ct)
	fmt.Println(errors.Is(err, tlock.ErrWrongKey))
	// Output:
	// slot 1798761600, 112 bytes sealed: a message of exactly 32 bytes ok
	// true
}

// Many messages to one slot: a Sealer and an Opener share the work that depends on the slot alone.
func ExampleSealer() {
	ns, gk := exampleNetwork()
	id := tlock.SlotIdentity(1798761600)

	sealer := tlock.NewSealer(ns, gk, id)
	var cts []tlock.Ciphertext
	for i := range 3 {
		msg := [32]byte{byte(i)}
		ct, err := sealer.Seal(&msg)
		if err != nil {
			log.Fatal(err)
		}
		cts = append(cts, ct)
	}

	key, err := tlock.ParseKey(exampleKey(ns, id))
	if err != nil {
		log.Fatal(err)
	}
	msgs, errs := tlock.NewOpener(key).OpenMany(cts, nil) // pass a Runner to use more cores
	for i := range msgs {
		fmt.Println(msgs[i][0], errs[i])
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 <nil>
}

// Seal the calls of an entry, as schedule takes them.
func ExampleSealCalls() {
	ns, gk := exampleNetwork()
	payer := [20]byte{0xaa}
	to := tlock.SlotSeal(1798761600, payer)

	calls := tlock.EncodeCalls([]tlock.Call{{Target: [20]byte{0xbb}, GasLimit: 50_000, Data: []byte("hello")}})
	ciphertext, commitment, err := tlock.SealCalls(ns, gk, to, calls)
	if err != nil {
		log.Fatal(err)
	}

	key, err := tlock.ParseKey(exampleKey(ns, to.Identity()))
	if err != nil {
		log.Fatal(err)
	}
	opened, err := tlock.OpenCalls(key, to, ciphertext, commitment)
	if err != nil {
		log.Fatal(err)
	}
	decoded, err := tlock.DecodeCalls(opened)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bytes of calls in %d; gas %d, data %q\n", len(calls), len(ciphertext), decoded[0].GasLimit, decoded[0].Data)

	// The payload is bound to its payer.
	_, err = tlock.OpenCalls(key, tlock.SlotSeal(1798761600, [20]byte{0xcc}), ciphertext, commitment)
	fmt.Println(errors.Is(err, tlock.ErrTampered))
	// Output:
	// 256 bytes of calls in 684; gas 50000, data "hello"
	// true
}
