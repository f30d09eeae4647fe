package proctest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// audit reads every block and key that any validator serves, compares them, and keeps what breaks a promise.
type audit struct {
	ns    tlock.Namespace
	group tlock.GroupKey
	done  context.Context

	mu       sync.Mutex // guards what follows
	blocks   map[uint64]api.Block
	keys     map[uint64]string        // of slots, by any way they were seen
	receipts map[string]api.Receipt   // of users' transactions, by hash
	runs     map[uint64][]api.Receipt // of entries, by id
	firstKey uint64                   // oldest slot in keys
	faults   []string
	readers  [validators]reader
}

// reader is how far the audit has read one validator's blocks.
type reader struct {
	life uint64
	next uint64
}

// startAudit follows all members until the test ends. The network is ready.
func startAudit(c *cluster) *audit {
	c.Helper()
	a := &audit{
		done: c.ctx, blocks: make(map[uint64]api.Block), keys: make(map[uint64]string),
		receipts: make(map[string]api.Receipt), runs: make(map[uint64][]api.Receipt),
	}
	info, err := c.alive()[0].client.Info(c.ctx)
	if err != nil {
		c.Fatal(err)
	}
	hash, err1 := unhex(info.GenesisHash, 32)
	key, err2 := unhex(info.GroupKey, tlock.GroupKeySize)
	if err := errors.Join(err1, err2); err != nil {
		c.Fatal(err)
	}
	if a.ns, err = tlock.NewNamespace(new(big.Int).SetUint64(info.ChainID), [32]byte(hash)); err != nil {
		c.Fatal(err)
	}
	if a.group, err = tlock.ParseGroupKey(key); err != nil {
		c.Fatal(err)
	}
	for i, m := range c.members {
		a.readers[i].next = 1
		c.bg.Go(func() { a.readBlocks(i, m) })
		c.bg.Go(func() { a.watchKeys(m) })
	}
	return a
}

// fault keeps a broken promise. The caller holds mu.
func (a *audit) fault(format string, args ...any) {
	if len(a.faults) < 20 {
		a.faults = append(a.faults, fmt.Sprintf(format, args...))
	}
}

func (a *audit) pause() bool {
	select {
	case <-time.After(pollEvery):
		return true
	case <-a.done.Done():
		return false
	}
}

// readBlocks reads a member's blocks in order, and all of them again after each start: a replay must lead to the same.
func (a *audit) readBlocks(i int, m *member) {
	for {
		life := m.life.Load()
		a.mu.Lock()
		r := &a.readers[i]
		if r.life != life {
			r.life, r.next = life, max(1, r.next)-min(max(1, r.next)-1, 100)
		}
		number := r.next
		a.mu.Unlock()
		if m.alive() {
			b, err := m.client.Block(a.done, number)
			if err == nil {
				a.block(i, m.Name, life, b)
				continue
			}
			if e, ok := errors.AsType[*api.Error](err); ok && e.RetryAfter == 0 {
				a.skip(i, life) // older than what the member keeps since it loaded a snapshot
				continue
			}
		}
		if !a.pause() {
			return
		}
	}
}

func (a *audit) skip(i int, life uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.readers[i].life == life {
		a.readers[i].next++
	}
}

func (a *audit) block(i int, name string, life uint64, b api.Block) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.readers[i].life != life {
		return
	}
	a.readers[i].next = b.Number + 1
	if known, ok := a.blocks[b.Number]; ok {
		if known.Hash != b.Hash || known.StateRoot != b.StateRoot {
			a.fault("block %d of %s has hash %s and state %s; another validator has %s and %s", b.Number, name, b.Hash, b.StateRoot, known.Hash, known.StateRoot)
		}
		return
	}
	a.blocks[b.Number] = b
	if parent, ok := a.blocks[b.Number-1]; ok && (parent.Hash != b.Parent || parent.Timestamp >= b.Timestamp) {
		a.fault("block %d of second %d does not follow block %d of second %d", b.Number, b.Timestamp, parent.Number, parent.Timestamp)
	}
	if now.Unix() < int64(b.Timestamp) {
		a.fault("block %d has timestamp %d before that second has begun", b.Number, b.Timestamp)
	}
	for _, k := range b.Keys {
		if k.Slot >= b.Timestamp {
			a.fault("block %d of second %d carries the key of slot %d", b.Number, b.Timestamp, k.Slot)
		}
		a.key(fmt.Sprintf("block %d of %s", b.Number, name), k, now)
	}
	for _, r := range b.Receipts {
		if r.Type == "0x7e" {
			a.runs[r.Entry] = append(a.runs[r.Entry], r)
			continue
		}
		if _, twice := a.receipts[r.Hash]; twice {
			a.fault("transaction %s is in two blocks", r.Hash)
		}
		a.receipts[r.Hash] = r
	}
}

// key takes in a key that was seen at a time. The caller holds mu.
func (a *audit) key(where string, k api.Key, seen time.Time) {
	if early := tlock.SlotEnd(k.Slot).Sub(seen); early > 0 {
		a.fault("%s gave away the key of slot %d %s before the slot was over", where, k.Slot, early)
	}
	if known, ok := a.keys[k.Slot]; ok {
		if known != k.Key {
			a.fault("%s has key %s of slot %d, others have %s", where, k.Key, k.Slot, known)
		}
		return
	}
	a.keys[k.Slot] = k.Key
	if a.firstKey == 0 || k.Slot < a.firstKey {
		a.firstKey = k.Slot
	}
	raw, err := unhex(k.Key, tlock.KeySize)
	if err != nil {
		a.fault("%s: %v", where, err)
		return
	}
	key, err := tlock.ParseKey(raw)
	if err == nil {
		err = a.group.Verify(a.ns, tlock.SlotIdentity(k.Slot), key)
	}
	if err != nil {
		a.fault("%s: key of slot %d: %v", where, k.Slot, err)
	}
}

// watchKeys looks at the newest key of a member, and asks it for keys of slots that are not over.
func (a *audit) watchKeys(m *member) {
	for ahead := uint64(0); ; ahead = (ahead + 1) % 4 {
		if m.alive() {
			latest, err := m.client.LatestKey(a.done)
			a.sawKey(m.Name, latest, err)
			early, err := m.client.Key(a.done, uint64(time.Now().Unix())+ahead)
			a.sawKey(m.Name, early, err)
		}
		if !a.pause() {
			return
		}
	}
}

func (a *audit) sawKey(name string, k api.Key, err error) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.key(name, k, now)
	} else if e, ok := errors.AsType[*api.Error](err); ok && e.RetryAfter == 0 {
		a.fault("%s was asked for a key and answered %d: %v", name, e.Status, err)
	}
}

// receipt is that of a user's transaction, once it is in a block.
func (a *audit) receipt(hash string) (api.Receipt, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.receipts[hash]
	return r, ok
}

// ran tells whether an entry has run.
func (a *audit) ran(id uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.runs[id]) > 0
}

// newest is the highest block that was seen anywhere, and newestKey the newest slot with a key.
func (a *audit) newest() (height, timestamp, newestKey uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for number, b := range a.blocks {
		if number > height {
			height, timestamp = number, b.Timestamp
		}
	}
	for slot := range a.keys {
		newestKey = max(newestKey, slot)
	}
	return height, timestamp, newestKey
}

// graceBlocks counts the blocks that could have carried the key of a slot in time.
func (a *audit) graceBlocks(slot uint64) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.blocks {
		if b.Timestamp > slot && b.Timestamp <= slot+1+scheduler.GraceSlots {
			n++
		}
	}
	return n
}

// readTo tells whether the member's blocks up to number were read in its present life, and agreed with the others'.
func (a *audit) readTo(i int, m *member, number uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.readers[i]; r.life != m.life.Load() || r.next <= number {
		return fmt.Errorf("%s has shown its blocks up to %d, want %d", m.Name, r.next-1, number)
	}
	return nil
}

// check fails the test if a promise was broken so far.
func (a *audit) check(c *cluster) {
	c.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.faults) > 0 {
		c.Fatalf("the audit found:\n    %s", strings.Join(a.faults, "\n    "))
	}
}

func unhex(s string, n int) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(b) != n {
		return nil, fmt.Errorf("%.40q is not %d bytes of hex", s, n)
	}
	return b, nil
}
