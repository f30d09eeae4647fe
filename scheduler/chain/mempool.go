package chain

import (
	"container/heap"
	"fmt"
	"slices"
	"sync"

	"github.com/holiman/uint256"
)

// Limits of the pool of waiting transactions.
const (
	poolMaxTxs    = 8192
	poolMaxBytes  = 32 << 20
	poolPerSender = 64   // waiting transactions of one sender; also how far a nonce may lie ahead
	poolLifetime  = 3600 // blocks a transaction waits at most
)

// Mempool holds users' transactions until a block includes them. It keeps, per sender, at most one transaction per nonce and
// only nonces a block could still use soon; when it is full the lowest price gives way. What a sender does wrong costs only
// that sender. All methods are safe for concurrent use.
//
// Order is a function of what the pool was given and in which order: higher price first, then earlier arrival, and each
// sender's transactions by nonce.
type Mempool struct {
	chainID  uint64
	gasLimit uint64

	mu       sync.Mutex
	head     uint64 // number of the last applied block
	arrivals uint64
	bytes    int
	byHash   map[Hash]*pooledTx
	senders  map[Addr]*poolSender
	nonceOf  func(Addr) uint64 // at the head; may take the chain's lock, never the pool's
}

// poolSender is one account's waiting transactions, ascending by nonce.
type poolSender struct {
	txs []*pooledTx
}

type pooledTx struct {
	*Tx
	price   *uint256.Int // what orders it: the tip it offers per gas
	arrival uint64
	since   uint64 // number of the head when it came
}

func newMempool(chainID, gasLimit uint64, nonceOf func(Addr) uint64) *Mempool {
	return &Mempool{
		chainID: chainID, gasLimit: gasLimit, nonceOf: nonceOf,
		byHash: make(map[Hash]*pooledTx), senders: make(map[Addr]*poolSender),
	}
}

// Add takes a raw Ethereum transaction. Errors have a class: ErrInvalid (wrong chain or signature, malformed, too large),
// ErrStale (known, nonce used, replacement too cheap), ErrNotYet (nonce too far ahead, pool full).
func (p *Mempool) Add(raw []byte) (*Tx, error) {
	tx, err := DecodeTx(p.chainID, raw)
	if err != nil {
		return nil, err
	}
	if tx.Gas() < leastGas || tx.Gas() > p.gasLimit {
		return nil, fmt.Errorf("%w %d: give %d to %d", ErrGasLimit, tx.Gas(), leastGas, p.gasLimit)
	}
	price, _ := uint256.FromBig(tx.inner.GasTipCap())

	p.mu.Lock()
	defer p.mu.Unlock()
	// Read under the lock: a block applied meanwhile prunes after it, so no used nonce can stay behind.
	next := p.nonceOf(tx.sender)
	if _, ok := p.byHash[tx.Hash()]; ok {
		return nil, ErrKnown
	}
	if tx.Nonce() < next {
		return nil, fmt.Errorf("%w: it is %d, the next of %s is %d", ErrNonceTooLow, tx.Nonce(), tx.sender, next)
	}
	if tx.Nonce()-next >= poolPerSender {
		return nil, fmt.Errorf("%w: it is %d, the next of %s is %d and at most %d may wait", ErrNonceGap, tx.Nonce(), tx.sender, next, poolPerSender)
	}
	p.arrivals++
	return tx, p.insert(&pooledTx{Tx: tx, price: price, arrival: p.arrivals, since: p.head})
}

// insert places tx, replacing the sender's transaction of the same nonce or, in a full pool, a cheaper one.
func (p *Mempool) insert(tx *pooledTx) error {
	s := p.senders[tx.sender]
	if s == nil {
		s = new(poolSender)
	}
	at, taken := s.find(tx.Nonce())
	if taken {
		old := s.txs[at]
		if !outbids(tx.Tx, old.Tx) {
			return fmt.Errorf("%w: nonce %d of %s is taken", ErrUnderpriced, tx.Nonce(), tx.sender)
		}
		p.forget(old)
		s.txs[at] = tx
		p.remember(tx)
		return nil
	}
	if len(s.txs) >= poolPerSender {
		return ErrSenderFull
	}
	if err := p.makeRoom(tx); err != nil {
		return err
	}
	// makeRoom may have taken this sender's last transaction, never one before tx.
	at, _ = s.find(tx.Nonce())
	s.txs = slices.Insert(s.txs, at, tx)
	p.senders[tx.sender] = s
	p.remember(tx)
	return nil
}

// outbids says whether a replacement pays 10% more in both prices.
func outbids(tx, old *Tx) bool {
	return raisedTenth(tx.inner.GasTipCap().Bytes(), old.inner.GasTipCap().Bytes()) &&
		raisedTenth(tx.inner.GasFeeCap().Bytes(), old.inner.GasFeeCap().Bytes())
}

func raisedTenth(price, old []byte) bool {
	now, before := new(uint256.Int).SetBytes(price), new(uint256.Int).SetBytes(old)
	step := new(uint256.Int).Div(before, uint256.NewInt(10))
	if step.IsZero() {
		step.SetOne()
	}
	least, overflow := step.AddOverflow(before, step)
	return !overflow && !now.Lt(least)
}

// makeRoom drops the cheapest last transactions until tx fits. Only a higher price takes another's place.
func (p *Mempool) makeRoom(tx *pooledTx) error {
	for len(p.byHash) >= poolMaxTxs || p.bytes+len(tx.raw) > poolMaxBytes {
		victim := p.cheapestLast()
		ownEarlier := victim.sender == tx.sender && victim.Nonce() < tx.Nonce()
		if ownEarlier || !victim.price.Lt(tx.price) {
			return ErrPoolFull
		}
		p.drop(victim)
	}
	return nil
}

// cheapestLast finds the lowest price among the senders' last transactions: dropping one of those strands no other.
func (p *Mempool) cheapestLast() *pooledTx {
	var worst *pooledTx
	for _, s := range p.senders {
		last := s.txs[len(s.txs)-1]
		if worst == nil || before(worst, last) {
			worst = last
		}
	}
	return worst
}

// before orders transactions of different senders: higher price, then earlier arrival.
func before(a, b *pooledTx) bool {
	if c := a.price.Cmp(b.price); c != 0 {
		return c > 0
	}
	return a.arrival < b.arrival
}

func (s *poolSender) find(nonce uint64) (int, bool) {
	return slices.BinarySearchFunc(s.txs, nonce, func(t *pooledTx, n uint64) int {
		switch {
		case t.Nonce() < n:
			return -1
		case t.Nonce() > n:
			return 1
		}
		return 0
	})
}

func (p *Mempool) remember(tx *pooledTx) {
	p.byHash[tx.Hash()] = tx
	p.bytes += len(tx.raw)
}

func (p *Mempool) forget(tx *pooledTx) {
	delete(p.byHash, tx.Hash())
	p.bytes -= len(tx.raw)
}

func (p *Mempool) drop(tx *pooledTx) {
	p.forget(tx)
	s := p.senders[tx.sender]
	if at, ok := s.find(tx.Nonce()); ok {
		s.txs = slices.Delete(s.txs, at, at+1)
	}
	if len(s.txs) == 0 {
		delete(p.senders, tx.sender)
	}
}

// Pending returns transactions a block could include now, in order, with gas limits and sizes that sum to at most the given
// ones. They stay in the pool until a block that holds them, or their nonce, is applied.
func (p *Mempool) Pending(gas uint64, size int) []*Tx {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := make(txHeap, 0, len(p.senders))
	for addr, s := range p.senders {
		if s.txs[0].Nonce() == p.nonceOf(addr) {
			queue = append(queue, s.txs)
		}
	}
	heap.Init(&queue)
	var out []*Tx
	for len(queue) > 0 {
		tx := queue[0][0]
		if tx.Gas() > gas || len(tx.raw) > size {
			heap.Pop(&queue) // the sender's later ones wait with it
			continue
		}
		out = append(out, tx.Tx)
		gas -= tx.Gas()
		size -= len(tx.raw)
		if rest := queue[0][1:]; len(rest) > 0 && rest[0].Nonce() == tx.Nonce()+1 {
			queue[0] = rest
			heap.Fix(&queue, 0)
		} else {
			heap.Pop(&queue)
		}
	}
	return out
}

// txHeap orders senders by their first transaction.
type txHeap [][]*pooledTx

func (h txHeap) Len() int           { return len(h) }
func (h txHeap) Less(i, j int) bool { return before(h[i][0], h[j][0]) }
func (h txHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *txHeap) Push(x any)        { *h = append(*h, x.([]*pooledTx)) }
func (h *txHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// advance drops what block number head made useless: used nonces of its senders, and what has waited too long.
func (p *Mempool) advance(head uint64, senders []Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head = head
	for _, addr := range senders {
		p.dropBelow(addr, p.nonceOf(addr))
	}
	if head%64 == 0 {
		p.dropAged()
	}
}

func (p *Mempool) dropBelow(addr Addr, next uint64) {
	for {
		s := p.senders[addr]
		if s == nil || s.txs[0].Nonce() >= next {
			return
		}
		p.drop(s.txs[0])
	}
}

func (p *Mempool) dropAged() {
	for _, tx := range p.byHash {
		if p.head-tx.since > poolLifetime {
			p.drop(tx)
		}
	}
}

// refresh compares every sender with the chain after its state was replaced by a snapshot.
func (p *Mempool) refresh(head uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head = head
	for addr := range p.senders {
		p.dropBelow(addr, p.nonceOf(addr))
	}
	for _, tx := range p.byHash {
		tx.since = min(tx.since, head)
	}
}

// Get returns a waiting transaction.
func (p *Mempool) Get(hash Hash) (*Tx, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tx, ok := p.byHash[hash]
	if !ok {
		return nil, false
	}
	return tx.Tx, true
}

// NextNonce is the first nonce of the sender that neither the chain nor the pool has used.
func (p *Mempool) NextNonce(sender Addr) uint64 {
	next := p.nonceOf(sender)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.senders[sender]; s != nil {
		for _, tx := range s.txs {
			if tx.Nonce() == next {
				next++
			}
		}
	}
	return next
}

// Len counts the waiting transactions and their bytes.
func (p *Mempool) Len() (txs, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.byHash), p.bytes
}
