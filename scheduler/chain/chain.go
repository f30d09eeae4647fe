// Package chain orders the scheduler's blocks: genesis, blocks, waiting transactions, the rules that make a block valid, and the
// replicated log that fixes their order on every validator.
//
// A Log (hashicorp/raft) carries two kinds of entries, told apart by their first byte: a block that the log's leader built and
// signed, and a ceremony message, opaque here. Every validator hands committed entries, in log order, to its Chain.
//
// # A block's way
//
//  1. Once a second the leader's Producer builds a block: the keys that entries wait for, the transactions derived from the state
//     (type 0x7e, one for each due entry), users' transactions. It runs the block on a fork of the head's state, fills in the
//     roots and signs with the validator's network key.
//  2. Log.Propose replicates it. It is committed when a majority has stored it.
//  3. Every validator runs Chain.Apply: height, parent, timestamp above the parent's, proposer's signature, beacon update,
//     leading transactions exactly as derived, users' transactions, roots. A block that breaks a rule is skipped, by all alike:
//     the rules depend on the chain, never on a clock. A height is applied once.
//
// # A ceremony's way
//
// Ceremony messages are entries, so all validators see one transcript. The App handles them in log order; the entry that ends a
// ceremony fixes the height from which its group key is active: three above the head at that entry. Messages that counted are
// part of snapshots, so that a validator that was away can replay them.
//
// # Restart
//
// State lives in memory. A start loads the newest snapshot and replays the entries behind it; events of entries that were on disk
// carry Replay. The log's folder is written so that it survives a kill at any moment.
//
// # Security
//
// Every rule of Apply holds against a lying proposer: it can leave out keys and users' transactions, and order the latter, and
// nothing else. The log tolerates crashes of a minority and trusts its members to follow raft: a lying one can stall it or, as
// leader, commit different entries on different members. Then at most one of the blocks at a height becomes final (package
// finality), and whoever applied the other stops. User transactions pay no fees on this host; their senders must own
// what they could cost, so that a flood takes as many gas tokens as it names, and Mempool bounds it.
//
// # Limits
//
// A block has at most 4 MiB; the last 4,096 blocks are kept for reads, since the last snapshot that was loaded. Snapshots are made
// in memory and have at most 1 GiB: some 1.4 million queued entries, or 12 million finished ones.
//
// Why not one log entry per transaction: a block is what the scheduler's rules speak of, and what validators will vote on.
package chain

import (
	"fmt"
	"math/big"
	"sync"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Head is where a chain stands.
type Head struct {
	Number    uint64 // 0: no block yet
	Time      uint64 // of the last block; of the genesis before the first
	Hash      Hash   // of the last block; the genesis hash before the first
	StateRoot Hash
}

// Config configures New. It must not be modified afterwards.
type Config struct {
	Genesis *Genesis         // as ParseGenesis returns it
	App     App              // handles the ceremony's entries; nil: they are kept and nothing becomes active
	Run     scheduler.Runner // spreads pairings over cores; nil: one after another
}

// Chain is one validator's copy of the chain: the state after the last applied block, the recent blocks, and the
// transactions that wait. It is the StateMachine of a Log. Apply and Restore come from one goroutine; everything else is safe
// for concurrent use.
type Chain struct {
	genesis     *Genesis
	genesisHash [32]byte
	namespace   tlock.Namespace
	app         App
	run         scheduler.Runner
	pool        *Mempool
	feed        feed

	mu       sync.RWMutex // guards what follows
	host     *memory.Host // at the head; never changed, only replaced: blocks run on forks
	head     Head
	last     *Block // nil before the first block
	blocks   *store
	ceremony ceremonyLog
}

// genesisState is the state before the first block.
func (c *Chain) genesisState() (*memory.Host, error) {
	host, err := memory.New(c.hostConfig())
	if err != nil {
		return nil, err
	}
	if err := c.genesis.setUpAssets(host); err != nil {
		return nil, err
	}
	return host.Fork(), nil
}

func (c *Chain) hostConfig() memory.Config {
	return memory.Config{
		ChainID: c.genesis.ChainID, GenesisHash: c.genesisHash, Policy: c.genesis.Policy.scheduler(), Time: c.genesis.Time,
	}
}

// New starts a chain from its genesis.
func New(cfg Config) (*Chain, error) {
	if err := cfg.Genesis.Validate(); err != nil {
		return nil, err
	}
	hash := cfg.Genesis.Hash()
	namespace, err := tlock.NewNamespace(new(big.Int).SetUint64(cfg.Genesis.ChainID), hash)
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	c := &Chain{
		genesis: cfg.Genesis, genesisHash: hash, namespace: namespace, app: cfg.App, run: cfg.Run,
		blocks: newStore(keptBlocks, keptBytes), ceremony: newCeremonyLog(),
	}
	if c.app == nil {
		c.app = noApp{}
	}
	c.pool = newMempool(cfg.Genesis.ChainID, cfg.Genesis.BlockGasLimit, c.account)
	if c.host, err = c.genesisState(); err != nil {
		return nil, fmt.Errorf("chain: genesis state: %w", err)
	}
	c.head = Head{Time: cfg.Genesis.Time, Hash: hash, StateRoot: c.host.StateHash()}
	return c, nil
}

// Genesis is what the chain started from. It must not be modified.
func (c *Chain) Genesis() *Genesis { return c.genesis }

// GenesisHash identifies the chain.
func (c *Chain) GenesisHash() [32]byte { return c.genesisHash }

// Namespace is what identities of this chain are hashed with.
func (c *Chain) Namespace() tlock.Namespace { return c.namespace }

// Mempool holds the transactions that wait for a block.
func (c *Chain) Mempool() *Mempool { return c.pool }

// Head says where the chain stands.
func (c *Chain) Head() Head {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.head
}

// Subscribe returns a queue of the events from now on that holds at most limit of them. The caller closes it.
func (c *Chain) Subscribe(limit int) *Subscription { return c.feed.subscribe(limit) }

// Apply handles a committed log entry; it implements StateMachine. An error names the rule an entry breaks; it changed
// nothing, on every validator alike.
func (c *Chain) Apply(index uint64, entry []byte, replay bool) error {
	event := Event{Index: index, Replay: replay}
	block, ceremony, err := decodeEntry(entry)
	switch {
	case err != nil:
	case block != nil:
		event.Block, err = c.applyBlock(block)
	default:
		event.Activation, err = c.applyCeremony(index, ceremony, replay)
	}
	event.Skipped = err
	c.feed.publish(event)
	return err
}
