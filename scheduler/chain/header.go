package chain

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// blockDomain starts the bytes a proposer signs.
const blockDomain = "daybreak-block-v1"

// Bounds of a header.
const (
	maxTimerIDs  = 4096 // MAX_INLINE_TIMER_MANIFEST_IDS of document 000 section 7.1
	maxTimerID   = 256  // bytes of one; the chain's own will have 32
	maxExtraSize = 32   // bytes a proposer may add
)

// Hash is a 32-byte hash. In JSON it is 0x and 64 hexadecimal digits.
type Hash = common.Hash

// Header commits to a block: its place in the chain, what it holds and the state it leaves.
type Header struct {
	ChainID      uint64
	Number       uint64 // the first block is 1
	Time         uint64 // Unix seconds; the slot in which the block was built
	Parent       Hash   // of the first block: the genesis hash
	Proposer     uint32 // index of the validator that built and signed it
	StateRoot    Hash   // after the block
	ReceiptsRoot Hash
	TxRoot       Hash
	BeaconRoot   Hash     // of the beacon update
	TimersCommit bool     // inline_timer_manifest_committed of document 000 section 7.1; false until timers exist
	TimerIDs     [][]byte // inline_timer_ids there
	Extra        []byte   // free for the proposer
}

// Hash is the block's digest: keccak256(core || presence || manifest || extra). core is the hash of all fields but the
// last three; presence is 32 zero bytes; the manifest is encoded as document 000 section 7.1 says.
func (h *Header) Hash() Hash {
	core, err := rlp.EncodeToBytes([]any{
		h.ChainID, h.Number, h.Time, h.Parent, h.Proposer, h.StateRoot, h.ReceiptsRoot, h.TxRoot, h.BeaconRoot,
	})
	if err != nil {
		panic("chain: internal error: header does not encode: " + err.Error())
	}
	return ethcrypto.Keccak256Hash(ethcrypto.Keccak256(core), make([]byte, 32), h.manifest(), h.Extra)
}

// manifest is the bool byte, a count, then each id behind its length; numbers are 8 bytes big-endian.
func (h *Header) manifest() []byte {
	b := make([]byte, 1, 9+(8+32)*len(h.TimerIDs))
	if h.TimersCommit {
		b[0] = 1
	}
	b = binary.BigEndian.AppendUint64(b, uint64(len(h.TimerIDs)))
	for _, id := range h.TimerIDs {
		b = binary.BigEndian.AppendUint64(b, uint64(len(id)))
		b = append(b, id...)
	}
	return b
}

// signingBytes binds the signature to its purpose and its chain.
func (h *Header) signingBytes(genesis [32]byte) []byte {
	digest := h.Hash()
	return append(append([]byte(blockDomain), genesis[:]...), digest[:]...)
}

// Sign returns the proposer's signature of the header. The signer holds an ed25519 network key.
func (h *Header) Sign(genesis [32]byte, signer crypto.Signer) ([64]byte, error) {
	var out [64]byte
	sig, err := signer.Sign(rand.Reader, h.signingBytes(genesis), crypto.Hash(0))
	if err != nil {
		return out, fmt.Errorf("signing block %d: %w", h.Number, err)
	}
	if len(sig) != len(out) {
		return out, fmt.Errorf("signing block %d: signature has %d bytes, want an ed25519 key", h.Number, len(sig))
	}
	copy(out[:], sig)
	return out, nil
}

// VerifyProposer checks the signature against the network key of the validator the header names.
func (h *Header) VerifyProposer(g *Genesis, genesisHash [32]byte, sig [64]byte) error {
	v, ok := g.Validator(h.Proposer)
	if !ok {
		return fmt.Errorf("%w: proposer %d is not a validator", ErrInvalid, h.Proposer)
	}
	if !ed25519.Verify(v.NetworkKey.Public(), h.signingBytes(genesisHash), sig[:]) {
		return fmt.Errorf("%w: proposer's signature does not verify", ErrInvalid)
	}
	return nil
}
