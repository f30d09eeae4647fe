package model

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/scheduler/replay"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// invariants are the properties that the machine's state has after every block and every transaction, whatever came before.
var invariants = map[string]string{
	"I-01": "the scheduler's gas tokens are what is available and locked",
	"I-02": "locked is the fees of Scheduled entries",
	"I-03": "deposits less withdrawals and fees are available and locked",
	"I-04": "a success pays the fee to the proposer, other outcomes pay nothing",
	"I-05": "cancel divides the fee between payer and treasury, expire returns it",
	"I-06": "nothing is negative or wraps",
	"I-07": "no key queues more than maxEntriesPerBlock",
	"I-08": "reservedGas is the cost of the Guaranteed entries queued, within the policy",
	"I-09": "cursors never fall and are at most one ahead",
	"I-10": "a key behind its cursor is empty",
	"I-11": "a Scheduled entry is in one place, or passed and expirable",
	"I-12": "only Scheduled entries are in queues and watch lists",
	"I-13": "a block's chosen entries cost at most gasPerBlock",
	"I-14": "BestEffort entries are chosen below maxEntriesPerBlock only",
	"I-15": "an entry runs after its chosen dependencies",
	"I-16": "of a pair that moves the dependency stands first",
	"I-17": "at a run every dependency is settled, and calls need what they need",
	"I-18": "an entry succeeds once, and a final status stays",
	"I-19": "what could have expired is never chosen",
	"I-20": "attempts rise with retries only, to maxRetries",
	"I-21": "no id and attempt, and no hash, comes twice",
	"I-22": "chosen entries are due, in time, and open or with their key",
	"I-23": "reads, scans and evaluations stay within their limits",
	"I-24": "sealedPending counts the sealed entries of a slot",
	"I-25": "what is revealed stays so, and calls never change",
	"I-26": "dueSlot stays, deadlineSlot changes at retry and fire only",
	"I-27": "watchers are few, ascending and Scheduled, and watchedHeight never falls",
	"I-28": "an entry fires on a state that satisfies its condition",
	"I-29": "a hold exists for each Scheduled entry with a reserve, and tokens are constant",
	"I-30": "a hold is captured by an Executed run only, and comes back otherwise",
	"I-31": "periods differ by whole periods, remaining falls by one",
	"I-32": "Guaranteed entries never retried, moved or watched",
	"I-34": "a transaction that fails leaves no trace",
	"I-35": "nextId counts schedules, recurrences and resumes",
	"I-36": "cost and fee of an entry are constant and what the read function says",
	"I-40": "what is expirable can be expired by anyone and withdrawn",
}

// broken is an invariant that does not hold.
type broken struct{ text string }

// watch sees the machine's state at every stage of a script, and keeps its own books from reads, receipts and events alone.
type watch struct {
	s       script
	p       *replay.Player
	b       block // the present one
	at      int   // its place
	checked map[string]int
	trials  bool // try expire on every entry after every block

	all      []addr                     // accounts that may have escrow or tokens
	tokens   []addr                     // MIP20, but for those that an account becomes
	items    []word                     // of the catalog
	live     map[uint64]scheduler.Entry // Scheduled and Paused, as of the last look
	first    map[uint64]scheduler.Entry // as first seen
	keys     map[uint64]bool            // that live entries stand at or stood at before
	slots    map[uint64]bool            // that sealed entries were sealed to
	status   map[uint64]scheduler.Status
	paused   map[uint64]bool
	periods  map[uint64]uint32 // periods that may come after this id
	once     map[string]bool
	could    map[uint64]bool // have expired
	nextID   uint64
	cursors  [2]uint64
	watched  map[word]uint64
	hash     [32]byte
	proposer *big.Int // its gas tokens
	seized   *big.Int
	robbed   bool                // in this block, if it does
	told     map[uint64]*big.Int // fees by the events
	minted   map[addr]*big.Int   // supply of tokens

	escrow map[addr]*big.Int  // what available and locked must come to
	purses map[purse]*big.Int // what spendable and held must come to
}

func (w *watch) check(id string, ok bool, format string, args ...any) {
	w.checked[id]++
	if !ok {
		panic(broken{id + ": " + fmt.Sprintf(format, args...)})
	}
}

func newWatch(s script, p *replay.Player, checked map[string]int, trials bool) *watch {
	w := &watch{s: s, p: p, checked: checked, trials: trials, live: map[uint64]scheduler.Entry{}, first: map[uint64]scheduler.Entry{},
		keys: map[uint64]bool{}, slots: map[uint64]bool{}, status: map[uint64]scheduler.Status{}, paused: map[uint64]bool{},
		periods: map[uint64]uint32{}, once: map[string]bool{}, could: map[uint64]bool{}, nextID: 1,
		cursors: [2]uint64{uint64(s.Genesis.Time) + 1, uint64(s.Genesis.Height) + 1}, watched: map[word]uint64{}, seized: new(big.Int), told: map[uint64]*big.Int{},
		minted: map[addr]*big.Int{}, escrow: map[addr]*big.Int{}, purses: map[purse]*big.Int{}}
	w.all, w.tokens, w.items = s.cast()
	for a, acc := range s.Genesis.Accounts {
		for token, t := range acc.Tokens {
			w.purses[purse{token, a}] = t.Balance.get()
			add(w.minted, token, t.Balance.get())
		}
	}
	return w
}

// cast lists the accounts, tokens and items that a script names.
func (s script) cast() (accounts, tokens []addr, items []word) {
	who, which, what := map[addr]bool{self: true, quarantine: true, s.Genesis.Policy.Treasury: true}, map[addr]bool{}, map[word]bool{}
	for a, acc := range s.Genesis.Accounts {
		who[a] = true
		for t := range acc.Tokens {
			which[t] = true
		}
	}
	for a := range s.Genesis.Targets {
		who[a] = true
	}
	for id := range s.Genesis.Items {
		what[id] = true
	}
	for _, b := range s.Blocks {
		who[b.Proposer] = true
		for _, w := range b.Writes {
			what[w.Item] = true
		}
		for _, t := range b.Txs {
			who[t.From] = true
			if t.Schedule != nil {
				for _, c := range t.Schedule.Calls {
					who[c.Target] = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(who), byAddr), slices.SortedFunc(maps.Keys(which), byAddr), slices.SortedFunc(maps.Keys(what), byWord)
}

func costOf(e scheduler.Entry) uint64 {
	return cost(e.GasLimit, int(e.DataLen), len(e.DependsOn), e.PeriodSlots != 0, e.ReserveToken != scheduler.Addr{}).Uint64()
}

func feeOf(e scheduler.Entry) *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(costOf(e)), new(big.Int).SetUint64(e.GasPrice))
}

func guaranteed(e scheduler.Entry) bool { return e.Flags&scheduler.FlagBestEffort == 0 }
func isSealed(e scheduler.Entry) bool   { return e.Flags&scheduler.FlagSealed != 0 }
func watching(e scheduler.Entry) bool   { return e.Key == watchKey }
func atHeight(e scheduler.Entry) bool   { return e.Key >= heightKey }

func reserveOf(e scheduler.Entry) *big.Int { return new(big.Int).SetBytes(e.ReserveAmount[:]) }

func (w *watch) passed(e scheduler.Entry) bool { return behind(e, w.cursors) }

func behind(e scheduler.Entry, cursors [2]uint64) bool {
	if e.Flags&scheduler.FlagDetached != 0 {
		return true
	}
	if atHeight(e) {
		return e.Key-heightKey < cursors[1]
	}
	return e.Key < cursors[0]
}

func bigOf(v uint256.Int) *big.Int { return v.ToBig() }

func (w *watch) see(s replay.Step) {
	if s.At == replay.Begun {
		w.b, w.robbed = w.s.Blocks[w.at], false
		w.at++
	} else if !w.robbed {
		w.robbed = true
		w.rob()
	}
	switch s.At {
	case replay.Begun:
		w.begun(s.Runs)
	case replay.Ran:
		w.ran(s)
	case replay.Approved:
		w.hash = w.p.Host().StateHash()
	case replay.Transacted:
		if s.Err != nil {
			w.check("I-34", w.p.Host().StateHash() == w.hash, "transaction %d failed (%v) and changed the state", s.Index, s.Err)
			return
		}
		w.book(s.Logs, nil)
		w.look()
	case replay.Ended:
		w.look()
		w.ended()
	}
	w.proposer = bigOf(w.p.Host().Balance(scheduler.Addr(w.b.Proposer)))
}

// rob books what is seized between the selection and the first run.
func (w *watch) rob() {
	if w.b.Seize == nil {
		return
	}
	there := new(big.Int)
	for _, v := range w.escrow {
		there.Add(there, v)
	}
	there.Sub(there, w.seized)
	if v := w.b.Seize.get(); v.Cmp(there) < 0 {
		there = v
	}
	w.seized = new(big.Int).Add(w.seized, there)
}

// take lessens what an account must have in escrow.
func (w *watch) take(a addr, v *big.Int) {
	w.check("I-06", !less(w.escrow, a, v), "%s gives %d and has %d", a, v, read(w.escrow, a))
	sub(w.escrow, a, v)
}

// begun checks the selection and the moves of a block against the state before it.
func (w *watch) begun(runs []scheduler.Run) {
	pol, env, view := w.s.Genesis.Policy, w.p.Host().Env(), w.p.View()
	before := maps.Clone(w.live)
	place := map[uint64]int{}
	for i, r := range runs {
		place[r.ID] = i
	}
	gas, best := new(big.Int), 0
	for i, r := range runs {
		e, known := before[r.ID]
		w.check("I-18", known && e.Status == scheduler.Scheduled, "entry %d is chosen with status %d", r.ID, w.status[r.ID])
		gas.Add(gas, new(big.Int).SetUint64(r.GasLimit))
		if !guaranteed(e) {
			best++
		}
		w.check("I-19", !w.could[r.ID], "entry %d could have been expired and is chosen", r.ID)
		for _, key := range []string{fmt.Sprint(r.ID, "/", r.Attempt), word(r.Hash(uint64(w.s.Genesis.ChainID))).String()} {
			w.check("I-21", !w.once[key], "%s comes twice", key)
			w.once[key] = true
		}
		due := e.Key <= env.Time && (env.Time <= e.DeadlineSlot || e.Flags&scheduler.FlagLateExecute != 0)
		if atHeight(e) {
			due = e.Key-heightKey <= env.Height
		}
		opens := !isSealed(e) || env.Time <= e.Key+1+grace && len(w.keyOf(e)) > 0
		w.check("I-22", due && opens, "entry %d at %d with deadline %d is chosen at %d: %v %v", r.ID, e.Key, e.DeadlineSlot, env.Time, due, opens)
		w.check("I-36", r.GasLimit == costOf(e) && r.GasLimit == w.costRead(e), "entry %d costs %d, its transaction %d", r.ID, costOf(e), r.GasLimit)
		for _, d := range e.DependsOn {
			if at, chosen := place[d]; chosen {
				w.check("I-15", at < i, "entry %d runs before its dependency %d", r.ID, d)
				w.check("I-17", before[d].Attempts >= before[d].MaxRetries, "entry %d is chosen with %d, which may retry", r.ID, d)
			} else {
				was, open := before[d]
				w.check("I-17", !open || was.Status != scheduler.Scheduled || w.passed(was), "entry %d is chosen, its dependency %d is unsettled", r.ID, d)
			}
		}
	}
	w.check("I-13", gas.Cmp(new(big.Int).SetUint64(uint64(pol.GasPerBlock))) <= 0, "a block of %d gas", gas)
	early := best // chosen before the last BestEffort entry, at the least
	for _, r := range runs {
		if guaranteed(before[r.ID]) && !w.needsBest(r.ID, before, place) {
			early++
		}
	}
	w.check("I-14", best == 0 || early <= int(pol.MaxEntriesPerBlock), "%d chosen, %d of them BestEffort", early, best)

	moved := map[uint64]uint64{}
	touched := len(runs)
	for id, was := range before {
		now := view.Entry(id)
		if was.Status != scheduler.Scheduled || now.Key == was.Key {
			continue
		}
		moved[id] = now.Key
		w.check("I-32", !guaranteed(now), "entry %d moved and is Guaranteed", id)
		if watching(was) {
			it, listed := w.p.Host().Item(was.WhenItem)
			c := condition{word(was.WhenItem), was.WhenKind, amount{new(big.Int).SetBytes(was.WhenOperand[:])}}
			state := itemState{halted: it.Halted, disputed: it.Disputed, value: new(big.Int).SetBytes(it.Value[:])}
			w.check("I-28", listed && it.Written && holds(c, state) && it.Time >= was.DueSlot, "entry %d fires", id)
			w.check("I-26", now.DeadlineSlot == now.Key+uint64(pol.MaxLateSlots), "entry %d fires into %d with deadline %d", id, now.Key, now.DeadlineSlot)
		} else {
			touched++
			w.check("I-26", now.DeadlineSlot == was.DeadlineSlot, "entry %d moved and has another deadline", id)
		}
	}
	for id, key := range moved {
		for _, d := range before[id].DependsOn {
			at, both := moved[d]
			if !both || at >= heightKey != (key >= heightKey) {
				continue
			}
			queue := view.QueueAt(key)
			w.check("I-16", at < key || at == key && slices.Index(queue, d) < slices.Index(queue, id), "%d moved to %d, its dependency %d to %d", id, key, d, at)
		}
	}
	w.checkLimits(touched)
	w.look()
}

// costRead asks the contract.
func (w *watch) costRead(e scheduler.Entry) uint64 {
	input := pack("cost", e.GasLimit, big.NewInt(int64(e.DataLen)), big.NewInt(int64(len(e.DependsOn))), e.PeriodSlots != 0, e.ReserveToken != scheduler.Addr{})
	out, err := w.p.Host().View(scheduler.Addr{}, scheduler.Address, input)
	w.check("I-36", err == nil && len(out) == 32, "cost: %v", err)
	return new(big.Int).SetBytes(out).Uint64()
}

// needsBest tells whether an entry depends on a chosen BestEffort entry, over any number of steps.
func (w *watch) needsBest(id uint64, before map[uint64]scheduler.Entry, place map[uint64]int) bool {
	return slices.ContainsFunc(before[id].DependsOn, func(d uint64) bool {
		_, chosen := place[d]
		return chosen && (!guaranteed(before[d]) || w.needsBest(d, before, place))
	})
}

// checkLimits is called before the look that takes over the new cursors and watched heights.
func (w *watch) checkLimits(touched int) {
	lim := limits{4096, 1024, 1024, 256}
	if w.s.Genesis.Limits != nil {
		lim = *w.s.Genesis.Limits
	}
	view := w.p.View()
	w.check("I-23", touched <= int(lim.Reads), "%d entries were read", touched)
	w.check("I-23", view.CursorSlot() <= w.cursors[0]+uint64(lim.Scan) && view.CursorHeight() <= w.cursors[1]+uint64(lim.Scan), "more than %d keys were scanned", lim.Scan)
	evaluated := 0
	for _, id := range w.items {
		if was := w.watched[id]; was != 0 && view.WatchedHeight(scheduler.Word(id)) > was {
			for _, e := range w.live {
				if watching(e) && word(e.WhenItem) == id {
					evaluated++
				}
			}
		}
	}
	w.check("I-23", evaluated <= int(lim.Watchers), "%d watchers were evaluated", evaluated)
	w.check("I-23", len(w.b.ConditionKeys) <= 32, "%d condition keys", len(w.b.ConditionKeys))
}

func (w *watch) keyOf(e scheduler.Entry) []byte {
	if e.WhenKind == 0 {
		return w.p.Host().Beacon().KeyAt(e.DueSlot)
	}
	c := condition{word(e.WhenItem), e.WhenKind, amount{new(big.Int).SetBytes(e.WhenOperand[:])}}
	return w.p.Host().Beacon().ConditionKey(scheduler.Word(conditionID(addr(e.Payer), c, e.DueSlot)))
}

func (w *watch) ran(s replay.Step) {
	id := s.Runs[s.Index].ID
	e := w.live[id]
	paid := new(big.Int)
	if s.Outcome == replay.Success {
		paid = feeOf(e)
		w.take(addr(e.Payer), paid)
	} else {
		w.check("I-04", len(s.Logs) == 0, "entry %d ended %s and has logs", id, s.Outcome)
	}
	now := bigOf(w.p.Host().Balance(scheduler.Addr(w.b.Proposer)))
	w.check("I-04", new(big.Int).Sub(now, w.proposer).Cmp(paid) == 0, "entry %d ended %s and paid %d less %d", id, s.Outcome, now, w.proposer)
	w.book(s.Logs, &id)
	w.look()
}

// book keeps the books by the events of one transaction; of a run, by its id.
func (w *watch) book(logs []memory.Log, run *uint64) {
	grown := uint64(0)
	for _, l := range logs {
		ev, ok := scheduler.DecodeEvent(l.Topics, l.Data)
		if l.Address != scheduler.Address || !ok {
			continue
		}
		num := func(i int) *big.Int { return new(big.Int).SetBytes(ev.Args[i].Word[:]) }
		id := num(0).Uint64()
		switch ev.Name {
		case "Deposited":
			add(w.escrow, addr(ev.Args[0].Word[12:]), num(1))
		case "Withdrawn":
			w.take(addr(ev.Args[0].Word[12:]), num(1))
		case "Scheduled":
			w.check("I-35", id == w.nextID+grown, "id %d comes after %d", id, w.nextID+grown-1)
			grown++
			w.told[id] = num(3)
			if e := w.p.View().Entry(id); e.Status == scheduler.Scheduled {
				w.check("I-36", num(3).Cmp(feeOf(e)) == 0, "entry %d was told to cost %d", id, num(3))
				w.periods[id] = e.Remaining
			}
		case "Recurred":
			next := num(1).Uint64()
			w.check("I-35", next == w.nextID+grown, "id %d comes after %d", next, w.nextID+grown-1)
			grown++
			was, is := w.live[id], w.p.View().Entry(next)
			delete(w.paused, id)
			w.told[next] = w.told[id]
			if is.Status == scheduler.Scheduled {
				w.check("I-31", is.DueSlot > was.DueSlot && (is.DueSlot-was.DueSlot)%was.PeriodSlots == 0 && is.PeriodSlots == was.PeriodSlots,
					"period %d is due at %d, %d at %d", id, was.DueSlot, next, is.DueSlot)
				w.check("I-31", is.Remaining+1 == was.Remaining && w.periods[id] > 0, "remaining went from %d to %d", was.Remaining, is.Remaining)
				w.periods[next] = w.periods[id] - 1
			}
		case "Executed":
			key := fmt.Sprint("executed ", id)
			w.check("I-18", !w.once[key] && run != nil && *run == id, "entry %d succeeds again", id)
			w.once[key] = true
			e := w.live[id]
			for i, d := range e.DependsOn {
				w.check("I-17", e.DependsOnFinished>>i&1 == 1 || w.p.View().Status(d) == scheduler.Executed, "entry %d succeeds without %d", id, d)
			}
			w.captured(e)
		case "ExecutionFailed":
			w.check("I-20", w.p.View().Entry(id).Attempts <= w.live[id].MaxRetries, "attempt %d of %d", w.p.View().Entry(id).Attempts, id)
		case "Paused":
			w.paused[id] = true
		case "Cancelled", "Expired":
			w.returned(id, ev.Name, num(1))
		}
	}
	w.nextID += grown
	w.check("I-35", w.p.View().NextID() == w.nextID, "nextId is %d, counted %d", w.p.View().NextID(), w.nextID)
}

// captured books the reserve of a run that succeeded.
func (w *watch) captured(e scheduler.Entry) {
	if e.ReserveToken == (scheduler.Addr{}) {
		return
	}
	calls, err := tlock.DecodeCalls(e.Calls)
	if err != nil {
		panic(err)
	}
	to := addr(calls[0].Target)
	if slices.Contains(w.s.Genesis.RefusesCredit, to) {
		to = quarantine
	}
	sub(w.purses, purse{addr(e.ReserveToken), addr(e.Payer)}, reserveOf(e))
	add(w.purses, purse{addr(e.ReserveToken), to}, reserveOf(e))
}

// returned books what cancel and expire give back, and the treasury's share.
func (w *watch) returned(id uint64, name string, refund *big.Int) {
	want, share := w.told[id], new(big.Int)
	if w.paused[id] {
		delete(w.paused, id)
		want = new(big.Int)
	}
	if name == "Cancelled" {
		fee := want
		want = new(big.Int).Mul(fee, big.NewInt(int64(w.s.Genesis.Policy.CancelRefundBps)))
		want.Div(want, big.NewInt(10_000))
		share.Sub(fee, want)
		w.take(addr(w.p.View().Entry(id).Payer), share)
		add(w.escrow, w.s.Genesis.Policy.Treasury, share)
	}
	w.check("I-05", want.Cmp(refund) == 0, "%s %d gives %d instead of %d", name, id, refund, want)
}

// look checks what must hold at any moment, and takes over what it sees.
func (w *watch) look() {
	view, host, env := w.p.View(), w.p.Host(), w.p.Host().Env()
	slot, height := view.CursorSlot(), view.CursorHeight()
	w.check("I-09", slot >= w.cursors[0] && height >= w.cursors[1] && slot <= env.Time+1 && height <= env.Height+1, "cursors %d %d after %v", slot, height, w.cursors)
	w.cursors = [2]uint64{slot, height}

	live := map[uint64]scheduler.Entry{}
	for id := range w.live {
		w.again(id, view.Entry(id), live)
	}
	for id := w.nextID - 1; id >= 1 && w.status[id] == scheduler.None; id-- {
		w.again(id, view.Entry(id), live)
	}
	w.live = live

	locked, holds, pending := map[addr]*big.Int{}, map[purse]*big.Int{}, map[uint64]uint64{}
	for _, e := range live {
		if e.Status != scheduler.Scheduled {
			continue
		}
		add(locked, addr(e.Payer), feeOf(e))
		if e.ReserveToken != (scheduler.Addr{}) {
			add(holds, purse{addr(e.ReserveToken), addr(e.Payer)}, reserveOf(e))
		}
		if isSealed(e) && e.WhenKind == 0 {
			pending[e.DueSlot]++
			w.slots[e.DueSlot] = true
		}
	}
	sum := new(big.Int)
	for _, a := range w.all {
		available, has := bigOf(view.Balance(scheduler.Addr(a))), bigOf(view.Locked(scheduler.Addr(a)))
		w.check("I-02", has.Cmp(read(locked, a)) == 0, "%s has %d locked, its entries' fees are %d", a, has, read(locked, a))
		w.check("I-06", available.BitLen() < 200 && has.BitLen() < 200, "%s has %d and %d", a, available, has)
		both := new(big.Int).Add(available, has)
		w.check("I-03", both.Cmp(read(w.escrow, a)) == 0, "%s has %d in escrow, by the books %d", a, both, read(w.escrow, a))
		sum.Add(sum, both)
	}
	held := bigOf(host.Balance(scheduler.Address))
	w.check("I-01", held.Add(held, w.seized).Cmp(sum) == 0, "the scheduler has %d with what was seized, escrow is %d", held, sum)
	for s := range w.slots {
		w.check("I-24", view.SealedPending(s) == pending[s], "sealedPending(%d) is %d, counted %d", s, view.SealedPending(s), pending[s])
	}
	w.lookTokens(holds)
	w.lookPlaces()
}

func (w *watch) lookTokens(holds map[purse]*big.Int) {
	host := w.p.Host()
	for _, t := range w.tokens {
		total := new(big.Int)
		for _, a := range w.all {
			p := purse{t, a}
			spendable, held := bigOf(host.TokenBalance(scheduler.Addr(t), scheduler.Addr(a))), bigOf(host.Held(scheduler.Addr(t), scheduler.Addr(a)))
			w.check("I-29", held.Cmp(read(holds, p)) == 0, "%s has %d held of %s, its entries' reserves are %d", a, held, t, read(holds, p))
			both := new(big.Int).Add(spendable, held)
			w.check("I-30", both.Cmp(read(w.purses, p)) == 0, "%s has %d of %s, by the books %d", a, both, t, read(w.purses, p))
			total.Add(total, both)
		}
		w.check("I-29", total.Cmp(read(w.minted, t)) == 0, "%d of %s, minted %d", total, t, read(w.minted, t))
	}
}

// again compares an entry with the last look.
func (w *watch) again(id uint64, e scheduler.Entry, live map[uint64]scheduler.Entry) {
	was, known := w.live[id]
	if e.Status == scheduler.Scheduled || e.Status == scheduler.Paused {
		live[id] = e
		w.keys[e.Key] = true
	}
	w.status[id] = e.Status
	if !known {
		w.first[id] = e
		w.check("I-20", e.Attempts == 0, "entry %d begins with attempt %d", id, e.Attempts)
	}
	w.check("I-32", e.Status != scheduler.Scheduled || !guaranteed(e) || e.Attempts == 0 && e.WhenKind == 0, "Guaranteed entry %d has attempt %d, kind %d", id, e.Attempts, e.WhenKind)
	if !known {
		return
	}
	switch was.Status {
	case scheduler.Scheduled:
		w.check("I-18", e.Status != scheduler.None, "entry %d is gone", id)
	case scheduler.Paused:
		w.check("I-18", e.Status == scheduler.Paused || e.Status == scheduler.Failed || e.Status == scheduler.Cancelled, "paused entry %d has status %d", id, e.Status)
	}
	if e.Status != was.Status {
		return
	}
	w.check("I-20", e.Attempts <= e.MaxRetries && (e.Attempts == was.Attempts || e.Attempts == was.Attempts+1 && w.once[fmt.Sprint(id, "/", was.Attempts)]),
		"entry %d has attempt %d after %d, of %d", id, e.Attempts, was.Attempts, e.MaxRetries)
	w.check("I-25", isSealed(was) || !isSealed(e) && bytes.Equal(was.Calls, e.Calls), "open entry %d is sealed again or has other calls", id)
	w.check("I-26", e.DueSlot == was.DueSlot, "dueSlot of %d went from %d to %d", id, was.DueSlot, e.DueSlot)
	w.check("I-26", e.DeadlineSlot == was.DeadlineSlot || watching(was) || e.Attempts > was.Attempts, "deadlineSlot of %d went from %d to %d", id, was.DeadlineSlot, e.DeadlineSlot)
	w.check("I-36", feeOf(e).Cmp(feeOf(w.first[id])) == 0, "fee of %d changed", id)
}

// lookPlaces checks the queues and watch lists of every key at which a live entry stands or has stood.
func (w *watch) lookPlaces() {
	view, pol := w.p.View(), w.s.Genesis.Policy
	places := map[uint64]int{}
	for key := range w.keys {
		if key == watchKey {
			continue
		}
		queue := view.QueueAt(key)
		w.check("I-07", len(queue) <= int(pol.MaxEntriesPerBlock), "%d entries at %d", len(queue), key)
		gone := behind(scheduler.Entry{Key: key}, w.cursors)
		w.check("I-10", !gone || len(queue) == 0, "key %d is behind its cursor and holds %v", key, queue)
		var reserved uint64
		for _, id := range queue {
			places[id]++
			e := w.live[id]
			w.check("I-12", e.Status == scheduler.Scheduled && e.Key == key, "entry %d in queue %d has status %d and key %d", id, key, e.Status, e.Key)
			if guaranteed(e) {
				reserved += costOf(e)
			}
		}
		w.check("I-08", view.ReservedGas(key) == reserved && reserved <= uint64(pol.GuaranteedGasPerSlot), "reservedGas(%d) is %d, counted %d", key, view.ReservedGas(key), reserved)
		if gone {
			delete(w.keys, key)
		}
	}
	lim := uint32(256)
	if w.s.Genesis.Limits != nil {
		lim = w.s.Genesis.Limits.WatchersPerItem
	}
	for _, item := range w.items {
		list := view.WatchersOf(scheduler.Word(item))
		w.check("I-27", len(list) <= int(lim) && slices.IsSorted(list), "watchers %v", list)
		for _, id := range list {
			places[id]++
			e := w.live[id]
			w.check("I-12", e.Status == scheduler.Scheduled && e.Key == watchKey && word(e.WhenItem) == item, "entry %d watches with status %d, key %d", id, e.Status, e.Key)
		}
		seen := view.WatchedHeight(scheduler.Word(item))
		it, _ := w.p.Host().Item(scheduler.Word(item))
		w.check("I-27", seen >= w.watched[item] && seen <= it.Height, "watchedHeight %d after %d, written at %d", seen, w.watched[item], it.Height)
		w.watched[item] = seen
	}
	for id, e := range w.live {
		want := 1
		if e.Status == scheduler.Paused || w.passed(e) {
			want = 0
		}
		w.check("I-11", places[id] == want, "entry %d at %d stands in %d places", id, e.Key, places[id])
	}
}

// ended checks after a block what is dear: everything that is stored, all statuses, and expire on every entry.
func (w *watch) ended() {
	view, host := w.p.View(), w.p.Host()
	stored := scheduler.TakeInventory(host.Words(scheduler.Address))
	for _, a := range stored.Payers {
		w.check("I-03", slices.Contains(w.all, addr(a)), "%s has escrow", a)
	}
	for _, key := range stored.Keys {
		w.check("I-10", !behind(scheduler.Entry{Key: key}, w.cursors), "key %d is behind its cursor and stored", key)
		w.check("I-12", w.keys[key] || len(view.QueueAt(key)) == 0 && view.ReservedGas(key) == 0, "key %d holds %v", key, view.QueueAt(key))
	}
	for _, s := range stored.Slots {
		w.check("I-24", w.slots[s] || view.SealedPending(s) == 0, "sealedPending(%d) is %d", s, view.SealedPending(s))
	}
	for id, status := range w.status {
		w.check("I-18", view.Status(id) == status, "status of %d went from %d to %d", id, status, view.Status(id))
	}
	if !w.trials {
		return
	}
	anyone := scheduler.Addr(account20(0x55))
	for id, e := range w.live {
		if e.Status != scheduler.Scheduled {
			continue
		}
		f := host.Fork()
		r := f.Transact(anyone, scheduler.Address, 1<<62, scheduler.ExpireInput(id))
		if !r.Success {
			w.check("I-40", errors.Is(r.Err, scheduler.NotExpired), "expire(%d): %v", id, r.Err)
			w.check("I-11", !w.passed(e), "entry %d is passed and cannot be expired", id)
			w.check("I-19", !w.could[id] || watching(e), "entry %d could be expired and cannot any more", id)
			delete(w.could, id)
			continue
		}
		w.could[id] = true
		balance := f.Balance(scheduler.Address)
		if slices.Contains(w.s.Genesis.RefusesCredit, addr(e.Payer)) || balance.ToBig().Cmp(feeOf(e)) < 0 {
			continue // the token's fault
		}
		r = f.Transact(e.Payer, scheduler.Address, 1<<62, scheduler.WithdrawInput(*uint256.MustFromBig(feeOf(e))))
		w.check("I-40", r.Success, "the refund of %d cannot be withdrawn: %v", id, r.Err)
	}
}
