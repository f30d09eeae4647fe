package scheduler_test

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

type (
	account = scheduler.Addr
	bytes32 = scheduler.Word
)

var coin, escrow = account{0x70}, scheduler.Address // the gas token; where escrow lies

// ledger is a chain around the machine: its Executor, Token and Oracle. Its state, tokens included, is one map with a journal.
type ledger struct {
	kv    map[string]string
	undo  []func()
	items map[bytes32]scheduler.Item
}

func (l *ledger) put(k, v string) {
	old := l.kv[k]
	l.undo, l.kv[k] = append(l.undo, func() { l.kv[k] = old }), v
}

// space is one contract's part of the state.
type space struct {
	*ledger
	of account
}

func (s space) at(kind string, k bytes32) string { return s.of.String() + kind + k.String() }
func (s space) Get(k bytes32) (w bytes32)        { copy(w[:], s.kv[s.at("word", k)]); return w }
func (s space) Set(k, v bytes32)                 { s.put(s.at("word", k), string(v[:])) }
func (s space) Blob(k bytes32) []byte            { return []byte(s.kv[s.at("blob", k)]) }
func (s space) SetBlob(k bytes32, b []byte)      { s.put(s.at("blob", k), string(b)) }
func (s space) Temp(k bytes32) (w bytes32)       { copy(w[:], s.kv[s.at("temp", k)]); return w }
func (s space) SetTemp(k, v bytes32)             { s.put(s.at("temp", k), string(v[:])) }
func (s space) Emit(_ []bytes32, data []byte)    { s.put("logs", s.kv["logs"]+string(data)) }
func (s space) Snapshot() int                    { return len(s.undo) }
func (s space) Revert(to int) {
	for ; len(s.undo) > to; s.undo = s.undo[:len(s.undo)-1] {
		s.undo[len(s.undo)-1]()
	}
}

// move is what all of a token comes to where every account has approved the scheduler and accepts what it is sent.
func (l *ledger) move(token, from, to account, n uint256.Int) error {
	balance := func(of account) *uint256.Int {
		return new(uint256.Int).SetBytes([]byte(l.kv[token.String()+of.String()]))
	}
	left, short := new(uint256.Int).SubOverflow(balance(from), &n)
	if short {
		return errors.New("balance too small")
	}
	l.put(token.String()+from.String(), string(left.Bytes()))
	l.put(token.String()+to.String(), string(new(uint256.Int).Add(balance(to), &n).Bytes()))
	return nil
}

// hold stands for what is held of an account.
func hold(a account) account { a[0] ^= 0xff; return a }

func (l *ledger) Pull(a account, n uint256.Int) error          { return l.move(coin, a, escrow, n) }
func (l *ledger) Send(a account, n uint256.Int) error          { return l.move(coin, escrow, a, n) }
func (l *ledger) Credit(a account, n uint256.Int) error        { return l.move(coin, escrow, a, n) }
func (l *ledger) HoldFrom(t, a account, n uint256.Int) error   { return l.move(t, a, hold(a), n) }
func (l *ledger) Capture(t, a, b account, n uint256.Int) error { return l.move(t, hold(a), b, n) }
func (l *ledger) Release(t, a account, n uint256.Int) error    { return l.move(t, hold(a), a, n) }
func (l *ledger) IsMIP20(a account) bool                       { return a == account{0x71} }
func (l *ledger) Held() (n uint256.Int) {
	return *n.SetBytes([]byte(l.kv[coin.String()+escrow.String()]))
}

func (l *ledger) Item(id bytes32) (scheduler.Item, bool) {
	it, listed := l.items[id]
	return it, listed
}

func (l *ledger) Call(to account, gas uint64, input []byte) (ret []byte, used uint64, err error) {
	fmt.Printf("  %.4s… is called with %q\n", to, input)
	return nil, 21, nil
}

func need[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A chain of one's own drives the machine. Everything above the client's part, host and blocks, takes less than 100 lines. An entry is sealed to a condition; a price is written that satisfies it, so the entry
// fires; the validators release the condition's key; the block that carries the key opens the entry and runs it.
func Example() {
	policy := scheduler.DefaultPolicy()
	policy.GasToken, policy.Treasury = coin, account{0xee}
	machine := need(scheduler.New(31337, policy))
	ns := need(tlock.NewNamespace(big.NewInt(31337), [32]byte{1})) // chain id and genesis hash
	l := &ledger{kv: map[string]string{}, items: map[bytes32]scheduler.Item{}}
	state, beacon := space{l, scheduler.Address}, space{l, scheduler.BeaconAddress}
	host := &scheduler.Host{State: state, Executor: l, Token: l, Oracle: l, Beacon: scheduler.BeaconReader{Reader: beacon}}
	need(0, machine.Install(state, 0, 1000))
	price, payer := bytes32{0x99}, account{0xaa}

	block := func(height, time uint64, update scheduler.Update, value byte, inputs ...[]byte) {
		env := scheduler.Env{Height: height, Time: time, Proposer: account{0xdd}}
		need(0, scheduler.ApplyUpdate(beacon, ns, time, update, nil))
		plan := need(machine.BeginBlock(env, host, update, nil))
		for _, run := range plan.Runs { // the leading transactions, of type 0x7e
			fmt.Printf("block %d runs entry %d\n", height, run.ID)
			machine.Execute(env, host, run)
		}
		// Then come the users' transactions: here the oracle's feed writes, and the payer calls the scheduler.
		l.items[price] = scheduler.Item{Value: bytes32{31: value}, Written: true, Height: height, Time: time}
		env.Caller = payer
		for _, input := range inputs {
			need(machine.Call(env, host, input))
		}
		machine.EndBlock(env, host, plan, nil)
		e := scheduler.View{Reader: state}.Entry(1)
		fmt.Printf("block %d: price %d, entry 1 watches %t, is sealed %t, has run %t\n",
			height, value, e.Key == scheduler.WatchKey, e.Flags&scheduler.FlagSealed != 0, e.Status == scheduler.Executed)
	}

	// The client's part: seal the call, schedule it, and later make the key in the validators' stead.
	secret := bls.ScalarFromUint64(7) // of which a network's validators hold shares, and none of them the whole
	group := need(tlock.GroupKeyFromPoint(bls.MulG1Public(secret)))
	groupKey := group.Bytes()
	when := scheduler.Condition{Item: price, Kind: tlock.WhenValueAtLeast, Operand: bytes32{31: 100}}
	to := need(tlock.ConditionSeal(tlock.Condition{Payer: payer, Item: when.Item, Kind: when.Kind, Operand: when.Operand, NotBefore: 1002}))
	calls := tlock.EncodeCalls([]scheduler.Call{{Target: account{0xbb}, GasLimit: 50_000, Data: []byte("buy")}})
	entry := scheduler.Params{Slot: 1002, When: when, GasLimit: 60_000, GasPrice: policy.MinGasPrice, Class: scheduler.BestEffort}
	var err error
	entry.Ciphertext, entry.Commitment, err = tlock.SealCalls(ns, group, to, calls)
	need(0, err)
	l.put(coin.String()+payer.String(), "a lot!")
	block(1, 1001, scheduler.Update{GroupKey: groupKey[:]}, 90, scheduler.DepositInput(*uint256.NewInt(1e9)), scheduler.ScheduleInput(entry))
	block(2, 1002, scheduler.Update{}, 120)
	block(3, 1003, scheduler.Update{}, 120)
	id := to.Identity()
	condition, _ := id.Condition()
	key := ns.Point(id).Mul(secret).Bytes()
	block(4, 1004, scheduler.Update{Conditions: []scheduler.ConditionKey{{Condition: condition, Key: key}}}, 120)
	// Output:
	// block 1: price 90, entry 1 watches true, is sealed true, has run false
	// block 2: price 120, entry 1 watches true, is sealed true, has run false
	// block 3: price 120, entry 1 watches false, is sealed true, has run false
	// block 4 runs entry 1
	//   0xbb… is called with "buy"
	// block 4: price 120, entry 1 watches false, is sealed false, has run true
}
