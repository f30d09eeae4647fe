package partials

import (
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Partial is a member's signature share of one identity: its share times Q, 96 bytes compressed. The bytes are as they
// came; whoever uses them decodes them.
type Partial struct {
	Index uint32
	Sig   [bls.G2Size]byte
}

// Prepared is an identity hashed to the curve, with what speeds up many pairings with it (20 KB): made once, then used for
// signing, verifying and recovering. It does not change and may be used by any number of goroutines.
type Prepared struct {
	id    tlock.Identity
	q     bls.G2
	lines *bls.Lines
}

// Prepare prepares an identity of a chain, 0.45 of a pairing. It panics on a zero namespace or identity, which no decoder
// returns.
func Prepare(ns tlock.Namespace, id tlock.Identity) *Prepared {
	return prepared(id, ns.Point(id))
}

// confirmationDST keeps confirmations apart from keys of identities: no partial of the one is a partial of the other, so a
// ceremony cannot be used to get an identity signed.
const confirmationDST = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_DAYBREAK-CONFIRMATION-V1_"

// PrepareConfirmation prepares the message by which members confirm, each with its new share, that a ceremony ended with
// this transcript: namespace ‖ transcript hash, hashed to G2 under a tag of its own. Sign and VerifyPartial take it as they
// take an identity.
func PrepareConfirmation(ns tlock.Namespace, transcript [32]byte) *Prepared {
	message := append(ns.Bytes(), transcript[:]...)
	return prepared(tlock.Identity{}, bls.HashToG2(message, []byte(confirmationDST)))
}

func prepared(id tlock.Identity, q bls.G2) *Prepared {
	return &Prepared{id: id, q: q, lines: bls.Prepare(q)}
}

// Identity returns what was prepared; the zero value for a confirmation.
func (p *Prepared) Identity() tlock.Identity { return p.id }
