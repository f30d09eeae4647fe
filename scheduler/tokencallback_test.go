package scheduler_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// callingToken is the gas token and the MIP20 token of a chain whose tokens run code of others: every movement, made or about to be
// made, may call the scheduler. Its amounts are words, journaled as all state is.
type callingToken struct {
	words    scheduler.State
	callback func()
}

var errShort = errors.New("too little")

func (c *callingToken) key(kind byte, token, a scheduler.Addr) scheduler.Word {
	return scheduler.Word(append([]byte{kind, token[0], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, a[:]...))
}

func (c *callingToken) get(k scheduler.Word) (v uint256.Int) {
	w := c.words.Get(k)
	v.SetBytes32(w[:])
	return v
}

func (c *callingToken) move(from, to scheduler.Word, n uint256.Int) error {
	c.callback()
	left := c.get(from)
	if left.Lt(&n) {
		return errShort
	}
	c.words.Set(from, left.Sub(&left, &n).Bytes32())
	sum := c.get(to)
	c.words.Set(to, sum.Add(&sum, &n).Bytes32())
	c.callback()
	return nil
}

const (
	spendable = 1
	onHold    = 2
)

func (c *callingToken) Pull(from scheduler.Addr, n uint256.Int) error {
	return c.move(c.key(spendable, gasToken, from), c.key(spendable, gasToken, scheduler.Address), n)
}
func (c *callingToken) Send(to scheduler.Addr, n uint256.Int) error {
	return c.move(c.key(spendable, gasToken, scheduler.Address), c.key(spendable, gasToken, to), n)
}
func (c *callingToken) Credit(to scheduler.Addr, n uint256.Int) error { return c.Send(to, n) }
func (c *callingToken) Held() uint256.Int {
	return c.get(c.key(spendable, gasToken, scheduler.Address))
}
func (c *callingToken) IsMIP20(a scheduler.Addr) bool { return a == mip20 }
func (c *callingToken) HoldFrom(token, from scheduler.Addr, n uint256.Int) error {
	return c.move(c.key(spendable, token, from), c.key(onHold, token, from), n)
}
func (c *callingToken) Capture(token, from, to scheduler.Addr, n uint256.Int) error {
	return c.move(c.key(onHold, token, from), c.key(spendable, token, to), n)
}
func (c *callingToken) Release(token, from scheduler.Addr, n uint256.Int) error {
	return c.move(c.key(onHold, token, from), c.key(spendable, token, from), n)
}

// callingWorld is a machine on such a token, with alice as the only payer.
type callingWorld struct {
	*world
	token *callingToken
	host  *scheduler.Host
	env   scheduler.Env
	rand  *rand.Rand
	depth int
	price uint64 // of the last series or entry: each has its own
}

func newCallingWorld(t *testing.T, seed uint64) *callingWorld {
	w := &callingWorld{world: newWorld(t), rand: rand.New(rand.NewPCG(seed, 1)), env: scheduler.Env{Time: 99, Proposer: proposer}}
	w.token = &callingToken{words: w.Space(gasToken), callback: w.callBack}
	for token, n := range map[scheduler.Addr]uint64{gasToken: 1e12, mip20: 1_000} {
		v := amount(n)
		w.token.words.Set(w.token.key(spendable, token, alice), v.Bytes32())
	}
	w.host = &scheduler.Host{State: w.Space(scheduler.Address), Token: w.token, Executor: w, Beacon: w.Beacon()}
	return w
}

// Call is a target: it fails now and then, and may call the scheduler.
func (w *callingWorld) Call(scheduler.Addr, uint64, []byte) ([]byte, uint64, error) {
	w.callBack()
	if w.rand.IntN(2) == 0 {
		return nil, 0, memory.ErrDepth
	}
	return nil, 0, nil
}

func (w *callingWorld) callBack() {
	if w.depth < 3 && w.rand.IntN(3) == 0 {
		w.depth++
		w.act()
		w.depth--
	}
}

// act is one call of alice's.
func (w *callingWorld) act() {
	next := w.view().NextID()
	id := next - min(next, w.rand.Uint64N(8)) // mostly one of the newest
	var input []byte
	switch w.rand.IntN(8) {
	case 0:
		input = scheduler.DepositInput(amount(w.rand.Uint64N(1e9)))
	case 1:
		input = scheduler.WithdrawInput(amount(w.rand.Uint64N(1e9)))
	case 2:
		input = scheduler.CancelInput(id)
	case 3:
		input = scheduler.ExpireInput(id)
	case 4, 5:
		for id > 1 && w.view().Status(id) != scheduler.Paused {
			id--
		}
		input = scheduler.ResumeInput(id)
	default:
		w.price++
		p := with(entryOf(700_000, w.env.Time+1+w.rand.Uint64N(3)), price(9+w.price))
		if w.rand.IntN(4) > 0 {
			reserveOf(byte(1 + w.rand.IntN(20)))(&p)
		}
		if w.rand.IntN(3) > 0 {
			p.PeriodSlots, p.Remaining, p.PauseOnFail = 1+w.rand.Uint64N(4), 1+w.rand.Uint32N(5), w.rand.IntN(4) > 0
		}
		p.MaxRetries = uint8(w.rand.IntN(2))
		input = scheduler.ScheduleInput(p)
	}
	env := w.env
	env.Caller = alice
	_, _ = w.Machine().Call(env, w.host, input) // refused or not, the invariants hold
}

func (w *callingWorld) block() {
	w.env.Height++
	w.env.Time += 1 + w.rand.Uint64N(2)
	plan, err := w.Machine().BeginBlock(w.env, w.host, scheduler.Update{}, nil)
	must(w, err)
	for _, run := range plan.Runs {
		w.Machine().Execute(w.env, w.host, run)
		w.check()
	}
	for range w.rand.IntN(6) {
		w.act()
		w.check()
	}
	w.Machine().EndBlock(w.env, w.host, plan, nil)
	w.check()
}

// check is I-01 and I-29, and that no series has two periods at once.
func (w *callingWorld) check() {
	w.Helper()
	var escrow, reserves uint256.Int
	for _, a := range []scheduler.Addr{alice, treasury} {
		available, locked := w.view().Balance(a), w.view().Locked(a)
		escrow.Add(&escrow, available.Add(&available, &locked))
	}
	var fees uint256.Int
	series := map[uint64]uint64{}
	for id := uint64(1); id < w.view().NextID(); id++ {
		e := w.view().Entry(id)
		if e.Status == scheduler.Scheduled || e.Status == scheduler.Paused {
			if other := series[e.GasPrice]; other > 0 {
				w.Fatalf("entries %d and %d are two periods of one series", other, id)
			}
			series[e.GasPrice] = id
		}
		if e.Status == scheduler.Scheduled {
			reserves.Add(&reserves, new(uint256.Int).SetBytes(e.ReserveAmount[:]))
			fee := feeOf(e)
			fees.Add(&fees, &fee)
		}
	}
	locked, held := w.view().Locked(alice), w.token.Held()
	if held != escrow || locked != fees {
		w.Fatalf("I-01: the scheduler holds %s, escrow is %s; locked %s, fees %s", held.Dec(), escrow.Dec(), locked.Dec(), fees.Dec())
	}
	if onHold := w.token.get(w.token.key(onHold, mip20, alice)); onHold != reserves {
		w.Fatalf("I-29: %s is held, reserves are %s", onHold.Dec(), reserves.Dec())
	}
}

// TestTokensThatCallBack: a token that runs code of others, before and after each movement, makes and destroys nothing, and gets no
// entry run twice and no period two successors.
func TestTokensThatCallBack(t *testing.T) {
	for seed := range uint64(many(40)) {
		w := newCallingWorld(t, seed)
		for range 60 {
			w.block()
		}
	}
}

// TestAResumedSeriesGoesOnOnce: while the next period's reserve is held the series is resumed already, for whoever the token calls.
func TestAResumedSeriesGoesOnOnce(t *testing.T) {
	for name, again := range map[string][]byte{"resume": scheduler.ResumeInput(1), "cancel": scheduler.CancelInput(1)} {
		w := newWorld(t)
		w.giveReserve(1_000, 600)
		w.block(100, func() {
			w.deposit(alice, bigEscrow)
			w.schedule(with(series(110, 2, pausing, to(revertTarget)), reserveOf(1)))
		})
		w.block(110)
		w.expectStatus(1, scheduler.Paused)
		env := scheduler.Env{Height: 20, Time: 112, Caller: alice, Proposer: proposer}
		host := &scheduler.Host{State: w.Space(scheduler.Address), Beacon: w.Beacon()}
		token := &callingToken{words: w.Space(mip20), callback: func() {}}
		token.words.Set(token.key(spendable, mip20, alice), scheduler.Word{31: 5})
		token.callback = func() {
			token.callback = func() {}
			if _, err := w.Machine().Call(env, host, again); err == nil {
				t.Errorf("%s inside resume is accepted", name)
			}
		}
		host.Token = token
		_, err := w.Machine().Call(env, host, scheduler.ResumeInput(1))
		must(t, err)
		expect(t, name+": next id", w.view().NextID(), 3)
		w.expectStatus(1, scheduler.Failed)
	}
}
