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
// only nonces a block could still use soon; when it is full, what waits behind a missing nonce gives way first, whatever its
// price, and then the lowest price. What a sender does wrong costs only that sender. All methods are safe for concurrent use.
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
	account  func(Addr) accountState // at the head; may take the chain's lock, never the pool's
}

// accountState is what the pool must know of an account.
type accountState struct {
	nonce uint64
	funds uint256.Int // see fundsOf
}

// poolSender is one account's waiting transactions, ascending by nonce.
type poolSender struct {
	txs  []*pooledTx
	next uint64 // the account's nonce at the head; none of txs is below it
}

// ready says whether no nonce is missing before the transaction at position at: blocks can include it as things stand.
func (s *poolSender) ready(at int) bool { return s.txs[at].Nonce()-s.next == uint64(at) }

// costWithout is what the waiting transactions could cost, without the one of nonce.
func (s *poolSender) costWithout(nonce uint64) (sum uint256.Int) {
	for _, tx := range s.txs {
		if tx.Nonce() != nonce {
			sum = addUp(sum, tx.cost)
		}
	}
	return sum
}

type pooledTx struct {
	*Tx
	price   *uint256.Int // what orders it: the tip it offers per gas
	arrival uint64
	since   uint64 // number of the head when it came
}

func newMempool(chainID, gasLimit uint64, account func(Addr) accountState) *Mempool {
	return &Mempool{
		chainID: chainID, gasLimit: gasLimit, account: account,
		byHash: make(map[Hash]*pooledTx), senders: make(map[Addr]*poolSender),
	}
}

// Add takes a raw Ethereum transaction. Errors have a class: ErrInvalid (wrong chain or signature, malformed, too large),
// ErrStale (known, nonce used, replacement too cheap), ErrNotYet (nonce too far ahead, sender
// owns too little, pool full).
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
	sender := p.account(tx.sender)
	next := sender.nonce
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
	if err := p.insert(&pooledTx{Tx: tx, price: price, arrival: p.arrivals, since: p.head}, sender); err != nil {
		return nil, err
	}
	return tx, nil
}

// insert places tx, replacing the sender's transaction of the same nonce or, in a full pool, one of less use.
func (p *Mempool) insert(tx *pooledTx, sender accountState) error {
	s := p.senders[tx.sender]
	if s == nil {
		s = new(poolSender)
	}
	s.next = sender.nonce
	at, taken := s.find(tx.Nonce())
	if err := checkFunds(tx.Tx, sender.funds, s.costWithout(tx.Nonce())); err != nil {
		return err
	}
	if taken {
		return p.replace(s, at, tx)
	}
	if len(s.txs) >= poolPerSender {
		return ErrSenderFull
	}
	if err := p.makeRoom(tx, tx.Nonce()-s.next == uint64(at)); err != nil {
		return err
	}
	// makeRoom may have taken this sender's last transaction, never one before tx.
	at, _ = s.find(tx.Nonce())
	s.txs = slices.Insert(s.txs, at, tx)
	p.senders[tx.sender] = s
	p.remember(tx)
	return nil
}

func (p *Mempool) replace(s *poolSender, at int, tx *pooledTx) error {
	old := s.txs[at]
	if !outbids(tx.Tx, old.Tx) {
		return fmt.Errorf("%w: nonce %d of %s is taken", ErrUnderpriced, tx.Nonce(), tx.sender)
	}
	if p.bytes-len(old.raw)+len(tx.raw) > poolMaxBytes {
		return ErrPoolFull
	}
	p.forget(old)
	s.txs[at] = tx
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

// makeRoom drops the least useful last transactions until tx fits. ready says that no nonce is missing before tx. What blocks
// can include takes the place of what they cannot, which may wait for ever and so costs its sender nothing at any price; among
// equals, only a higher price takes another's place.
func (p *Mempool) makeRoom(tx *pooledTx, ready bool) error {
	for len(p.byHash) >= poolMaxTxs || p.bytes+len(tx.raw) > poolMaxBytes {
		victim, victimReady := p.leastUseful()
		ownEarlier := victim.sender == tx.sender && victim.Nonce() < tx.Nonce()
		if ownEarlier || victimReady && !ready || victimReady == ready && !victim.price.Lt(tx.price) {
			return ErrPoolFull
		}
		p.drop(victim)
	}
	return nil
}

// leastUseful finds, among the senders' last transactions, the lowest price of those behind a missing nonce, or else the lowest
// price: dropping one of the last strands no other.
func (p *Mempool) leastUseful() (worst *pooledTx, worstReady bool) {
	for _, s := range p.senders {
		at := len(s.txs) - 1
		last, ready := s.txs[at], s.ready(at)
		if worst == nil || !ready && worstReady || ready == worstReady && before(worst, last) {
			worst, worstReady = last, ready
		}
	}
	return worst, worstReady
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
		if s.txs[0].Nonce() == p.account(addr).nonce {
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

// advance drops what block number head made useless: used nonces of its senders, what these can no longer pay, and what has waited
// too long.
func (p *Mempool) advance(head uint64, senders []Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head = head
	for _, addr := range senders {
		p.settle(addr, p.account(addr))
	}
	if head%64 == 0 {
		p.dropAged()
	}
}

// settle drops the sender's used nonces, and from the first transaction on that it can no longer pay.
func (p *Mempool) settle(addr Addr, now accountState) {
	s := p.senders[addr]
	if s == nil {
		return
	}
	s.next = now.nonce
	for len(s.txs) > 0 && s.txs[0].Nonce() < s.next {
		p.drop(s.txs[0])
	}
	var sum uint256.Int
	for i, tx := range s.txs {
		if sum = addUp(sum, tx.cost); sum.Gt(&now.funds) {
			for len(s.txs) > i {
				p.drop(s.txs[len(s.txs)-1])
			}
			return
		}
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
		p.settle(addr, p.account(addr))
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
	next := p.account(sender).nonce
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
