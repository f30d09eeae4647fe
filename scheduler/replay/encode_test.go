package replay_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/replay"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// TestEncodeIsReadBack: whatever a script holds, Parse reads back what Encode has written, and it is written the same again.
func TestEncodeIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script := replay.Script{Genesis: drawGenesis(t)}
		for range rapid.IntRange(0, 3).Draw(t, "blocks") {
			script.Blocks = append(script.Blocks, drawBlock(t))
		}
		text := script.Encode()
		back, err := replay.Parse(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !reflect.DeepEqual(back, script) {
			t.Fatalf("read back\n%+v\nwritten\n%+v\nas\n%s", back, script, text)
		}
		if !bytes.Equal(back.Encode(), text) {
			t.Fatalf("written again as\n%s\nbefore\n%s", back.Encode(), text)
		}
	})
}

// The numbers drawn favour zero and the largest, so that fields are left out often.

func u64(t *rapid.T) uint64 {
	return rapid.OneOf(rapid.Just(uint64(0)), rapid.Just(^uint64(0)), rapid.Uint64()).Draw(t, "u64")
}

func u256(t *rapid.T) (v uint256.Int) {
	copy(v[:], rapid.SliceOfN(rapid.Custom(u64), 4, 4).Draw(t, "u256"))
	return v
}

func flag(t *rapid.T) bool { return rapid.Bool().Draw(t, "flag") }

func maybe(t *rapid.T) *bool {
	if !flag(t) {
		return nil
	}
	b := flag(t)
	return &b
}

func word(t *rapid.T) scheduler.Word { v := u256(t); return v.Bytes32() }

func address(t *rapid.T) (a scheduler.Addr) {
	w := word(t)
	a = scheduler.Addr(w[12:])
	if a == scheduler.Address {
		a[0]++
	}
	return a
}

func blob(t *rapid.T) []byte {
	if b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"); len(b) > 0 {
		return b
	}
	return nil
}

// few draws at most three, nil for none.
func few[T any](t *rapid.T, draw func(*rapid.T) T) (list []T) {
	for range rapid.IntRange(0, 3).Draw(t, "count") {
		list = append(list, draw(t))
	}
	return list
}

func someOf[K comparable, V any](t *rapid.T, key func(*rapid.T) K, draw func(*rapid.T) V) map[K]V {
	var m map[K]V
	for _, k := range few(t, key) {
		if m == nil {
			m = map[K]V{}
		}
		m[k] = draw(t)
	}
	return m
}

func drawSecret(t *rapid.T) bls.Scalar { return bls.ScalarFromUint64(u64(t)) }

func drawGenesis(t *rapid.T) replay.Genesis {
	limit := func() uint64 { return uint64(rapid.Uint32().Draw(t, "limit")) }
	return replay.Genesis{
		ChainID: u64(t), GenesisHash: word(t), Time: u64(t), Height: u64(t), GroupSecret: drawSecret(t),
		Policy: scheduler.Policy{
			GasPerBlock: u64(t), GuaranteedGasPerSlot: u64(t), MaxHorizonSlots: u64(t), MaxLateSlots: u64(t), CancelRefundBps: uint16(u64(t)),
			MaxEntriesPerBlock: uint32(u64(t)), Treasury: address(t), MinGasPrice: u64(t), GasToken: address(t),
		},
		Limits: scheduler.Limits{Scan: limit(), Reads: limit(), Watchers: limit(), WatchersPerItem: limit()},
		Accounts: someOf(t, address, func(t *rapid.T) replay.Account {
			return replay.Account{GasToken: u256(t), Tokens: someOf(t, address, func(t *rapid.T) replay.TokenAccount {
				return replay.TokenAccount{Balance: u256(t), Allowance: u256(t)}
			})}
		}),
		RefusesCredit: few(t, address),
		Items: someOf(t, word, func(t *rapid.T) replay.Item {
			i := replay.Item{Halted: flag(t), Disputed: flag(t)}
			if flag(t) {
				v := u256(t)
				i.Value = &v
			}
			return i
		}),
		Targets: someOf(t, address, func(t *rapid.T) replay.Target {
			target := replay.Target{Kind: rapid.SampledFrom([]replay.TargetKind{
				replay.TargetOK, replay.TargetRevert, replay.TargetBurn, replay.TargetCall, replay.TargetTry,
			}).Draw(t, "kind")}
			if target.Kind == replay.TargetCall || target.Kind == replay.TargetTry {
				target.Calldata = append([]byte{}, blob(t)...)
			}
			return target
		}),
	}
}

func drawBlock(t *rapid.T) replay.Block {
	return replay.Block{
		Time: u64(t), Proposer: address(t), GroupSecret: drawSecret(t), SlotKeys: few(t, u64), ConditionKeys: few(t, word), Seize: u256(t),
		Writes: few(t, func(t *rapid.T) replay.Write {
			return replay.Write{Item: word(t), Value: u256(t), Halted: flag(t), Disputed: flag(t)}
		}),
		Flags: few(t, func(t *rapid.T) replay.Flags {
			return replay.Flags{Item: word(t), Halted: maybe(t), Disputed: maybe(t)}
		}),
		Delist: few(t, word), MIP20: few(t, address), Txs: few(t, drawTx),
	}
}

func drawTx(t *rapid.T) replay.Tx {
	tx := replay.Tx{From: address(t), Kind: rapid.SampledFrom([]replay.TxKind{
		replay.TxDeposit, replay.TxWithdraw, replay.TxCancel, replay.TxExpire, replay.TxResume, replay.TxSchedule,
	}).Draw(t, "kind")}
	switch tx.Kind {
	case replay.TxDeposit, replay.TxWithdraw:
		tx.Amount = u256(t)
	case replay.TxCancel, replay.TxExpire, replay.TxResume:
		tx.ID = u64(t)
	case replay.TxSchedule:
		tx.Schedule = drawSchedule(t)
	}
	return tx
}

func drawCall(t *rapid.T) scheduler.Call {
	return scheduler.Call{Target: address(t), GasLimit: u64(t), Data: blob(t)}
}

func drawSchedule(t *rapid.T) *replay.Schedule {
	amount := word(t)
	p := &replay.Schedule{Params: scheduler.Params{
		Slot: u64(t), Height: u64(t), GasLimit: u64(t), GasPrice: u64(t), Class: uint8(u64(t)), LateExecute: flag(t), MaxRetries: uint8(u64(t)),
		BackoffSlots: uint32(u64(t)), PeriodSlots: u64(t), Remaining: uint32(u64(t)), PauseOnFail: flag(t), ReserveToken: address(t),
		ReserveAmount: [12]byte(amount[20:]),
		DependsOn: few(t, func(t *rapid.T) scheduler.Dependency {
			return scheduler.Dependency{ID: u64(t), Finished: flag(t)}
		}),
		When: scheduler.Condition{Item: word(t), Kind: uint8(u64(t)), Operand: word(t)},
	}}
	if flag(t) {
		p.Calls, p.Ciphertext, p.Commitment = few(t, drawCall), blob(t), word(t)
		return p
	}
	nonce := word(t)
	p.Seal = &replay.Seal{
		Calls: few(t, drawCall), Salt: word(t), DataKey: word(t), Sigma: word(t), Nonce: [12]byte(nonce[:]),
		Wrong: rapid.SampledFrom([]replay.Wrong{
			replay.WrongNothing, replay.WrongCommitment, replay.WrongTag, replay.WrongPadding, replay.WrongSlot,
		}).Draw(t, "wrong"),
	}
	return p
}
