package tlock

import (
	"crypto/subtle"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Runner runs f(0) … f(n-1), in any order and as parallel as it likes, and returns when all are done. This package
// starts no goroutines itself; where it can use several cores it takes a Runner from the caller. Nil means one by one.
type Runner func(n int, f func(i int))

// Opener opens ciphertexts of one key. It stores the key's Miller-loop lines: 0.14 pairings to build, saves about as much
// on every ciphertext. Safe for concurrent use.
type Opener struct {
	lines *bls.Lines // nil if NewOpener was given the zero Key
}

// NewOpener prepares opening with k.
func NewOpener(k Key) *Opener {
	if k.IsZero() {
		return &Opener{}
	}
	return &Opener{lines: bls.Prepare(k.point)}
}

// Open returns the message. Errors: ErrMalformed if U is not a canonical point of the group, ErrWrongKey if ct was not
// sealed to this key or was altered.
//
// Accepting means that re-encrypting the message gives the same 112 bytes (S-TLK-08): sigma is recovered from V and the
// message from W, r from both, and U must be r*G1 to the byte. U's membership in the group follows from that, so the
// subgroup check, 0.08 pairings, is done only for a refused ciphertext, to name its error. Nothing here is secret any
// more: the key is public, so variable-time multiplication is fine.
func (o *Opener) Open(ct Ciphertext) ([32]byte, error) {
	var sigma, msg [32]byte
	if o.lines == nil {
		return msg, wrongKey("opening: the key is missing (zero value)")
	}
	u, err := bls.DecodeG1Unchecked(ct[:48])
	if err != nil {
		return msg, malformed("timelock ciphertext: U: %v", err)
	}
	g := o.lines.Pair(u)
	mask := h2(g)
	subtle.XORBytes(sigma[:], ct[48:80], mask[:])
	mask = h4(&sigma)
	subtle.XORBytes(msg[:], ct[80:], mask[:])

	r := h3(&sigma, &msg)
	if !r.IsZero() && bls.MulG1Public(r).Bytes() == [48]byte(ct[:48]) {
		return msg, nil
	}
	if !u.InSubgroup() {
		return [32]byte{}, malformed("timelock ciphertext: U is outside the group")
	}
	return [32]byte{}, wrongKey("the key does not open this ciphertext: it was sealed to another identity, group or network, or altered")
}

// OpenMany opens each of cts; messages and errors stand at the same index.
func (o *Opener) OpenMany(cts []Ciphertext, run Runner) ([][32]byte, []error) {
	msgs, errs := make([][32]byte, len(cts)), make([]error, len(cts))
	run.do(len(cts), func(i int) { msgs[i], errs[i] = o.Open(cts[i]) })
	return msgs, errs
}

func (run Runner) do(n int, f func(i int)) {
	if run != nil {
		run(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}
