package tlockage_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math/big"

	"filippo.io/age"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"github.com/daybreak-beacon/daybreak/tlock/tlockage"
)

// Seal a file to a slot and open it with the slot's key. The example plays the validators itself.
func Example() {
	secret := bls.ScalarFromUint64(123456789)
	ns, err := tlock.NewNamespace(big.NewInt(31337), [32]byte{0x11})
	check(err)
	gk, err := tlock.GroupKeyFromPoint(bls.MulG1Secret(secret))
	check(err)
	id := tlock.SlotIdentity(1800000000)

	recipient, err := tlockage.NewRecipient(ns, gk, id)
	check(err)
	var file bytes.Buffer
	w, err := age.Encrypt(&file, recipient)
	check(err)
	_, err = io.WriteString(w, "open me in January 2027\n")
	check(err)
	check(w.Close())

	sealed, err := tlockage.Inspect(file.Bytes())
	check(err)
	fmt.Printf("sealed to %v of chain %v\n", sealed.Identity, sealed.Namespace.ChainID())

	key, err := tlock.KeyFromPoint(ns.Point(id).Mul(secret))
	check(err)
	plain, err := age.Decrypt(&file, tlockage.NewIdentity(ns, id, key))
	check(err)
	text, err := io.ReadAll(plain)
	check(err)
	fmt.Print(string(text))
	// Output:
	// sealed to slot 1800000000 of chain 31337
	// open me in January 2027
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
