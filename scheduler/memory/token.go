package memory

import (
	"errors"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// ReceivePolicy is the account 0x…fc, to which credits go that their receiver refuses: its quarantine.
var ReceivePolicy = scheduler.Addr{19: 0xfc}

// tokenFactory is the account 0x…fb, whose words say which accounts are MIP20 tokens.
var tokenFactory = scheduler.Addr{19: 0xfb}

// ReceiveMode is what an account does with a credit of the gas token.
type ReceiveMode byte

// The modes of an account. Broken is no policy of the account but a fault of the token: every credit to it fails, forced or not.
const (
	Accept ReceiveMode = iota
	Revert
	Quarantine
	Broken
)

// Errors of the gas token.
var (
	ErrBalance   = errors.New("gas token: balance too small")
	ErrAllowance = errors.New("gas token: allowance too small")
	ErrRefused   = errors.New("gas token: the receiver refuses")
	ErrOverflow  = errors.New("gas token: balance exceeds 256 bits")
)

const (
	tagBalance   = 0x01 // account
	tagAllowance = 0x02 // 31 bytes of a hash of owner and spender
	tagMode      = 0x01 // in ReceivePolicy's space: account
	tagMIP20     = 0x01 // in tokenFactory's space: account
)

// token is the gas token as a scheduler.Token, and what its contract does.
type token struct{ h *Host }

func (t token) words() scheduler.State { return t.h.Space(t.h.config.Policy.GasToken) }

func (t token) amount(k scheduler.Word) (v uint256.Int) {
	w := t.words().Get(k)
	v.SetBytes32(w[:])
	return v
}

func (t token) set(k scheduler.Word, v uint256.Int) { t.words().Set(k, v.Bytes32()) }

func (t token) balance(a scheduler.Addr) uint256.Int { return t.amount(addrKey(tagBalance, a)) }

// move transfers without looking at receive modes, and logs Transfer(from, to, amount).
func (t token) move(from, to scheduler.Addr, amount uint256.Int) error {
	left, short := new(uint256.Int).SubOverflow(at(t.balance(from)), &amount)
	if short {
		return ErrBalance
	}
	if from != to {
		sum, overflow := new(uint256.Int).AddOverflow(at(t.balance(to)), &amount)
		if overflow {
			return ErrOverflow
		}
		t.set(addrKey(tagBalance, from), *left)
		t.set(addrKey(tagBalance, to), *sum)
	}
	b := amount.Bytes32()
	t.words().Emit([]scheduler.Word{topicTransfer, addrKey(0, from), addrKey(0, to)}, b[:])
	return nil
}

// send respects to's receive mode.
func (t token) send(from, to scheduler.Addr, amount uint256.Int) error {
	switch t.h.Mode(to) {
	case Revert, Broken:
		return ErrRefused
	case Quarantine:
		return t.move(from, ReceivePolicy, amount)
	default:
		return t.move(from, to, amount)
	}
}

func (t token) allowance(owner, spender scheduler.Addr) uint256.Int {
	return t.amount(allowanceKey(owner, spender))
}

func (t token) approve(owner, spender scheduler.Addr, amount uint256.Int) {
	t.set(allowanceKey(owner, spender), amount)
	b := amount.Bytes32()
	t.words().Emit([]scheduler.Word{topicApproval, addrKey(0, owner), addrKey(0, spender)}, b[:])
}

// Pull implements scheduler.Token.
func (t token) Pull(from scheduler.Addr, amount uint256.Int) error {
	left, short := new(uint256.Int).SubOverflow(at(t.allowance(from, scheduler.Address)), &amount)
	if short {
		return ErrAllowance
	}
	if err := t.move(from, scheduler.Address, amount); err != nil {
		return err
	}
	t.set(allowanceKey(from, scheduler.Address), *left)
	return nil
}

// Send implements scheduler.Token.
func (t token) Send(to scheduler.Addr, amount uint256.Int) error {
	return t.send(scheduler.Address, to, amount)
}

// Credit implements scheduler.Token: a refusing receiver's tokens go to ReceivePolicy.
func (t token) Credit(to scheduler.Addr, amount uint256.Int) error {
	switch t.h.Mode(to) {
	case Broken:
		return ErrRefused
	case Revert, Quarantine:
		return t.move(scheduler.Address, ReceivePolicy, amount)
	default:
		return t.move(scheduler.Address, to, amount)
	}
}

// Held implements scheduler.Token.
func (t token) Held() uint256.Int { return t.balance(scheduler.Address) }

// IsMIP20 implements scheduler.Token.
func (t token) IsMIP20(a scheduler.Addr) bool {
	return t.h.Space(tokenFactory).Get(addrKey(tagMIP20, a)) != scheduler.Word{}
}

// The following set up a chain and its tests; they are no transactions.

// Mint creates gas tokens.
func (h *Host) Mint(to scheduler.Addr, amount uint256.Int) error {
	t := token{h}
	sum, overflow := new(uint256.Int).AddOverflow(at(t.balance(to)), &amount)
	if overflow {
		return ErrOverflow
	}
	t.set(addrKey(tagBalance, to), *sum)
	return nil
}

// Seize takes gas tokens away from an account, all there are if it has fewer.
func (h *Host) Seize(from scheduler.Addr, amount uint256.Int) {
	t := token{h}
	left, short := new(uint256.Int).SubOverflow(at(t.balance(from)), &amount)
	if short {
		left.Clear()
	}
	t.set(addrKey(tagBalance, from), *left)
}

// Approve sets an allowance.
func (h *Host) Approve(owner, spender scheduler.Addr, amount uint256.Int) {
	token{h}.set(allowanceKey(owner, spender), amount)
}

// Balance is an account's gas tokens.
func (h *Host) Balance(a scheduler.Addr) uint256.Int { return token{h}.balance(a) }

// SetMode sets how an account receives gas tokens.
func (h *Host) SetMode(a scheduler.Addr, m ReceiveMode) {
	h.Space(ReceivePolicy).Set(addrKey(tagMode, a), scheduler.Word{31: byte(m)})
}

// Mode is how an account receives gas tokens.
func (h *Host) Mode(a scheduler.Addr) ReceiveMode {
	w := h.Space(ReceivePolicy).Get(addrKey(tagMode, a))
	return ReceiveMode(w[31])
}

// RegisterMIP20 makes an account a MIP20 token.
func (h *Host) RegisterMIP20(a scheduler.Addr) {
	h.Space(tokenFactory).Set(addrKey(tagMIP20, a), scheduler.Word{31: 1})
}

func addrKey(tag byte, a scheduler.Addr) (k scheduler.Word) {
	k[0] = tag
	copy(k[12:], a[:])
	return k
}

func allowanceKey(owner, spender scheduler.Addr) scheduler.Word {
	k := keccak256(owner[:], spender[:])
	k[0] = tagAllowance
	return k
}

func at[T any](v T) *T { return &v }
