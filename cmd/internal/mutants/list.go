package main

// mutants is the list, by part of the machine.
var mutants = []mutant{
	// Policy.
	{"scheduler/policy.go", "p.CancelRefundBps > bpsWhole", "p.CancelRefundBps > bpsWhole+1", "a refund above the whole"},
	{"scheduler/policy.go", "p.MaxHorizonSlots >= maxSpan", "p.MaxHorizonSlots > maxSpan", "a horizon of 2^61"},
	{"scheduler/policy.go", "if p.MaxLateSlots < GraceSlots+1 {", "if p.MaxLateSlots < GraceSlots {", "no warning of a late window shorter than the grace"},
	{"scheduler/scheduler.go", "setUint64(s, tagMeta, 0, metaCursorSlot, time+1)", "setUint64(s, tagMeta, 0, metaCursorSlot, time)", "the first slot is the activation's own"},
	{"scheduler/scheduler.go", "		c.State.Revert(before)\n", "		_ = before\n", "a failed call leaves its traces"},

	// Scheduling an entry.
	{"scheduler/schedule.go", "if p.Class > BestEffort ||", "if p.Class > BestEffort+1 ||", "a third class"},
	{"scheduler/schedule.go", "p.Slot <= c.Time, p.Height", "p.Slot < c.Time, p.Height", "an entry for the present slot"},
	{"scheduler/schedule.go", "p.Height <= c.Height:", "p.Height < c.Height:", "an entry for the present height"},
	{"scheduler/schedule.go", "p.Slot-c.Time > horizon", "p.Slot-c.Time >= horizon", "the horizon is one slot short"},
	{"scheduler/schedule.go", "p.Height-c.Height > horizon", "p.Height > horizon", "a height's horizon does not move with the chain"},
	{"scheduler/schedule.go", "case p.PeriodSlots > horizon, uint64(p.BackoffSlots) > horizon:", "case p.PeriodSlots > horizon:", "backoff without a bound"},
	{"scheduler/schedule.go", "d.ID >= next", "d.ID > next", "an entry may depend on itself"},
	{"scheduler/schedule.go", "len(p.DependsOn) > MaxDependencies", "len(p.DependsOn) > MaxDependencies+1", "nine dependencies"},
	{"scheduler/schedule.go", "len(p.Calls) > MaxCalls {", "len(p.Calls) > MaxCalls+1 {", "nine calls"},
	{"scheduler/schedule.go", "target == c.policy.GasToken ||", "", "the gas token as a target"},
	{"scheduler/schedule.go", "if len(data) > MaxEncodedCalls {", "if len(data) > MaxEncodedCalls+32 {", "a word of calls too many"},
	{"scheduler/schedule.go", "case len(p.Ciphertext) < MinCiphertext, len(p.Calls) > 0,", "case len(p.Ciphertext) < MinCiphertext-1, len(p.Calls) > 0,", "a ciphertext of 172 bytes"},
	{"scheduler/schedule.go", "case p.GasPrice < c.policy.MinGasPrice:", "case p.GasPrice+1 < c.policy.MinGasPrice:", "one below the lowest price"},
	{"scheduler/schedule.go", "cost > c.policy.GasPerBlock", "cost >= c.policy.GasPerBlock", "an entry of exactly one block is refused"},
	{"scheduler/schedule.go", ".count >= uint64(c.policy.MaxEntriesPerBlock) {", ".count > uint64(c.policy.MaxEntriesPerBlock) {", "a key holds one entry too many"},
	{"scheduler/schedule.go", ".count >= c.limits.WatchersPerItem {", ".count > c.limits.WatchersPerItem {", "a 257th watcher"},
	{"scheduler/schedule.go", "e.cost() > c.guaranteedGasLeft(e.key)", "e.cost() > c.policy.GuaranteedGasPerSlot", "the Guaranteed budget is not shared"},
	{"scheduler/schedule.go", "setUint64(c.State, tagMeta, 0, metaNextID, e.id+1)", "setUint64(c.State, tagMeta, 0, metaNextID, e.id+2)", "ids are not dense"},
	{"scheduler/schedule.go", "deadlineSlot: p.Slot + c.policy.MaxLateSlots,", "deadlineSlot: p.Slot + c.policy.MaxLateSlots + 1,", "a deadline one slot late"},
	{"scheduler/schedule.go", "e.dependsOnFinished |= 1 << i", "e.dependsOnFinished |= 128 >> i", "the mask of dependencies is reversed"},
	{"scheduler/schedule.go", "sum, over2 = bits.Add64(sum, callOverhead, 0)", "sum, over2 = bits.Add64(sum, callOverhead-1, 0)", "a call's overhead is one short"},
	{"scheduler/schedule.go", "if over1|over2 != 0 {", "if over1&over2 != 0 {", "call gas that wraps"},

	// Cost.
	{"scheduler/cost.go", "if dataLen%32 != 0 {", "if dataLen%32 > 1 {", "a started word is free"},
	{"scheduler/cost.go", "costDependency*dependencies", "costDependency*min(dependencies, 7)", "the eighth dependency is free"},
	{"scheduler/cost.go", "costRecurrence + costRecurrenceWord*words", "costRecurrence", "a recurrence does not pay by the word"},
	{"scheduler/cost.go", "return cost, cost >= overhead", "return cost, true", "a cost that wraps"},

	// Escrow.
	{"scheduler/escrow.go", "if available.Lt(&amount) {", "if !available.Gt(&amount) {", "the last unit of escrow cannot be used"},
	{"scheduler/escrow.go", "	setAmount(c.State, tagAvailable, c.Caller, available)\n	c.emit(eventDeposited", "	setAmount(c.State, tagAvailable, c.Proposer, available)\n	c.emit(eventDeposited", "deposits credit the proposer"},
	{"scheduler/escrow.go", "if err := c.Token.Send(c.Caller, amount); err != nil {", "if err := c.Token.Credit(c.Caller, amount); err != nil {", "withdraw ignores the receive policy"},
	{"scheduler/escrow.go", "	if err := c.Token.Pull(c.Caller, amount); err != nil {\n		return TransferFailed\n	}\n	available := getAmount(c.State, tagAvailable, c.Caller)\n", "	available := getAmount(c.State, tagAvailable, c.Caller)\n	if err := c.Token.Pull(c.Caller, amount); err != nil {\n		return TransferFailed\n	}\n", "a deposit forgets the one made within its pull"},

	// Cancelling, expiring.
	{"scheduler/cancel.go", "	if e.payer != c.Caller {\n		return NotPayer\n	}\n", "", "anyone cancels"},
	{"scheduler/cancel.go", "	c.give(c.policy.Treasury, *new(uint256.Int).Sub(&fee, &refund))\n", "", "the treasury's share is lost"},
	{"scheduler/cancel.go", "	c.give(e.payer, refund)\n", "	c.give(e.payer, fee)\n", "a cancel refunds all"},
	{"scheduler/cancel.go", "	if c.running() {\n		return Running\n	}\n", "", "expire inside a run"},
	{"scheduler/cancel.go", "!e.dead(c.Time) && !e.passed(c.State) &&", "!e.dead(c.Time) &&", "what lies behind the cursor cannot expire"},
	{"scheduler/cancel.go", "	case !e.passed(c.State):\n", "	case false:\n", "a canceled entry keeps its place"},
	{"scheduler/cancel.go", "		c.uncountSealed(e)\n", "", "a canceled sealed entry stays pending"},
	{"scheduler/entry.go", "		c.State.Set(keyOf(tagEntry, e.id, i), Word{})\n", "", "a finished entry is not pruned"},

	// Entries.
	{"scheduler/entry.go", "late := time > e.deadlineSlot &&", "late := time >= e.deadlineSlot &&", "dead at the deadline itself"},
	{"scheduler/entry.go", "time > e.key+missedAfterSlots", "time >= e.key+missedAfterSlots", "the key is missed a second early"},
	{"scheduler/entry.go", "		return h.key&^HeightKey <= height\n", "		return h.key&^HeightKey < height\n", "a height is due one block late"},
	{"scheduler/entry.go", "	case h.flags&FlagDetached != 0:\n		return true\n", "", "a selected entry is not passed"},
	{"scheduler/entry.go", "return h.key < cursorSlot(r)", "return h.key <= cursorSlot(r)", "the cursor's own slot counts as passed"},
	{"scheduler/entry.go", "s.Set(keyOf(tagEntry, id, wordDependsOn+uint64(i)/idsPerWord), w)", "s.Set(keyOf(tagEntry, id, wordDependsOn), w)", "the fifth dependency overwrites the first"},

	// Queues and capacity.
	{"scheduler/queue.go", "queueHead{h.reserved - release, uint64(len(kept))}", "queueHead{h.reserved, uint64(len(kept))}", "Guaranteed capacity is not given back"},
	{"scheduler/queue.go", "h.count, nil)\n	writeQueueHead(s, key, queueHead{})", "h.count, nil)\n	writeQueueHead(s, key, queueHead{reserved: h.reserved})", "a passed key keeps its reserve"},
	{"scheduler/capacity.go", "at <= key+spillKeys", "at < key+spillKeys", "seven keys instead of eight"},
	{"scheduler/capacity.go", "for at := key + 1; at", "for at := key; at", "moves into the present block's key"},
	{"scheduler/capacity.go", "cmp.Compare(a.id, b.id)", "cmp.Compare(b.id, a.id)", "moves go from the newest to the oldest"},
	{"scheduler/capacity.go", "			e.flags |= FlagBestEffort // a delayed Guaranteed entry gives up its class (S-SEL-10)\n", "", "a moved Guaranteed entry keeps its class"},
	{"scheduler/capacity.go", "				s.held[e.key] = true\n				continue", "				continue", "an entry without room does not hold the cursor"},
	{"scheduler/capacity.go", "			r.count[at] = n + 1\n", "			r.count[at] = n\n", "places taken by one pass are not counted"},

	// Selection and order.
	{"scheduler/selection.go", "if e.cost() > left ||", "if e.cost() >= left ||", "a cost that just fits waits"},
	{"scheduler/selection.go", "!e.guaranteed() && len(chosen) >= maxCount", "len(chosen) >= maxCount", "the count limits Guaranteed too"},
	{"scheduler/selection.go", "				s.held[e.key] = true // it waits in place (S-SEL-11)\n", "", "a waiting Guaranteed entry does not hold the cursor"},
	{"scheduler/selection.go", "return e.attempts >= e.maxRetries", "return true", "a dependent joins a dependency that may retry"},
	{"scheduler/selection.go", "		left -= e.cost()\n", "		left -= e.gasLimit\n", "the block's budget is counted without overhead"},
	{"scheduler/order.go", "cmp.Or(cmp.Compare(b.gasPrice, a.gasPrice), oldestFirst(a, b))", "cmp.Or(cmp.Compare(a.gasPrice, b.gasPrice), oldestFirst(a, b))", "the lowest price first"},
	{"scheduler/order.go", "cmp.Or(compareKind(a, b), cmp.Compare(a.key, b.key), compareClass(a, b), cmp.Compare(a.id, b.id))", "cmp.Or(compareKind(a, b), cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))", "runs ignore the class"},
	{"scheduler/order.go", "cmp.Or(compareKind(a, b), cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))", "cmp.Or(cmp.Compare(a.id, b.id))", "the oldest id first, not the oldest key"},

	// Halts and catch-up.
	{"scheduler/limits.go", "return Limits{Scan: 4096,", "return Limits{Scan: 4097,", "a key too many is scanned"},
	{"scheduler/limits.go", "Reads: 1024, Watchers", "Reads: 1025, Watchers", "an entry too many is read"},
	{"scheduler/limits.go", "missedAfterSlots = GraceSlots + 1", "missedAfterSlots = GraceSlots + 2", "a grace of a second more"},
	{"scheduler/catchup.go", "	case e.dead(c.Time):\n", "	case e.dead(c.Time):\n		s.held[e.key] = true\n", "dead entries hold the cursor"},
	{"scheduler/catchup.go", "	case e.sealed() && !c.keyKnown(s, e):\n		s.held[e.key] = true\n", "	case e.sealed() && !c.keyKnown(s, e):\n", "a sealed entry does not hold the cursor"},
	{"scheduler/catchup.go", "			return key // unread\n", "", "an unread entry does not hold the cursor"},
	{"scheduler/catchup.go", "s.reads -= n", "s.reads -= n / 2", "reads are undercounted"},
	{"scheduler/catchup.go", "	s.nextHeight = c.scanKeys(s, HeightKey|cursorHeight(c.State), HeightKey|c.Height)\n	s.nextSlot = c.scanKeys(s, cursorSlot(c.State), c.Time)\n", "	s.nextSlot = c.scanKeys(s, cursorSlot(c.State), c.Time)\n	s.nextHeight = c.scanKeys(s, HeightKey|cursorHeight(c.State), HeightKey|c.Height)\n", "slots are read before heights"},

	// Runs.
	{"scheduler/execute.go", "&& !held.Lt(&fee)", "&& !held.Lt(&uint256.Int{})", "a short token balance is not skipped"},
	{"scheduler/execute.go", "	e.status = Executed // before any call, so that no target can cancel, expire or rerun it (S-RUN-11)\n	writeHead(c.State, id, e.head)\n", "", "targets meet a Scheduled entry"},
	{"scheduler/execute.go", "	if c.Token.Credit(c.Proposer, fee) != nil {", "	if c.Token.Send(c.Proposer, fee) != nil {", "a proposer can refuse its fee"},
	{"scheduler/execute.go", "!finished && h.status != Executed", "(finished || !finished) && h.status != Executed", "finished dependencies must have succeeded"},
	{"scheduler/execute.go", "	c.recur(e)\n	c.finish(e, Failed)\n", "	c.recur(e)\n	c.finish(e, Executed)\n", "a final failure leaves the entry Executed"},
	{"scheduler/execute.go", "if failedDependency || len(calls) == 0 {", "if failedDependency {", "an empty payload succeeds"},
	{"scheduler/execute.go", "	c.State.SetTemp(keyOf(tagRunning, 0, 0), wordOf(1))\n", "", "nothing says that a run is under way"},
	{"scheduler/execute.go", "if need, ok := callsGas(calls, 0); !ok || need > e.gasLimit {", "if need, ok := callsGas(calls, 0); !ok || need > e.gasLimit+1 {", "sealed calls of one gas too many"},
	{"scheduler/execute.go", "				return BadTarget // it became a MIP20 token (S-RUN-13)\n", "", "a token as a target at the run"},
	{"scheduler/execute.go", "finished := e.dependsOnFinished>>i&1 == 1", "finished := e.dependsOnFinished>>(i&3)&1 == 1", "the mask of the fifth dependency is the first's"},
	{"scheduler/execute.go", "return min(used, call.GasLimit), err", "return used, err", "a call's gas has no bound"},

	// Retries.
	{"scheduler/execute.go", "if e.attempts >= e.maxRetries {", "if e.attempts > e.maxRetries {", "one retry too many"},
	{"scheduler/execute.go", "c.Time + max(1, uint64(e.backoffSlots)) - 1", "c.Time + uint64(e.backoffSlots)", "a backoff of one slot more"},
	{"scheduler/execute.go", "if !ok || !c.lock(e.payer, fee) {", "if !ok {", "a retry locks no fee"},
	{"scheduler/execute.go", "e.status, e.key, e.deadlineSlot = Scheduled, key, key+c.policy.MaxLateSlots", "e.status, e.key = Scheduled, key", "a retry keeps the old deadline"},
	{"scheduler/execute.go", "e.flags = e.flags&^FlagDetached | FlagBestEffort", "e.flags |= FlagBestEffort", "a retry stays detached"},
	{"scheduler/execute.go", "	e.attempts++\n", "", "attempts are not counted"},

	// Recurrence.
	{"scheduler/recurrence.go", "p.recurs() != (p.Remaining != 0) ||", "p.recurs() && p.Remaining == 0 ||", "remaining without a period"},
	{"scheduler/recurrence.go", "p.PauseOnFail && !p.recurs()", "false", "pauseOnFail without a period"},
	{"scheduler/recurrence.go", "if e.remaining > 0 && c.schedulePeriod(e) != nil {", "if e.remaining > 1 && c.schedulePeriod(e) != nil {", "the last period does not run"},
	{"scheduler/recurrence.go", ".after(next.dueSlot - 1)", ".after(next.dueSlot)", "a period lands a slot after its due slot"},
	{"scheduler/recurrence.go", "next.key, next.deadlineSlot = at, at+c.policy.MaxLateSlots", "next.key, next.deadlineSlot = at, next.dueSlot+c.policy.MaxLateSlots", "a period's deadline counts from its due slot"},
	{"scheduler/recurrence.go", "next.cost() <= c.guaranteedGasLeft(at)", "next.cost() < c.guaranteedGasLeft(at)", "Guaranteed capacity that just fits a period"},
	{"scheduler/recurrence.go", "if next.flags&FlagGuaranteed != 0 && next", "if e.guaranteed() && next", "a series once BestEffort stays so"},
	{"scheduler/recurrence.go", "	next.remaining--\n", "", "remaining does not count down"},
	{"scheduler/recurrence.go", "nextDue(e.dueSlot, e.periodSlots, c.Time)", "nextDue(e.key, e.periodSlots, c.Time)", "the next due slot is counted from the key"},
	{"scheduler/recurrence.go", "nextDue(e.dueSlot, e.periodSlots, c.Time)", "nextDue(e.dueSlot, e.periodSlots, e.dueSlot)", "missed periods are not skipped"},
	{"scheduler/recurrence.go", "(behind/period+1)*period", "((behind+period-1)/period+1)*period", "a period too many is skipped"},
	{"scheduler/recurrence.go", "next.status, next.attempts = Scheduled, 0", "next.status = Scheduled", "a period inherits its attempts"},
	{"scheduler/recurrence.go", "e.flags&(FlagLateExecute|FlagPauseOnFail|FlagGuaranteed)", "e.flags&(FlagLateExecute|FlagGuaranteed)", "the next period does not pause"},
	{"scheduler/execute.go", "	c.recur(e)\n	c.finish(e, Executed)", "	c.finish(e, Executed)", "a success ends the series"},
	{"scheduler/execute.go", "	c.recur(e)\n	c.finish(e, Failed)", "	c.finish(e, Failed)", "a failure ends the series"},

	// Pause and resume.
	{"scheduler/pause.go", "e.flags&FlagPauseOnFail != 0 && e.remaining > 0", "e.flags&FlagPauseOnFail != 0", "the last period pauses"},
	{"scheduler/pause.go", "	if e.payer != c.Caller {\n		return NotPayer\n	}\n", "", "anyone resumes"},
	{"scheduler/pause.go", "	c.finish(e, Failed)\n", "	c.finish(e, Expired)\n", "a resumed entry is Expired"},
	{"scheduler/pause.go", "	c.finish(e, Failed)\n	return nil", "	return nil", "a resumed entry stays paused"},
	{"scheduler/cancel.go", "	if e.status == Paused {\n", "	if false {\n", "a paused series refunds what it has not locked"},

	// Reserves.
	{"scheduler/reserve.go", "	case !c.Token.IsMIP20(r.token):\n		return BadReserve\n", "", "a reserve of no MIP20 token"},
	{"scheduler/reserve.go", "	case r.token == c.policy.GasToken:\n		return ReserveIsGasToken\n", "", "a reserve of the gas token"},
	{"scheduler/reserve.go", "return c.withReserve(e, c.Token.HoldFrom)", "return nil", "nothing is held"},
	{"scheduler/reserve.go", "return c.withReserve(e, c.Token.Release)", "return nil", "nothing is released"},
	{"scheduler/reserve.go", "	return captureGas, nil\n", "	return 0, nil\n", "a capture costs no gas"},
	{"scheduler/reserve.go", "		return captureGas, CallFailed\n", "		return captureGas, nil\n", "a capture that fails is ignored"},
	{"scheduler/execute.go", "c.capture(e, calls[0].Target)", "c.capture(e, calls[len(calls)-1].Target)", "the last target gets the reserve"},
	{"scheduler/execute.go", "	if err := c.release(e); err != nil {\n		return err\n	}\n", "", "a final failure keeps the hold"},
	{"scheduler/cancel.go", "	return c.release(e)\n", "	return nil\n", "a canceled entry keeps the hold"},
	{"scheduler/reserve.go", "v.SetBytes(r.amount[:])", "v.SetBytes(r.amount[1:])", "the highest byte of a reserve is lost"},

	// Opening.
	{"scheduler/opening.go", "len(calls) > MaxCalls {", "len(calls) > MaxCalls+1 {", "a sealed entry of nine calls"},
	{"scheduler/opening.go", "		e.flags &^= FlagSealed\n", "", "the sealed flag stays"},
	{"scheduler/opening.go", "		c.uncountSealed(e)\n", "", "a revealed entry stays pending"},
	{"scheduler/opening.go", "			data = nil\n", "", "a sealed call to a forbidden target"},
	{"scheduler/sealedconditional.go", "tlock.SlotSeal(e.dueSlot, e.payer)", "tlock.SlotSeal(e.key, e.payer)", "a moved entry loses its identity"},
	{"scheduler/opening.go", "cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))", "cmp.Compare(a.id, b.id)", "the sweep ignores keys"},
	{"scheduler/opening.go", "e.sealed() && !e.dead(c.Time) && !e.passed(c.State)", "e.sealed() && !e.passed(c.State)", "the sweep opens the dead"},
	{"scheduler/block.go", "n := min(len(waiting), int(m.policy.MaxEntriesPerBlock))", "n := len(waiting)", "the sweep has no bound"},
	{"scheduler/block.go", "	writeSweep(c.State, uint64(len(backlog)), rest)\n", "	writeSweep(c.State, uint64(len(backlog)), nil)\n", "what the sweep leaves is forgotten"},

	// Conditional entries.
	{"scheduler/conditional.go", "sound := !it.Halted && !it.Disputed", "sound := !it.Halted", "a disputed value fires"},
	{"scheduler/conditional.go", "bytes.Compare(it.Value[:], w.Operand[:]) >= 0", "bytes.Compare(it.Value[:], w.Operand[:]) > 0", "at least does not include equal"},
	{"scheduler/conditional.go", "bytes.Compare(it.Value[:], w.Operand[:]) <= 0", "bytes.Compare(it.Value[:], w.Operand[:]) < 0", "at most does not include equal"},
	{"scheduler/conditional.go", "		holds = !it.Halted\n", "		holds = sound\n", "not halted minds disputes"},
	{"scheduler/conditional.go", "it.Time >= notBefore", "it.Time > notBefore", "a write at the not-before slot does not count"},
	{"scheduler/conditional.go", "(c.Height+uint64(i))%uint64(len(items))", "uint64(i)", "the first item does not rotate"},
	{"scheduler/conditional.go", "if !listed || it.Height <= h.height {", "if _ = listed; it.Height <= h.height {", "an item out of the catalog is evaluated"},
	{"scheduler/conditional.go", "if !listed || it.Height <= h.height {", "if !listed || it.Height < h.height {", "an item is evaluated again without a write"},
	{"scheduler/conditional.go", "		if h.count > left {\n			break\n", "		if h.count > left {\n			continue\n", "the pass goes on behind an item that does not fit"},
	{"scheduler/conditional.go", "		left -= h.count\n", "", "evaluations are not counted"},
	{"scheduler/conditional.go", "		h.height = it.Height\n		h.writeHead(c.State)\n", "", "watchers do not remember what they saw"},
	{"scheduler/conditional.go", "if e.key != WatchKey {\n				placed", "if e.id != 0 {\n				placed", "an entry that found no room leaves the watch list"},
	{"scheduler/conditional.go", "!listed || !it.Written {", "!listed || !it.Written && it.Halted {", "a condition on an item never written"},
	{"scheduler/watchers.go", "		h.height = it.Height\n		h.place", "		h.height = 0 * it.Height\n		h.place", "a first watcher has seen nothing"},
	{"scheduler/watchers.go", "		c.dropWatched(h.place)\n", "", "an item without watchers stays listed"},
	{"scheduler/watchers.go", "		h.place = place\n", "", "an item that moved in the list is lost"},
	{"scheduler/capacity.go", "e.key, e.deadlineSlot = slot, slot+c.policy.MaxLateSlots", "e.key = slot", "a fired entry has no deadline"},
	{"scheduler/capacity.go", "	if e.sealed() {\n		c.countSealed(e)\n	}\n", "", "a fired sealed entry is not found by its key"},
	{"scheduler/cancel.go", "		c.unwatch(readWhen(c.State, e).Item, is)\n", "", "a canceled watcher keeps its place"},
	{"scheduler/cancel.go", "	return !listed\n", "	return !listed && false\n", "an item that left the catalog is no ground to expire"},
	{"scheduler/sealedconditional.go", "if e.sealed() && e.key != WatchKey && len", "if e.sealed() && len", "an entry that watches is opened by the sweep"},
	{"scheduler/block.go", "	plan.opening = append(plan.opening, c.firedOpenable(fired)...)\n", "", "a fired entry whose key is on chain stays sealed"},

	// Beacon.
	{"scheduler/beacon.go", "case k.Slot >= time:", "case k.Slot > time:", "the key of the slot under way"},
	{"scheduler/beacon.go", "case i > 0 && k.Slot <= u.Slots[i-1].Slot:", "case i > 0 && k.Slot < u.Slots[i-1].Slot:", "a slot key twice"},
	{"scheduler/beacon.go", "		case b.KeyAt(k.Slot) != nil:\n			return gk, fmt.Errorf(\"slot %d has its key\", k.Slot)\n", "", "a slot's key is replaced"},
	{"scheduler/beacon.go", "MaxSlotKeys      = 64", "MaxSlotKeys      = 65", "65 slot keys"},
	{"scheduler/beacon.go", "MaxConditionKeys = 32", "MaxConditionKeys = 33", "33 condition keys"},
	{"scheduler/beacon.go", "bytes.Compare(k.Condition[:], u.Conditions[i-1].Condition[:]) <= 0", "bytes.Compare(k.Condition[:], u.Conditions[i-1].Condition[:]) < 0", "a condition key twice"},

	// System transactions and reads.
	{"scheduler/systemtx.go", "if len(s) == 1 && s[0] < 0x80 {", "if len(s) == 1 && s[0] <= 0x80 {", "RLP of the byte 0x80"},
	{"scheduler/systemtx.go", "GasLimit: e.cost(),", "GasLimit: e.gasLimit,", "the hash holds the entry's gas limit"},
	{"scheduler/systemtx.go", "len(calls) == 1 {", "len(calls) >= 1 {", "a batch shows its first call"},
	{"scheduler/abi.go", "	r.zero(r.take(padding(n)))\n", "	r.take(padding(n))\n", "dirty padding is accepted"},
	{"scheduler/view.go", "slot := time - min(time, missedAfterSlots)", "slot := time - min(time, missedAfterSlots-1)", "the last chance of a key is not asked for"},
}
