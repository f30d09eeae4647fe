package chain

import (
	"bytes"
	"fmt"

	"github.com/ethereum/go-ethereum/core/types"
	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Bounds of a block.
const (
	MaxBlockSize    = 4 << 20 // bytes of its encoding
	maxTransactions = 1 << 16
)

// Update is a block's beacon update. It takes effect before the block's due entries are derived (S-BEA-10).
type Update = scheduler.Update

// updateRoot commits to the update.
func updateRoot(u *Update) Hash {
	b, err := rlp.EncodeToBytes(u)
	if err != nil {
		panic("chain: internal error: beacon update does not encode: " + err.Error())
	}
	return ethcrypto.Keccak256Hash(b)
}

// Block is a header, its proposer's signature and what the header commits to. Transactions are first the due entries'
// (type 0x7e, as derived from the state), then users' (raw Ethereum transactions).
type Block struct {
	Header       Header
	Signature    [64]byte
	Update       Update
	Transactions [][]byte
}

// Encode returns the block's RLP.
func (b *Block) Encode() []byte {
	out, err := rlp.EncodeToBytes(b)
	if err != nil {
		panic("chain: internal error: block does not encode: " + err.Error())
	}
	return out
}

// DecodeBlock reads a block strictly and within bounds. It checks shape, not validity.
func DecodeBlock(data []byte) (*Block, error) {
	if len(data) > MaxBlockSize {
		return nil, fmt.Errorf("block: %w (%d bytes; at most %d)", ErrTooLarge, len(data), MaxBlockSize)
	}
	var b Block
	if err := rlp.DecodeBytes(data, &b); err != nil {
		return nil, fmt.Errorf("block: %w: %w", ErrInvalid, err)
	}
	return &b, b.checkBounds()
}

// checkBounds refuses a block whose lists are longer than any valid block's.
func (b *Block) checkBounds() error {
	for _, c := range []struct {
		what       string
		have, most int
	}{
		{"timer ids", len(b.Header.TimerIDs), maxTimerIDs},
		{"bytes of extra", len(b.Header.Extra), maxExtraSize},
		{"slot keys", len(b.Update.Slots), scheduler.MaxSlotKeys},
		{"condition keys", len(b.Update.Conditions), scheduler.MaxConditionKeys},
		{"transactions", len(b.Transactions), maxTransactions},
	} {
		if c.have > c.most {
			return fmt.Errorf("block: %w: %d %s; at most %d", ErrInvalid, c.have, c.what, c.most)
		}
	}
	for _, id := range b.Header.TimerIDs {
		if len(id) > maxTimerID {
			return fmt.Errorf("block: %w: timer id of %d bytes; at most %d", ErrInvalid, len(id), maxTimerID)
		}
	}
	if n := len(b.Update.GroupKey); n != 0 && n != tlock.GroupKeySize {
		return fmt.Errorf("block: %w: group key of %d bytes; want %d", ErrInvalid, n, tlock.GroupKeySize)
	}
	return nil
}

// rawList is a list of encoded items whose root is Ethereum's: the trie of their indices.
type rawList [][]byte

func (l rawList) Len() int                           { return len(l) }
func (l rawList) EncodeIndex(i int, w *bytes.Buffer) { w.Write(l[i]) }
func (l rawList) root() Hash                         { return types.DeriveSha(l, trie.NewStackTrie(nil)) }

// txRoot is the transactions' root as in Ethereum, over typed encodings.
func (b *Block) txRoot() Hash { return rawList(b.Transactions).root() }
