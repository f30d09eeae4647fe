// Package finality makes blocks final: validators sign what they applied, and enough signatures make a certificate. Two
// certificates of one height for different blocks cannot exist unless more than n-t validators sign both, and those are named by
// their own signatures.
//
// # In steps
//
//  1. Every validator has a voting key, a BLS12-381 key pair of its own beside its share of the group key. Its public half stands in
//     genesis with a proof of possession, which is what makes adding up public keys safe.
//  2. A validator that has applied a block and found the state root right writes the block's height and digest into its Journal,
//     which refuses a second digest at a height and is on disk before it returns. Only then is the Vote signed.
//  3. Votes are gossiped. A Tally collects them by height and digest; with t of them it tries their sum, which one pairing check
//     verifies, and only if that fails looks for the bad ones.
//  4. The sum of t or more is a Certificate: a bitmap of who signed and one signature. The block it names is final, and so are its
//     ancestors, which the digest fixes.
//  5. Two votes of one validator at one height are Evidence, for anyone to check.
//
// # Bytes
//
// A vote signs, by hash_to_curve of RFC 9380 into G2 under the tag BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_,
//
//	"daybreak-finality-v1" || u256(chain_id) || genesis_hash || u64(height) || digest
//
// The height is signed beside the digest, which commits to it, so that evidence needs no header. A proof of possession signs the
// 48 bytes of the public key under BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_.
//
// # Security
//
// Safety rests on the journal: a validator whose journal is lost or set back must not vote with the same key, see OpenJournal. The
// certificate's signature is a multi-signature: each honest validator in its bitmap has signed. Votes are public, and so is the time
// their checks take; signing is constant-time in the key.
//
// # Limits
//
// 256 validators. A Tally keeps a bounded window of heights and one vote of each validator at a height.
package finality

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// MaxVoters bounds the validators of a network.
const MaxVoters = 256

// Errors of this package wrap one of these.
var (
	// ErrInvalid: the bytes or the signature are wrong and always will be; their author is to blame.
	ErrInvalid = errors.New("invalid")
	// ErrConflict: a second digest at a height.
	ErrConflict = errors.New("conflicting vote")
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

const (
	voteDomain = "daybreak-finality-v1"
	sigTag     = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"
	popTag     = "BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"
)

// Domain binds votes to one chain.
type Domain struct{ prefix []byte }

// NewDomain is the domain of the chain with this id and genesis hash.
func NewDomain(chainID uint64, genesis [32]byte) Domain {
	b := append([]byte(voteDomain), make([]byte, 24)...)
	b = binary.BigEndian.AppendUint64(b, chainID)
	return Domain{append(b, genesis[:]...)}
}

// Block is what is voted on: a height and the digest of the block there.
type Block struct {
	Height uint64
	Digest [32]byte
}

// message is the point that votes for b sign.
func (d Domain) message(b Block) bls.G2 {
	m := append([]byte(nil), d.prefix...)
	m = binary.BigEndian.AppendUint64(m, b.Height)
	return bls.HashToG2(append(m, b.Digest[:]...), []byte(sigTag))
}
