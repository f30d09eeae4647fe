package memory

import (
	"bytes"
	"errors"
	"slices"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// ReceivePolicy is the account 0x…fc, to which credits go that their receiver refuses: its quarantine.
var ReceivePolicy = scheduler.Addr{19: 0xfc}

// tokenFactory is the account 0x…fb, whose words say which accounts are MIP20 tokens.
var tokenFactory = scheduler.Addr{19: 0xfb}

// ReceiveMode is what an account does with a credit of any token.
type ReceiveMode byte

// The modes of an account. Broken is no policy of the account but a fault of the gas token: every credit of it to the account fails,
// forced or not. To a MIP20 token it is Revert.
const (
	Accept ReceiveMode = iota
	Revert
	Quarantine
	Broken
)

// Errors of the tokens.
var (
	ErrBalance   = errors.New("token: balance too small")
	ErrHold      = errors.New("token: hold too small")
	ErrAllowance = errors.New("token: allowance too small")
	ErrRefused   = errors.New("token: the receiver refuses")
	ErrOverflow  = errors.New("token: balance exceeds 256 bits")
)

// The words of a token, under its own address. A balance is what its account may spend: a hold is not part of it.
const (
	tagBalance   = 0x01 // account
	tagAllowance = 0x02 // 31 bytes of a hash of owner and spender
	tagHold      = 0x03 // account: held for the scheduler
)

const (
	tagMode  = 0x01 // in ReceivePolicy's space: account
	tagMIP20 = 0x01 // in tokenFactory's space: account
)

// token is one token: the gas token or a MIP20 one.
type token struct {
	h    *Host
	addr scheduler.Addr
}

func (h *Host) gasToken() token { return token{h, h.config.Policy.GasToken} }

func (t token) words() scheduler.State { return t.h.Space(t.addr) }

func (t token) amount(k scheduler.Word) (v uint256.Int) {
	w := t.words().Get(k)
	v.SetBytes32(w[:])
	return v
}

func (t token) set(k scheduler.Word, v uint256.Int) { t.words().Set(k, v.Bytes32()) }

func (t token) balance(a scheduler.Addr) uint256.Int { return t.amount(addrKey(tagBalance, a)) }
func (t token) held(a scheduler.Addr) uint256.Int    { return t.amount(addrKey(tagHold, a)) }

func (t token) allowance(owner, spender scheduler.Addr) uint256.Int {
	return t.amount(allowanceKey(owner, spender))
}

// shift moves amount from one of the token's words to another; short is the error if there is less.
func (t token) shift(from, to scheduler.Word, amount uint256.Int, short error) error {
	left, under := new(uint256.Int).SubOverflow(at(t.amount(from)), &amount)
	if under {
		return short
	}
	if from == to {
		return nil
	}
	sum, over := new(uint256.Int).AddOverflow(at(t.amount(to)), &amount)
	if over {
		return ErrOverflow
	}
	t.set(from, *left)
	t.set(to, *sum)
	return nil
}

// move transfers without looking at receive modes.
func (t token) move(from, to scheduler.Addr, amount uint256.Int) error {
	if err := t.shift(addrKey(tagBalance, from), addrKey(tagBalance, to), amount, ErrBalance); err != nil {
		return err
	}
	t.logTransfer(from, to, amount)
	return nil
}

func (t token) logTransfer(from, to scheduler.Addr, amount uint256.Int) {
	b := amount.Bytes32()
	t.words().Emit([]scheduler.Word{topicTransfer, addrKey(0, from), addrKey(0, to)}, b[:])
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

// receiver is the account that a forced credit to an account reaches.
func (h *Host) receiver(to scheduler.Addr) scheduler.Addr {
	if h.Mode(to) != Accept {
		return ReceivePolicy
	}
	return to
}

func (t token) approve(owner, spender scheduler.Addr, amount uint256.Int) {
	t.set(allowanceKey(owner, spender), amount)
	b := amount.Bytes32()
	t.words().Emit([]scheduler.Word{topicApproval, addrKey(0, owner), addrKey(0, spender)}, b[:])
}

// spend is what the scheduler does by allowance: it takes the amount off what owner has given it.
func (t token) spend(owner scheduler.Addr, amount uint256.Int, do func() error) error {
	left, short := new(uint256.Int).SubOverflow(at(t.allowance(owner, scheduler.Address)), &amount)
	if short {
		return ErrAllowance
	}
	if err := do(); err != nil {
		return err
	}
	t.set(allowanceKey(owner, scheduler.Address), *left)
	return nil
}

// tokens implements scheduler.Token.
type tokens struct{ h *Host }

func (ts tokens) Pull(from scheduler.Addr, amount uint256.Int) error {
	t := ts.h.gasToken()
	return t.spend(from, amount, func() error { return t.move(from, scheduler.Address, amount) })
}

func (ts tokens) Send(to scheduler.Addr, amount uint256.Int) error {
	return ts.h.gasToken().send(scheduler.Address, to, amount)
}

func (ts tokens) Credit(to scheduler.Addr, amount uint256.Int) error {
	if ts.h.Mode(to) == Broken {
		return ErrRefused
	}
	return ts.h.gasToken().move(scheduler.Address, ts.h.receiver(to), amount)
}

func (ts tokens) Held() uint256.Int { return ts.h.Balance(scheduler.Address) }

func (ts tokens) IsMIP20(a scheduler.Addr) bool {
	return ts.h.Space(tokenFactory).Get(addrKey(tagMIP20, a)) != scheduler.Word{}
}

func (ts tokens) HoldFrom(addr, from scheduler.Addr, amount uint256.Int) error {
	t := token{ts.h, addr}
	return t.spend(from, amount, func() error {
		return t.shift(addrKey(tagBalance, from), addrKey(tagHold, from), amount, ErrBalance)
	})
}

func (ts tokens) Capture(addr, from, to scheduler.Addr, amount uint256.Int) error {
	t := token{ts.h, addr}
	to = ts.h.receiver(to)
	if err := t.shift(addrKey(tagHold, from), addrKey(tagBalance, to), amount, ErrHold); err != nil {
		return err
	}
	t.logTransfer(from, to, amount)
	return nil
}

func (ts tokens) Release(addr, from scheduler.Addr, amount uint256.Int) error {
	return token{ts.h, addr}.shift(addrKey(tagHold, from), addrKey(tagBalance, from), amount, ErrHold)
}

// The following set up a chain and its tests; they are no transactions.

// Mint creates gas tokens.
func (h *Host) Mint(to scheduler.Addr, amount uint256.Int) error {
	return h.MintToken(h.config.Policy.GasToken, to, amount)
}

// MintToken creates tokens of the gas token or a MIP20 token.
func (h *Host) MintToken(addr, to scheduler.Addr, amount uint256.Int) error {
	t := token{h, addr}
	sum, overflow := new(uint256.Int).AddOverflow(at(t.balance(to)), &amount)
	if overflow {
		return ErrOverflow
	}
	t.set(addrKey(tagBalance, to), *sum)
	return nil
}

// Seize takes gas tokens away from an account, all there are if it has fewer.
func (h *Host) Seize(from scheduler.Addr, amount uint256.Int) {
	t := h.gasToken()
	left, short := new(uint256.Int).SubOverflow(at(t.balance(from)), &amount)
	if short {
		left.Clear()
	}
	t.set(addrKey(tagBalance, from), *left)
}

// Approve sets an allowance of gas tokens.
func (h *Host) Approve(owner, spender scheduler.Addr, amount uint256.Int) {
	h.ApproveToken(h.config.Policy.GasToken, owner, spender, amount)
}

// ApproveToken sets an allowance of the gas token or a MIP20 token.
func (h *Host) ApproveToken(addr, owner, spender scheduler.Addr, amount uint256.Int) {
	token{h, addr}.set(allowanceKey(owner, spender), amount)
}

// Balance is an account's gas tokens.
func (h *Host) Balance(a scheduler.Addr) uint256.Int { return h.gasToken().balance(a) }

// TokenBalance is what an account can spend of the gas token or a MIP20 token: what is held is not part of it.
func (h *Host) TokenBalance(addr, a scheduler.Addr) uint256.Int { return token{h, addr}.balance(a) }

// TokenAllowance is what spender may still take of owner's tokens.
func (h *Host) TokenAllowance(addr, owner, spender scheduler.Addr) uint256.Int {
	return token{h, addr}.allowance(owner, spender)
}

// Held is what the scheduler holds of an account's MIP20 tokens.
func (h *Host) Held(addr, holder scheduler.Addr) uint256.Int { return token{h, addr}.held(holder) }

// Holders lists the accounts that can spend some of the gas token or a MIP20 token, in ascending order.
func (h *Host) Holders(addr scheduler.Addr) (all []scheduler.Addr) {
	for k := range h.Words(addr) {
		if k[0] == tagBalance {
			all = append(all, addrOf(k))
		}
	}
	slices.SortFunc(all, func(a, b scheduler.Addr) int { return bytes.Compare(a[:], b[:]) })
	return all
}

// SetMode sets how an account receives tokens.
func (h *Host) SetMode(a scheduler.Addr, m ReceiveMode) {
	h.Space(ReceivePolicy).Set(addrKey(tagMode, a), scheduler.Word{31: byte(m)})
}

// Mode is how an account receives tokens.
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
