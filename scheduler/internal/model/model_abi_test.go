package model

import (
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// The scheduler's methods for calls back, through go-ethereum's ABI package.

var methods = func() abi.ABI {
	in := func(types ...string) string {
		var out []string
		for _, t := range types {
			out = append(out, `{"name":"a","type":"`+t+`"}`)
		}
		return strings.Join(out, ",")
	}
	field := func(name, kind string) string { return `{"name":"` + name + `","type":"` + kind + `"}` }
	tuple := func(name, kind string, fields ...string) string {
		return `{"name":"` + name + `","type":"` + kind + `","components":[` + strings.Join(fields, ",") + `]}`
	}
	params := tuple("p", "tuple",
		tuple("calls", "tuple[]", field("target", "address"), field("gasLimit", "uint64"), field("data", "bytes")),
		field("slot", "uint64"), field("height", "uint64"), field("gasLimit", "uint64"), field("gasPrice", "uint64"), field("class", "uint8"),
		field("lateExecute", "bool"), field("maxRetries", "uint8"), field("backoffSlots", "uint32"), field("periodSlots", "uint64"),
		field("remaining", "uint32"), field("pauseOnFail", "bool"), field("reserveToken", "address"), field("reserveAmount", "uint96"),
		tuple("dependsOn", "tuple[]", field("id", "uint64"), field("finished", "bool")),
		field("ciphertext", "bytes"), field("commitment", "bytes32"),
		tuple("when", "tuple", field("item", "bytes32"), field("kind", "uint8"), field("operand", "uint256")))
	method := func(name, inputs string) string {
		return `{"type":"function","name":"` + name + `","inputs":[` + inputs + `],"outputs":[]}`
	}
	parsed, err := abi.JSON(strings.NewReader("[" + strings.Join([]string{
		method("schedule", params), method("deposit", in("uint256")), method("withdraw", in("uint256")), method("cancel", in("uint64")),
		method("expire", in("uint64")), method("resume", in("uint64")), method("execute", in("uint64")), method("nextId", ""),
		method("cost", in("uint64", "uint256", "uint256", "bool", "bool")),
	}, ",") + "]"))
	if err != nil {
		panic(err)
	}
	return parsed
}()

type abiCall struct {
	Target   common.Address
	GasLimit uint64
	Data     []byte
}

type abiDependency struct {
	Id       uint64
	Finished bool
}

type abiParams struct {
	Calls         []abiCall
	Slot          uint64
	Height        uint64
	GasLimit      uint64
	GasPrice      uint64
	Class         uint8
	LateExecute   bool
	MaxRetries    uint8
	BackoffSlots  uint32
	PeriodSlots   uint64
	Remaining     uint32
	PauseOnFail   bool
	ReserveToken  common.Address
	ReserveAmount *big.Int
	DependsOn     []abiDependency
	Ciphertext    []byte
	Commitment    [32]byte
	When          struct {
		Item    [32]byte
		Kind    uint8
		Operand *big.Int
	}
}

func packSchedule(p params) []byte {
	a := abiParams{Slot: uint64(p.Slot), Height: uint64(p.Height), GasLimit: uint64(p.GasLimit), GasPrice: uint64(p.GasPrice), Class: p.Class,
		LateExecute: p.LateExecute, MaxRetries: p.MaxRetries, BackoffSlots: p.BackoffSlots, PeriodSlots: uint64(p.PeriodSlots),
		Remaining: p.Remaining, PauseOnFail: p.PauseOnFail, ReserveToken: common.Address(p.ReserveToken), ReserveAmount: p.ReserveAmount.orZero(),
		Ciphertext: p.Ciphertext, Commitment: p.Commitment}
	a.When.Operand = new(big.Int)
	if p.When != nil {
		a.When.Item, a.When.Kind, a.When.Operand = p.When.Item, p.When.Kind, p.When.Operand.get()
	}
	for _, c := range p.Calls {
		a.Calls = append(a.Calls, abiCall{common.Address(c.Target), uint64(c.GasLimit), c.Data})
	}
	for _, d := range p.DependsOn {
		a.DependsOn = append(a.DependsOn, abiDependency{uint64(d.ID), d.Finished})
	}
	return pack("schedule", a)
}

func pack(name string, args ...any) []byte {
	b, err := methods.Pack(name, args...)
	if err != nil {
		panic(err)
	}
	return b
}

// callback is a call of the scheduler by a target.
func (m *model) callback(from addr, input []byte) string {
	if len(input) < 4 {
		return "no method"
	}
	method, err := methods.MethodById(input[:4])
	if err != nil {
		return "no method"
	}
	args, err := method.Inputs.Unpack(input[4:])
	if err != nil {
		return "bad arguments"
	}
	switch method.Name {
	case "deposit":
		return m.deposit(from, args[0].(*big.Int))
	case "withdraw":
		return m.withdraw(from, args[0].(*big.Int))
	case "cancel":
		return m.cancel(from, args[0].(uint64))
	case "expire":
		return m.expire(args[0].(uint64))
	case "resume":
		return m.resume(from, args[0].(uint64))
	case "execute":
		return "NotChain"
	case "nextId", "cost":
		return ""
	}
	a := *abi.ConvertType(args[0], new(abiParams)).(*abiParams)
	p := params{Slot: u64(a.Slot), Height: u64(a.Height), GasLimit: u64(a.GasLimit), GasPrice: u64(a.GasPrice), Class: a.Class,
		LateExecute: a.LateExecute, MaxRetries: a.MaxRetries, BackoffSlots: a.BackoffSlots, PeriodSlots: u64(a.PeriodSlots),
		Remaining: a.Remaining, PauseOnFail: a.PauseOnFail, ReserveToken: addr(a.ReserveToken), ReserveAmount: &amount{a.ReserveAmount},
		Ciphertext: a.Ciphertext, Commitment: a.Commitment,
		When: &condition{a.When.Item, a.When.Kind, amount{a.When.Operand}}}
	for _, c := range a.Calls {
		p.Calls = append(p.Calls, call{addr(c.Target), u64(c.GasLimit), c.Data})
	}
	for _, d := range a.DependsOn {
		p.DependsOn = append(p.DependsOn, dependency{u64(d.Id), d.Finished})
	}
	return m.schedule(from, p)
}
