package chain

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// MaxTxSize bounds a user transaction, in bytes of its encoding: the largest schedule call, with room to spare.
const MaxTxSize = 64 << 10

// Tx is a user transaction whose form, chain and signature were checked. It is immutable.
type Tx struct {
	raw    []byte
	inner  *types.Transaction
	sender Addr
	cost   uint256.Int // see MaxCost
}

// Raw returns the encoding. Callers must not change it.
func (tx *Tx) Raw() []byte { return tx.raw }

// Hash is the Ethereum transaction hash.
func (tx *Tx) Hash() Hash { return tx.inner.Hash() }

// Sender is the account that signed.
func (tx *Tx) Sender() Addr { return tx.sender }

// Nonce counts the sender's earlier transactions.
func (tx *Tx) Nonce() uint64 { return tx.inner.Nonce() }

// Gas is the most the transaction may use.
func (tx *Tx) Gas() uint64 { return tx.inner.Gas() }

// Inner is go-ethereum's form of the transaction, for presentation.
func (tx *Tx) Inner() *types.Transaction { return tx.inner }

// DecodeTx reads a raw Ethereum transaction: legacy with EIP-155 or type 2 (EIP-1559), signed for the chain. Other types,
// contract creation and transfers of native coin, of which this chain has none, are refused.
func DecodeTx(chainID uint64, raw []byte) (*Tx, error) {
	switch {
	case len(raw) == 0:
		return nil, fmt.Errorf("transaction: %w: empty", ErrInvalid)
	case len(raw) > MaxTxSize:
		return nil, fmt.Errorf("transaction: %w (%d bytes; at most %d)", ErrTooLarge, len(raw), MaxTxSize)
	case raw[0] == scheduler.SystemTxType:
		return nil, ErrSystemTx
	}
	inner := new(types.Transaction)
	if err := inner.UnmarshalBinary(raw); err != nil {
		return nil, fmt.Errorf("transaction: %w: want a raw signed Ethereum transaction: %w", ErrInvalid, err)
	}
	if err := checkTxShape(chainID, inner); err != nil {
		return nil, err
	}
	sender, err := types.Sender(types.NewLondonSigner(new(big.Int).SetUint64(chainID)), inner)
	if errors.Is(err, types.ErrInvalidChainId) {
		return nil, wrongChain(chainID, inner)
	}
	if err != nil {
		return nil, fmt.Errorf("transaction: %w: signature: %w", ErrInvalid, err)
	}
	cost := costOf(inner.Gas(), uint256.MustFromBig(inner.GasFeeCap()))
	return &Tx{raw: append([]byte(nil), raw...), inner: inner, sender: sender, cost: cost}, nil
}

func checkTxShape(chainID uint64, tx *types.Transaction) error {
	switch tx.Type() {
	case types.LegacyTxType:
		if !tx.Protected() {
			return fmt.Errorf("transaction: %w: signed for no chain: sign it for chain %d (EIP-155)", ErrInvalid, chainID)
		}
	case types.DynamicFeeTxType:
		if len(tx.AccessList()) != 0 {
			return fmt.Errorf("transaction: %w: access lists are not used on this chain: leave it empty", ErrInvalid)
		}
	default:
		return fmt.Errorf("transaction: %w: type %d is not supported: use type 2 (EIP-1559) or legacy with EIP-155", ErrInvalid, tx.Type())
	}
	if tx.To() == nil {
		return fmt.Errorf("transaction: %w: this chain deploys no contracts: give a receiver", ErrInvalid)
	}
	if tx.Value().Sign() != 0 {
		return fmt.Errorf("transaction: %w: this chain has no native coin: set value to 0", ErrInvalid)
	}
	if tx.GasFeeCapIntCmp(tx.GasTipCap()) < 0 {
		return fmt.Errorf("transaction: %w: maxFeePerGas is below maxPriorityFeePerGas", ErrInvalid)
	}
	if tx.GasFeeCap().BitLen() > 256 || tx.GasTipCap().BitLen() > 256 {
		return fmt.Errorf("transaction: %w: gas price of more than 256 bits", ErrInvalid)
	}
	if tx.GasFeeCap().Sign() == 0 {
		return fmt.Errorf("transaction: %w: maxFeePerGas is 0: give at least 1", ErrInvalid)
	}
	if tx.ChainId().Cmp(new(big.Int).SetUint64(chainID)) != 0 {
		return wrongChain(chainID, tx)
	}
	return nil
}

func wrongChain(chainID uint64, tx *types.Transaction) error {
	return fmt.Errorf("%w: it is signed for chain %s, this is chain %d", ErrWrongChain, tx.ChainId(), chainID)
}
