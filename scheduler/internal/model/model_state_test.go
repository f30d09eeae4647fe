package model

import (
	"maps"
	"math/big"
	"slices"
)

const (
	heightKey = uint64(1) << 63
	watchKey  = uint64(1) << 62
	window    = 8
	grace     = 30

	scheduled = 1
	executed  = 2
	failed    = 3
	cancelled = 4
	expired   = 5
	paused    = 6

	flagBestEffort = 1
	flagLate       = 2
	flagPause      = 4
	flagGuaranteed = 8 // as it was scheduled
	flagSealed     = 16
	flagDetached   = 32
)

var (
	self       = addr{19: 0xfe}
	quarantine = addr{19: 0xfc}
)

type entry struct {
	id         uint64
	payer      addr
	key        uint64
	status     uint8
	attempts   uint8
	maxRetries uint8
	flags      uint8

	gasLimit, gasPrice, deadline, period, due uint64
	token                                     addr
	amount                                    *big.Int
	remaining, backoff                        uint32
	dataLen                                   int
	when                                      condition
	calls                                     []call
	ciphertext                                []byte
	deps                                      []dependency
	commitment                                word
}

func (e *entry) has(flag uint8) bool { return e.flags&flag != 0 }
func (e *entry) isHeight() bool      { return e.key >= heightKey }
func (e *entry) reserved() bool      { return e.token != addr{} }

func cost(gasLimit uint64, dataLen, deps int, recurring, reserved bool) *big.Int {
	words := int64((dataLen + 31) / 32)
	sum := new(big.Int).SetUint64(gasLimit)
	add := func(n int64) { sum.Add(sum, big.NewInt(n)) }
	add(160_000 + 6_000*words + 5_000*int64(deps))
	if recurring {
		add(160_000 + 22_100*words)
	}
	if reserved {
		add(80_000)
	}
	return sum
}

func (e *entry) cost() uint64 {
	return cost(e.gasLimit, e.dataLen, len(e.deps), e.period != 0, e.reserved()).Uint64()
}

func (e *entry) fee() *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(e.cost()), new(big.Int).SetUint64(e.gasPrice))
}

type itemState struct {
	listed, written, halted, disputed bool
	value                             *big.Int
	height, time                      uint64
}

type purse struct{ token, holder addr }

type event struct {
	name string
	args []string
}

// model is the whole state of chain, scheduler, tokens and oracle.
type model struct {
	g   genesis
	lim limits

	height, time             uint64
	proposer                 addr
	running                  bool
	cursorSlot, cursorHeight uint64

	entries   map[uint64]*entry
	nextID    uint64
	queues    map[uint64][]uint64
	reserves  map[uint64]uint64 // guaranteed gas
	available map[addr]*big.Int

	gas        map[addr]*big.Int // balances of the gas token
	balances   map[purse]*big.Int
	allowances map[purse]*big.Int
	holds      map[purse]*big.Int
	mip20      map[addr]bool
	refuses    map[addr]bool

	items         map[word]itemState
	watchers      map[word][]uint64
	watchedHeight map[word]uint64

	groupSecret *word
	slotKeys    map[uint64]word // slot -> the secret whose key is on chain
	condKeys    map[word]word
	sealed      map[string]sealed // by ciphertext

	targets map[addr]string
	events  []event
	seen    *counters
}

// counters say how often the script reached what.
type counters struct{ errors, events, outcomes, statuses map[string]int }

func newCounters() *counters {
	return &counters{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
}

func newModel(g genesis) *model {
	m := &model{g: g, height: uint64(g.Height), time: uint64(g.Time), cursorSlot: uint64(g.Time) + 1, cursorHeight: uint64(g.Height) + 1,
		entries: map[uint64]*entry{}, nextID: 1, queues: map[uint64][]uint64{}, reserves: map[uint64]uint64{}, available: map[addr]*big.Int{},
		gas: map[addr]*big.Int{}, balances: map[purse]*big.Int{}, allowances: map[purse]*big.Int{}, holds: map[purse]*big.Int{},
		mip20: map[addr]bool{}, refuses: map[addr]bool{}, items: map[word]itemState{}, watchers: map[word][]uint64{},
		watchedHeight: map[word]uint64{}, groupSecret: g.GroupSecret, slotKeys: map[uint64]word{}, condKeys: map[word]word{},
		sealed: map[string]sealed{}, targets: g.Targets, seen: newCounters()}
	m.lim = limits{4096, 1024, 1024, 256}
	if g.Limits != nil {
		m.lim = *g.Limits
	}
	for a, acc := range g.Accounts {
		m.gas[a] = acc.GasToken.get()
		for token, t := range acc.Tokens {
			m.mip20[token] = true
			m.balances[purse{token, a}] = t.Balance.get()
			m.allowances[purse{token, a}] = t.Allowance.get()
		}
	}
	for _, a := range g.RefusesCredit {
		m.refuses[a] = true
	}
	for id, it := range g.Items {
		s := itemState{listed: true, halted: it.Halted, disputed: it.Disputed, value: new(big.Int)}
		if it.Value != nil {
			s.written, s.value, s.height, s.time = true, it.Value.get(), m.height, m.time
		}
		m.items[id] = s
	}
	return m
}

// copyState is what a call that fails goes back to. Amounts are never changed in place.
func (m *model) copyState() model {
	c := *m
	c.entries = make(map[uint64]*entry, len(m.entries))
	for id, e := range m.entries {
		twin := *e
		c.entries[id] = &twin
	}
	c.queues, c.watchers = map[uint64][]uint64{}, map[word][]uint64{}
	for k, q := range m.queues {
		c.queues[k] = slices.Clone(q)
	}
	for k, q := range m.watchers {
		c.watchers[k] = slices.Clone(q)
	}
	c.reserves, c.available, c.gas = maps.Clone(m.reserves), maps.Clone(m.available), maps.Clone(m.gas)
	c.balances, c.allowances, c.holds = maps.Clone(m.balances), maps.Clone(m.allowances), maps.Clone(m.holds)
	c.watchedHeight = maps.Clone(m.watchedHeight)
	c.events = slices.Clone(m.events)
	return c
}

func read[K comparable](b map[K]*big.Int, k K) *big.Int {
	if v := b[k]; v != nil {
		return v
	}
	return new(big.Int)
}

func add[K comparable](b map[K]*big.Int, k K, v *big.Int) { b[k] = new(big.Int).Add(read(b, k), v) }

func sub[K comparable](b map[K]*big.Int, k K, v *big.Int) {
	left := new(big.Int).Sub(read(b, k), v)
	if left.Sign() < 0 {
		panic("the model: a balance below zero")
	}
	b[k] = left
}

func less[K comparable](b map[K]*big.Int, k K, v *big.Int) bool { return read(b, k).Cmp(v) < 0 }

func (m *model) emit(name string, args ...any) {
	ev := event{name: name, args: []string{}}
	for _, a := range args {
		ev.args = append(ev.args, show(a))
	}
	m.events = append(m.events, ev)
}

// The gas token.

func (m *model) gasToken() addr { return m.g.Policy.GasToken }

func (m *model) forbidden(target addr) bool {
	return target == addr{} || target == self || target == m.gasToken() || m.mip20[target]
}

// MIP20 tokens.

func (m *model) hold(token, from addr, v *big.Int) bool {
	p := purse{token, from}
	if less(m.balances, p, v) || less(m.allowances, p, v) {
		return false
	}
	sub(m.balances, p, v)
	sub(m.allowances, p, v)
	add(m.holds, p, v)
	return true
}

func (m *model) release(e *entry) {
	if e.reserved() {
		sub(m.holds, purse{e.token, e.payer}, e.amount)
		add(m.balances, purse{e.token, e.payer}, e.amount)
	}
}

func (m *model) capture(e *entry, to addr) {
	if m.refuses[to] {
		to = quarantine
	}
	sub(m.holds, purse{e.token, e.payer}, e.amount)
	add(m.balances, purse{e.token, to}, e.amount)
}

// Queues.

func (m *model) room(key uint64) bool { return len(m.queues[key]) < int(m.g.Policy.MaxEntriesPerBlock) }

// firstRoom finds the first of 8 keys with room.
func (m *model) firstRoom(base uint64) (uint64, bool) {
	for k := base; k < base+window; k++ {
		if m.room(k) {
			return k, true
		}
	}
	return 0, false
}

func (m *model) enqueue(e *entry, key uint64) {
	e.key = key
	m.queues[key] = append(m.queues[key], e.id)
	if !e.has(flagBestEffort) {
		m.reserves[key] += e.cost()
	}
}

func without(q []uint64, id uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(q), func(x uint64) bool { return x == id })
}

// dequeue frees the entry's place and Guaranteed gas, if it still has them, or its place among the watchers.
func (m *model) dequeue(e *entry) {
	if e.key == watchKey {
		m.watchers[e.when.Item] = without(m.watchers[e.when.Item], e.id)
		return
	}
	if !slices.Contains(m.queues[e.key], e.id) {
		return
	}
	m.queues[e.key] = without(m.queues[e.key], e.id)
	if !e.has(flagBestEffort) {
		m.reserves[e.key] -= e.cost()
	}
}

// Predicates.

func (m *model) passed(e *entry) bool {
	switch {
	case e.has(flagDetached):
		return true
	case e.key == watchKey:
		return false
	case e.isHeight():
		return e.key-heightKey < m.cursorHeight
	}
	return e.key < m.cursorSlot
}

func (m *model) pastDeadline(e *entry) bool {
	return !e.isHeight() && e.key != watchKey && !e.has(flagLate) && m.time > e.deadline
}

func (m *model) missed(e *entry) bool {
	return !e.isHeight() && e.key != watchKey && e.has(flagSealed) && m.time > e.key+1+grace
}

func (m *model) dead(e *entry) bool { return m.pastDeadline(e) || m.missed(e) }

func (m *model) settled(d *entry) bool { return d.status != scheduled || m.passed(d) }

// identityKey is the secret whose key for this entry's payload is on chain.
func (m *model) identityKey(e *entry) (word, string, bool) {
	if e.when.Kind != 0 {
		c := conditionID(e.payer, e.when, e.due)
		secret, ok := m.condKeys[c]
		return secret, string(c[:]), ok
	}
	secret, ok := m.slotKeys[e.due]
	return secret, string(be64(e.due)), ok
}

func (m *model) keyMissing(e *entry) bool {
	if !e.has(flagSealed) {
		return false
	}
	_, _, ok := m.identityKey(e)
	return !ok
}

// reveal opens a payload, or shows it as empty.
func (m *model) reveal(e *entry) {
	secret, identity, _ := m.identityKey(e)
	bound := identity
	if e.when.Kind == 0 {
		bound = string(be64(e.due)) + string(e.payer[:])
	}
	s, known := m.sealed[string(e.ciphertext)]
	ok := known && s.good && s.secret == secret && s.identity == identity && s.bound == bound && s.commitment == e.commitment &&
		len(s.calls) >= 1 && len(s.calls) <= 8 && !slices.ContainsFunc(s.calls, func(c call) bool { return m.forbidden(c.Target) })
	e.flags &^= flagSealed
	e.ciphertext = nil
	if ok {
		e.calls = s.calls
	}
}

// finish prunes an entry to its first word.
func (m *model) finish(e *entry, status uint8) {
	*e = entry{id: e.id, payer: e.payer, key: e.key, status: status, attempts: e.attempts, maxRetries: e.maxRetries, flags: e.flags}
}
