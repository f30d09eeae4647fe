package model

import "math/big"

// The operations of accounts. Each returns the name of its error, or "", and changes nothing if it fails.

func (m *model) deposit(from addr, v *big.Int) string {
	if less(m.gas, from, v) {
		return "TransferFailed"
	}
	sub(m.gas, from, v)
	add(m.gas, self, v)
	add(m.available, from, v)
	m.emit("Deposited", from, v)
	return ""
}

func (m *model) withdraw(from addr, v *big.Int) string {
	if less(m.available, from, v) {
		return "InsufficientEscrow"
	}
	if m.refuses[from] || less(m.gas, self, v) {
		return "TransferFailed"
	}
	sub(m.available, from, v)
	sub(m.gas, self, v)
	add(m.gas, from, v)
	m.emit("Withdrawn", from, v)
	return ""
}

func (m *model) cancel(from addr, id uint64) string {
	e := m.entries[id]
	if e == nil || e.status != scheduled && e.status != paused {
		return "NotScheduled"
	}
	if e.payer != from {
		return "NotPayer"
	}
	refund := new(big.Int)
	if e.status == scheduled {
		fee := e.fee()
		refund.Mul(fee, big.NewInt(int64(m.g.Policy.CancelRefundBps)))
		refund.Div(refund, big.NewInt(10_000))
		add(m.available, e.payer, refund)
		add(m.available, m.g.Policy.Treasury, new(big.Int).Sub(fee, refund))
		m.dequeue(e)
		m.release(e)
	}
	m.finish(e, cancelled)
	m.emit("Cancelled", id, refund)
	return ""
}

func (m *model) expirable(e *entry) bool {
	return m.pastDeadline(e) || m.passed(e) || m.missed(e) || e.key == watchKey && !m.items[e.when.Item].listed
}

func (m *model) expire(id uint64) string {
	if m.running {
		return "Running"
	}
	e := m.entries[id]
	if e == nil || e.status != scheduled {
		return "NotScheduled"
	}
	if !m.expirable(e) {
		return "NotExpired"
	}
	refund := e.fee()
	add(m.available, e.payer, refund)
	m.dequeue(e)
	m.release(e)
	m.finish(e, expired)
	m.emit("Expired", id, refund)
	return ""
}

func (m *model) resume(from addr, id uint64) string {
	e := m.entries[id]
	if e == nil || e.status != paused {
		return "NotPaused"
	}
	if e.payer != from {
		return "NotPayer"
	}
	next, err := m.nextPeriod(e)
	if err != "" {
		return err
	}
	m.finish(e, failed)
	m.emit("Recurred", id, next.id, next.key)
	return ""
}

// nextPeriod schedules the period after e. On an error nothing has changed.
func (m *model) nextPeriod(e *entry) (*entry, string) {
	due := e.due + e.period
	for due <= m.time {
		due += e.period
	}
	key, ok := m.firstRoom(due)
	if !ok {
		return nil, "SlotFull"
	}
	if less(m.available, e.payer, e.fee()) {
		return nil, "InsufficientEscrow"
	}
	if e.reserved() && !m.hold(e.token, e.payer, e.amount) {
		return nil, "TransferFailed"
	}
	next := *e
	next.id = m.nextID
	next.status, next.attempts = scheduled, 0
	next.remaining--
	next.due, next.deadline = due, key+uint64(m.g.Policy.MaxLateSlots)
	next.flags = e.flags&(flagLate|flagPause|flagGuaranteed) | flagBestEffort
	if e.has(flagGuaranteed) && m.reserves[key]+e.cost() <= uint64(m.g.Policy.GuaranteedGasPerSlot) {
		next.flags &^= flagBestEffort
	}
	sub(m.available, e.payer, e.fee())
	m.nextID++
	m.entries[next.id] = &next
	m.enqueue(&next, key)
	return &next, ""
}

func (m *model) schedule(from addr, p params) string {
	e, err := m.check(from, p)
	if err != "" {
		return err
	}
	fee := e.fee()
	if less(m.available, from, fee) {
		return "InsufficientEscrow"
	}
	if e.reserved() && !m.hold(e.token, from, e.amount) {
		return "TransferFailed"
	}
	sub(m.available, from, fee)
	m.nextID++
	m.entries[e.id] = e
	if e.key == watchKey {
		item := p.When.Item
		if len(m.watchers[item]) == 0 {
			m.watchedHeight[item] = m.items[item].height
		}
		m.watchers[item] = append(m.watchers[item], e.id)
	} else {
		m.enqueue(e, e.key)
	}
	m.emit("Scheduled", e.id, from, e.key, fee)
	return ""
}

// check goes through the rules in their order and builds the entry.
func (m *model) check(from addr, p params) (*entry, string) {
	pol := m.g.Policy
	slot, height := uint64(p.Slot), uint64(p.Height)
	var when condition
	if p.When != nil {
		when = *p.When
	}
	conditional := when.Kind != 0 || when.Item != word{} || when.Operand.get().Sign() != 0
	isSealed := len(p.Ciphertext) > 0
	reserved := p.ReserveToken != addr{} || p.ReserveAmount != nil && p.ReserveAmount.get().Sign() != 0
	recurring := p.PeriodSlots != 0
	horizon := uint64(pol.MaxHorizonSlots)

	// class
	if p.Class > 1 || conditional && p.Class == 0 {
		return nil, "BadClass"
	}
	// trigger
	if (slot == 0) == (height == 0) || conditional && height != 0 {
		return nil, "BadTrigger"
	}
	// time
	if slot != 0 && slot <= m.time || height != 0 && height <= m.height {
		return nil, "SlotNotInFuture"
	}
	if slot > m.time+horizon || height > m.height+horizon || uint64(p.PeriodSlots) > horizon || uint64(p.BackoffSlots) > horizon {
		return nil, "BeyondHorizon"
	}
	// recurrence
	if recurring && (height != 0 || len(p.DependsOn) > 0 || conditional) || recurring != (p.Remaining > 0) || p.PauseOnFail && !recurring {
		return nil, "CannotRecur"
	}
	// dependencies
	if len(p.DependsOn) > 8 {
		return nil, "BadDependency"
	}
	for _, d := range p.DependsOn {
		if d.ID == 0 || uint64(d.ID) >= m.nextID {
			return nil, "BadDependency"
		}
	}
	// sealed or open
	dataLen := len(p.Ciphertext)
	if isSealed {
		if len(p.Ciphertext) > 4268 {
			return nil, "DataTooLarge"
		}
		if len(p.Ciphertext) <= 172 || len(p.Calls) > 0 || height != 0 || m.groupSecret == nil || recurring || reserved || p.Commitment == (word{}) {
			return nil, "BadSeal"
		}
	} else {
		if p.Commitment != (word{}) {
			return nil, "BadSeal"
		}
		if len(p.Calls) == 0 || len(p.Calls) > 8 {
			return nil, "BadCalls"
		}
		for _, c := range p.Calls {
			if m.forbidden(c.Target) {
				return nil, "BadTarget"
			}
		}
		if dataLen = len(encodeCalls(p.Calls)); dataLen > 4096 {
			return nil, "DataTooLarge"
		}
	}
	// condition
	if conditional {
		it := m.items[when.Item]
		if when.Kind < 1 || when.Kind > 3 || !it.listed || !it.written {
			return nil, "BadCondition"
		}
	}
	// price
	if p.GasPrice == 0 {
		return nil, "ZeroGasPrice"
	}
	if p.GasPrice < pol.MinGasPrice {
		return nil, "GasPriceTooLow"
	}
	// gas
	if !isSealed && new(big.Int).SetUint64(uint64(p.GasLimit)).Cmp(needs(p.Calls, reserved)) < 0 {
		return nil, "GasLimitOutOfRange"
	}
	total := cost(uint64(p.GasLimit), dataLen, len(p.DependsOn), recurring, reserved)
	if total.Cmp(new(big.Int).SetUint64(uint64(pol.GasPerBlock))) > 0 {
		return nil, "GasLimitOutOfRange"
	}
	// reserve
	var reserve *big.Int
	if reserved {
		if reserve = p.ReserveAmount.orZero(); p.ReserveToken == (addr{}) || reserve.Sign() == 0 {
			return nil, "BadReserve"
		}
		if p.ReserveToken == m.gasToken() {
			return nil, "ReserveIsGasToken"
		}
		if !m.mip20[p.ReserveToken] {
			return nil, "BadReserve"
		}
	}
	// capacity
	key := slot
	switch {
	case conditional:
		key = watchKey
	case height != 0:
		key = heightKey | height
	}
	if conditional && len(m.watchers[when.Item]) >= int(m.lim.WatchersPerItem) {
		return nil, "WatchFull"
	}
	if !conditional && !m.room(key) {
		return nil, "SlotFull"
	}
	if p.Class == 0 && m.reserves[key]+total.Uint64() > uint64(pol.GuaranteedGasPerSlot) {
		return nil, "SlotReserveFull"
	}

	e := &entry{id: m.nextID, payer: from, key: key, status: scheduled, maxRetries: p.MaxRetries, gasLimit: uint64(p.GasLimit),
		gasPrice: uint64(p.GasPrice), period: uint64(p.PeriodSlots), due: slot, token: p.ReserveToken, amount: reserve, remaining: p.Remaining,
		backoff: p.BackoffSlots, dataLen: dataLen, when: when, calls: p.Calls, ciphertext: p.Ciphertext, deps: p.DependsOn,
		commitment: p.Commitment}
	if height == 0 && !conditional {
		e.deadline = slot + uint64(pol.MaxLateSlots)
	}
	for _, f := range []struct {
		on  bool
		bit uint8
	}{{p.Class == 1, flagBestEffort}, {p.LateExecute, flagLate}, {p.PauseOnFail, flagPause}, {p.Class == 0, flagGuaranteed}, {isSealed, flagSealed}} {
		if f.on {
			e.flags |= f.bit
		}
	}
	return e, ""
}

func (a *amount) orZero() *big.Int {
	if a == nil {
		return new(big.Int)
	}
	return a.get()
}

// needs is the gas that calls and their overheads take.
func needs(calls []call, reserved bool) *big.Int {
	sum := big.NewInt(10_000 * int64(len(calls)))
	for _, c := range calls {
		sum.Add(sum, new(big.Int).SetUint64(uint64(c.GasLimit)))
	}
	if reserved {
		sum.Add(sum, big.NewInt(150_000))
	}
	return sum
}
