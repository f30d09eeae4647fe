// Package node is one validator: it wires the log, the chain, the ceremony, gossip, signing and the HTTP interface
// together. Command beacond runs it.
//
// # The paths
//
//	slot      clock or new head → slots.tick → own partial → gossip
//	partial   gossip → checked from cheap to dear, in parallel → slots.partial → recovery, on a worker → slots.outcome
//	          → key store → stream, HTTP, and the next block if an entry waits for it
//	block     leader, 0.4 s into each second → log → Chain.Apply → slots.tick, stream, log lines
//	vote      applied block → journal, synced → vote → gossip → tally → certificate: the block is final, and slots up to its
//	          timestamp may be signed
//	ceremony  own entry → gossip → every node's pool → the leader proposes it → log → machine
//	tx        HTTP or gossip → mempool → block
//
// One rule holds for all of them: verify in parallel at the edge, decide serially in the core, act at the edge. The serial
// core is type slots, in the one goroutine of type loop; the log's state machine is the other serial place. Errors become
// verdicts, status codes and exit codes in verdict.go and nowhere else.
//
// # What is on disk
//
// See Home. The network key and the share are secrets. The log is what makes a restarted validator the same as before; keys
// and group are public and can be had again from others. A lock keeps two daemons out of one folder, and the folder
// remembers the genesis hash it belongs to.
//
// # Security
//
// A partial leaves only by mayRelease, a vote only after it is in the journal. A share is stored before the node goes on, or the node stops. Peers pay for what is
// provably their fault, never for what only this node cannot judge. The public listener answers anybody within bounds; the
// operator's listener tells more and belongs on loopback.
package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// protocolLog carries the connections of the replicated log.
const protocolLog = "log/1"

// Node is a running validator. Start makes one; Close ends it.
type Node struct {
	home       Home
	cfg        Config
	log        *slog.Logger
	genesis    *chain.Genesis
	hash       [32]byte
	itemNames  map[chain.Hash]string // of the oracle's items, from the genesis
	ns         tlock.Namespace
	self       uint32
	key        ed25519.PrivateKey
	members    map[p2p.PeerID]uint32
	peerIDs    map[uint32]p2p.PeerID
	dkgMembers []dkg.Member

	metrics      *metrics
	events       *broker
	keys         *keyStore
	chain        *chain.Chain
	raft         *chain.Log
	producer     *chain.Producer
	net          p2p.Network
	topics       topics
	ceremony     *ceremony
	ceremonyPool *ceremonyPool
	prepared     *preparedSlots
	group        atomic.Pointer[partials.Group] // nil until the ceremony is done
	finality     *finalized
	voter        *voter
	health       health

	loop       *loop
	slots      *slots     // owned by the loop
	standstill standstill // owned by the loop
	tasks      background
	ready      atomic.Bool // everything is open: tasks may run
	outbox     chan []byte
	fetches    chan []uint64
	fetchTurn  int           // owned by the fetching task
	workers    chan struct{} // a place for each recovery under way
	wants      *wantLimiter

	ctx     context.Context // ends when the node is to stop
	stop    context.CancelCauseFunc
	wg      sync.WaitGroup
	closers []func() error // in the order of opening
	enders  []func() error

	public, operator *httpServer
}

// Start runs the validator of a home folder until Close. It listens before it returns; it reaches others, the log and the
// ceremony's end later.
func Start(home Home, log *slog.Logger) (*Node, error) {
	n := &Node{
		home: home, log: log, metrics: newMetrics(), loop: newLoop(),
		events:  newBroker(uint64(time.Now().Unix()) << 20), // above the ids of any earlier run: a million events a second
		outbox:  make(chan []byte, 1024),
		fetches: make(chan []uint64, 1),
		workers: make(chan struct{}, max(2, runtime.NumCPU())),
		wants:   newWantLimiter(),
	}
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	if err := n.start(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) start() error {
	for _, step := range []func() error{
		n.readHome, n.openStores, n.newBackground, n.openNetwork, n.openLog, n.openListeners, n.startLoop, n.startTasks,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	n.log.Info("validator started", "index", n.self, "validators", len(n.genesis.Validators), "threshold", n.genesis.Ceremony.Threshold,
		"chain_id", n.genesis.ChainID, "public", n.public.url(), "operator", n.operator.url())
	return nil
}

// readHome locks the folder and reads what the operator put into it.
func (n *Node) readHome() (err error) {
	if _, err := os.Stat(n.home.Path(fileConfig)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not a validator's folder (it has no %s): make one with \"beacond init\"", n.home, fileConfig)
	}
	lock, err := durable.TakeLock(n.home.Path(fileLock))
	if errors.Is(err, durable.ErrLocked) {
		return fmt.Errorf("another beacond runs on %s: two daemons with one share would be one too many", n.home)
	}
	if err != nil {
		return err
	}
	n.onEnd(lock.Unlock)
	if n.cfg, err = n.home.LoadConfig(); err != nil {
		return err
	}
	if n.key, err = n.home.NetworkKey(); err != nil {
		return err
	}
	if n.genesis, err = n.home.LoadGenesis(); err != nil {
		return err
	}
	n.hash, n.itemNames = n.genesis.Hash(), itemNames(n.genesis)
	if n.ns, err = tlock.NewNamespace(new(big.Int).SetUint64(n.genesis.ChainID), n.hash); err != nil {
		return err
	}
	if err := n.findMembers(); err != nil {
		return err
	}
	if !n.cfg.OperatorIsPrivate() {
		n.log.Warn("the operator's listener is not on loopback: whoever reaches it sees profiles and metrics", "operator", n.cfg.Operator)
	}
	for _, w := range n.genesis.Warnings() {
		n.log.Warn("genesis: " + w)
	}
	return n.home.bind(n.hash)
}

// findMembers maps the validators' network identities to their indices, and finds the own one.
func (n *Node) findMembers() error {
	n.members, n.peerIDs = make(map[p2p.PeerID]uint32), make(map[uint32]p2p.PeerID)
	names := make(map[p2p.PeerID]string)
	n.dkgMembers = membersOf(n.genesis)
	for _, v := range n.genesis.Validators {
		id, err := p2p.PeerIDOf(v.NetworkKey.Public())
		if err != nil {
			return fmt.Errorf("genesis: network key of validator %d: %w", v.Index, err)
		}
		n.members[id], n.peerIDs[v.Index], names[id] = v.Index, id, v.Name
	}
	n.log = slog.New(peerNames{n.log.Handler(), names})
	own := n.key.Public().(ed25519.PublicKey)
	self, ok := n.genesis.IndexOf(chain.NetworkKey(own))
	if !ok {
		return fmt.Errorf("the network key in %s is none of genesis %s: this is another network's genesis, or this validator is not part of the network",
			n.home.Path(fileNetworkKey), n.home.GenesisPath())
	}
	n.self = self
	return nil
}

// LoadGenesis reads and checks genesis.json.
func (h Home) LoadGenesis() (*chain.Genesis, error) {
	data, err := durable.Read(h.GenesisPath(), maxGenesisFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: make it once for all validators with \"beacond genesis\" and put the same file into every home", h.GenesisPath())
	}
	if err != nil {
		return nil, fmt.Errorf("reading genesis: %w", err)
	}
	g, err := chain.ParseGenesis(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.GenesisPath(), err)
	}
	return g, nil
}

// maxGenesisFile bounds genesis.json, in bytes; ParseGenesis has a bound of its own below it.
const maxGenesisFile = 16 << 20

// bind writes down which genesis the folder's data belong to, or refuses if they belong to another.
func (h Home) bind(genesis [32]byte) error {
	want := fmt.Sprintf("%#x\n", genesis)
	path := h.Path(fileChain)
	have, err := durable.Read(path, maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return durable.WritePublic(path, []byte(want))
	}
	if err != nil {
		return err
	}
	if string(have) != want {
		return h.adviseForeign(fmt.Errorf("the data in %s belong to the network with genesis %s, but %s has hash %s",
			h, strings.TrimSpace(string(have)), fileGenesis, strings.TrimSpace(want)))
	}
	return nil
}

// adviseForeign says what an operator does about a folder whose data belong to another genesis. Without a share the folder
// can be freed of them: most likely it was started once with a genesis that was not the final one.
func (h Home) adviseForeign(err error) error {
	const back = "if the other genesis is the right one, put it back"
	shares, globErr := filepath.Glob(h.Path(dirCeremony, "share-*"))
	if globErr != nil || len(shares) > 0 {
		return cli.Hint(err, back, "if not, use another home: this one holds a share of the other network's key")
	}
	var data []string
	for _, name := range []string{fileChain, dirKeys, dirLog, dirCeremony} {
		if _, err := os.Lstat(h.Path(name)); err == nil {
			data = append(data, name)
		}
	}
	return cli.Hint(err, back, fmt.Sprintf("if not, move %s out of %s, which holds no share of a key, and start again; keep %s and %s",
		strings.Join(data, ", "), h, fileNetworkKey, fileConfig))
}

func (n *Node) openStores() (err error) {
	if n.keys, err = openKeyStore(n.home.Path(dirKeys), n.log); err != nil {
		return err
	}
	n.onEnd(n.keys.close)
	files, err := newCeremonyFiles(n.home, n.ns, n.self)
	if err != nil {
		return err
	}
	n.slots = newSlots(n.ns, n.hasKey, time.Now())
	n.prepared = newPreparedSlots(n.ns)
	n.ceremonyPool = newCeremonyPool(len(n.genesis.Validators))
	n.ceremony = &ceremony{
		genesis: n.genesis, ns: n.ns, self: n.self, signer: n.key, files: files, log: n.log,
		ready: n.groupReady, fatal: func(err error) { n.stop(err) },
	}
	if err := n.ceremony.open(); err != nil {
		return err
	}
	n.tellHasShare(n.ceremony.share)
	n.slots.restarted = n.ceremony.kept != nil
	if n.chain, err = chain.New(chain.Config{Genesis: n.genesis, App: n.ceremony, Run: spread}); err != nil {
		return err
	}
	n.finality = newFinalized(n.genesis)
	return n.openVoter()
}

func (n *Node) openListeners() (err error) {
	if n.public, err = serveHTTP(n.cfg.Public, "public", n.publicHandler(), writeTimeout, n.log); err != nil {
		return err
	}
	n.onClose(n.public.close)
	if n.operator, err = serveHTTP(n.cfg.Operator, "operator", n.operatorHandler(), profileTimeout, n.log); err != nil {
		return err
	}
	n.onClose(n.operator.close)
	return nil
}

func (n *Node) openNetwork() (err error) {
	var peers []p2p.Peer
	for _, v := range n.genesis.Validators {
		peers = append(peers, p2p.Peer{ID: n.peerIDs[v.Index], Addrs: v.Addrs})
	}
	n.net, err = p2p.New(p2p.Config{
		Key: n.key, Listen: n.cfg.Listen, Peers: peers, GenesisHash: n.hash,
		Logger: n.log, Registerer: n.metrics.registry,
	})
	if err != nil {
		return err
	}
	n.onClose(n.net.Close)
	if err := n.joinTopics(); err != nil {
		return err
	}
	return errors.Join(n.serveKeys(), n.serveVotes())
}

func (n *Node) openLog() error {
	listener, err := p2p.Listen(n.net, protocolLog, p2p.StreamLimits{})
	if err != nil {
		return err
	}
	events := n.chain.Subscribe(keptChainEvents) // before the log is opened, so that its replay is seen too
	n.wg.Go(func() { n.follow(n.ctx, events) })
	n.raft, err = chain.OpenLog(chain.LogConfig{
		Dir: n.home.Path(dirLog), Genesis: n.genesis, Self: n.self, Listener: listener, Dial: n.dialLog, Machine: n.chain, Logger: n.log,
	})
	if err != nil {
		err = errors.Join(err, ignoreClosed(listener.Close()))
		if errors.Is(err, chain.ErrDamaged) {
			err = n.home.adviseDamaged(err)
		}
		return err
	}
	n.onClose(n.raft.Close)
	n.producer = &chain.Producer{Chain: n.chain, Log: n.raft, Self: n.self, Signer: n.key, Keys: n.knownKeys}
	return nil
}

func (n *Node) startLoop() error {
	n.wg.Go(func() { n.loop.run(n.ctx) })
	return nil
}

// URL is the base URL of the public listener, and OperatorURL of the operator's.
func (n *Node) URL() string         { return n.public.url() }
func (n *Node) OperatorURL() string { return n.operator.url() }

// Wait returns when ctx is done, or with the error that made it unsafe to go on.
func (n *Node) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-n.ctx.Done():
		return context.Cause(n.ctx)
	}
}

// Close stops the node. When it returns nothing of it runs any more, and its files are closed.
func (n *Node) Close() error {
	n.stop(errStopped)
	n.events.close()
	errs := append([]error{n.stopTasks()}, closeAll(n.closers)...)
	n.wg.Wait()
	errs = append(errs, closeAll(n.enders)...)
	n.closers, n.enders = nil, nil
	return errors.Join(errs...)
}

// closeAll closes from the back, so that what was opened later goes first.
func closeAll(closers []func() error) (errs []error) {
	for _, c := range slices.Backward(closers) {
		errs = append(errs, c())
	}
	return errs
}

var errStopped = errors.New("stopped")

// onClose registers what takes requests from outside: it is closed first. onEnd registers what the node's own goroutines
// use: it is closed after they have ended.
func (n *Node) onClose(f func() error) { n.closers = append(n.closers, f) }
func (n *Node) onEnd(f func() error)   { n.enders = append(n.enders, f) }

func (n *Node) hasKey(slot uint64) bool {
	_, ok, err := n.keys.get(slot)
	if err != nil {
		n.log.Error("key store", "err", err)
	}
	return ok
}
