package memory_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

var mip20 = scheduler.Addr{0: 0x20}

// Selectors of a token's methods.
const (
	approve   = "\x09\x5e\xa7\xb3"
	transfer  = "\xa9\x05\x9c\xbb"
	balanceOf = "\x70\xa0\x82\x31"
	allowance = "\xdd\x62\xed\x3e"
)

var onHold = selector("balanceOnHold(address)")

func selector(signature string) string { return string(crypto.Keccak256([]byte(signature))[:4]) }

func word(a scheduler.Addr) []byte { return append(make([]byte, 12), a[:]...) }
func number(v uint64) []byte       { return binary.BigEndian.AppendUint64(make([]byte, 24), v) }

func input(selector string, args ...[]byte) []byte {
	return append([]byte(selector), bytes.Join(args, nil)...)
}

// newTokenHost has 100 tokens of alice's, in the gas token and in a MIP20 token.
func newTokenHost(t testing.TB) *memory.Host {
	t.Helper()
	h := newHost(t)
	h.RegisterMIP20(mip20)
	for _, token := range []scheduler.Addr{gasToken, mip20} {
		must(t, h.MintToken(token, alice, amount(100)))
	}
	return h
}

func read(t testing.TB, h *memory.Host, token scheduler.Addr, in []byte) uint256.Int {
	t.Helper()
	ret, err := h.View(bob, token, in)
	must(t, err)
	return *new(uint256.Int).SetBytes(ret)
}

// TestTokenContract is what all tokens have in common.
func TestTokenContract(t *testing.T) {
	for name, token := range map[string]scheduler.Addr{"gas token": gasToken, "MIP20": mip20} {
		t.Run(name+": approve, allowance, balanceOf", func(t *testing.T) {
			h := newTokenHost(t)
			r := h.Transact(alice, token, 100_000, input(approve, word(scheduler.Address), number(60)))
			must(t, r.Err)
			expect(t, "logs", len(r.Logs), 1)
			expect(t, "log's address", r.Logs[0].Address, token)
			expect(t, "allowance", read(t, h, token, input(allowance, word(alice), word(scheduler.Address))), amount(60))
			expect(t, "the same", h.TokenAllowance(token, alice, scheduler.Address), amount(60))
			expect(t, "balance", read(t, h, token, input(balanceOf, word(alice))), amount(100))
			expect(t, "on hold", read(t, h, token, input(onHold, word(alice))), amount(0))
		})

		t.Run(name+": transfer logs and respects receive modes", func(t *testing.T) {
			h := newTokenHost(t)
			send := func(to scheduler.Addr, v uint64) memory.Receipt {
				return h.Transact(alice, token, 100_000, input(transfer, word(to), number(v)))
			}
			r := send(bob, 30)
			must(t, r.Err)
			expect(t, "log's address", r.Logs[0].Address, token)
			expect(t, "bob", h.TokenBalance(token, bob), amount(30))
			h.SetMode(bob, memory.Revert)
			if r := send(bob, 30); !errors.Is(r.Err, memory.ErrRefused) || r.Success || len(r.Logs) != 0 {
				t.Errorf("to a refusing account: %+v", r)
			}
			h.SetMode(bob, memory.Quarantine)
			must(t, send(bob, 30).Err)
			expect(t, "quarantine", h.TokenBalance(token, memory.ReceivePolicy), amount(30))
			if r := send(bob, 41); !errors.Is(r.Err, memory.ErrBalance) {
				t.Errorf("more than there is: %v", r.Err)
			}
			must(t, send(alice, 40).Err)
			expect(t, "to oneself", h.TokenBalance(token, alice), amount(40))
		})

		t.Run(name+": anything but its methods is refused", func(t *testing.T) {
			h := newTokenHost(t)
			dirty := word(bob)
			dirty[0] = 1
			for name, in := range map[string][]byte{
				"empty": nil, "unknown": []byte("abcd"), "short": input(transfer, word(bob)), "long": input(balanceOf, word(bob), word(bob)),
				"dirty address": input(transfer, dirty, number(1)), "dirty holder": input(onHold, dirty),
			} {
				if r := h.Transact(alice, token, 100_000, in); !errors.Is(r.Err, memory.ErrMethod) {
					t.Errorf("%s: got %v", name, r.Err)
				}
			}
		})

		t.Run(name+": a balance that would wrap", func(t *testing.T) {
			h := newTokenHost(t)
			most := amount(0)
			most.SubUint64(&most, 1)
			if err := h.MintToken(token, alice, most); !errors.Is(err, memory.ErrOverflow) {
				t.Errorf("mint: got %v", err)
			}
			must(t, h.MintToken(token, bob, most))
			if r := h.Transact(alice, token, 100_000, input(transfer, word(bob), number(1))); !errors.Is(r.Err, memory.ErrOverflow) {
				t.Errorf("transfer: got %v", r.Err)
			}
		})
	}

	t.Run("tokens do not share their words", func(t *testing.T) {
		h := newTokenHost(t)
		must(t, h.Transact(alice, mip20, 100_000, input(transfer, word(bob), number(1))).Err)
		must(t, h.Transact(alice, mip20, 100_000, input(approve, word(bob), number(1))).Err)
		expect(t, "gas tokens of alice", h.Balance(alice), amount(100))
		expect(t, "gas tokens of bob", h.Balance(bob), amount(0))
		expect(t, "allowance of gas tokens", h.TokenAllowance(gasToken, alice, bob), amount(0))
	})

	t.Run("an account is a token only once it is registered", func(t *testing.T) {
		h := newHost(t)
		r := h.Transact(alice, mip20, 100_000, input(balanceOf, word(alice)))
		must(t, r.Err)
		expect(t, "an echo", r.Logs[0].Topics[0], memory.TopicCalled)
	})
}

func TestDeposit(t *testing.T) {
	h := newTokenHost(t)
	h.Approve(alice, scheduler.Address, amount(60))
	must(t, h.Transact(alice, scheduler.Address, 100_000, scheduler.DepositInput(amount(40))).Err)
	expect(t, "allowance", h.TokenAllowance(gasToken, alice, scheduler.Address), amount(20))
	expect(t, "balance", h.Balance(alice), amount(60))
}

// TestHolds drives the holds of a MIP20 token as the scheduler does.
func TestHolds(t *testing.T) {
	setUp := func(t *testing.T) (*memory.Host, scheduler.Token) {
		h := newTokenHost(t)
		h.ApproveToken(mip20, alice, scheduler.Address, amount(50))
		return h, h.Tokens()
	}
	state := func(h *memory.Host) [4]uint64 {
		spendable, held, left := h.TokenBalance(mip20, alice), h.Held(mip20, alice), h.TokenAllowance(mip20, alice, scheduler.Address)
		other := h.TokenBalance(mip20, bob)
		return [4]uint64{spendable.Uint64(), held.Uint64(), left.Uint64(), other.Uint64()}
	}

	t.Run("S-RES-01 a hold leaves the spendable balance and the allowance", func(t *testing.T) {
		h, tokens := setUp(t)
		must(t, tokens.HoldFrom(mip20, alice, amount(30)))
		expect(t, "spendable, held, allowance, bob", state(h), [4]uint64{70, 30, 20, 0})
		expect(t, "balanceOf", read(t, h, mip20, input(balanceOf, word(alice))), amount(70))
		expect(t, "balanceOnHold", read(t, h, mip20, input(onHold, word(alice))), amount(30))
		if r := h.Transact(alice, mip20, 100_000, input(transfer, word(bob), number(71))); !errors.Is(r.Err, memory.ErrBalance) {
			t.Errorf("spending what is held: %v", r.Err)
		}
	})

	t.Run("what cannot be held, captured or released changes nothing", func(t *testing.T) {
		h, tokens := setUp(t)
		must(t, tokens.HoldFrom(mip20, alice, amount(30)))
		before := h.StateHash()
		for what, got := range map[string]struct{ err, want error }{
			"allowance":      {tokens.HoldFrom(mip20, alice, amount(21)), memory.ErrAllowance},
			"no allowance":   {tokens.HoldFrom(mip20, bob, amount(1)), memory.ErrAllowance},
			"more captured":  {tokens.Capture(mip20, alice, bob, amount(31)), memory.ErrHold},
			"more released":  {tokens.Release(mip20, alice, amount(31)), memory.ErrHold},
			"another's hold": {tokens.Release(mip20, bob, amount(1)), memory.ErrHold},
		} {
			if !errors.Is(got.err, got.want) {
				t.Errorf("%s: got %v", what, got.err)
			}
		}
		h.ApproveToken(mip20, alice, scheduler.Address, amount(71))
		if err := tokens.HoldFrom(mip20, alice, amount(71)); !errors.Is(err, memory.ErrBalance) {
			t.Errorf("balance: got %v", err)
		}
		h.ApproveToken(mip20, alice, scheduler.Address, amount(20))
		expect(t, "state", h.StateHash(), before)
	})

	t.Run("a capture moves the hold and logs the transfer, a release gives it back", func(t *testing.T) {
		h, tokens := setUp(t)
		must(t, tokens.HoldFrom(mip20, alice, amount(30)))
		must(t, tokens.Capture(mip20, alice, bob, amount(20)))
		expect(t, "captured", state(h), [4]uint64{70, 10, 20, 20})
		must(t, tokens.Release(mip20, alice, amount(10)))
		expect(t, "released", state(h), [4]uint64{80, 0, 20, 20})
	})

	for name, mode := range map[string]memory.ReceiveMode{"revert": memory.Revert, "quarantine": memory.Quarantine, "broken": memory.Broken} {
		t.Run("S-RES-06 a capture that the receiver refuses goes to ReceivePolicy: "+name, func(t *testing.T) {
			h, tokens := setUp(t)
			h.SetMode(bob, mode)
			must(t, tokens.HoldFrom(mip20, alice, amount(30)))
			must(t, tokens.Capture(mip20, alice, bob, amount(30)))
			expect(t, "captured", state(h), [4]uint64{70, 0, 20, 0})
			expect(t, "quarantine", h.TokenBalance(mip20, memory.ReceivePolicy), amount(30))
		})
	}

	t.Run("a release asks no receive policy", func(t *testing.T) {
		h, tokens := setUp(t)
		must(t, tokens.HoldFrom(mip20, alice, amount(30)))
		h.SetMode(alice, memory.Revert)
		must(t, tokens.Release(mip20, alice, amount(30)))
		expect(t, "released", state(h), [4]uint64{100, 0, 20, 0})
	})

	t.Run("a capture to the holder itself", func(t *testing.T) {
		h, tokens := setUp(t)
		must(t, tokens.HoldFrom(mip20, alice, amount(30)))
		must(t, tokens.Capture(mip20, alice, alice, amount(30)))
		expect(t, "captured", state(h), [4]uint64{100, 0, 20, 0})
	})
}
