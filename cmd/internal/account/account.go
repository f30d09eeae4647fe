// Package account signs what the commands send: an account's key in a file, transactions to contracts, and the wait for their block.
package account

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
)

// txGas is the gas limit of the transactions sent here: enough for a call of the scheduler with the longest ciphertext.
const txGas = 500_000

// KeyHint goes with a key file that is not given.
const KeyHint = `the account's secp256k1 key in hex: "beacond devnet" prints where one lies, "tlock account --help" makes one`

// Account signs transactions.
type Account struct {
	Address common.Address
	key     *ecdsa.PrivateKey
}

// Read reads a secp256k1 key in hex from a file that only its owner can read.
func Read(path string) (*Account, error) {
	data, err := durable.ReadSecret(path, 1024)
	if err != nil {
		return nil, fmt.Errorf("reading account key: %w", err)
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(string(data)), "0x"))
	if err != nil {
		return nil, fmt.Errorf("reading account key: %s does not hold hex", path)
	}
	key, err := crypto.ToECDSA(raw)
	if err != nil {
		return nil, fmt.Errorf("reading account key: %s does not hold a secp256k1 key of 32 bytes", path)
	}
	return &Account{crypto.PubkeyToAddress(key.PublicKey), key}, nil
}

// Call is a transaction that calls a contract.
type Call struct {
	To    common.Address
	Input []byte
}

// Send signs calls for a chain, with nonces from nonce on, and posts them in order. It returns their hashes.
func (a *Account) Send(ctx context.Context, c *api.Client, chainID *big.Int, nonce uint64, calls []Call) (hashes []string, err error) {
	signer := types.NewLondonSigner(chainID)
	for i, call := range calls {
		tx, err := types.SignNewTx(a.key, signer, &types.DynamicFeeTx{
			ChainID: chainID, Nonce: nonce + uint64(i), To: &call.To, Data: call.Input, Gas: txGas,
			GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1),
		})
		if err != nil {
			return hashes, err
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			return hashes, err
		}
		sent, err := c.Submit(ctx, raw)
		if err != nil {
			return hashes, fmt.Errorf("sending transaction %d of %d: %w", i+1, len(calls), err)
		}
		hashes = append(hashes, sent.Hash)
	}
	return hashes, nil
}

// ErrNoBlock: a transaction is in no block, and none can take it any more.
var ErrNoBlock = errors.New("the transaction is in no block")

// pollEvery is how often a node is asked for a receipt.
const pollEvery = 300 * time.Millisecond

// Receipt waits until the transaction is in a block. tooLate tells whether no block can take it any more.
func Receipt(ctx context.Context, c *api.Client, hash string, tooLate func(context.Context) (bool, error)) (api.Receipt, error) {
	for {
		late, err := tooLate(ctx) // asked first: the answer must not be older than the receipt
		if err != nil {
			return api.Receipt{}, err
		}
		r, err := c.Receipt(ctx, hash)
		if err == nil || !api.NotYet(err) {
			return r, err
		}
		if late {
			return api.Receipt{}, ErrNoBlock
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return api.Receipt{}, cli.NotYet(fmt.Errorf("interrupted while waiting for transaction %s", hash))
		}
	}
}
