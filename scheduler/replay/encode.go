package replay

import (
	"encoding/hex"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Encode writes the script as Parse reads it: one line for the genesis and one for each block. What is zero is left out.
func (s Script) Encode() []byte {
	out := s.Genesis.Encode()
	for _, b := range s.Blocks {
		out = append(out, b.Encode()...)
	}
	return out
}

// Encode writes the genesis line, with its line feed.
func (g Genesis) Encode() []byte {
	return encodeLine(func(w *writer) { put(w, "genesis", g, writeGenesis) })
}

// Encode writes the block's line, with its line feed.
func (b Block) Encode() []byte {
	return encodeLine(func(w *writer) { put(w, "block", b, writeBlock) })
}

// String is the target as the script names it.
func (t Target) String() string {
	if t.Kind == TargetCall || t.Kind == TargetTry {
		return string(t.Kind) + ":0x" + hex.EncodeToString(t.Calldata)
	}
	return string(t.Kind)
}

func writeGenesis(w *writer, g Genesis) {
	w.object(func() {
		put(w, "chain_id", g.ChainID, (*writer).uint64)
		put(w, "genesis_hash", g.GenesisHash, (*writer).word)
		put(w, "time", g.Time, (*writer).uint64)
		put(w, "height", g.Height, (*writer).uint64)
		putIf(w, !g.GroupSecret.IsZero(), "group_secret", g.GroupSecret, writeSecret)
		put(w, "policy", g.Policy, writePolicy)
		putIf(w, g.Limits != scheduler.Limits{}, "limits", g.Limits, writeLimits)
		putMap(w, "accounts", addrKeys(g.Accounts), writeAccount)
		putList(w, "refuses_credit", g.RefusesCredit, (*writer).addr)
		putMap(w, "items", wordKeys(g.Items), writeItem)
		putMap(w, "targets", addrKeys(g.Targets), func(w *writer, t Target) { w.string(t.String()) })
	})
}

func writeSecret(w *writer, s bls.Scalar) {
	b := s.Bytes()
	w.bytes(b[:])
}

func writePolicy(w *writer, p scheduler.Policy) {
	w.object(func() {
		put(w, "gas_per_block", p.GasPerBlock, (*writer).uint64)
		put(w, "guaranteed_gas_per_slot", p.GuaranteedGasPerSlot, (*writer).uint64)
		put(w, "max_horizon_slots", p.MaxHorizonSlots, (*writer).uint64)
		put(w, "max_late_slots", p.MaxLateSlots, (*writer).uint64)
		put(w, "cancel_refund_bps", uint32(p.CancelRefundBps), (*writer).small)
		put(w, "max_entries_per_block", p.MaxEntriesPerBlock, (*writer).small)
		put(w, "treasury", p.Treasury, (*writer).addr)
		put(w, "min_gas_price", p.MinGasPrice, (*writer).uint64)
		put(w, "gas_token", p.GasToken, (*writer).addr)
	})
}

func writeLimits(w *writer, l scheduler.Limits) {
	w.object(func() {
		putSmall(w, "scan", uint32(l.Scan))
		putSmall(w, "reads", uint32(l.Reads))
		putSmall(w, "watchers", uint32(l.Watchers))
		putSmall(w, "watchers_per_item", uint32(l.WatchersPerItem))
	})
}

func writeAccount(w *writer, a Account) {
	w.object(func() {
		putAmount(w, "gas_token", a.GasToken)
		putMap(w, "tokens", addrKeys(a.Tokens), writeTokenAccount)
	})
}

func writeTokenAccount(w *writer, a TokenAccount) {
	w.object(func() {
		putAmount(w, "balance", a.Balance)
		putAmount(w, "allowance", a.Allowance)
	})
}

func writeItem(w *writer, i Item) {
	w.object(func() {
		w.field("value")
		if i.Value == nil {
			w.raw("null")
		} else {
			w.amount(*i.Value)
		}
		putTrue(w, "halted", i.Halted)
		putTrue(w, "disputed", i.Disputed)
	})
}

func writeBlock(w *writer, b Block) {
	w.object(func() {
		put(w, "time", b.Time, (*writer).uint64)
		put(w, "proposer", b.Proposer, (*writer).addr)
		putIf(w, !b.GroupSecret.IsZero(), "group_secret", b.GroupSecret, writeSecret)
		putList(w, "slot_keys", b.SlotKeys, (*writer).uint64)
		putList(w, "condition_keys", b.ConditionKeys, (*writer).word)
		putAmount(w, "seize", b.Seize)
		putList(w, "writes", b.Writes, writeWrite)
		putList(w, "flags", b.Flags, writeFlags)
		putList(w, "delist", b.Delist, (*writer).word)
		putList(w, "mip20", b.MIP20, (*writer).addr)
		putList(w, "txs", b.Txs, writeTx)
	})
}

func writeWrite(w *writer, v Write) {
	w.object(func() {
		put(w, "item", v.Item, (*writer).word)
		putAmount(w, "value", v.Value)
		putTrue(w, "halted", v.Halted)
		putTrue(w, "disputed", v.Disputed)
	})
}

func writeFlags(w *writer, f Flags) {
	w.object(func() {
		put(w, "item", f.Item, (*writer).word)
		if f.Halted != nil {
			put(w, "halted", *f.Halted, (*writer).bool)
		}
		if f.Disputed != nil {
			put(w, "disputed", *f.Disputed, (*writer).bool)
		}
	})
}

func writeTx(w *writer, tx Tx) {
	w.object(func() {
		put(w, "from", tx.From, (*writer).addr)
		switch tx.Kind {
		case TxDeposit, TxWithdraw:
			put(w, string(tx.Kind), tx.Amount, (*writer).amount)
		case TxCancel, TxExpire, TxResume:
			put(w, string(tx.Kind), tx.ID, (*writer).uint64)
		case TxSchedule:
			put(w, string(tx.Kind), *tx.Schedule, writeSchedule)
		}
	})
}

func writeSchedule(w *writer, p Schedule) {
	w.object(func() {
		putList(w, "calls", p.Calls, writeCall)
		putUint64(w, "slot", p.Slot)
		putUint64(w, "height", p.Height)
		putUint64(w, "gas_limit", p.GasLimit)
		putUint64(w, "gas_price", p.GasPrice)
		putSmall(w, "class", uint32(p.Class))
		putTrue(w, "late_execute", p.LateExecute)
		putSmall(w, "max_retries", uint32(p.MaxRetries))
		putSmall(w, "backoff_slots", p.BackoffSlots)
		putUint64(w, "period_slots", p.PeriodSlots)
		putSmall(w, "remaining", p.Remaining)
		putTrue(w, "pause_on_fail", p.PauseOnFail)
		putIf(w, p.ReserveToken != scheduler.Addr{}, "reserve_token", p.ReserveToken, (*writer).addr)
		putAmount(w, "reserve_amount", *new(uint256.Int).SetBytes(p.ReserveAmount[:]))
		putList(w, "depends_on", p.DependsOn, writeDependency)
		putIf(w, len(p.Ciphertext) > 0, "ciphertext", p.Ciphertext, (*writer).bytes)
		putWord(w, "commitment", p.Commitment)
		putIf(w, p.When != scheduler.Condition{}, "when", p.When, writeCondition)
		if p.Seal != nil {
			put(w, "seal", *p.Seal, writeSeal)
		}
	})
}

func writeCall(w *writer, c scheduler.Call) {
	w.object(func() {
		put(w, "target", scheduler.Addr(c.Target), (*writer).addr)
		putUint64(w, "gas_limit", c.GasLimit)
		putIf(w, len(c.Data) > 0, "data", c.Data, (*writer).bytes)
	})
}

func writeDependency(w *writer, d scheduler.Dependency) {
	w.object(func() {
		put(w, "id", d.ID, (*writer).uint64)
		putTrue(w, "finished", d.Finished)
	})
}

func writeCondition(w *writer, c scheduler.Condition) {
	w.object(func() {
		putWord(w, "item", c.Item)
		putSmall(w, "kind", uint32(c.Kind))
		putAmount(w, "operand", *new(uint256.Int).SetBytes(c.Operand[:]))
	})
}

func writeSeal(w *writer, s Seal) {
	w.object(func() {
		putList(w, "calls", s.Calls, writeCall)
		putWord(w, "salt", s.Salt)
		putWord(w, "data_key", s.DataKey)
		putWord(w, "sigma", s.Sigma)
		putIf(w, s.Nonce != [12]byte{}, "nonce", s.Nonce[:], (*writer).bytes)
		putIf(w, s.Wrong != WrongNothing, "wrong", string(s.Wrong), (*writer).string)
	})
}
