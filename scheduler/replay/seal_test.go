package replay_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/replay"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// vectorSeal is the payload of the published vectors: its randomness is the SHA-256 of what it is for.
func vectorSeal(wrong replay.Wrong) *replay.Seal {
	return &replay.Seal{
		Calls: []scheduler.Call{{Target: fill(0xbb), GasLimit: 50_000}},
		Salt:  sha256.Sum256([]byte("salt")), DataKey: sha256.Sum256([]byte("data key")), Sigma: sha256.Sum256([]byte("sigma")),
		Nonce: [12]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, Wrong: wrong,
	}
}

func fill(b byte) (a scheduler.Addr) {
	for i := range a {
		a[i] = b
	}
	return a
}

func genesis(t *testing.T) replay.Genesis {
	t.Helper()
	script, err := replay.Parse(strings.NewReader(genesisLine))
	if err != nil {
		t.Fatal(err)
	}
	return script.Genesis
}

// scheduled plays one block that schedules p at slot 1,800,000,000 and returns the entry.
func scheduled(t *testing.T, p replay.Schedule) (*replay.Player, scheduler.Entry) {
	t.Helper()
	g := genesis(t)
	g.Time = 1_799_999_990
	value := *uint256Of(3000)
	g.Items = map[scheduler.Word]replay.Item{ethUSD(): {Value: &value}}
	player, err := replay.NewPlayer(g)
	if err != nil {
		t.Fatal(err)
	}
	p.Slot, p.GasLimit, p.GasPrice, p.Class = 1_800_000_000, 98_000, 10, scheduler.BestEffort
	line, err := player.Block(replay.Block{Time: 1_799_999_991, Txs: []replay.Tx{
		{From: fill(0xaa), Kind: replay.TxDeposit, Amount: *uint256Of(10_000_000)},
		{From: fill(0xaa), Kind: replay.TxSchedule, Schedule: &p},
	}})
	if err != nil || len(line.Errors) != 2 || line.Errors[1] != "" {
		t.Fatalf("%v, %q", err, line.Errors)
	}
	return player, player.View().Entry(1)
}

func ethUSD() scheduler.Word { return keccak([]byte("ETH/USD")) }

func keccak(b []byte) (w scheduler.Word) {
	h := sha3.NewLegacyKeccak256()
	h.Write(b)
	h.Sum(w[:0])
	return w
}

func TestSealGivesTheVectors(t *testing.T) {
	t.Run("to a slot", func(t *testing.T) {
		_, e := scheduled(t, replay.Schedule{Seal: vectorSeal("")})
		if len(e.Calls) != 428 || keccak(e.Calls).String() != "0x57f2a9aa67c3027c562eb59e89c80072afd6c43127436fdca159acda8a152eda" {
			t.Errorf("ciphertext of %d bytes: %x", len(e.Calls), e.Calls)
		}
		if got := e.Commitment.String(); got != "0x4d99abab2bddd926aa4d3a9fec5a42c4d46c8b88baf10c0efe8da8957af4b0b3" {
			t.Errorf("commitment %s", got)
		}
	})
	t.Run("to a condition", func(t *testing.T) {
		_, e := scheduled(t, replay.Schedule{Seal: vectorSeal(""), Params: scheduler.Params{When: conditionOf3000()}})
		if got := hex.EncodeToString(e.Calls[48:80]); got != "a6828af1c40fd8f206aa43d7ccdce3f3ee0984d3651d6ccff728390bf9110928" {
			t.Errorf("V is %s", got)
		}
	})
}

func conditionOf3000() scheduler.Condition {
	return scheduler.Condition{Item: ethUSD(), Kind: scheduler.WhenValueAtLeast, Operand: uint256Of(3000).Bytes32()}
}

// TestSealOpens opens payloads with package tlock: sound ones open, and a spoiled one fails in the way its name says.
func TestSealOpens(t *testing.T) {
	for _, conditional := range []bool{false, true} {
		for wrong, want := range map[replay.Wrong]string{
			replay.WrongNothing:    "",
			replay.WrongCommitment: "not what the commitment promised",
			replay.WrongTag:        "does not authenticate",
			replay.WrongPadding:    "padding is not zero",
			replay.WrongSlot:       "key does not open",
		} {
			t.Run(fmt.Sprintf("conditional %t, wrong %q", conditional, wrong), func(t *testing.T) {
				p := replay.Schedule{Seal: vectorSeal(wrong)}
				to := tlock.SlotSeal(1_800_000_000, fill(0xaa))
				if conditional {
					p.When = conditionOf3000()
					var err error
					to, err = tlock.ConditionSeal(tlock.Condition{
						Payer: fill(0xaa), Item: p.When.Item, Kind: p.When.Kind, Operand: p.When.Operand, NotBefore: 1_800_000_000,
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				player, e := scheduled(t, p)
				calls, err := tlock.OpenCalls(keyOf(t, player, to.Identity()), to, e.Calls, e.Commitment)
				switch {
				case want == "" && (err != nil || string(calls) != string(tlock.EncodeCalls(p.Seal.Calls))):
					t.Errorf("got %x, %v", calls, err)
				case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
					t.Errorf("got error %v, want %q", err, want)
				}
			})
		}
	}
}

func keyOf(t *testing.T, p *replay.Player, id tlock.Identity) tlock.Key {
	t.Helper()
	secret, err := hex.DecodeString("0c6d3a7ecd24126c85920d2dcd1fdcc8c451555bbef4a1f34812e8bccebc4a3f")
	if err != nil {
		t.Fatal(err)
	}
	s, err := bls.ScalarFromBytes(secret)
	if err != nil {
		t.Fatal(err)
	}
	key, err := tlock.KeyFromPoint(p.Host().Namespace().Point(id).Mul(s))
	if err != nil {
		t.Fatal(err)
	}
	return key
}
