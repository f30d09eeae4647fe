package proctest

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

const (
	scheduleEvery  = 300 * time.Millisecond
	maxUnconfirmed = 32 // the pool takes 64 of one sender
	callGas        = 50_000
	entryGas       = callGas + 10_000
	txGas          = 500_000
)

// target is an account that logs what it is called with.
var target = common.HexToAddress("0x00000000000000000000000000000000000a11ce")

// load schedules entries, sealed and open, for slots a few seconds ahead, and remembers each. It acts as a careful client: a
// transaction is posted to one validator, and to another only if that one was killed before a block held the transaction.
type load struct {
	c       *cluster
	audit   *audit
	rng     *rand.Rand // the load goroutine's
	key     *ecdsa.PrivateKey
	payer   common.Address
	token   common.Address
	deposit uint256.Int
	funds   uint256.Int // the account's before the deposit

	mu      sync.Mutex // guards what follows
	nonce   uint64
	txs     []*posted // not in a block yet, by nonce
	entries []*entry  // all, by nonce
	held    bool      // no new entries for now
	fault   error     // why the load gave up
}

// posted is a transaction on its way.
type posted struct {
	raw    []byte
	hash   string
	holder *member // who was given it last; nil for nobody
	life   uint64  // of the holder then
	entry  *entry  // what it schedules; nil for a transaction that does something else
}

// entry is what the load asked for.
type entry struct {
	slot   uint64
	sealed bool
	marker string // hex that only this entry's call holds
	fee    uint256.Int
	made   time.Time

	id      uint64 // from the receipt; 0 until then, and for ever if it was refused
	block   uint64 // that accepted it
	refused string // why it was not
}

// startLoad funds the account's escrow and begins to schedule.
func startLoad(c *cluster, a *audit) *load {
	c.Helper()
	text, err := os.ReadFile(c.net.KeyFile)
	if err != nil {
		c.Fatal(err)
	}
	key, err := crypto.HexToECDSA(strings.TrimSpace(string(text)))
	if err != nil {
		c.Fatal(err)
	}
	l := &load{c: c, audit: a, rng: random(c.seed, c.Name()+" load"), key: key, payer: crypto.PubkeyToAddress(key.PublicKey)}
	l.token = common.Address(c.net.Genesis.Policy.GasToken)
	l.funds = *c.net.Genesis.Balances[l.payer]
	l.deposit.Rsh(&l.funds, 1)
	l.send(l.token, approveInput(l.deposit), nil)
	l.send(common.Address(scheduler.Address), scheduler.DepositInput(l.deposit), nil)
	c.bg.Go(l.run)
	return l
}

// approveInput is the calldata of approve(scheduler, amount).
func approveInput(amount uint256.Int) []byte {
	word := amount.Bytes32()
	input := append(crypto.Keccak256([]byte("approve(address,uint256)"))[:4], make([]byte, 12)...)
	return append(append(input, scheduler.Address[:]...), word[:]...)
}

// run is the load's goroutine.
func (l *load) run() {
	for {
		l.mu.Lock()
		l.collect()
		err := l.post()
		if err == nil && !l.held && len(l.txs) < maxUnconfirmed {
			err = l.schedule()
		}
		if err != nil {
			l.fault = err
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case <-time.After(scheduleEvery):
		case <-l.c.ctx.Done():
			return
		}
	}
}

// schedule makes one entry. Every other one is sealed.
func (l *load) schedule() error {
	e := &entry{
		slot: uint64(time.Now().Unix()) + 3 + l.rng.Uint64N(4), sealed: len(l.entries)%2 == 0,
		marker: fmt.Sprintf("%064x", l.rng.Uint64()), made: time.Now(),
	}
	data, err := hex.DecodeString(e.marker)
	if err != nil {
		return err
	}
	calls := []tlock.Call{{Target: target, GasLimit: callGas, Data: data}}
	p := scheduler.Params{Slot: e.slot, GasLimit: entryGas, GasPrice: l.c.net.Genesis.Policy.MinGasPrice, Class: scheduler.BestEffort}
	size := len(tlock.EncodeCalls(calls))
	if e.sealed {
		p.Ciphertext, p.Commitment, err = tlock.SealCalls(l.audit.ns, l.audit.group, tlock.SlotSeal(e.slot, l.payer), tlock.EncodeCalls(calls))
		if err != nil {
			return err
		}
		size = len(p.Ciphertext)
	} else {
		p.Calls = calls
	}
	cost, ok := scheduler.Cost(p.GasLimit, uint64(size), 0, false, false)
	if !ok {
		return errors.New("an entry's cost is out of range")
	}
	e.fee.Mul(uint256.NewInt(cost), uint256.NewInt(p.GasPrice))
	l.entries = append(l.entries, e)
	return l.sign(common.Address(scheduler.Address), scheduler.ScheduleInput(p), e)
}

// send makes a transaction that schedules nothing, or what e says.
func (l *load) send(to common.Address, input []byte, e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.sign(to, input, e); err != nil {
		l.c.Fatal(err)
	}
}

// sign appends a transaction. The caller holds mu.
func (l *load) sign(to common.Address, input []byte, e *entry) error {
	chainID := new(big.Int).SetUint64(l.c.net.Genesis.ChainID)
	tx, err := types.SignNewTx(l.key, types.NewLondonSigner(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: l.nonce, To: &to, Data: input, Gas: txGas, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1),
	})
	if err != nil {
		return err
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return err
	}
	l.nonce++
	l.txs = append(l.txs, &posted{raw: raw, hash: strings.ToLower(tx.Hash().Hex()), entry: e})
	return nil
}

// collect looks for the transactions' receipts. The caller holds mu.
func (l *load) collect() {
	waiting := l.txs[:0]
	for _, tx := range l.txs {
		r, ok := l.audit.receipt(tx.hash)
		if !ok {
			waiting = append(waiting, tx)
			continue
		}
		if tx.entry != nil && !r.Success {
			tx.entry.refused = r.Error
		}
		if tx.entry == nil && !r.Success {
			l.fault = fmt.Errorf("transaction %s failed: %s", tx.hash, r.Error)
		}
		for _, log := range r.Logs {
			if log.Name == "Scheduled" {
				tx.entry.id, tx.entry.block = log.ID, r.Block
			}
		}
	}
	l.txs = waiting
}

// post gives each transaction that no running validator was given to one of them. The caller holds mu.
func (l *load) post() error {
	for _, tx := range l.txs {
		if tx.holder != nil && tx.holder.life.Load() == tx.life {
			continue
		}
		alive := l.c.alive()
		if len(alive) == 0 {
			return nil
		}
		m := alive[l.rng.IntN(len(alive))]
		life := m.life.Load()
		ctx, cancel := context.WithTimeout(l.c.ctx, 5*time.Second)
		_, err := m.client.Submit(ctx, tx.raw)
		cancel()
		if e, ok := errors.AsType[*api.Error](err); ok {
			switch e.Status {
			case http.StatusConflict: // known, or in a block already
			case http.StatusServiceUnavailable:
				return nil // full for now
			default:
				return fmt.Errorf("%s refused a transaction: %w", m.Name, err)
			}
		} else if err != nil {
			return nil // just killed, or not up yet: the next turn tries another
		}
		tx.holder, tx.life = m, life
	}
	return nil
}

// hold stops making new entries, or goes on.
func (l *load) hold(held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = held
}

// unconfirmed is how many transactions are in no block yet, or why the load gave up.
func (l *load) unconfirmed() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.txs), l.fault
}

// accepted returns the entries that are on chain, made after the given time.
func (l *load) accepted(after time.Time) (out []*entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.id != 0 && e.made.After(after) {
			out = append(out, e)
		}
	}
	return out
}

// progress waits until a sealed and an open entry that were made from now on have run.
func (l *load) progress(what string) {
	l.c.Helper()
	began := time.Now()
	l.c.until(what, func() error {
		l.audit.check(l.c)
		waiting, err := l.unconfirmed()
		if err != nil {
			l.c.Fatal(err)
		}
		var sealed, open bool
		accepted := l.accepted(began)
		for _, e := range accepted {
			if l.audit.ran(e.id) {
				sealed, open = sealed || e.sealed, open || !e.sealed
			}
		}
		if sealed && open {
			return nil
		}
		return fmt.Errorf("of %d entries accepted since, one sealed ran: %t, one open ran: %t; %d transactions wait for a block", len(accepted), sealed, open, waiting)
	})
}
