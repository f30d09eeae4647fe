package model

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
)

type leading struct {
	id      uint64
	attempt uint8
	hash    word
	outcome string
}

type line struct {
	leading []leading
	errors  []string
}

// block is the pipeline of one block. The script keeps the rules of headers and beacon updates.
func (m *model) block(b block) line {
	m.height++
	m.time, m.proposer, m.events = uint64(b.Time), b.Proposer, nil
	if b.GroupSecret != nil {
		m.groupSecret = b.GroupSecret
	}
	for _, s := range b.SlotKeys {
		m.slotKeys[uint64(s)] = *m.groupSecret
	}
	for _, c := range b.ConditionKeys {
		m.condKeys[c] = *m.groupSecret
	}

	fired := m.watch()
	s := m.scan()
	sel := m.choose(s.candidates)
	for _, e := range sel.chosen {
		m.dequeue(e)
		e.flags |= flagDetached
	}
	holding := append(s.held, sel.waiting...)
	holding = append(holding, m.move(fired, sel.moving)...)
	m.advance(s, holding)

	var out line
	order := runOrder(sel.chosen)
	for _, e := range order {
		if e.has(flagSealed) {
			m.reveal(e)
		}
	}
	for _, e := range order {
		out.leading = append(out.leading, leading{id: e.id, attempt: e.attempts, hash: m.hash(e)})
	}
	if b.Seize != nil {
		v := b.Seize.get()
		if less(m.gas, self, v) {
			v = read(m.gas, self)
		}
		sub(m.gas, self, v)
	}
	for i := range out.leading {
		out.leading[i].outcome = m.run(out.leading[i].id)
		m.seen.outcomes[out.leading[i].outcome]++
	}

	for _, w := range b.Writes {
		m.items[w.Item] = itemState{listed: true, written: true, halted: w.Halted, disputed: w.Disputed, value: w.Value.get(), height: m.height,
			time: m.time}
	}
	for _, f := range b.Flags {
		it := m.items[f.Item]
		if f.Halted != nil {
			it.halted = *f.Halted
		}
		if f.Disputed != nil {
			it.disputed = *f.Disputed
		}
		m.items[f.Item] = it
	}
	for _, id := range b.Delist {
		it := m.items[id]
		it.listed = false
		m.items[id] = it
	}
	for _, a := range b.MIP20 {
		m.mip20[a] = true
	}
	for _, t := range b.Txs {
		out.errors = append(out.errors, m.count(m.transact(t)))
	}
	m.sweep()
	for _, e := range m.events {
		m.seen.events[e.name]++
	}
	return out
}

func (m *model) count(err string) string {
	if err != "" {
		m.seen.errors[err]++
	}
	return err
}

func (m *model) transact(t tx) string {
	switch {
	case t.Deposit != nil:
		return m.deposit(t.From, t.Deposit.get())
	case t.Withdraw != nil:
		return m.withdraw(t.From, t.Withdraw.get())
	case t.Cancel != nil:
		return m.cancel(t.From, uint64(*t.Cancel))
	case t.Expire != nil:
		return m.expire(uint64(*t.Expire))
	case t.Resume != nil:
		return m.resume(t.From, uint64(*t.Resume))
	}
	p := *t.Schedule
	if p.Seal != nil {
		s, commitment := m.seal(t.From, p)
		m.sealed[string(s.ciphertext)] = s
		p.Ciphertext, p.Commitment, p.Seal = s.ciphertext, commitment, nil
	}
	return m.schedule(t.From, p)
}

// watch evaluates the watchers of what was written, and returns the entries that fire, without placing them.
func (m *model) watch() []*entry {
	var items []word
	for id, list := range m.watchers {
		if len(list) > 0 {
			items = append(items, id)
		}
	}
	slices.SortFunc(items, func(a, b word) int { return bytes.Compare(a[:], b[:]) })
	var fired []*entry
	left := int(m.lim.Watchers)
	for i := range items {
		id := items[(m.height%uint64(len(items))+uint64(i))%uint64(len(items))]
		it := m.items[id]
		if !it.listed || it.height <= m.watchedHeight[id] {
			continue
		}
		if len(m.watchers[id]) > left {
			break
		}
		left -= len(m.watchers[id])
		m.watchedHeight[id] = it.height
		for _, w := range m.watchers[id] {
			if e := m.entries[w]; it.time >= e.due && holds(e.when, it) {
				fired = append(fired, e)
			}
		}
	}
	return fired
}

func holds(c condition, it itemState) bool {
	switch c.Kind {
	case 1:
		return !it.halted && !it.disputed && it.value.Cmp(c.Operand.get()) >= 0
	case 2:
		return !it.halted && !it.disputed && it.value.Cmp(c.Operand.get()) <= 0
	}
	return !it.halted
}

type scanned struct {
	candidates, held []*entry
	unread           []uint64 // at most one key of heights and one of slots
	nextSlot         uint64   // after the last key scanned
	nextHeight       uint64
}

func (m *model) scan() scanned {
	s := scanned{nextSlot: m.cursorSlot, nextHeight: m.cursorHeight}
	reads := int(m.lim.Reads)
	over := func(from, now, base uint64, next *uint64) {
		for k := from; k <= now && k < from+uint64(m.lim.Scan); k++ {
			*next = k + 1
			for _, id := range m.queues[base|k] {
				if reads == 0 {
					s.unread = append(s.unread, base|k)
					return
				}
				reads--
				switch e := m.entries[id]; {
				case m.dead(e):
				case m.keyMissing(e):
					s.held = append(s.held, e)
				default:
					s.candidates = append(s.candidates, e)
				}
			}
		}
	}
	over(m.cursorHeight, m.height, heightKey, &s.nextHeight)
	over(m.cursorSlot, m.time, 0, &s.nextSlot)
	return s
}

type selection struct{ chosen, waiting, moving []*entry }

// byPlace orders by heights first, key, id.
func byPlace(a, b *entry) int {
	if a.isHeight() != b.isHeight() {
		if a.isHeight() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
}

func byRank(a, b *entry) int {
	if a.has(flagBestEffort) != b.has(flagBestEffort) {
		if b.has(flagBestEffort) {
			return -1
		}
		return 1
	}
	if a.has(flagBestEffort) && a.gasPrice != b.gasPrice {
		return cmp.Compare(b.gasPrice, a.gasPrice)
	}
	return byPlace(a, b)
}

func (m *model) choose(candidates []*entry) selection {
	var sel selection
	left := uint64(m.g.Policy.GasPerBlock)
	rest := slices.Clone(candidates)
	slices.SortFunc(rest, byRank)
	ready := func(e *entry) bool {
		for _, d := range e.deps {
			on := m.entries[uint64(d.ID)]
			if !m.settled(on) && !(slices.Contains(sel.chosen, on) && on.attempts >= on.maxRetries) {
				return false
			}
		}
		return true
	}
	for {
		i := slices.IndexFunc(rest, ready)
		if i < 0 {
			sel.moving = append(sel.moving, rest...) // for a dependency
			return sel
		}
		e := rest[i]
		rest = slices.Delete(rest, i, i+1)
		guaranteed := !e.has(flagBestEffort)
		switch {
		case e.cost() <= left && (guaranteed || len(sel.chosen) < int(m.g.Policy.MaxEntriesPerBlock)):
			left -= e.cost()
			sel.chosen = append(sel.chosen, e)
		case guaranteed:
			sel.waiting = append(sel.waiting, e)
		default:
			sel.moving = append(sel.moving, e)
		}
	}
}

// move places fired and moving entries by id and returns those that hold their position for want of room.
func (m *model) move(fired, moving []*entry) (stay []*entry) {
	all := append(slices.Clone(fired), moving...)
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	for _, e := range all {
		base := m.time + 1
		if e.isHeight() {
			base = heightKey | (m.height + 1)
		}
		key, ok := m.firstRoom(base)
		watching := e.key == watchKey
		if !ok {
			if !watching {
				stay = append(stay, e)
			}
			continue
		}
		m.dequeue(e)
		e.flags |= flagBestEffort
		m.enqueue(e, key)
		if watching {
			e.deadline = key + uint64(m.g.Policy.MaxLateSlots)
		}
	}
	return stay
}

// advance moves the cursors to the first key that is still needed and clears what they pass.
func (m *model) advance(s scanned, holding []*entry) {
	m.cursorSlot, m.cursorHeight = s.nextSlot, s.nextHeight
	keys := slices.Clone(s.unread)
	for _, e := range holding {
		keys = append(keys, e.key)
	}
	for _, k := range keys {
		if k >= heightKey {
			m.cursorHeight = min(m.cursorHeight, k-heightKey)
		} else {
			m.cursorSlot = min(m.cursorSlot, k)
		}
	}
	for k := range m.queues {
		if k >= heightKey && k-heightKey < m.cursorHeight || k < m.cursorSlot {
			delete(m.queues, k)
			delete(m.reserves, k)
		}
	}
}

// runOrder is heights first, key, Guaranteed first, id; but an entry follows the dependencies chosen with it.
func runOrder(chosen []*entry) []*entry {
	rest := slices.Clone(chosen)
	slices.SortFunc(rest, func(a, b *entry) int {
		if a.isHeight() == b.isHeight() && a.key == b.key && a.has(flagBestEffort) != b.has(flagBestEffort) {
			if b.has(flagBestEffort) {
				return -1
			}
			return 1
		}
		return byPlace(a, b)
	})
	var out []*entry
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, func(e *entry) bool {
			return !slices.ContainsFunc(e.deps, func(d dependency) bool {
				return slices.ContainsFunc(rest, func(x *entry) bool { return x.id == uint64(d.ID) })
			})
		})
		out = append(out, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return out
}

func (m *model) hash(e *entry) word {
	target, input := self, []byte{}
	switch {
	case len(e.calls) == 1:
		target, input = e.calls[0].Target, e.calls[0].Data
	case len(e.calls) > 1:
		input = encodeCalls(e.calls)
	}
	num := func(v uint64) []byte { return new(big.Int).SetUint64(v).Bytes() }
	return keccak([]byte{0x7e}, rlpList(num(uint64(m.g.ChainID)), num(e.id), num(uint64(e.attempts)), e.payer[:], target[:], num(e.cost()),
		num(e.gasPrice), input))
}

// sweep opens what has its key on chain and was not chosen.
func (m *model) sweep() {
	var open []*entry
	for _, q := range m.queues {
		for _, id := range q {
			if e := m.entries[id]; e.has(flagSealed) && !m.dead(e) && !m.keyMissing(e) {
				open = append(open, e)
			}
		}
	}
	slices.SortFunc(open, func(a, b *entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	for i, e := range open {
		if i < int(m.g.Policy.MaxEntriesPerBlock) {
			m.reveal(e)
		}
	}
}
