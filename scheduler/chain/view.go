package chain

import (
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// state is the head's state. It may be read and forked, never changed.
func (c *Chain) state() *memory.Host {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.host
}

// Call makes a call on the head's state, under the head's number and time, and forgets its effects: eth_call. The error is what
// the contract says; scheduler.RevertData tells what a caller sees of it.
func (c *Chain) Call(from, to Addr, input []byte) ([]byte, error) {
	return c.state().View(scheduler.Addr(from), scheduler.Addr(to), input)
}

// Balance is how much of the gas token the account holds.
func (c *Chain) Balance(a Addr) uint256.Int { return c.state().Balance(scheduler.Addr(a)) }

// TokenBalance is how much of a MIP20 token the account can spend, and how much the scheduler holds for its entries' reserves.
func (c *Chain) TokenBalance(token, a Addr) (balance, held uint256.Int) {
	host := c.state()
	return host.TokenBalance(scheduler.Addr(token), scheduler.Addr(a)), host.Held(scheduler.Addr(token), scheduler.Addr(a))
}

// Item is what the oracle catalog knows of an item, and whether it lists it.
func (c *Chain) Item(id Hash) (it scheduler.Item, listed bool) {
	return c.state().Item(scheduler.Word(id))
}

// Nonce is the next nonce of the account.
func (c *Chain) Nonce(a Addr) uint64 { return getNonce(c.state().Space(accountsAddress), a) }

// account is what the pool asks about an account at the head.
func (c *Chain) account(a Addr) accountState {
	host := c.state()
	return accountState{getNonce(host.Space(accountsAddress), a), fundsOf(host, a)}
}

// GroupKey is the installed group key, or nil while there is none.
func (c *Chain) GroupKey() []byte { return c.state().Beacon().GroupKey() }

// SlotKey is the slot's key if it is on chain.
func (c *Chain) SlotKey(slot uint64) []byte { return c.state().Beacon().KeyAt(slot) }

// ConditionKey is the condition's key if it is on chain.
func (c *Chain) ConditionKey(condition scheduler.Word) []byte {
	return c.state().Beacon().ConditionKey(condition)
}

// PendingSlots lists the slots that are over at the given time, whose key is not on chain and for which sealed entries wait that
// can still open: the keys a proposer puts into a block of that time, oldest first (S-BEA-04).
func (c *Chain) PendingSlots(time uint64) []uint64 { return pendingSlots(c.state(), time) }

func pendingSlots(host *memory.Host, time uint64) []uint64 {
	return schedulerView(host).WantedSlots(host.Beacon(), time)
}

// PendingConditions lists the conditions whose key is not on chain and for which fired entries wait that can still open in a block of
// the given time, in the order in which a proposer takes their keys.
func (c *Chain) PendingConditions(time uint64) []scheduler.Word {
	return pendingConditions(c.state(), time)
}

func pendingConditions(host *memory.Host, time uint64) []scheduler.Word {
	return schedulerView(host).WantedConditions(host.Beacon(), time)
}

// Scheduler reads the scheduler's state at the head: entries, queues, escrow. The answer of a View does not change when the chain
// goes on; take a new one.
func (c *Chain) Scheduler() scheduler.View { return schedulerView(c.state()) }

func schedulerView(host *memory.Host) scheduler.View {
	return scheduler.View{Reader: host.Space(scheduler.Address)}
}

// Block returns an applied block, if it is recent enough to be kept.
func (c *Chain) Block(number uint64) (*Applied, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.blocks.block(number)
}

// BlockByHash returns an applied block, if it is recent enough to be kept.
func (c *Chain) BlockByHash(hash Hash) (*Applied, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	number, ok := c.blocks.byHash[hash]
	if !ok {
		return nil, false
	}
	return c.blocks.block(number)
}

// FindTx says where a transaction stands, a leading one too, if its block is recent enough to be kept.
func (c *Chain) FindTx(hash Hash) (Place, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	place, ok := c.blocks.txs[hash]
	return place, ok
}

// Runs says where an entry's runs stand, oldest first, as far as their blocks are recent enough to be kept.
func (c *Chain) Runs(entry uint64) []Place {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return append([]Place(nil), c.blocks.runs[entry]...)
}

// Policy is the scheduler's policy.
func (c *Chain) Policy() scheduler.Policy { return c.state().Machine().Policy() }
