package vectorcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func systemTxFile(raw []byte) ([]testCase, error) {
	return caseFile(raw, checks{"system_tx": checkSystemTx})
}

type systemTxCase struct {
	head
	ChainID            decimal  `json:"chain_id"`
	ID                 decimal  `json:"id"`
	Attempt            decimal  `json:"attempt"`
	Payer              hexBytes `json:"payer"`
	Batch              bool     `json:"batch"`
	Calls              []call   `json:"calls"`
	EncodedCalls       hexBytes `json:"encoded_calls"`
	EncodedCallsLength int      `json:"encoded_calls_length"`
	CostInputs         struct {
		GasLimit     decimal `json:"gas_limit"`
		PricedLength uint64  `json:"priced_length"`
		Dependencies uint64  `json:"dependencies"`
		Recurring    bool    `json:"recurring"`
		Reserved     bool    `json:"reserved"`
		Sealed       bool    `json:"sealed"`
	} `json:"cost_inputs"`
	Target   hexBytes `json:"target"`
	GasLimit decimal  `json:"gas_limit"`
	GasPrice decimal  `json:"gas_price"`
	Input    hexBytes `json:"input"`
	RLP      hexBytes `json:"rlp"` // of valid cases
	Encoded  hexBytes `json:"encoded"`
	Hash     hexBytes `json:"hash"`
}

func checkSystemTx(raw json.RawMessage) error {
	var c systemTxCase
	if err := strict(raw, &c); err != nil {
		return err
	}
	chain, err := c.ChainID.uint64()
	if err != nil {
		return err
	}
	calls, err := toCalls(c.Calls)
	if err != nil {
		return err
	}
	encodedCalls := tlock.EncodeCalls(calls)
	if err := same("encoded_calls", encodedCalls, c.EncodedCalls); err != nil {
		return err
	}
	if c.EncodedCallsLength != len(encodedCalls) || c.Batch != (len(calls) != 1) {
		return errors.New("encoded_calls_length or batch does not fit the calls")
	}
	run, err := c.run(calls, encodedCalls)
	if err != nil {
		return err
	}
	encoded, hash := run.Encode(chain), run.Hash(chain)
	err = errors.Join(
		same("target", run.Target[:], c.Target),
		same("input", run.Input, c.Input),
		same("encoded", encoded, c.Encoded),
		same("hash", hash[:], c.Hash),
	)
	if c.Valid {
		err = errors.Join(err, same("rlp", encoded[1:], c.RLP))
	}
	return c.expect(err)
}

// run makes the transaction: a single call shows as itself, a batch as the scheduler with the encoded calls (S-RUN-03).
func (c *systemTxCase) run(calls []tlock.Call, encodedCalls []byte) (r scheduler.Run, err error) {
	r.Target, r.Input = scheduler.Address, encodedCalls
	if len(calls) == 1 {
		r.Target, r.Input = calls[0].Target, calls[0].Data
	}
	if r.Payer, err = array[[20]byte]("payer", c.Payer); err != nil {
		return r, err
	}
	attempt, err := strconv.ParseUint(string(c.Attempt), 10, 8)
	if err != nil {
		return r, err
	}
	r.Attempt = uint8(attempt)
	if r.ID, err = c.ID.uint64(); err != nil {
		return r, err
	}
	if r.GasPrice, err = c.GasPrice.uint64(); err != nil {
		return r, err
	}
	r.GasLimit, err = c.cost(len(encodedCalls))
	return r, err
}

// cost recomputes the budget, which is the transaction's gas limit. An open entry is priced on its calls, a sealed one on
// a ciphertext that can hold them.
func (c *systemTxCase) cost(callsLength int) (uint64, error) {
	in := c.CostInputs
	body := in.PricedLength - tlock.PayloadOverhead
	isClass := in.PricedLength >= tlock.MinPayloadSize && in.PricedLength <= tlock.MaxPayloadSize && body&(body-1) == 0
	if in.Sealed && !(isClass && body >= uint64(4+callsLength)) || !in.Sealed && in.PricedLength != uint64(callsLength) {
		return 0, fmt.Errorf("priced_length %d for %d bytes of calls", in.PricedLength, callsLength)
	}
	gasLimit, err := in.GasLimit.uint64()
	if err != nil {
		return 0, err
	}
	cost, ok := scheduler.Cost(gasLimit, in.PricedLength, in.Dependencies, in.Recurring, in.Reserved)
	if recorded := string(c.GasLimit); !ok || strconv.FormatUint(cost, 10) != recorded {
		return 0, fmt.Errorf("gas_limit: got %d, recorded %s", cost, recorded)
	}
	return cost, nil
}
