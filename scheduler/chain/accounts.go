package chain

import (
	"encoding/binary"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// accountsAddress holds the accounts' nonces: one word each under the 20 bytes of the address, right-aligned.
var accountsAddress = scheduler.Addr{19: 0xfa}

// firstSystemAddress to 0x…ff are the system's own.
const firstSystemAddress = 0xfa

func isSystem(a Addr) bool {
	var high [19]byte
	return [19]byte(a[:19]) == high && a[19] >= firstSystemAddress
}

func nonceKey(a Addr) (k scheduler.Word) {
	copy(k[12:], a[:])
	return k
}

func getNonce(r scheduler.Reader, a Addr) uint64 {
	w := r.Get(nonceKey(a))
	return binary.BigEndian.Uint64(w[24:])
}

func setNonce(s scheduler.State, a Addr, nonce uint64) {
	var w scheduler.Word
	binary.BigEndian.PutUint64(w[24:], nonce)
	s.Set(nonceKey(a), w)
}
