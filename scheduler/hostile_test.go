package scheduler_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// Hostile input: whatever it is, nothing panics, what is refused changes nothing, and every unit of the token is accounted for.

// accounted is I-01 and I-29: the scheduler holds what the accounts' escrow says, the accounts' holds are the reserves of their Scheduled
// entries, and no token was made or lost. All worlds begin with 2e15 gas tokens; of mip20 there may be 1,000.
func (w *world) accounted(after string) {
	w.Helper()
	holds := map[scheduler.Addr]uint64{}
	for id := uint64(1); id < w.view().NextID(); id++ {
		if e := w.view().Entry(id); e.Status == scheduler.Scheduled {
			holds[e.Payer] += binary.BigEndian.Uint64(e.ReserveAmount[4:])
		}
	}
	var escrow, gas uint256.Int
	var reserved uint64
	for _, a := range []scheduler.Addr{
		alice, bob, treasury, proposer, bad, okTarget, revertTarget, panicTarget, scriptTarget, scheduler.Address, memory.ReceivePolicy, {}, scheduler.BeaconAddress, addr(0xff),
	} {
		available, locked, tokens := w.view().Balance(a), w.view().Locked(a), w.Balance(a)
		escrow.Add(&escrow, available.Add(&available, &locked))
		gas.Add(&gas, &tokens)
		held := asUint64(w.Held(mip20, a))
		reserved += asUint64(w.TokenBalance(mip20, a)) + held
		if held != holds[a] {
			w.Errorf("I-29 after %s: %d is held of %v, its entries' reserves are %d", after, held, a, holds[a])
		}
	}
	if held := w.Balance(scheduler.Address); !held.Eq(&escrow) {
		w.Errorf("I-01 after %s: the scheduler holds %s, escrow is %s", after, held.Dec(), escrow.Dec())
	}
	if gas != amount(2e15) || reserved != 0 && reserved != 1_000 {
		w.Errorf("after %s: there are %s gas tokens and %d of the reserve", after, gas.Dec(), reserved)
	}
}

// fork is a copy of the world that may go its own way.
func (w *world) fork() *world {
	f := *w
	f.Host = w.Fork()
	return &f
}

// extreme sets one field to one end of its range, or just past it.
type extreme struct {
	name string
	set  func(*scheduler.Params)
}

func extremes() (all []extreme) {
	add := func(field string, value any, set func(*scheduler.Params)) {
		all = append(all, extreme{fmt.Sprintf("%s %v", field, value), set})
	}
	const most = ^uint64(0)
	for _, v := range []uint64{0, 1, 99, 100, 101, 110, 34_560_100, 34_560_101, 1<<61 - 1, 1 << 61, 1<<62 - 1, 1 << 62, 1<<62 | 110, 1 << 63, 1<<63 | 110, most} {
		add("slot", v, func(p *scheduler.Params) { p.Slot = v })
		add("height", v, func(p *scheduler.Params) { p.Height = v })
		add("height instead of a slot", v, height(v))
	}
	for _, v := range []uint64{0, 1, 59_999, 60_000, 98_000, 209_999, 210_000, 1_798_000, 1_798_001, 1 << 63, most - 160_000, most} {
		add("gasLimit", v, func(p *scheduler.Params) { p.GasLimit = v })
		add("gas of a call", v, func(p *scheduler.Params) {
			for i := range p.Calls {
				p.Calls[i].GasLimit = v
			}
		})
	}
	for _, v := range []uint64{0, 9, 10, 1 << 32, 1 << 63, most} {
		add("gasPrice", v, price(v))
	}
	for _, v := range []uint8{0, 1, 2, 255} {
		add("class", v, func(p *scheduler.Params) { p.Class = v })
		add("maxRetries", v, retries(v))
	}
	add("lateExecute", true, late)
	for _, v := range []uint32{0, 1, 34_560_000, 34_560_001, 1<<32 - 1} {
		add("backoffSlots", v, backoff(v))
		add("remaining", v, func(p *scheduler.Params) { p.Remaining = v })
	}
	for _, v := range []uint64{0, 1, 34_560_000, 34_560_001, 1 << 61, 1 << 63, most} {
		add("periodSlots", v, func(p *scheduler.Params) { p.PeriodSlots = v })
		add("periodSlots of a series", v, func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = v, 1<<32-1 })
	}
	add("pauseOnFail", true, func(p *scheduler.Params) { p.PauseOnFail = true })
	full := bytes.Repeat([]byte{0xff}, 32)
	for name, v := range map[string][12]byte{"0": {}, "1": {11: 1}, "1001": {10: 1001 >> 8, 11: 1001 & 0xff}, "2^96-1": [12]byte(full)} {
		for _, token := range []scheduler.Addr{{}, mip20, gasToken, scheduler.Address, alice, scheduler.Addr(full)} {
			add("reserve of "+name, token, func(p *scheduler.Params) {
				p.ReserveToken, p.ReserveAmount = token, v
				p.GasLimit = max(p.GasLimit, 248_000)
			})
		}
	}
	for name, ids := range map[string][]uint64{
		"none": nil, "0": {0}, "the first": {1}, "the last": {2}, "the next": {3}, "2^64-1": {most},
		"8": slices.Repeat([]uint64{1}, 8), "9": slices.Repeat([]uint64{1}, 9), "1000": slices.Repeat([]uint64{2}, 1000),
	} {
		add("dependencies", name, needs(ids...))
		add("finished dependencies", name, after(ids...))
	}
	for _, n := range []int{0, 1, 8, 9, 200} {
		add("calls", n, calls(n))
	}
	for _, n := range []int{0, 1, 31, 32, 33, 3872, 3873, 60_000} {
		add("bytes of data", n, func(p *scheduler.Params) {
			for i := range p.Calls {
				p.Calls[i].Data = make([]byte, n)
			}
		})
	}
	for _, target := range []scheduler.Addr{{}, scheduler.Address, scheduler.BeaconAddress, gasToken, mip20, memory.ReceivePolicy, panicTarget, scheduler.Addr(full)} {
		add("target", target, func(p *scheduler.Params) {
			for i := range p.Calls {
				p.Calls[i].Target = target
			}
		})
	}
	for _, n := range []int{0, 1, 172, 173, 428, 4268, 4269, 60_000} {
		add("bytes of ciphertext", n, func(p *scheduler.Params) {
			p.Calls, p.Ciphertext, p.Commitment = nil, make([]byte, n), scheduler.Word{1}
		})
		add("bytes of ciphertext beside calls", n, func(p *scheduler.Params) { p.Ciphertext = make([]byte, n) })
	}
	add("commitment", "1", func(p *scheduler.Params) { p.Commitment = scheduler.Word{31: 1} })
	add("commitment", "all ones", func(p *scheduler.Params) { p.Commitment = scheduler.Word(full) })
	for _, kind := range []uint8{0, 1, 2, 3, 4, 255} {
		for name, when := range map[string]scheduler.Condition{
			"an item": {Item: item, Kind: kind}, "the largest operand": {Item: item, Kind: kind, Operand: scheduler.Word(full)},
			"an unlisted item": {Item: scheduler.Word(full), Kind: kind}, "no item": {Kind: kind},
		} {
			add(fmt.Sprintf("condition of kind %d on", kind), name, func(p *scheduler.Params) { p.When = when })
		}
	}
	return all
}

// newHostileWorld has two entries, an item that is written and, for reserves, 1,000 of a token.
func newHostileWorld(t testing.TB) *world {
	w := newWorld(t)
	w.install(w.secret)
	w.Write(item, word(2000), false, false)
	must(t, w.MintToken(mip20, alice, amount(1_000)))
	w.ApproveToken(mip20, alice, scheduler.Address, amount(1_000))
	w.begin(1, 100)
	w.deposit(alice, 1e14)
	w.schedule(entryOf(300_000, 120))
	w.schedule(with(entryOf(300_000, 110), to(revertTarget), retries(255)))
	return w
}

// tryHostile schedules p on a fork: what is refused has a name and leaves no trace.
func tryHostile(w *world, name string, p scheduler.Params) (f *world, id uint64, accepted bool) {
	f = w.fork()
	before := f.StateHash()
	r := f.Transact(alice, scheduler.Address, 1<<40, scheduler.ScheduleInput(p))
	if r.Err != nil {
		var named scheduler.Error
		if !errors.As(r.Err, &named) {
			f.Errorf("%s: got %v, not an error of the document", name, r.Err)
		}
		if f.StateHash() != before {
			f.Errorf("%s: refused with %v, and the state changed", name, r.Err)
		}
		return f, 0, false
	}
	f.accounted("scheduling with " + name)
	return f, new(uint256.Int).SetBytes(r.Return).Uint64(), true
}

func TestFieldsAtTheirEnds(t *testing.T) {
	w := newHostileWorld(t)
	bases := map[string]scheduler.Params{
		"open":        entryOf(300_000, 110),
		"Guaranteed":  with(entryOf(300_000, 110), guaranteed),
		"failing":     with(entryOf(300_000, 110), to(revertTarget), retries(3)),
		"sealed":      w.sealedEntry(110),
		"series":      with(entryOf(300_000, 110), func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = 10, 2 }),
		"conditional": with(entryOf(300_000, 110), when(item, scheduler.WhenValueAtLeast, 3000)),
		"reserve":     with(entryOf(500_000, 110), reserve(mip20, 100)),
	}
	t.Run("each field alone, run to its end", func(t *testing.T) {
		for base, p := range bases {
			for i, e := range extremes() {
				if testing.Short() && i%10 != 0 {
					continue
				}
				f, id, accepted := tryHostile(w, base+", "+e.name, with(p, e.set))
				if !accepted {
					continue
				}
				f.TB = t
				f.EndBlock(nil)
				f.write(item, 5000)
				for _, time := range []uint64{101, 110, 111, 112, 113, 120, 121, 130} {
					if time == 112 {
						f.carry(110)
					}
					f.block(time)
				}
				f.blockAt(1<<59, 1<<59)
				if f.view().Status(id) == scheduler.Scheduled {
					must(t, f.cancel(alice, id))
				}
				f.accounted(base + ", " + e.name)
			}
		}
	})

	t.Run("two and three fields together", func(t *testing.T) {
		all, random, accepted := extremes(), rand.New(rand.NewPCG(7, 0)), 0
		for range many(4_000) {
			a, b, c := all[random.IntN(len(all))], all[random.IntN(len(all))], extreme{"nothing", func(*scheduler.Params) {}}
			if random.IntN(3) == 0 {
				c = all[random.IntN(len(all))]
			}
			name := a.name + " with " + b.name + " and " + c.name
			f, id, ok := tryHostile(w, name, with(bases["open"], a.set, b.set, c.set))
			if ok {
				accepted++
				must(t, f.cancel(alice, id))
				f.accounted("canceling " + name)
			}
		}
		if accepted < many(200) {
			t.Errorf("only %d were accepted: the base is at fault", accepted)
		}
	})
}

// many is n, or a tenth of it under -short.
func many(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// TestCiphertextsOfEveryLength schedules one of each length from 0 to 5000 and opens in one block all that were taken.
func TestCiphertextsOfEveryLength(t *testing.T) {
	p := testPolicy()
	p.GasPerBlock, p.MaxEntriesPerBlock = 1<<40, 5000
	w := newWorldWith(t, p)
	w.install(w.secret)
	whole := w.sealedEntry(110)
	noise := append(bytes.Clone(whole.Ciphertext), randomBytes(1, 5000)...)
	w.block(100, func() {
		w.deposit(alice, 1e12)
		for n := range 5001 {
			want := error(nil)
			switch {
			case n == 0:
				want = scheduler.BadSeal // a commitment alone
			case n < scheduler.MinCiphertext:
				want = scheduler.BadSeal
			case n > scheduler.MaxCiphertext:
				want = scheduler.DataTooLarge
			}
			_, err := w.trySchedule(alice, with(whole, func(p *scheduler.Params) { p.Ciphertext, p.MaxRetries = noise[:n], 3 }))
			if !errors.Is(err, want) {
				t.Errorf("%d bytes: got error %v, want %v", n, err, want)
			}
		}
	})
	w.carry(110)
	var all []string
	for time := uint64(111); time <= 114; time++ { // 1,024 a block
		w.block(time)
		w.accounted("opening them")
		all = append(all, w.events...)
	}
	expect(t, "runs", len(all), scheduler.MaxCiphertext-scheduler.MinCiphertext+1)
	for i, event := range all {
		want := fmt.Sprintf("ExecutionFailed(%d,0,false)", i+1)
		if n := i + scheduler.MinCiphertext; n == len(whole.Ciphertext) {
			want = fmt.Sprintf("Executed(%d,0)", i+1)
		}
		if event != want {
			t.Errorf("%d bytes: got %s, want %s", i+scheduler.MinCiphertext, event, want)
		}
	}
}

// TestTargetsThatCallBack lets a target do every harm it can think of during a run, alone and twice, and then return, fail, panic or burn
// its gas. The entry pays for it and ends; the ledgers hold.
func TestTargetsThatCallBack(t *testing.T) {
	const own, later, queued, dead, paused, last = 1, 2, 3, 4, 5, 6
	try := func(f *memory.Frame, input []byte) error {
		_, err := f.Call(scheduler.Address, min(f.Gas, 500_000), input)
		return err
	}
	resume := func(id uint64) []byte {
		return append([]byte{0x1c, 0xde, 0xfe, 0xcf}, scheduler.CancelInput(id)[4:]...)
	}
	again := func(p scheduler.Params) []byte { return scheduler.ScheduleInput(p) }
	harms := map[string][]byte{
		"cancel itself": scheduler.CancelInput(own), "cancel one that runs later": scheduler.CancelInput(later), "cancel one that waits": scheduler.CancelInput(queued),
		"cancel a dead one": scheduler.CancelInput(dead), "cancel a paused one": scheduler.CancelInput(paused), "cancel nothing": scheduler.CancelInput(99),
		"expire itself": scheduler.ExpireInput(own), "expire a dead one": scheduler.ExpireInput(dead), "expire one that runs later": scheduler.ExpireInput(later),
		"execute itself": scheduler.ExecuteInput(own), "execute one that runs later": scheduler.ExecuteInput(later), "execute one that waits": scheduler.ExecuteInput(queued),
		"resume a paused one": resume(paused), "resume itself": resume(own),
		"deposit": scheduler.DepositInput(amount(1_000_000)), "deposit too much": scheduler.DepositInput(amount(1e15)),
		"withdraw all": scheduler.WithdrawInput(amount(1e9)), "withdraw a little": scheduler.WithdrawInput(amount(7)),
		"schedule": again(with(entryOf(300_000, 195), to(scriptTarget))), "schedule into this block": again(entryOf(300_000, 180)),
		"schedule and depend on itself": again(with(entryOf(300_000, 195), needs(own))), "schedule and depend on the next": again(with(entryOf(300_000, 195), needs(last+1))),
		"schedule a height": again(with(entryOf(300_000, 0), height(96))), "schedule with a reserve": again(with(entryOf(500_000, 195), reserve(mip20, 10))),
		"schedule a series":  again(with(entryOf(300_000, 195), func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = 1, 3 })),
		"schedule a watcher": again(watcher(195, 1)), "call the scheduler's balance": []byte("balance?"), "nothing": nil,
	}
	ends := map[string]func(f *memory.Frame) error{
		"returns": func(*memory.Frame) error { return nil },
		"fails":   func(*memory.Frame) error { return errors.New("no") },
		"panics":  func(*memory.Frame) error { panic("a target's bug") },
		"burns":   func(f *memory.Frame) error { return f.Use(f.Gas + 1) },
	}
	// set up makes entry 1 call the target, and around it entries in every state, all of the target itself.
	setUp := func(t *testing.T) *world {
		w := newWorld(t)
		w.install(w.secret)
		w.Write(item, word(2000), false, false)
		must(t, w.MintToken(mip20, scriptTarget, amount(1_000)))
		w.ApproveToken(mip20, scriptTarget, scheduler.Address, amount(1_000))
		w.Seize(bob, amount(1e10))
		must(t, w.Mint(scriptTarget, amount(1e10)))
		w.Approve(scriptTarget, scheduler.Address, amount(1e10))
		w.block(100, func() {
			w.deposit(scriptTarget, 1e9)
			for _, p := range []scheduler.Params{
				own:    with(entryOf(700_000, 180), to(scriptTarget), retries(1), func(p *scheduler.Params) { p.Calls[0].GasLimit = 480_000 }),
				later:  with(entryOf(300_000, 180), to(scriptTarget)),
				queued: entryOf(300_000, 190),
				dead:   entryOf(300_000, 110),
				paused: with(entryOf(300_000, 170), to(revertTarget), func(p *scheduler.Params) {
					p.PeriodSlots, p.Remaining, p.PauseOnFail = 20, 2, true
				}),
				last: with(entryOf(300_000, 185), after(own)),
			}[1:] {
				_, err := w.trySchedule(scriptTarget, p)
				must(t, err)
			}
		})
		w.block(171)
		w.expectStatus(dead, scheduler.Scheduled)
		w.expectStatus(paused, scheduler.Paused)
		w.blocks(172, 179)
		return w
	}
	start, worked := setUp(t), map[string]bool{}
	for harm, input := range harms {
		for end, finish := range ends {
			for _, times := range []int{1, 2, 40} {
				name := fmt.Sprintf("%s %d times, then it %s", harm, times, end)
				w := start.fork()
				var depth int
				target := func(f *memory.Frame) ([]byte, error) {
					depth++
					defer func() { depth-- }()
					for range times {
						running := w.view().Status(own) == scheduler.Executed // and not waiting for its retry
						if try(f, input) == nil && running {
							worked[harm] = true
						}
					}
					if depth < 3 { // and once more from within
						_, _ = f.Call(scriptTarget, f.Gas/2, nil)
					}
					return nil, finish(f)
				}
				start.script = target
				for time := uint64(180); time < 200; time++ {
					w.block(time)
					w.accounted(fmt.Sprintf("block %d: %s", time, name))
				}
				if s := w.view().Status(own); s != scheduler.Executed && s != scheduler.Failed {
					t.Errorf("%s: its status is %d", name, s)
				}
				if s := w.view().Status(dead); s != scheduler.Scheduled && s != scheduler.Cancelled {
					t.Errorf("%s: the dead one's status is %d", name, s)
				}
			}
		}
	}
	for _, harm := range []string{
		"cancel one that runs later", "cancel one that waits", "cancel a dead one", "cancel a paused one", "resume a paused one", "deposit", "withdraw a little",
		"schedule", "schedule and depend on itself", "schedule a height", "schedule with a reserve", "schedule a series", "schedule a watcher",
	} {
		if !worked[harm] {
			t.Errorf("%s never worked: the test is too tame", harm)
		}
	}
	for _, harm := range []string{
		"cancel itself", "cancel nothing", "expire itself", "expire a dead one", "expire one that runs later", "execute itself", "execute one that runs later",
		"execute one that waits", "resume itself", "deposit too much", "schedule into this block",
	} {
		if worked[harm] {
			t.Errorf("%s worked", harm)
		}
	}
}

// TestChainsOfDependencies lets ten entries hang on one whose end is slow, odd or never comes.
func TestChainsOfDependencies(t *testing.T) {
	series := func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = 3, 4 }
	for name, c := range map[string]struct {
		head func(w *world) scheduler.Params
		end  func(w *world) // in block 120
		want scheduler.Status
	}{
		"200 retries": {func(*world) scheduler.Params { return with(entryOf(300_000, 110), to(revertTarget), retries(200)) }, nil, scheduler.Failed},
		"a retry that is late": {func(*world) scheduler.Params {
			return with(entryOf(300_000, 110), to(revertTarget), retries(1), backoff(90))
		}, nil, scheduler.Failed},
		"a series": {func(*world) scheduler.Params { return with(entryOf(300_000, 110), series) }, nil, scheduler.Executed},
		"a series that pauses": {func(*world) scheduler.Params {
			return with(entryOf(300_000, 110), series, to(revertTarget), func(p *scheduler.Params) { p.PauseOnFail = true })
		}, nil, scheduler.Paused},
		"a watcher":                   {func(*world) scheduler.Params { return watcher(110, 3000) }, func(w *world) { w.write(item, 3500) }, scheduler.Executed},
		"a watcher that is canceled":  {func(*world) scheduler.Params { return watcher(110, 3000) }, func(w *world) { must(w, w.cancel(alice, 1)) }, scheduler.Cancelled},
		"a watcher that loses it all": {func(*world) scheduler.Params { return watcher(110, 3000) }, func(w *world) { w.Delist(item); must(w, w.expire(1)) }, scheduler.Expired},
		"a sealed one with its key":   {func(w *world) scheduler.Params { return w.sealedEntry(110) }, func(w *world) { w.carry(110) }, scheduler.Executed},
		"a sealed one without":        {func(w *world) scheduler.Params { return w.sealedEntry(110) }, nil, scheduler.Scheduled},
		"one that is canceled":        {func(*world) scheduler.Params { return entryOf(300_000, 125) }, func(w *world) { must(w, w.cancel(alice, 1)) }, scheduler.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			p := testPolicy()
			p.GasPerBlock, p.GuaranteedGasPerSlot, p.MaxEntriesPerBlock, p.MaxLateSlots = 20_000_000, 10_000_000, 64, 400
			w := newWatchWorldWith(t, p)
			w.block(101, func() {
				w.schedule(c.head(w))
				for id := uint64(2); id <= 11; id++ {
					w.schedule(with(entryOf(300_000, 110), after(id-1), price(id*10)))
					w.schedule(with(entryOf(300_000, 110), needs(1), after(id-1), retries(3), guaranteed))
				}
			})
			for time := uint64(102); time < 520; time++ {
				w.block(time, func() {
					if time == 120 && c.end != nil {
						c.end(w)
					}
				})
				w.accounted(fmt.Sprintf("block %d", time))
			}
			w.expectStatus(1, c.want)
			for id := uint64(2); id < w.view().NextID(); id++ {
				if s := w.view().Status(id); s == scheduler.Scheduled {
					t.Errorf("entry %d still waits: %+v", id, w.view().Entry(id))
				}
			}
		})
	}
}

// TestItemsThatComeAndGo removes, restores, halts and writes items while entries watch them, in every order of four steps.
func TestItemsThatComeAndGo(t *testing.T) {
	yes, no := true, false
	steps := map[string]func(w *world){
		"delist": func(w *world) { w.Delist(item) }, "list": func(w *world) { w.List(item) }, "write above": func(w *world) { w.write(item, 3500) },
		"write below": func(w *world) { w.write(item, 10) }, "halt": func(w *world) { w.SetFlags(item, &yes, nil) }, "lift": func(w *world) { w.SetFlags(item, &no, &no) },
		"expire": func(w *world) { _ = w.expire(1) }, "cancel": func(w *world) { _ = w.cancel(alice, 2) }, "watch": func(w *world) { _, _ = w.trySchedule(alice, watcher(300, 3000)) },
	}
	var names []string
	for name := range steps {
		names = append(names, name)
	}
	slices.Sort(names)
	if testing.Short() {
		names = names[:4]
	}
	start := newWatchWorld(t)
	start.block(101, func() {
		start.schedule(watcher(102, 3000))
		start.schedule(with(watcher(102, 0), when(item, scheduler.WhenNotHalted, 0)))
		start.schedule(with(watcher(102, 0), when(item, scheduler.WhenValueAtMost, 100)))
		start.schedule(start.sealedWatcher(102, 3000))
		start.schedule(with(entryOf(300_000, 104), after(1, 2, 3, 4)))
	})
	seen := map[scheduler.Status]bool{}
	for _, a := range names {
		for _, b := range names {
			for _, c := range names {
				order := []string{a, b, c}
				w := start.fork()
				for i, name := range order {
					w.carryConditions(w.wantedConditions(w.Env().Time + 1)...)
					w.block(102+uint64(i), func() { steps[name](w) })
					w.accounted(fmt.Sprint(order[:i+1]))
				}
				w.carryConditions(w.wantedConditions(w.Env().Time + 1)...)
				w.blocks(105, 108)
				w.Delist(item)
				w.blockAt(400, 500)
				for id := uint64(1); id < w.view().NextID(); id++ {
					if w.view().Status(id) == scheduler.Scheduled {
						if err := w.expire(id); err != nil {
							t.Errorf("%v: expire of %d, whose item is gone: %v", order, id, err)
						}
					}
					seen[w.view().Status(id)] = true
				}
				w.accounted(fmt.Sprint(order))
				expect(t, "watchers left", len(w.view().WatchersOf(item)), 0)
				expect(t, "locked", w.locked(alice), 0)
			}
		}
	}
	for _, s := range []scheduler.Status{scheduler.Executed, scheduler.Cancelled, scheduler.Expired} {
		expect(t, fmt.Sprintf("status %d was reached", s), seen[s] || testing.Short(), true)
	}
}
