package scheduler_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/holiman/uint256"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

const chainID = 31337

var (
	alice    = addr(0xaa)
	bob      = addr(0xbb)
	treasury = addr(0x77)
	gasToken = addr(0x70)
	mip20    = addr(0x20) // a MIP20 token
	proposer = addr(0xdd)
	bad      = addr(0xba) // a proposer to which the gas token fails every credit

	okTarget     = addr(0x01) // takes every call
	revertTarget = addr(0x02) // fails every call
	panicTarget  = addr(0x03) // panics after it has written
	scriptTarget = addr(0x04) // does what world.script says
)

func addr(b byte) (a scheduler.Addr) {
	for i := range a {
		a[i] = b
	}
	return a
}

// testPolicy is the policy of the ledger's scenarios.
func testPolicy() scheduler.Policy {
	return scheduler.Policy{
		GasPerBlock: 2_000_000, GuaranteedGasPerSlot: 800_000, MaxHorizonSlots: 34_560_000, MaxLateSlots: 60,
		CancelRefundBps: 8_000, MaxEntriesPerBlock: 4, Treasury: treasury, MinGasPrice: 10, GasToken: gasToken,
	}
}

// world is a chain for tests: activated at height 0, time 99, one block a second unless a test leaves some out.
type world struct {
	rapid.TB
	*memory.Host
	config   memory.Config
	secret   bls.Scalar // the group's secret
	script   func(f *memory.Frame) ([]byte, error)
	proposer scheduler.Addr
	update   scheduler.Update // of the next block
	runner   scheduler.Runner

	runs     []scheduler.Run     // of the last block
	receipts []memory.RunReceipt // of the last block
	events   []string            // of the last block's leading transactions
}

func newWorld(t rapid.TB) *world { return newWorldWith(t, testPolicy()) }

// newWorldWith is a world of another policy and, if any are given, other limits.
func newWorldWith(t rapid.TB, p scheduler.Policy, limits ...scheduler.Limits) *world {
	t.Helper()
	w := &world{TB: t, secret: bls.ScalarFromUint64(0x5eed), proposer: proposer}
	w.config = memory.Config{
		ChainID: chainID, GenesisHash: [32]byte{0x11}, Policy: p, Time: 99,
		Targets: map[scheduler.Addr]memory.Target{
			revertTarget: memory.Reverter,
			panicTarget: func(f *memory.Frame) ([]byte, error) {
				f.State().Set(scheduler.Word{1}, scheduler.Word{1})
				panic("a target's bug")
			},
			scriptTarget: func(f *memory.Frame) ([]byte, error) { return w.script(f) },
		},
	}
	for _, l := range limits {
		w.config.Limits = l
	}
	h, err := memory.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	w.Host = h
	for _, a := range []scheduler.Addr{alice, bob} {
		must(t, h.Mint(a, amount(1e15)))
		h.Approve(a, scheduler.Address, amount(1e15))
	}
	h.SetMode(bad, memory.Broken)
	h.RegisterMIP20(mip20)
	return w
}

func amount(v uint64) uint256.Int { return *uint256.NewInt(v) }

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// install puts the group key of secret into the next block's update.
func (w *world) install(secret bls.Scalar) {
	w.secret = secret
	b := groupKey(w, secret).Bytes()
	w.update.GroupKey = b[:]
}

func groupKey(t rapid.TB, secret bls.Scalar) tlock.GroupKey {
	t.Helper()
	gk, err := tlock.GroupKeyFromPoint(bls.MulG1Public(secret))
	must(t, err)
	return gk
}

// carry puts the keys of slots into the next block's update.
func (w *world) carry(slots ...uint64) {
	for _, s := range slots {
		w.update.Slots = append(w.update.Slots, w.slotKey(s))
	}
}

func (w *world) slotKey(slot uint64) scheduler.SlotKey {
	return scheduler.SlotKey{Slot: slot, Key: w.Namespace().Point(tlock.SlotIdentity(slot)).Mul(w.secret).Bytes()}
}

// block makes the block at time, with its height one second a block, and runs txs as its user transactions.
func (w *world) block(time uint64, txs ...func()) {
	w.Helper()
	w.blockAt(time-99, time, txs...)
}

func (w *world) blockAt(height, time uint64, txs ...func()) {
	w.Helper()
	w.begin(height, time)
	w.executeRuns()
	for _, tx := range txs {
		tx()
	}
	w.EndBlock(w.runner)
}

func (w *world) begin(height, time uint64) {
	w.Helper()
	runs, err := w.BeginBlock(scheduler.Env{Height: height, Time: time, Proposer: w.proposer}, w.update, w.runner)
	must(w, err)
	w.update, w.runs = scheduler.Update{}, runs
}

func (w *world) executeRuns() {
	w.receipts, w.events = nil, nil
	for i := range w.runs {
		r := w.ExecuteRun(i)
		w.receipts = append(w.receipts, r)
		w.events = append(w.events, events(r.Logs)...)
	}
}

// blocks makes the blocks from first to last, one a second.
func (w *world) blocks(first, last uint64) {
	w.Helper()
	for t := first; t <= last; t++ {
		w.block(t)
	}
}

// events renders the scheduler's events among logs, as in the document.
func events(logs []memory.Log) (out []string) {
	for _, l := range logs {
		if l.Address != scheduler.Address {
			continue
		}
		ev, ok := scheduler.DecodeEvent(l.Topics, l.Data)
		if !ok {
			out = append(out, "unknown event")
			continue
		}
		var args []string
		for _, a := range ev.Args {
			switch a.Type {
			case "address":
				args = append(args, hex.EncodeToString(a.Word[12:13]))
			case "bool":
				args = append(args, fmt.Sprint(a.Word[31] == 1))
			default:
				v := new(uint256.Int).SetBytes32(a.Word[:])
				args = append(args, v.Dec())
			}
		}
		out = append(out, ev.Name+"("+strings.Join(args, ",")+")")
	}
	return out
}

// transact makes a call to the scheduler.
func (w *world) transact(from scheduler.Addr, input []byte) memory.Receipt {
	return w.Transact(from, scheduler.Address, 5_000_000, input)
}

func (w *world) deposit(from scheduler.Addr, v uint64) {
	w.Helper()
	must(w, w.transact(from, scheduler.DepositInput(amount(v))).Err)
}

func (w *world) trySchedule(from scheduler.Addr, p scheduler.Params) (uint64, error) {
	r := w.transact(from, scheduler.ScheduleInput(p))
	if r.Err != nil {
		return 0, r.Err
	}
	return new(uint256.Int).SetBytes(r.Return).Uint64(), nil
}

func (w *world) schedule(p scheduler.Params) uint64 {
	w.Helper()
	id, err := w.trySchedule(alice, p)
	must(w, err)
	return id
}

func (w *world) cancel(from scheduler.Addr, id uint64) error {
	return w.transact(from, scheduler.CancelInput(id)).Err
}

func (w *world) expire(id uint64) error { return w.transact(bob, scheduler.ExpireInput(id)).Err }

func (w *world) withdraw(from scheduler.Addr, v uint64) error {
	return w.transact(from, scheduler.WithdrawInput(amount(v))).Err
}

func (w *world) view() scheduler.View {
	return scheduler.View{Reader: w.Space(scheduler.Address)}
}

func (w *world) available(a scheduler.Addr) uint64 { return asUint64(w.view().Balance(a)) }
func (w *world) locked(a scheduler.Addr) uint64    { return asUint64(w.view().Locked(a)) }
func (w *world) tokens(a scheduler.Addr) uint64    { return asUint64(w.Balance(a)) }

func asUint64(v uint256.Int) uint64 { return v.Uint64() }

// ran lists the ids that the last block's leading transactions ran, in order.
func (w *world) ran() (ids []uint64) {
	for _, r := range w.runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// The ledger's C(x): an open BestEffort entry of one call with empty data, gas price 10 and cost x.
func entryOf(cost, slot uint64) scheduler.Params {
	return scheduler.Params{
		Calls: []scheduler.Call{{Target: okTarget, GasLimit: 50_000}}, Slot: slot, GasLimit: cost - 202_000, GasPrice: 10, Class: scheduler.BestEffort,
	}
}

func with(p scheduler.Params, change ...func(*scheduler.Params)) scheduler.Params {
	p.Calls, p.DependsOn = slices.Clone(p.Calls), slices.Clone(p.DependsOn)
	for _, f := range change {
		f(&p)
	}
	return p
}

func price(v uint64) func(*scheduler.Params)  { return func(p *scheduler.Params) { p.GasPrice = v } }
func retries(n uint8) func(*scheduler.Params) { return func(p *scheduler.Params) { p.MaxRetries = n } }
func height(n uint64) func(*scheduler.Params) {
	return func(p *scheduler.Params) { p.Slot, p.Height = 0, n }
}
func late(p *scheduler.Params)       { p.LateExecute = true }
func guaranteed(p *scheduler.Params) { p.Class = scheduler.Guaranteed }
func backoff(n uint32) func(*scheduler.Params) {
	return func(p *scheduler.Params) { p.BackoffSlots = n }
}

func to(target scheduler.Addr) func(*scheduler.Params) {
	return func(p *scheduler.Params) { p.Calls[0].Target = target }
}

// needs adds dependencies that must have succeeded; the entry's cost grows by 5,000 each.
func needs(ids ...uint64) func(*scheduler.Params) { return depends(false, ids) }

// after adds dependencies that must merely have ended.
func after(ids ...uint64) func(*scheduler.Params) { return depends(true, ids) }

func depends(finished bool, ids []uint64) func(*scheduler.Params) {
	return func(p *scheduler.Params) {
		for _, id := range ids {
			p.DependsOn = append(p.DependsOn, scheduler.Dependency{ID: id, Finished: finished})
		}
	}
}

// sealedEntry is a BestEffort entry of alice sealed to slot, with gas limit 98,000.
func (w *world) sealedEntry(slot uint64, calls ...scheduler.Call) scheduler.Params {
	w.Helper()
	if calls == nil {
		calls = []scheduler.Call{{Target: okTarget, GasLimit: 50_000}}
	}
	return w.sealedBytes(slot, tlock.EncodeCalls(calls))
}

func (w *world) sealedBytes(slot uint64, encoded []byte) scheduler.Params {
	w.Helper()
	ciphertext, commitment, err := tlock.SealCalls(w.Namespace(), groupKey(w, w.secret), tlock.SlotSeal(slot, alice), encoded)
	must(w, err)
	return scheduler.Params{Ciphertext: ciphertext, Commitment: commitment, Slot: slot, GasLimit: 98_000, GasPrice: 10, Class: scheduler.BestEffort}
}

// detach edits the state so that a block seems to have selected entry id at slot.
func (w *world) detach(id, slot uint64) {
	state, key := w.Space(scheduler.Address), scheduler.Word{0: 4}
	binary.BigEndian.PutUint64(key[16:], id)
	head := state.Get(key)
	binary.BigEndian.PutUint64(head[20:], slot)
	head[31] |= scheduler.FlagDetached
	state.Set(key, head)
}

// Checks.

func expect[T comparable](t rapid.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func expectList[T comparable](t rapid.TB, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func expectErr(t rapid.TB, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

func (w *world) expectStatus(id uint64, want scheduler.Status) {
	w.Helper()
	expect(w, fmt.Sprintf("status(%d)", id), w.view().Status(id), want)
}

func (w *world) expectCursor(slot uint64) {
	w.Helper()
	expect(w, "cursorSlot", w.view().CursorSlot(), slot)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// costOf is the entry's cost by the read function's formula.
func costOf(e scheduler.Entry) uint64 {
	c, _ := scheduler.Cost(e.GasLimit, uint64(e.DataLen), uint64(len(e.DependsOn)), e.PeriodSlots != 0, e.ReserveAmount != [12]byte{})
	return c
}

func feeOf(e scheduler.Entry) (f uint256.Int) {
	f.Mul(uint256.NewInt(costOf(e)), uint256.NewInt(e.GasPrice))
	return f
}

func isSealed(e scheduler.Entry) bool { return e.Flags&scheduler.FlagSealed != 0 }

// randomBytes are what a seed makes.
func randomBytes(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}
