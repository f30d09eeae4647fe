package model

import "slices"

// shrink leaves out what a failure does not need: blocks, transactions and all else that blocks hold, in ever smaller pieces.
func shrink(s script, fails func(script) bool) script {
	for {
		smaller := shrinkOnce(s, fails)
		if len(smaller.encode()) >= len(s.encode()) {
			return smaller
		}
		s = smaller
	}
}

func shrinkOnce(s script, fails func(script) bool) script {
	with := func(i int, change func(*block)) script {
		c := s
		c.Blocks = slices.Clone(s.Blocks)
		change(&c.Blocks[i])
		return c
	}
	s.Blocks = cut(s.Blocks, func(b []block) bool { return fails(script{s.Genesis, b}) })
	for i := range s.Blocks {
		s.Blocks[i].Txs = cut(s.Blocks[i].Txs, func(v []tx) bool { return fails(with(i, func(b *block) { b.Txs = v })) })
		s.Blocks[i].Writes = cut(s.Blocks[i].Writes, func(v []write) bool { return fails(with(i, func(b *block) { b.Writes = v })) })
		s.Blocks[i].Flags = cut(s.Blocks[i].Flags, func(v []flagging) bool { return fails(with(i, func(b *block) { b.Flags = v })) })
		s.Blocks[i].Delist = cut(s.Blocks[i].Delist, func(v []word) bool { return fails(with(i, func(b *block) { b.Delist = v })) })
		s.Blocks[i].MIP20 = cut(s.Blocks[i].MIP20, func(v []addr) bool { return fails(with(i, func(b *block) { b.MIP20 = v })) })
		s.Blocks[i].SlotKeys = cut(s.Blocks[i].SlotKeys, func(v []u64) bool { return fails(with(i, func(b *block) { b.SlotKeys = v })) })
		s.Blocks[i].ConditionKeys = cut(s.Blocks[i].ConditionKeys, func(v []word) bool { return fails(with(i, func(b *block) { b.ConditionKeys = v })) })
		for _, change := range []func(*block){func(b *block) { b.Seize = nil }, func(b *block) { b.GroupSecret = nil },
			func(b *block) { b.Proposer = proposers[0] }} {
			if c := with(i, change); fails(c) {
				s = c
			}
		}
	}
	return s
}

// cut leaves out runs of items while the rest still fails.
func cut[T any](items []T, fails func([]T) bool) []T {
	for size := len(items); size > 0; size /= 2 {
		for at := 0; at+size <= len(items); {
			rest := slices.Concat(items[:at], items[at+size:])
			if fails(rest) {
				items = rest
			} else {
				at += size
			}
		}
	}
	return items
}
