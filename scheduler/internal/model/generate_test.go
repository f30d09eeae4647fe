package model

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"slices"
)

// source decides everything a script leaves to chance.
type source interface {
	// intn returns a number in 0..n-1.
	intn(n int) int
}

// generator draws a script, with the model beside it, so that it can aim at what is there.
type generator struct {
	source
	m     *model
	s     script
	lines []string // that the model prints

	keyRate, slots, lively int // per script: how many keys come, how near slots lie, transactions a block
	serial                 int
}

func account20(b byte) addr { return addr{0: b, 19: b} }

var (
	payers    = []addr{account20(0xa1), account20(0xa2), account20(0xa3), account20(0xa4)}
	proposers = []addr{account20(0xd1), account20(0xd2), badProposer}
	okays     = []addr{account20(0xb1), account20(0xb2), refusing}
	tokens    = []addr{account20(0x11), account20(0x12)}
	itemIDs   = []word{{0: 1}, {0: 2}, {0: 3}, {0: 4}}

	badProposer = account20(0xdb)
	refusing    = account20(0xb3)
	reverting   = account20(0xb4)
	burning     = account20(0xb5)
	treasury    = account20(0x77)
	gasTokenAt  = account20(0x99)
)

const callers = 12 // targets that call back: 0xc0…, 0xc1…

func caller(i int) addr { return account20(byte(0xc0 + i)) }

func (g *generator) chance(percent int) bool { return g.intn(100) >= 100-percent }

func (g *generator) between(low, high int) int { return low + g.intn(high-low+1) }

func one[T any](g *generator, all ...T) T { return all[g.intn(len(all))] }

// generate draws a script of n blocks and what the model prints for it.
func generate(src source, n int) (script, []string, *counters) {
	g := &generator{source: src}
	g.begin()
	for range n {
		g.next(g.block())
	}
	for _, e := range g.m.entries {
		g.m.seen.statuses[statusNames[e.status]]++
	}
	return g.s, append(g.lines, g.m.printFinal()), g.m.seen
}

func (g *generator) begin() {
	g.s.Genesis = g.genesis()
	g.m = newModel(g.s.Genesis)
	g.keyRate, g.slots, g.lively = one(g, 70, 20, 95), one(g, 4, 8, 12), one(g, 4, 2, 7)
}

// next adds a block.
func (g *generator) next(b block) {
	g.s.Blocks = append(g.s.Blocks, b)
	g.lines = append(g.lines, g.m.print(g.m.block(b)))
}

var statusNames = []string{"None", "Scheduled", "Executed", "Failed", "Cancelled", "Expired", "Paused"}

func (g *generator) genesis() genesis {
	perBlock := one(g, 900_000, 1_500_000, 700_000, 2_500_000)
	gen := genesis{ChainID: u64(one(g, 31337, 1)), GenesisHash: word{0: 0x11, 31: 0x11}, Time: u64(one(g, 99, 1_800_000_000)),
		Height: u64(one(g, 0, 1_000_000)),
		Policy: policy{GasPerBlock: u64(perBlock), GuaranteedGasPerSlot: u64(one(g, perBlock/2, perBlock)),
			MaxHorizonSlots: u64(one(g, 200, 20, 34_560_000)), MaxLateSlots: u64(one(g, 40, 0, 1, 3, 10)),
			CancelRefundBps: one[uint16](g, 8000, 3333, 0, 10_000), MaxEntriesPerBlock: one[uint32](g, 2, 1, 3, 4), Treasury: treasury,
			MinGasPrice: u64(one(g, 10, 1)), GasToken: gasTokenAt},
		Accounts: map[addr]account{}, Items: map[word]catalogItem{}, Targets: map[addr]string{reverting: "revert", burning: "burn", okays[0]: "ok"}}
	if g.chance(15) {
		gen.Policy.Treasury = payers[0]
	}
	if !g.chance(10) {
		gen.GroupSecret = g.secret()
	}
	if !g.chance(20) {
		gen.Limits = &limits{Scan: one[uint32](g, 200, 16, 5, 2), Reads: one[uint32](g, 64, 16, 6, 2), WatchersPerItem: one[uint32](g, 3, 2, 1)}
		gen.Limits.Watchers = gen.Limits.WatchersPerItem * one[uint32](g, 1, 2, 3)
	}
	holders := slices.Concat(payers, okays[:1])
	for i := range callers {
		holders = append(holders, caller(i))
	}
	for _, a := range holders {
		acc := account{GasToken: amt(int64(one(g, 20_000_000_000, 20_000_000_000, 20_000_000_000, 20_000_000_000, 40_000_000))), Tokens: map[addr]tokenAccount{}}
		for _, t := range tokens {
			acc.Tokens[t] = tokenAccount{amt(int64(one(g, 1000, 150, 0))), amt(int64(one(g, 600, 100_000, 150)))}
		}
		gen.Accounts[a] = acc
	}
	gen.RefusesCredit = []addr{badProposer, refusing}
	if g.chance(20) {
		gen.RefusesCredit = append(gen.RefusesCredit, payers[3])
	}
	for _, id := range itemIDs[:3] {
		v := amt(int64(g.between(0, 10)))
		gen.Items[id] = catalogItem{Value: &v, Halted: g.chance(10), Disputed: g.chance(10)}
	}
	gen.Items[itemIDs[3]] = catalogItem{}
	g.m = newModel(gen) // what calls back are built against it
	for i := range callers {
		gen.Targets[caller(i)] = one(g, "try:", "call:") + "0x" + hex.EncodeToString(g.calldata(gen))
	}
	return gen
}

func (g *generator) secret() *word { return &word{31: byte(one(g, 7, 8, 9))} }

// calldata is what a target calls back with, all along.
func (g *generator) calldata(gen genesis) []byte {
	id := uint64(g.between(1, 40))
	switch one(g, 0, 0, 0, 1, 2, 3, 4, 5, 5, 6, 7) {
	case 0:
		return pack("cancel", id)
	case 1:
		return pack("expire", id)
	case 2:
		return pack("resume", id)
	case 3:
		return pack("deposit", big.NewInt(int64(one(g, 0, 3_000_000, 1_000_000_000))))
	case 4:
		return pack("withdraw", big.NewInt(int64(one(g, 1, 2_000_000))))
	case 5:
		p := g.params(caller(0), uint64(gen.Time)+uint64(g.between(3, 50)), uint64(gen.Height)+uint64(g.between(3, 50)))
		if p.Seal != nil {
			p.Seal, p.Ciphertext, p.Commitment = nil, bytes.Repeat([]byte{1}, 200), word{1}
		}
		return packSchedule(p)
	case 6:
		return pack("execute", id)
	}
	return one(g, pack("nextId"), []byte{1, 2}, []byte{})
}

func (g *generator) block() block {
	m := g.m
	step := 1
	switch {
	case g.chance(3):
		step = g.between(30, 110) // a halt
	case g.chance(25):
		step = g.between(2, 8)
	}
	b := block{Time: u64(m.time + uint64(step)), Proposer: proposers[0]}
	if g.chance(30) {
		b.Proposer = proposers[1]
	} else if g.chance(6) {
		b.Proposer = badProposer
	}
	if g.chance(1) || m.groupSecret == nil && g.chance(6) {
		b.GroupSecret = g.secret()
	}
	if m.groupSecret != nil || b.GroupSecret != nil {
		g.keys(&b)
	}
	often := one(g, 12, 12, 12, 90) // all at once, now and then
	for _, id := range itemIDs {
		if g.chance(often) {
			b.Writes = append(b.Writes, write{id, amt(int64(g.between(0, 10))), g.chance(8), g.chance(8)})
		}
		if g.chance(3) && m.items[id].listed {
			f := flagging{Item: id}
			on := g.chance(50)
			if g.chance(60) {
				f.Halted = &on
			} else {
				f.Disputed = &on
			}
			b.Flags = append(b.Flags, f)
		}
	}
	if g.chance(2) {
		if id := one(g, itemIDs...); m.items[id].listed {
			b.Delist = []word{id}
		}
	}
	if g.chance(1) && g.chance(50) {
		if a := one(g, okays[1], reverting, caller(g.intn(callers))); !m.mip20[a] {
			b.MIP20 = []addr{a}
		}
	}
	if g.chance(1) {
		v := amt(int64(one(g, 5_000_000, 100_000, 1_000_000_000_000)))
		b.Seize = &v
	}
	if len(g.s.Blocks) == 0 {
		depositors := slices.Clone(payers)
		for i := range callers {
			depositors = append(depositors, caller(i))
		}
		for _, a := range depositors {
			v := amt(int64(one(g, 8_000_000_000, 4_000_000_000, 2_000_000_000, 1_000_000_000, 30_000_000)))
			b.Txs = append(b.Txs, tx{From: a, Deposit: &v})
		}
	}
	for range g.intn(g.lively + 1) {
		b.Txs = append(b.Txs, g.tx(uint64(b.Time), m.height+1))
	}
	return b
}

// keys draws the keys of a beacon update: those somebody waits for, mostly.
func (g *generator) keys(b *block) {
	m := g.m
	slots, conds := map[uint64]bool{}, map[word]bool{}
	for _, e := range m.sorted() {
		if e.status != scheduled || !e.has(flagSealed) || !m.keyMissing(e) || !g.chance(g.keyRate) {
			continue
		}
		if e.when.Kind == 0 {
			if e.due < uint64(b.Time) {
				slots[e.due] = true
			}
		} else if e.key != watchKey || g.chance(10) {
			conds[conditionID(e.payer, e.when, e.due)] = true
		}
	}
	if g.chance(4) {
		if s := uint64(b.Time) - uint64(g.between(1, 12)); m.slotKeys[s] == (word{}) {
			slots[s] = true
		}
	}
	if g.chance(1) {
		if c := (word{5: byte(g.intn(3)), 31: 1}); m.condKeys[c] == (word{}) {
			conds[c] = true
		}
	}
	for s := range slots {
		b.SlotKeys = append(b.SlotKeys, u64(s))
	}
	for c := range conds {
		b.ConditionKeys = append(b.ConditionKeys, c)
	}
	slices.Sort(b.SlotKeys)
	slices.SortFunc(b.ConditionKeys, byWord)
	b.ConditionKeys = b.ConditionKeys[:min(len(b.ConditionKeys), 32)]
}

// sorted lists the entries by id.
func (m *model) sorted() []*entry {
	var all []*entry
	for id := range m.nextID {
		if e := m.entries[id]; e != nil {
			all = append(all, e)
		}
	}
	return all
}

// entry draws one that fits, or any id. It is not worth while if none fits, mostly.
func (g *generator) entry(fits func(*entry) bool) (id uint64, payer addr, worth bool) {
	var found []*entry
	for _, e := range g.m.sorted() {
		if fits(e) {
			found = append(found, e)
		}
	}
	if len(found) == 0 || g.chance(8) {
		return uint64(g.intn(int(g.m.nextID) + 2)), one(g, payers...), len(found) > 0 || g.chance(10)
	}
	e := one(g, found...)
	return e.id, e.payer, true
}

func (g *generator) tx(time, height uint64) tx {
	t := tx{From: one(g, payers...)}
	if g.chance(12) {
		t.From = caller(g.intn(callers))
	}
	pick := func(fits func(*entry) bool) *u64 {
		id, payer, worth := g.entry(fits)
		if !worth {
			return nil
		}
		if !g.chance(8) {
			t.From = payer
		}
		return (*u64)(&id)
	}
	late := *g.m
	late.time = time
	switch d := g.intn(100); {
	case d < 10:
		t.Cancel = pick(func(e *entry) bool { return e.status == scheduled || e.status == paused && g.chance(30) })
	case d < 25:
		t.Expire = pick(func(e *entry) bool { return e.status == scheduled && late.expirable(e) })
	case d < 32:
		t.Resume = pick(func(e *entry) bool { return e.status == paused })
	case d < 38:
		v := amt(int64(one(g, 5_000_000, 0, 60_000_000, 3_000_000_000)))
		t.Deposit = &v
	case d < 43:
		v := amt(int64(one(g, 1_000_000, 0, 20_000_000)))
		if g.chance(20) {
			v = amount{read(g.m.available, t.From)}
		}
		t.Withdraw = &v
	}
	if t.Cancel == nil && t.Expire == nil && t.Resume == nil && t.Deposit == nil && t.Withdraw == nil {
		p := g.params(t.From, time, height)
		t.Schedule = &p
	}
	return t
}

func (g *generator) target() addr {
	switch d := g.intn(100); {
	case d < 45:
		return one(g, okays...)
	case d < 65:
		return reverting
	case d < 70:
		return burning
	}
	return caller(g.intn(callers))
}

func (g *generator) calls() []call {
	n := 1
	if g.chance(20) {
		n = one(g, 2, 3, 8)
	}
	var out []call
	for range n {
		out = append(out, call{g.target(), u64(g.between(0, 20_000)), bytes.Repeat([]byte{0xda}, one(g, 0, 4, 32, 100))})
	}
	return out
}

// params draws an entry that is to be scheduled in the block of this time and height.
func (g *generator) params(from addr, time, height uint64) params {
	m := g.m
	p := params{Class: 1, Slot: u64(time) + u64(g.between(1, g.slots+1)), GasPrice: m.g.Policy.MinGasPrice + u64(g.intn(4)), LateExecute: g.chance(25),
		MaxRetries: one[uint8](g, 0, 0, 1, 2), BackoffSlots: one[uint32](g, 0, 1, 3, 12), Calls: g.calls()}
	kind := g.intn(100)
	if kind < 70 && g.chance(35) {
		p.Class = 0
	}
	switch {
	case kind < 25:
		if g.chance(35) {
			p.Slot, p.Height = 0, u64(height)+u64(g.between(1, 6))
		}
	case kind < 48:
		for range g.between(1, one(g, 1, 2, 8)) {
			id, _, _ := g.entry(func(e *entry) bool { return e.status == scheduled && e.key >= time || e.id+4 > m.nextID })
			if id < 1 || id >= m.nextID {
				continue
			}
			p.DependsOn = append(p.DependsOn, dependency{u64(id), g.chance(40)})
			if on := m.entries[id]; on.status == scheduled && on.key > time && on.key < time+20 && g.chance(60) {
				p.Slot = u64(on.key) // due together
			}
		}
		if g.chance(15) {
			p.Slot, p.Height = 0, u64(height)+u64(g.between(1, 6))
		}
	case kind < 70:
		p.PeriodSlots, p.Remaining = u64(g.between(1, 9)), uint32(g.between(1, 4))
		p.PauseOnFail = g.chance(50)
	case kind < 82 || kind >= 91:
		p.When = &condition{one(g, itemIDs...), uint8(g.between(1, 3)), amt(int64(g.between(0, 10)))}
		id, _, _ := g.entry(func(e *entry) bool { return e.payer == from && e.when.Kind != 0 && e.due > time })
		if e := m.entries[id]; e != nil && e.when.Kind != 0 && e.due > time && g.chance(50) {
			when := e.when // its key opens both
			p.When, p.Slot = &when, u64(e.due)
		}
	}
	if kind >= 82 {
		g.seal(&p)
	} else if g.chance(20) {
		v := amt(int64(g.between(1, 120)))
		p.ReserveToken, p.ReserveAmount = one(g, tokens...), &v
	}
	need := needs(p.Calls, p.ReserveAmount != nil)
	if p.Seal != nil {
		need = needs(p.Seal.Calls, false)
		if g.chance(10) {
			need.SetInt64(9_000)
		}
	}
	p.GasLimit = u64(need.Uint64()) + u64(g.intn(50_000))
	if g.chance(12) {
		g.spoil(&p, time, height)
	}
	return p
}

func (g *generator) seal(p *params) {
	g.serial++
	if g.m.groupSecret == nil || g.chance(5) {
		p.Ciphertext, p.Commitment, p.Calls = bytes.Repeat([]byte{0xee}, one(g, 173, 428, 172, 4268, 4269)), word{1}, nil
		return
	}
	w := seal{Calls: p.Calls, Salt: word{0: byte(g.serial), 1: byte(g.serial >> 8), 31: 1}, DataKey: word{31: 2}, Sigma: word{31: 3},
		Nonce: make(octets, 12)}
	if g.chance(25) {
		w.Wrong = one(g, "commitment", "tag", "padding", "slot")
	}
	if g.chance(4) {
		w.Calls = one(g, []call{}, slices.Repeat([]call{{Target: okays[0]}}, 9), []call{{Target: self}}, []call{{Target: gasTokenAt}})
	}
	if w.Calls == nil {
		w.Calls = []call{}
	}
	p.Seal, p.Calls = &w, nil
}

// spoil breaks one rule, or moves to its edge.
func (g *generator) spoil(p *params, time, height uint64) {
	horizon := g.m.g.Policy.MaxHorizonSlots
	v := amt(5)
	open := p.Seal == nil && p.Ciphertext == nil
	raw := func(n int) {
		p.Seal, p.Ciphertext, p.Commitment = nil, make([]byte, n), word{1}
		if g.chance(70) {
			p.Calls = nil
		}
	}
	spoilers := []func(){
		func() { p.Class = 2 },
		func() { p.Class = 0 },
		func() { p.Height = u64(height) + 1 },
		func() { p.Slot, p.Height = 0, 0 },
		func() { p.Slot = u64(time) },
		func() { p.Slot, p.Height = 0, u64(height) },
		func() { p.Slot, p.Height = u64(time)+horizon+u64(g.intn(2)), 0 },
		func() { p.Slot, p.Height = 0, u64(height)+horizon+u64(g.intn(2)) },
		func() { p.PeriodSlots, p.Remaining = horizon+u64(g.intn(2)), 1 },
		func() { p.BackoffSlots = uint32(horizon) + uint32(g.intn(2)) },
		func() { p.PeriodSlots, p.Remaining = u64(g.intn(2)), uint32(g.intn(2)) },
		func() { p.PauseOnFail = true },
		func() { p.DependsOn = slices.Repeat([]dependency{{ID: 1}}, 9) },
		func() { p.DependsOn = []dependency{{ID: u64(g.m.nextID) * u64(g.intn(2))}} },
		func() { p.Calls = nil },
		func() {
			if open {
				p.Calls = slices.Repeat([]call{{Target: okays[0]}}, 9)
			}
		},
		func() {
			if open {
				p.Calls = []call{{Target: one(g, addr{}, self, gasTokenAt, tokens[0])}}
			}
		},
		func() {
			if open {
				p.Calls = []call{{Target: okays[0], Data: make(octets, 3872+g.intn(2))}}
			}
		},
		func() { raw(4268 + g.intn(2)) },
		func() { raw(172 + g.intn(2)) },
		func() { p.Commitment, p.Seal = word{2}, nil },
		func() { raw(200); p.Commitment = word{} },
		func() { p.When = &condition{itemIDs[0], one[uint8](g, 0, 4, 1), amt(1)} },
		func() { p.When = &condition{word{9}, 1, amt(1)} },
		func() { p.When = &condition{Operand: amt(1)} },
		func() { p.GasPrice = 0 },
		func() { p.GasPrice = g.m.g.Policy.MinGasPrice - 1 },
		func() { p.GasPrice = 1<<64 - 1 },
		func() { p.GasLimit = 1<<64 - 1 },
		func() {
			if open {
				p.GasLimit = u64(needs(p.Calls, p.ReserveAmount != nil).Uint64()) - u64(g.intn(2))
			}
		},
		func() { p.ReserveToken, p.ReserveAmount = one(g, tokens[0], addr{}), nil },
		func() {
			p.ReserveToken, p.ReserveAmount = one(g, addr{}, okays[0], gasTokenAt), &v
			p.GasLimit += 150_000
		},
		func() { v = amt(1_000_000); p.ReserveToken, p.ReserveAmount = tokens[0], &v; p.GasLimit += 150_000 },
	}
	spoilers[g.intn(len(spoilers))]()
}
