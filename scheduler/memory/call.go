package memory

import (
	"encoding/binary"
	"errors"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/sha3"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// Gas of this host: a flat price for a call and its input, one more for being a transaction. Targets may use more through Frame.
// Contracts of the host cost what every call costs; the scheduler's fees, not gas, pay for its state.
const (
	gasTransaction = 21_000
	gasCall        = 2_600
	gasInputByte   = 16
	maxDepth       = 64 // of calls within calls
)

// Errors of calls.
var (
	ErrOutOfGas = errors.New("memory host: out of gas")
	ErrDepth    = errors.New("memory host: calls nested too deep")
	ErrMethod   = errors.New("memory host: a token has approve, transfer, balanceOf, allowance and balanceOnHold, with canonical arguments")
)

// Target is the code of an account. An error reverts what the call did.
type Target func(f *Frame) (ret []byte, err error)

// Frame is one call of a Target.
type Frame struct {
	Caller scheduler.Addr
	Self   scheduler.Addr
	Gas    uint64 // left
	Input  []byte // must not be modified

	h *Host
}

// State is the storage of the account called.
func (f *Frame) State() scheduler.State { return f.h.Space(f.Self) }

// Env is the present block.
func (f *Frame) Env() scheduler.Env { return f.h.Env() }

// Use consumes gas.
func (f *Frame) Use(gas uint64) error {
	if f.h.config.Unmetered {
		return nil
	}
	if gas > f.Gas {
		f.Gas = 0
		return ErrOutOfGas
	}
	f.Gas -= gas
	return nil
}

// Call calls on, with the account called as the caller.
func (f *Frame) Call(to scheduler.Addr, gas uint64, input []byte) ([]byte, error) {
	if gas > f.Gas && !f.h.config.Unmetered {
		return nil, ErrOutOfGas
	}
	ret, used, err := f.h.call(f.Self, to, gas, input)
	f.Gas -= used
	return ret, err
}

// executor makes the scheduler's calls.
type executor struct{ h *Host }

func (x executor) Call(to scheduler.Addr, gas uint64, input []byte) ([]byte, uint64, error) {
	return x.h.call(scheduler.Address, to, gas, input)
}

// call makes one call; a failed one leaves no effect. A target that panics is undone too, and panics on.
func (h *Host) call(from, to scheduler.Addr, gas uint64, input []byte) (ret []byte, used uint64, err error) {
	if h.depth >= maxDepth {
		return nil, 0, ErrDepth
	}
	h.depth++
	before := h.Snapshot()
	done := false
	defer func() {
		h.depth--
		if !done || err != nil {
			h.Revert(before)
		}
	}()
	f := &Frame{Caller: from, Self: to, Gas: gas, Input: input, h: h}
	err = f.Use(gasCall + gasInputByte*uint64(len(input)))
	if err == nil {
		ret, err = h.codeOf(to)(f)
	}
	done = true
	return ret, gas - f.Gas, err
}

func (h *Host) codeOf(a scheduler.Addr) Target {
	switch a {
	case scheduler.Address:
		return schedulerContract
	case h.config.Policy.GasToken:
		return tokenContract
	}
	if (tokens{h}).IsMIP20(a) {
		return tokenContract
	}
	if code := h.config.Targets[a]; code != nil {
		return code
	}
	switch a {
	case scheduler.BeaconAddress:
		return func(f *Frame) ([]byte, error) { return h.Beacon().Call(f.Input) }
	case scheduler.OracleAddress:
		return catalogContract
	}
	return h.config.Default
}

func schedulerContract(f *Frame) ([]byte, error) {
	env := f.h.Env()
	env.Caller = f.Caller
	return f.h.machine.Call(env, f.h.host(), f.Input)
}

// Echo is an account that takes every call and shows what it was called with: one log of its own address with topic
// keccak256("Called(address,bytes)") and the ABI encoding of the caller and the input.
func Echo(f *Frame) ([]byte, error) {
	f.State().Emit([]scheduler.Word{TopicCalled}, encodeCalled(f.Caller, f.Input))
	return nil, nil
}

// Reverter is an account that fails every call.
func Reverter(*Frame) ([]byte, error) { return nil, errors.New("memory host: this account reverts") }

// TopicCalled is the topic of Echo's log.
var TopicCalled = keccak256([]byte("Called(address,bytes)"))

var (
	topicTransfer = keccak256([]byte("Transfer(address,address,uint256)"))
	topicApproval = keccak256([]byte("Approval(address,address,uint256)"))

	selectorApprove   = selector("approve(address,uint256)")
	selectorTransfer  = selector("transfer(address,uint256)")
	selectorBalanceOf = selector("balanceOf(address)")
	selectorAllowance = selector("allowance(address,address)")
	selectorOnHold    = selector("balanceOnHold(address)")
)

// DecodeCalled reads the data of Echo's log. ok is false if it is not that.
func DecodeCalled(data []byte) (caller scheduler.Addr, input []byte, ok bool) {
	if len(data) < 96 {
		return caller, nil, false
	}
	n := binary.BigEndian.Uint64(data[88:96])
	if n > uint64(len(data)-96) {
		return caller, nil, false
	}
	copy(caller[:], data[12:32])
	input = data[96 : 96+n]
	return caller, input, string(encodeCalled(caller, input)) == string(data)
}

func encodeCalled(caller scheduler.Addr, input []byte) []byte {
	who := addrKey(0, caller)
	out := append(who[:], make([]byte, 64)...)
	out[63] = 64
	binary.BigEndian.PutUint64(out[88:], uint64(len(input)))
	out = append(out, input...)
	return append(out, make([]byte, (32-len(input)%32)%32)...)
}

// tokenContract is the part of ERC-20 that users of the scheduler need, of the gas token and of every MIP20 token, and
// balanceOnHold(account): what the scheduler holds for the reserves of the account's entries, which balanceOf leaves out. Its words
// are addresses and amounts only.
func tokenContract(f *Frame) ([]byte, error) {
	t := token{f.h, f.Self}
	if len(f.Input) < 4 {
		return nil, ErrMethod
	}
	args := f.Input[4:]
	word := func(i int) (w scheduler.Word) {
		copy(w[:], args[32*i:])
		return w
	}
	amount := func(i int) (v uint256.Int) {
		w := word(i)
		v.SetBytes32(w[:])
		return v
	}
	switch sel := [4]byte(f.Input); {
	case sel == selectorApprove && addressArgs(args, 1, 1):
		t.approve(f.Caller, addrOf(word(0)), amount(1))
		return boolTrue, nil
	case sel == selectorTransfer && addressArgs(args, 1, 1):
		if err := t.send(f.Caller, addrOf(word(0)), amount(1)); err != nil {
			return nil, err
		}
		return boolTrue, nil
	case sel == selectorBalanceOf && addressArgs(args, 1, 0):
		return amountWord(t.balance(addrOf(word(0)))), nil
	case sel == selectorAllowance && addressArgs(args, 2, 0):
		return amountWord(t.allowance(addrOf(word(0)), addrOf(word(1)))), nil
	case sel == selectorOnHold && addressArgs(args, 1, 0):
		return amountWord(t.held(addrOf(word(0)))), nil
	}
	return nil, ErrMethod
}

// addressArgs checks that args are so many clean addresses and then so many further words.
func addressArgs(args []byte, addresses, words int) bool {
	if len(args) != 32*(addresses+words) {
		return false
	}
	for i := range addresses {
		if [12]byte(args[32*i:]) != [12]byte{} {
			return false
		}
	}
	return true
}

func addrOf(w scheduler.Word) scheduler.Addr { return scheduler.Addr(w[12:]) }

func amountWord(v uint256.Int) []byte {
	w := v.Bytes32()
	return w[:]
}

var boolTrue = append(make([]byte, 31), 1)

func selector(signature string) [4]byte {
	w := keccak256([]byte(signature))
	return [4]byte(w[:])
}

func keccak256(parts ...[]byte) (w scheduler.Word) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(w[:0])
	return w
}
