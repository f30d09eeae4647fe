// Package memory is a host for package scheduler that keeps everything in memory: contract storage, tokens, accounts to call.
// Daybreak's chain runs on it, tests and simulations do, and a chain that embeds the scheduler can read here what a host has to do.
//
// # State
//
// Words and blobs of all contracts lie in one persistent trie: nodes are never changed, so that a fork costs nothing and old states stay
// readable. What a block reads and writes is kept in an overlay on it with a journal, so that reverting undoes storage, transient words
// and logs at once; StateHash and Fork bring the trie up to date, each node on the way made and hashed once. The trie's digest is
// StateHash (described at tree); it depends on the content alone. Export writes the leaves in the trie's order, and Import accepts
// nothing else.
//
// # Accounts
//
//	0x…fe  the scheduler, 0x…ff the beacon: their methods by ABI selector
//	the policy's gasToken and the MIP20 tokens: approve, transfer, balanceOf, allowance, balanceOnHold, with Transfer and Approval logs
//	0x…fd  the oracle catalog: listings, writes and flags, by its writers' transactions (see catalogcall.go)
//	0x…fc  ReceivePolicy: quarantine for credits that their receiver refuses (see ReceiveMode)
//	0x…fb  the words that mark MIP20 tokens
//	Config.Targets: accounts with code in Go
//	any other: Echo, which takes every call and logs caller and input
//
// # A block
//
// BeginBlock, ExecuteRun for each run, Transact for each user transaction, EndBlock. Failed calls leave no effect. Gas is a flat
// tariff (see call.go).
//
// # Limits
//
// All state is on the heap. A queued entry of one call at a slot of its own takes about 1,600 bytes of it and 730 of an export, a
// finished one 500 and 90, which stay: a million queued entries are 1.6 GB, and twice that until Go's collector has run. A block's cost
// hardly depends on them: with a million queued it is below one and a half times that with a thousand (BenchmarkQueued).
//
// The host checks no signatures, nonces or balances for gas: that is the chain's business. Targets in Go must be deterministic and
// must keep no state outside Frame.State, or replicas part.
package memory

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math/big"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Config is what a Host is made of. It must not be modified afterwards.
type Config struct {
	ChainID     uint64
	GenesisHash [32]byte
	Policy      scheduler.Policy
	Height      uint64 // of the block that installs the scheduler
	Time        uint64

	// Targets are accounts with code, by address; every other account is Default, which is Echo if nil. Targets of 0xFE and the
	// tokens are ignored: those are contracts already. One of 0xFF stands in for the beacon contract's reads, one of 0x…fd for the
	// oracle catalog's contract.
	Targets map[scheduler.Addr]Target
	Default Target

	Limits    scheduler.Limits // of the machine; a zero field is the protocol's
	Unmetered bool             // calls and transactions cost no gas, and need none
}

// Host is one chain's state with the scheduler and the beacon installed on it. It is not safe for concurrent use; Fork gives another
// goroutine its own.
type Host struct {
	config    *Config
	machine   *scheduler.Machine
	namespace tlock.Namespace

	words *overlay // words and blobs of all contracts
	temps *overlay // transient words of this transaction
	logs  []Log
	undo  []snapshot

	plan  *scheduler.Plan // of the block under way
	depth int             // of nested calls
}

// Log is one emitted event.
type Log struct {
	Address scheduler.Addr
	Topics  []scheduler.Word
	Data    []byte
}

// snapshot is a point to go back to. The tree may be made anew in between: then words is the overlay of then, which is left as it was.
type snapshot struct {
	words  *overlay
	writes int // to words
	temps  int // writes to the transient words
	logs   int
}

// New installs the scheduler on an empty state. Errors: a policy that Policy.Validate refuses, a height or time out of range.
func New(c Config) (*Host, error) {
	h, err := bare(c)
	if err != nil {
		return nil, err
	}
	if err := h.machine.Install(h.Space(scheduler.Address), c.Height, c.Time); err != nil {
		return nil, err
	}
	h.setEnv(scheduler.Env{Height: c.Height, Time: c.Time})
	return h, nil
}

func bare(c Config) (*Host, error) {
	machine, err := scheduler.New(c.ChainID, c.Policy)
	if err != nil {
		return nil, err
	}
	if machine, err = machine.WithLimits(limits(c.Limits)); err != nil {
		return nil, err
	}
	namespace, err := tlock.NewNamespace(new(big.Int).SetUint64(c.ChainID), c.GenesisHash)
	if err != nil {
		return nil, err
	}
	if c.Default == nil {
		c.Default = Echo
	}
	return &Host{config: &c, machine: machine, namespace: namespace, words: new(overlay), temps: new(overlay)}, nil
}

// limits are l with the protocol's in place of zero fields.
func limits(l scheduler.Limits) scheduler.Limits {
	d := scheduler.DefaultLimits()
	return scheduler.Limits{
		Scan: cmp.Or(l.Scan, d.Scan), Reads: cmp.Or(l.Reads, d.Reads),
		Watchers: cmp.Or(l.Watchers, d.Watchers), WatchersPerItem: cmp.Or(l.WatchersPerItem, d.WatchersPerItem),
	}
}

// Fork is an independent copy of the host between two transactions; it costs a hash of what changed since the last one. The two
// share what neither has changed, and may be used at once.
func (h *Host) Fork() *Host {
	base := h.rest()
	f := *h
	f.words, f.temps, f.logs, f.undo = &overlay{base: base}, new(overlay), nil, nil
	return &f
}

// StateHash commits to every word and blob of every contract: the digest of the trie described at tree. It depends on the content
// alone, not on the order in which it came about, and costs a hash of what changed since the last call. Until the next write the host
// may then be read, forked and viewed from several goroutines.
func (h *Host) StateHash() [32]byte { return h.rest().digest }

// rest brings the tree up to date and returns it.
func (h *Host) rest() tree {
	if h.words.groups != nil {
		h.words = &overlay{base: h.words.tree()}
	}
	return h.words.base
}

// Machine is the scheduler machine of this host.
func (h *Host) Machine() *scheduler.Machine { return h.machine }

// Namespace is the chain's namespace for identities.
func (h *Host) Namespace() tlock.Namespace { return h.namespace }

// Space is the storage of one contract or account. A chain may keep its own words, such as nonces, under an address of its choice:
// they are part of StateHash, of snapshots and of Export.
func (h *Host) Space(addr scheduler.Addr) scheduler.State { return space{h, addr} }

// Words lists the keys of a contract's words, in no order that means anything but always the same one for the same state.
func (h *Host) Words(addr scheduler.Addr) iter.Seq[scheduler.Word] {
	return func(yield func(scheduler.Word) bool) {
		more := true
		root := h.rest()
		root.walk(func(l *leaf) {
			if l.key.kind == kindWord && l.key.addr == addr {
				more = more && yield(l.key.slot)
			}
		})
	}
}

// Beacon reads the beacon contract.
func (h *Host) Beacon() scheduler.BeaconReader {
	return scheduler.BeaconReader{Reader: h.Space(scheduler.BeaconAddress)}
}

func (h *Host) host() *scheduler.Host {
	return &scheduler.Host{State: h.Space(scheduler.Address), Executor: executor{h}, Token: tokens{h}, Oracle: catalog{h}, Beacon: h.Beacon()}
}

// Snapshot and Revert span all contracts, the transient words and the logs.
func (h *Host) Snapshot() int {
	h.undo = append(h.undo, snapshot{h.words, len(h.words.undo), len(h.temps.undo), len(h.logs)})
	return len(h.undo) - 1
}

// Revert goes back to a Snapshot of the same transaction.
func (h *Host) Revert(to int) {
	s := h.undo[to]
	h.words = s.words
	h.words.revert(s.writes)
	h.temps.revert(s.temps)
	h.logs = h.logs[:s.logs]
	h.undo = h.undo[:to]
}

// space is the storage of one contract.
type space struct {
	h    *Host
	addr scheduler.Addr
}

func (s space) Get(k scheduler.Word) scheduler.Word { return s.get(s.h.words, k) }

func (s space) Set(k, v scheduler.Word) { s.set(s.h.words, k, v) }

func (s space) Temp(k scheduler.Word) scheduler.Word { return s.get(s.h.temps, k) }

func (s space) SetTemp(k, v scheduler.Word) { s.set(s.h.temps, k, v) }

func (s space) get(o *overlay, slot scheduler.Word) scheduler.Word {
	if l := o.get(&key{kindWord, s.addr, slot}); l != nil {
		return l.word
	}
	return scheduler.Word{}
}

func (s space) set(o *overlay, slot, v scheduler.Word) {
	at := key{kindWord, s.addr, slot}
	if v == (scheduler.Word{}) {
		o.set(&at, nil)
		return
	}
	o.set(&at, &leaf{key: at, word: v})
}

func (s space) Blob(k scheduler.Word) []byte {
	if l := s.h.words.get(&key{kindBlob, s.addr, k}); l != nil {
		return l.blob
	}
	return nil
}

func (s space) SetBlob(k scheduler.Word, b []byte) {
	at := key{kindBlob, s.addr, k}
	if len(b) == 0 {
		s.h.words.set(&at, nil)
		return
	}
	s.h.words.set(&at, &leaf{key: at, blob: bytes.Clone(b)})
}

func (s space) Emit(topics []scheduler.Word, data []byte) {
	s.h.logs = append(s.h.logs, Log{s.addr, append([]scheduler.Word(nil), topics...), bytes.Clone(data)})
}

func (s space) Snapshot() int { return s.h.Snapshot() }
func (s space) Revert(to int) { s.h.Revert(to) }

// The host's own words: the block that the state is at.
var (
	hostSpace    = scheduler.Addr{}
	wordBlock    = scheduler.Word{31: 0} // height in bytes 16..23, time in bytes 24..31
	wordProposer = scheduler.Word{31: 1}
)

func (h *Host) setEnv(env scheduler.Env) {
	var block scheduler.Word
	binary.BigEndian.PutUint64(block[16:], env.Height)
	binary.BigEndian.PutUint64(block[24:], env.Time)
	own := h.Space(hostSpace)
	own.Set(wordBlock, block)
	own.Set(wordProposer, addrKey(0, env.Proposer))
}

// Env is the block that the state is at, with no caller.
func (h *Host) Env() scheduler.Env {
	own := h.Space(hostSpace)
	block, proposer := own.Get(wordBlock), own.Get(wordProposer)
	return scheduler.Env{
		Height:   binary.BigEndian.Uint64(block[16:]),
		Time:     binary.BigEndian.Uint64(block[24:]),
		Proposer: scheduler.Addr(proposer[12:]),
	}
}
