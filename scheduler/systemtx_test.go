package scheduler_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/vectors"
)

// hexBytes is a byte string of the vectors.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	return err
}

type systemTxCase struct {
	Name    string
	Valid   bool
	ChainID uint64 `json:"chain_id,string"`
	ID      uint64 `json:",string"`
	Attempt uint8  `json:",string"`
	Payer   scheduler.Addr
	Batch   bool
	Calls   []struct {
		Target   scheduler.Addr
		GasLimit uint64 `json:"gas_limit,string"`
		Data     hexBytes
	}
	EncodedCalls hexBytes `json:"encoded_calls"`
	CostInputs   struct {
		GasLimit     uint64 `json:"gas_limit,string"`
		PricedLength uint64 `json:"priced_length"`
		Dependencies uint64
		Recurring    bool
		Reserved     bool
	} `json:"cost_inputs"`
	Target   scheduler.Addr
	GasLimit uint64 `json:"gas_limit,string"`
	GasPrice uint64 `json:"gas_price,string"`
	Input    hexBytes
	Encoded  hexBytes
	Hash     hexBytes
}

// run is the transaction that the case's inputs give.
func (c systemTxCase) run() scheduler.Run {
	cost, _ := scheduler.Cost(c.CostInputs.GasLimit, c.CostInputs.PricedLength, c.CostInputs.Dependencies, c.CostInputs.Recurring, c.CostInputs.Reserved)
	r := scheduler.Run{ID: c.ID, Attempt: c.Attempt, Payer: c.Payer, Target: scheduler.Address, GasLimit: cost, GasPrice: c.GasPrice}
	var calls []scheduler.Call
	for _, call := range c.Calls {
		calls = append(calls, scheduler.Call{Target: call.Target, GasLimit: call.GasLimit, Data: call.Data})
	}
	if len(calls) == 1 {
		r.Target, r.Input = calls[0].Target, calls[0].Data
	} else {
		r.Input = tlock.EncodeCalls(calls)
	}
	return r
}

func TestSystemTxVectors(t *testing.T) {
	raw, err := vectors.FS.ReadFile("systemtx.json")
	must(t, err)
	var file struct{ Cases []systemTxCase }
	must(t, json.Unmarshal(raw, &file))
	for _, c := range file.Cases {
		t.Run("S-RUN-01 S-RUN-02 "+c.Name, func(t *testing.T) {
			r := c.run()
			same := string(r.Encode(c.ChainID)) == string(c.Encoded)
			hash := r.Hash(c.ChainID)
			sameHash := string(hash[:]) == string(c.Hash)
			if !c.Valid {
				expect(t, "encoding and hash both match", same && sameHash, false)
				return
			}
			expect(t, "cost", r.GasLimit, c.GasLimit)
			expect(t, "target", r.Target, c.Target)
			expect(t, "input", string(r.Input), string(c.Input))
			expect(t, "encoding", same, true)
			expect(t, "hash", sameHash, true)
		})
	}
}

func TestHashesOfScenario46(t *testing.T) {
	call := func(target byte, gas uint64, data ...byte) scheduler.Call {
		return scheduler.Call{Target: addr(target), GasLimit: gas, Data: data}
	}
	batch := tlock.EncodeCalls([]scheduler.Call{call(0xbb, 50_000), call(0xcc, 20_000, 1, 2, 3, 4)})
	expect(t, "batch length", len(batch), 416)
	for name, c := range map[string]struct {
		run  scheduler.Run
		want string
	}{
		"a single call":       {scheduler.Run{ID: 7, Target: addr(0xbb), GasLimit: 300_000}, "0c11ad566b9d7891580b062ecb8056623da09e644362b2cdf2609146a7e2f396"},
		"a second attempt":    {scheduler.Run{ID: 7, Attempt: 1, Target: addr(0xbb), GasLimit: 300_000}, "28847b2796eeb5f01bf91028f44a034e56e2d8ad175a351a214055f9b293cc2c"},
		"a batch":             {scheduler.Run{ID: 8, Target: scheduler.Address, GasLimit: 336_000, Input: batch}, "f8aa10e0d5fe319caa75ec61193af13335979bfd11e3aaa25cf38a3a66a0083c"},
		"a payload gone bad ": {scheduler.Run{ID: 9, Target: scheduler.Address, GasLimit: 342_000}, "32d2320582aa9a94085727df3f848ef75b11323c4fde5dfa802d31a970ad26ab"},
	} {
		c.run.Payer, c.run.GasPrice = addr(0xaa), 10
		expect(t, name, c.run.Hash(31337).String(), "0x"+c.want)
	}
}

func TestSystemTxIsGethsRLP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := scheduler.Run{
			ID: rapid.Uint64().Draw(t, "id"), Attempt: rapid.Uint8().Draw(t, "attempt"), Payer: scheduler.Addr(drawBytes(t, "payer", 20)),
			Target: scheduler.Addr(drawBytes(t, "target", 20)), GasLimit: rapid.Uint64().Draw(t, "gasLimit"), GasPrice: rapid.Uint64().Draw(t, "gasPrice"),
			Input: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "input"),
		}
		chain := rapid.Uint64().Draw(t, "chain")
		list, err := rlp.EncodeToBytes([]any{chain, r.ID, uint64(r.Attempt), common.Address(r.Payer), common.Address(r.Target), r.GasLimit, r.GasPrice, r.Input})
		if err != nil {
			t.Fatal(err)
		}
		want := append([]byte{0x7e}, list...)
		if got := r.Encode(chain); string(got) != string(want) {
			t.Fatalf("got %x\nwant %x", got, want)
		}
		if got := r.Hash(chain); got != scheduler.Word(crypto.Keccak256(want)) {
			t.Fatalf("got hash %x", got)
		}
	})
}
