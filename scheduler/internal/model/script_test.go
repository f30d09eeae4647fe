package model

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
)

// The script, as its format says: 64 bits and more are decimal strings, bytes are hex.

type (
	addr   [20]byte
	word   [32]byte
	octets []byte
	u64    uint64
	amount struct{ v *big.Int }
)

func unhex(b, into []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte("0x")) {
		return nil, fmt.Errorf("no 0x: %q", b)
	}
	got, err := hex.DecodeString(string(b[2:]))
	if into != nil {
		if len(got) != len(into) {
			return nil, fmt.Errorf("length of %q", b)
		}
		copy(into, got)
	}
	return got, err
}

func (a addr) MarshalText() ([]byte, error)    { return []byte(a.String()), nil }
func (a *addr) UnmarshalText(b []byte) error   { _, err := unhex(b, a[:]); return err }
func (a addr) String() string                  { return "0x" + hex.EncodeToString(a[:]) }
func (w word) MarshalText() ([]byte, error)    { return []byte(w.String()), nil }
func (w *word) UnmarshalText(b []byte) error   { _, err := unhex(b, w[:]); return err }
func (w word) String() string                  { return "0x" + hex.EncodeToString(w[:]) }
func (o octets) MarshalText() ([]byte, error)  { return []byte(o.String()), nil }
func (o octets) String() string                { return "0x" + hex.EncodeToString(o) }
func (n u64) MarshalText() ([]byte, error)     { return []byte(n.String()), nil }
func (n u64) String() string                   { return strconv.FormatUint(uint64(n), 10) }
func (a amount) MarshalText() ([]byte, error)  { return []byte(a.get().String()), nil }
func (o *octets) UnmarshalText(b []byte) error { got, err := unhex(b, nil); *o = got; return err }

func (n *u64) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 10, 64)
	*n = u64(v)
	return err
}

func (a *amount) UnmarshalText(b []byte) error {
	v, ok := new(big.Int).SetString(string(b), 10)
	if !ok {
		return fmt.Errorf("number %q", b)
	}
	a.v = v
	return nil
}

// get reads an amount that may be left out.
func (a amount) get() *big.Int {
	if a.v == nil {
		return new(big.Int)
	}
	return a.v
}

func amt(v int64) amount { return amount{big.NewInt(v)} }

type script struct {
	Genesis genesis
	Blocks  []block
}

type policy struct {
	GasPerBlock          u64    `json:"gas_per_block"`
	GuaranteedGasPerSlot u64    `json:"guaranteed_gas_per_slot"`
	MaxHorizonSlots      u64    `json:"max_horizon_slots"`
	MaxLateSlots         u64    `json:"max_late_slots"`
	CancelRefundBps      uint16 `json:"cancel_refund_bps"`
	MaxEntriesPerBlock   uint32 `json:"max_entries_per_block"`
	Treasury             addr   `json:"treasury"`
	MinGasPrice          u64    `json:"min_gas_price"`
	GasToken             addr   `json:"gas_token"`
}

type limits struct {
	Scan            uint32 `json:"scan"`
	Reads           uint32 `json:"reads"`
	Watchers        uint32 `json:"watchers"`
	WatchersPerItem uint32 `json:"watchers_per_item"`
}

type tokenAccount struct {
	Balance   amount `json:"balance"`
	Allowance amount `json:"allowance"`
}

type account struct {
	GasToken amount                `json:"gas_token"`
	Tokens   map[addr]tokenAccount `json:"tokens,omitempty"`
}

type catalogItem struct {
	Value    *amount `json:"value"`
	Halted   bool    `json:"halted"`
	Disputed bool    `json:"disputed"`
}

type genesis struct {
	ChainID       u64                  `json:"chain_id"`
	GenesisHash   word                 `json:"genesis_hash"`
	Time          u64                  `json:"time"`
	Height        u64                  `json:"height"`
	GroupSecret   *word                `json:"group_secret,omitempty"`
	Policy        policy               `json:"policy"`
	Limits        *limits              `json:"limits,omitempty"`
	Accounts      map[addr]account     `json:"accounts,omitempty"`
	RefusesCredit []addr               `json:"refuses_credit,omitempty"`
	Items         map[word]catalogItem `json:"items,omitempty"`
	Targets       map[addr]string      `json:"targets,omitempty"`
}

type write struct {
	Item     word   `json:"item"`
	Value    amount `json:"value"`
	Halted   bool   `json:"halted,omitempty"`
	Disputed bool   `json:"disputed,omitempty"`
}

type flagging struct {
	Item     word  `json:"item"`
	Halted   *bool `json:"halted,omitempty"`
	Disputed *bool `json:"disputed,omitempty"`
}

type call struct {
	Target   addr   `json:"target"`
	GasLimit u64    `json:"gas_limit"`
	Data     octets `json:"data"`
}

type dependency struct {
	ID       u64  `json:"id"`
	Finished bool `json:"finished"`
}

type condition struct {
	Item    word   `json:"item"`
	Kind    uint8  `json:"kind"`
	Operand amount `json:"operand"`
}

type seal struct {
	Calls   []call `json:"calls"`
	Salt    word   `json:"salt"`
	DataKey word   `json:"data_key"`
	Sigma   word   `json:"sigma"`
	Nonce   octets `json:"nonce"`
	Wrong   string `json:"wrong"`
}

type params struct {
	Calls         []call       `json:"calls,omitempty"`
	Slot          u64          `json:"slot,omitempty"`
	Height        u64          `json:"height,omitempty"`
	GasLimit      u64          `json:"gas_limit,omitempty"`
	GasPrice      u64          `json:"gas_price,omitempty"`
	Class         uint8        `json:"class,omitempty"`
	LateExecute   bool         `json:"late_execute,omitempty"`
	MaxRetries    uint8        `json:"max_retries,omitempty"`
	BackoffSlots  uint32       `json:"backoff_slots,omitempty"`
	PeriodSlots   u64          `json:"period_slots,omitempty"`
	Remaining     uint32       `json:"remaining,omitempty"`
	PauseOnFail   bool         `json:"pause_on_fail,omitempty"`
	ReserveToken  addr         `json:"reserve_token,omitzero"`
	ReserveAmount *amount      `json:"reserve_amount,omitempty"`
	DependsOn     []dependency `json:"depends_on,omitempty"`
	Ciphertext    octets       `json:"ciphertext,omitempty"`
	Commitment    word         `json:"commitment,omitzero"`
	When          *condition   `json:"when,omitempty"`
	Seal          *seal        `json:"seal,omitempty"`
}

type tx struct {
	From     addr    `json:"from"`
	Deposit  *amount `json:"deposit,omitempty"`
	Withdraw *amount `json:"withdraw,omitempty"`
	Cancel   *u64    `json:"cancel,omitempty"`
	Expire   *u64    `json:"expire,omitempty"`
	Resume   *u64    `json:"resume,omitempty"`
	Schedule *params `json:"schedule,omitempty"`
}

type block struct {
	Time          u64        `json:"time"`
	Proposer      addr       `json:"proposer"`
	GroupSecret   *word      `json:"group_secret,omitempty"`
	SlotKeys      []u64      `json:"slot_keys,omitempty"`
	ConditionKeys []word     `json:"condition_keys,omitempty"`
	Writes        []write    `json:"writes,omitempty"`
	Flags         []flagging `json:"flags,omitempty"`
	Delist        []word     `json:"delist,omitempty"`
	MIP20         []addr     `json:"mip20,omitempty"`
	Seize         *amount    `json:"seize,omitempty"`
	Txs           []tx       `json:"txs,omitempty"`
}

// encode writes the script as JSON lines.
func (s script) encode() []byte {
	var out bytes.Buffer
	line := func(name string, v any) {
		b, err := json.Marshal(map[string]any{name: v})
		if err != nil {
			panic(err)
		}
		out.Write(append(b, '\n'))
	}
	line("genesis", s.Genesis)
	for _, b := range s.Blocks {
		line("block", b)
	}
	return out.Bytes()
}

// parse reads what encode writes, and any script whose lines are well-formed: refusing others is the machine's business.
func parse(b []byte) (script, error) {
	var s script
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	for d.More() {
		var l struct {
			Genesis *genesis
			Block   *block
		}
		if err := d.Decode(&l); err != nil {
			return s, err
		}
		if l.Genesis != nil {
			s.Genesis = *l.Genesis
		}
		if l.Block != nil {
			s.Blocks = append(s.Blocks, *l.Block)
		}
	}
	return s, nil
}
