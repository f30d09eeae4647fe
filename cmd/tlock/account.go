package main

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
)

// txGas is the gas limit of the transactions sent here: enough for a call of the scheduler with the longest ciphertext.
const txGas = 500_000

// account signs transactions.
type account struct {
	key     *ecdsa.PrivateKey
	address common.Address
}

// readAccount reads a secp256k1 key in hex from a file that only its owner can read.
func readAccount(path string) (*account, error) {
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
	return &account{key, crypto.PubkeyToAddress(key.PublicKey)}, nil
}

// call is a transaction that calls a contract.
type call struct {
	to    common.Address
	input []byte
}

// send signs calls for a chain, with nonces from nonce on, and posts them in order. It returns their hashes.
func (a *account) send(ctx context.Context, c *api.Client, chainID *big.Int, nonce uint64, calls []call) (hashes []string, err error) {
	signer := types.NewLondonSigner(chainID)
	for i, call := range calls {
		tx, err := types.SignNewTx(a.key, signer, &types.DynamicFeeTx{
			ChainID: chainID, Nonce: nonce + uint64(i), To: &call.to, Data: call.input, Gas: txGas,
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
