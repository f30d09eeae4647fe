package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// MaxLine is the most bytes that a line of a script may have.
const MaxLine = 16 << 20

// Reader reads a script line by line. Its errors name the line and the field.
type Reader struct {
	lines *bufio.Scanner
	line  int
}

// NewReader reads a script from r.
func NewReader(r io.Reader) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	return &Reader{lines: lines}
}

// Line is the number of the line read last, from 1.
func (r *Reader) Line() int { return r.line }

// Genesis reads the first line.
func (r *Reader) Genesis() (Genesis, error) {
	g, err := next(r, "genesis", record(readGenesis))
	if errors.Is(err, io.EOF) {
		err = errors.New("the script is empty: its first line is the genesis")
	}
	return g, err
}

// Block reads the next block. The error is io.EOF after the last.
func (r *Reader) Block() (Block, error) { return next(r, "block", record(readBlock)) }

// next reads a line that holds an object with one field of that name. Blank lines are passed over.
func next[T any](r *Reader, name string, reader func(value) (T, error)) (out T, err error) {
	line, err := r.next()
	if err != nil {
		return out, err
	}
	out, err = record(func(f *fields, out *T) { required(f, name, out, reader) })(value{raw: line})
	if err != nil {
		err = fmt.Errorf("line %d: %w", r.line, err)
	}
	return out, err
}

func (r *Reader) next() ([]byte, error) {
	for r.lines.Scan() {
		r.line++
		if line := bytes.TrimSpace(r.lines.Bytes()); len(line) > 0 {
			return line, nil
		}
	}
	switch err := r.lines.Err(); {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: longer than %d bytes", r.line+1, MaxLine)
	default:
		return nil, err
	}
}

// Parse reads a whole script.
func Parse(r io.Reader) (Script, error) {
	in := NewReader(r)
	g, err := in.Genesis()
	if err != nil {
		return Script{}, err
	}
	s := Script{Genesis: g}
	for {
		b, err := in.Block()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return Script{}, err
		}
		s.Blocks = append(s.Blocks, b)
	}
}

func readGenesis(f *fields, g *Genesis) {
	required(f, "chain_id", &g.ChainID, readUint64)
	required(f, "genesis_hash", &g.GenesisHash, readWord)
	required(f, "time", &g.Time, readUint64)
	optional(f, "height", &g.Height, readUint64)
	optional(f, "group_secret", &g.GroupSecret, readSecret)
	required(f, "policy", &g.Policy, record(readPolicy))
	optional(f, "limits", &g.Limits, record(readLimits))
	optional(f, "accounts", &g.Accounts, table(readAddr, record(readAccount)))
	optional(f, "refuses_credit", &g.RefusesCredit, list(readAddr))
	optional(f, "items", &g.Items, table(readWord, record(readItem)))
	optional(f, "targets", &g.Targets, table(readAddr, readTarget))
}

// readPolicy: what is left out is as in scheduler.DefaultPolicy.
func readPolicy(f *fields, p *scheduler.Policy) {
	*p = scheduler.DefaultPolicy()
	optional(f, "gas_per_block", &p.GasPerBlock, readUint64)
	optional(f, "guaranteed_gas_per_slot", &p.GuaranteedGasPerSlot, readUint64)
	optional(f, "max_horizon_slots", &p.MaxHorizonSlots, readUint64)
	optional(f, "max_late_slots", &p.MaxLateSlots, readUint64)
	optional(f, "cancel_refund_bps", &p.CancelRefundBps, readSmall[uint16](16))
	optional(f, "max_entries_per_block", &p.MaxEntriesPerBlock, readSmall[uint32](32))
	required(f, "treasury", &p.Treasury, readAddr)
	optional(f, "min_gas_price", &p.MinGasPrice, readUint64)
	required(f, "gas_token", &p.GasToken, readAddr)
}

func readLimits(f *fields, l *scheduler.Limits) {
	optional(f, "scan", &l.Scan, readLimit)
	optional(f, "reads", &l.Reads, readLimit)
	optional(f, "watchers", &l.Watchers, readLimit)
	optional(f, "watchers_per_item", &l.WatchersPerItem, readLimit)
}

func readLimit(v value) (uint64, error) {
	n, err := readSmall[uint32](32)(v)
	if err == nil && n == 0 {
		err = v.errorf("must not be zero")
	}
	return uint64(n), err
}

func readAccount(f *fields, a *Account) {
	optional(f, "gas_token", &a.GasToken, readAmount)
	optional(f, "tokens", &a.Tokens, table(readAddr, record(readTokenAccount)))
}

func readTokenAccount(f *fields, a *TokenAccount) {
	optional(f, "balance", &a.Balance, readAmount)
	optional(f, "allowance", &a.Allowance, readAmount)
}

func readItem(f *fields, i *Item) {
	required(f, "value", &i.Value, func(v value) (*uint256.Int, error) {
		if string(v.raw) == "null" {
			return nil, nil
		}
		return pointer(readAmount)(v)
	})
	optional(f, "halted", &i.Halted, readBool)
	optional(f, "disputed", &i.Disputed, readBool)
}

func readTarget(v value) (Target, error) {
	s, err := readString(v)
	if err != nil {
		return Target{}, err
	}
	kind, calldata, calls := strings.Cut(s, ":")
	switch k := TargetKind(kind); k {
	case TargetOK, TargetRevert, TargetBurn:
		if !calls {
			return Target{Kind: k}, nil
		}
	case TargetCall, TargetTry:
		if b, ok := parseHex(calldata); ok {
			return Target{Kind: k, Calldata: b}, nil
		}
	}
	return Target{}, v.errorf(`must be "ok", "revert", "burn", "call:0x…" or "try:0x…"`)
}

func readBlock(f *fields, b *Block) {
	required(f, "time", &b.Time, readUint64)
	required(f, "proposer", &b.Proposer, readAddr)
	optional(f, "group_secret", &b.GroupSecret, readSecret)
	optional(f, "slot_keys", &b.SlotKeys, list(readUint64))
	optional(f, "condition_keys", &b.ConditionKeys, list(readWord))
	optional(f, "seize", &b.Seize, readAmount)
	optional(f, "writes", &b.Writes, list(record(readWrite)))
	optional(f, "flags", &b.Flags, list(record(readFlags)))
	optional(f, "delist", &b.Delist, list(readWord))
	optional(f, "mip20", &b.MIP20, list(readAddr))
	optional(f, "txs", &b.Txs, list(record(readTx)))
}

func readWrite(f *fields, w *Write) {
	required(f, "item", &w.Item, readWord)
	optional(f, "value", &w.Value, readAmount)
	optional(f, "halted", &w.Halted, readBool)
	optional(f, "disputed", &w.Disputed, readBool)
}

func readFlags(f *fields, l *Flags) {
	required(f, "item", &l.Item, readWord)
	optional(f, "halted", &l.Halted, pointer(readBool))
	optional(f, "disputed", &l.Disputed, pointer(readBool))
}

var txKinds = []TxKind{TxDeposit, TxWithdraw, TxCancel, TxExpire, TxResume, TxSchedule}

func readTx(f *fields, tx *Tx) {
	required(f, "from", &tx.From, readAddr)
	if tx.From == scheduler.Address {
		f.fail(f.at("from").errorf("the scheduler sends no user transactions"))
	}
	for _, kind := range txKinds {
		at := string(kind)
		if !f.has(at) {
			continue
		}
		if tx.Kind != "" {
			f.fail(f.errorf("%s and %s: a transaction does one thing", tx.Kind, kind))
		}
		tx.Kind = kind
		switch kind {
		case TxDeposit, TxWithdraw:
			optional(f, at, &tx.Amount, readAmount)
		case TxCancel, TxExpire, TxResume:
			optional(f, at, &tx.ID, readUint64)
		case TxSchedule:
			optional(f, at, &tx.Schedule, pointer(record(readSchedule)))
		}
	}
	if tx.Kind == "" {
		f.fail(f.errorf("must have one of %v", txKinds))
	}
}

func readSchedule(f *fields, p *Schedule) {
	optional(f, "calls", &p.Calls, list(record(readCall)))
	optional(f, "slot", &p.Slot, readUint64)
	optional(f, "height", &p.Height, readUint64)
	optional(f, "gas_limit", &p.GasLimit, readUint64)
	optional(f, "gas_price", &p.GasPrice, readUint64)
	optional(f, "class", &p.Class, readSmall[uint8](8))
	optional(f, "late_execute", &p.LateExecute, readBool)
	optional(f, "max_retries", &p.MaxRetries, readSmall[uint8](8))
	optional(f, "backoff_slots", &p.BackoffSlots, readSmall[uint32](32))
	optional(f, "period_slots", &p.PeriodSlots, readUint64)
	optional(f, "remaining", &p.Remaining, readSmall[uint32](32))
	optional(f, "pause_on_fail", &p.PauseOnFail, readBool)
	optional(f, "reserve_token", &p.ReserveToken, readAddr)
	optional(f, "reserve_amount", &p.ReserveAmount, readUint96)
	optional(f, "depends_on", &p.DependsOn, list(record(readDependency)))
	optional(f, "ciphertext", &p.Ciphertext, readHex)
	optional(f, "commitment", &p.Commitment, readWord)
	optional(f, "when", &p.When, record(readCondition))
	optional(f, "seal", &p.Seal, pointer(record(readSeal)))
	for _, name := range []string{"calls", "ciphertext", "commitment"} {
		if p.Seal != nil && f.has(name) {
			f.fail(f.at(name).errorf("comes from seal, which is given too"))
		}
	}
}

func readCall(f *fields, c *scheduler.Call) {
	var target scheduler.Addr
	optional(f, "target", &target, readAddr)
	c.Target = target
	optional(f, "gas_limit", &c.GasLimit, readUint64)
	optional(f, "data", &c.Data, readHex)
}

func readUint96(v value) (out [12]byte, err error) {
	a, err := readAmount(v)
	if err != nil || a.BitLen() > 96 {
		return out, v.errorf("must be a decimal number of at most 96 bits in quotes")
	}
	b := a.Bytes32()
	return [12]byte(b[20:]), nil
}

func readDependency(f *fields, d *scheduler.Dependency) {
	required(f, "id", &d.ID, readUint64)
	optional(f, "finished", &d.Finished, readBool)
}

func readCondition(f *fields, c *scheduler.Condition) {
	var operand uint256.Int
	optional(f, "item", &c.Item, readWord)
	optional(f, "kind", &c.Kind, readSmall[uint8](8))
	optional(f, "operand", &operand, readAmount)
	c.Operand = operand.Bytes32()
}

func readSeal(f *fields, s *Seal) {
	optional(f, "calls", &s.Calls, list(record(readCall)))
	optional(f, "salt", &s.Salt, readWord)
	optional(f, "data_key", &s.DataKey, readWord)
	optional(f, "sigma", &s.Sigma, readWord)
	optional(f, "nonce", &s.Nonce, func(v value) (n [12]byte, err error) {
		err = readFixed(v, n[:])
		return n, err
	})
	optional(f, "wrong", &s.Wrong, readWrong)
}

func readWrong(v value) (Wrong, error) {
	s, err := readString(v)
	switch w := Wrong(s); w {
	case WrongNothing, WrongCommitment, WrongTag, WrongPadding, WrongSlot:
		return w, err
	}
	return "", v.errorf(`must be "", "commitment", "tag", "padding" or "slot"`)
}
