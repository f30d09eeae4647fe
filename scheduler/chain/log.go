package chain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// Timing of the log, for validators that reach one another within some tens of milliseconds. A follower that hears nothing
// calls an election after 1 to 2 s, so that a dead leader is replaced within about two seconds.
const (
	heartbeatTimeout = time.Second
	electionTimeout  = time.Second
	leaseTimeout     = 700 * time.Millisecond
	commitTimeout    = 20 * time.Millisecond // how late followers may learn that an entry is committed
	rpcTimeout       = 2 * time.Second
	snapshotCheck    = 5 * time.Second // how often it is asked whether a snapshot is due
	enqueueTimeout   = time.Second
)

// Defaults of LogConfig.
const (
	DefaultSnapshotEvery = 512
	DefaultTrailingLogs  = 1024
)

const (
	retainedSnapshots = 2
	walSegmentSize    = 8 << 20 // preallocated on disk for each segment
	pooledConns       = 2
	entriesPerRPC     = 16 // of up to MaxBlockSize each
)

// StateMachine is what the log drives on every validator, in log order and never concurrently with itself.
type StateMachine interface {
	// Apply handles the committed entry at index. An error says why the entry changed nothing; every validator gets the
	// same. replay says that the entry was in this validator's log when it started, so that it may have been handled
	// before.
	Apply(index uint64, entry []byte, replay bool) error
	// Snapshot returns the whole state.
	Snapshot() ([]byte, error)
	// Restore replaces the whole state.
	Restore(snapshot []byte) error
}

// LogConfig configures OpenLog. It must not be modified afterwards.
type LogConfig struct {
	Dir      string       // holds the log and its snapshots; created if missing
	Genesis  *Genesis     // names the members; the folder belongs to its hash
	Self     uint32       // this validator's index
	Listener net.Listener // connections from other members' logs; the log closes it
	// Dial connects to the log of the member with the index.
	Dial    func(ctx context.Context, member uint32) (net.Conn, error)
	Machine StateMachine
	Logger  *slog.Logger // default: discard

	SnapshotEvery uint64 // entries between snapshots; 0 means DefaultSnapshotEvery
	TrailingLogs  uint64 // entries kept behind a snapshot for members that lag; 0 means DefaultTrailingLogs
}

// Log is the replicated log: entries proposed by its leader are applied by every member in one order. It tolerates a
// minority of crashed members and trusts all of them; see the package documentation.
type Log struct {
	raft   *raft.Raft
	stream *streamLayer
	trans  *raft.NetworkTransport
	files  io.Closer

	mu        sync.Mutex
	readyTerm uint64 // the last term in which this member led and had applied every earlier entry

	closeOnce sync.Once
	closeErr  error
}

// OpenLog opens or creates the log in cfg.Dir and starts taking part in it. If it fails, it closes the listener too.
func OpenLog(cfg LogConfig) (*Log, error) {
	log, err := openLog(cfg)
	if err != nil {
		return nil, errors.Join(err, closeListener(cfg.Listener))
	}
	return log, nil
}

func openLog(cfg LogConfig) (*Log, error) {
	if _, ok := cfg.Genesis.Validator(cfg.Self); !ok {
		return nil, fmt.Errorf("opening the log: %w: %d is not the index of a validator", ErrInvalid, cfg.Self)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	conf := raftConfig(cfg)
	files, err := openFiles(cfg, conf)
	if err != nil {
		return nil, err
	}
	stream := newStreamLayer(cfg.Self, cfg.Listener, cfg.Dial)
	trans := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: stream, MaxPool: pooledConns, Timeout: rpcTimeout, Logger: conf.Logger,
	})
	machine := &fsm{machine: cfg.Machine, logger: cfg.Logger, replayUntil: files.lastIndex}
	r, err := startRaft(conf, machine, files, trans)
	if err != nil {
		return nil, errors.Join(err, trans.Close(), stream.stop(), files.Close())
	}
	return &Log{raft: r, stream: stream, trans: trans, files: files}, nil
}

// startRaft begins with what is on disk. Raft panics if an entry is missing that neither the log nor a snapshot holds.
func startRaft(conf *raft.Config, machine raft.FSM, files *logFiles, trans raft.Transport) (r *raft.Raft, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: starting the log: %v", ErrDamaged, v)
		}
	}()
	r, err = raft.NewRaft(conf, machine, files.wal, files.wal, files.snapshots, trans)
	if err != nil {
		return nil, fmt.Errorf("%w: starting the log: %w", ErrDamaged, err)
	}
	return r, nil
}

func raftConfig(cfg LogConfig) *raft.Config {
	conf := raft.DefaultConfig()
	conf.LocalID = serverID(cfg.Self)
	conf.HeartbeatTimeout = heartbeatTimeout
	conf.ElectionTimeout = electionTimeout
	conf.LeaderLeaseTimeout = leaseTimeout
	conf.CommitTimeout = commitTimeout
	conf.MaxAppendEntries = entriesPerRPC
	conf.SnapshotInterval = snapshotCheck
	conf.SnapshotThreshold = cfg.SnapshotEvery
	setDefault(&conf.SnapshotThreshold, DefaultSnapshotEvery)
	conf.TrailingLogs = cfg.TrailingLogs
	setDefault(&conf.TrailingLogs, DefaultTrailingLogs)
	conf.Logger = raftLogger(cfg.Logger)
	conf.NoLegacyTelemetry = true
	return conf
}

// Propose appends an entry and returns when it is committed and applied here. The error is the state machine's, if it
// skipped the entry, or ErrNotLeader, if the entry is not in the log. After any other error the entry may still be committed.
func (l *Log) Propose(ctx context.Context, entry []byte) error {
	future := l.raft.Apply(entry, enqueueTimeout)
	if err := wait(ctx, future); err != nil {
		return fmt.Errorf("proposing an entry: %w", logError(err))
	}
	if err, _ := future.Response().(error); err != nil {
		return err
	}
	return nil
}

// Lead says whether this member leads the log and has applied every entry of earlier leaders. Only then may it build on its
// state. It waits for those entries to be applied.
func (l *Log) Lead(ctx context.Context) (bool, error) {
	if l.raft.State() != raft.Leader {
		return false, nil
	}
	term := l.raft.CurrentTerm()
	l.mu.Lock()
	ready := l.readyTerm == term
	l.mu.Unlock()
	if ready {
		return true, nil
	}
	if err := l.Barrier(ctx); err != nil {
		if errors.Is(err, ErrNotYet) {
			return false, nil // leadership went on meanwhile
		}
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readyTerm = max(l.readyTerm, term)
	return l.raft.State() == raft.Leader && l.raft.CurrentTerm() == term, nil
}

// Barrier waits until every entry proposed before it is applied here. Only the leader can wait for that.
func (l *Log) Barrier(ctx context.Context) error {
	if err := wait(ctx, l.raft.Barrier(enqueueTimeout)); err != nil {
		return fmt.Errorf("waiting for earlier entries: %w", logError(err))
	}
	return nil
}

// Leader returns the index of the member that leads the log, as far as this one knows.
func (l *Log) Leader() (member uint32, ok bool) {
	_, id := l.raft.LeaderWithID()
	return memberOf(id)
}

// LogStatus is a look at the log for people and metrics.
type LogStatus struct {
	Leading bool
	Leader  uint32 // 0: unknown
	Term    uint64
	Last    uint64 // index of the newest entry stored here
	Commit  uint64 // index of the newest entry known to be committed
	Applied uint64 // index of the newest entry applied here
}

// Status looks at the log.
func (l *Log) Status() LogStatus {
	leader, _ := l.Leader()
	return LogStatus{
		Leading: l.raft.State() == raft.Leader, Leader: leader, Term: l.raft.CurrentTerm(),
		Last: l.raft.LastIndex(), Commit: l.raft.CommitIndex(), Applied: l.raft.AppliedIndex(),
	}
}

// Snapshot writes the state to disk now, so that the next start replays less.
func (l *Log) Snapshot() error {
	if err := l.raft.Snapshot().Error(); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	return nil
}

// Close leaves the log. When it returns no goroutine of the log runs and its files are closed.
func (l *Log) Close() error {
	l.closeOnce.Do(func() {
		stopped := l.raft.Shutdown()
		transErr := l.trans.Close()
		streamErr := l.stream.stop() // unblocks what still waits for a peer
		l.closeErr = errors.Join(stopped.Error(), transErr, streamErr, l.files.Close())
	})
	return l.closeErr
}

// closeListener closes a listener that may be closed already.
func closeListener(l net.Listener) error {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// wait waits for a future or the end of ctx. Raft answers every future when it stops, so the goroutine ends.
func wait(ctx context.Context, future raft.Future) error {
	done := make(chan error, 1)
	go func() { done <- future.Error() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// logError gives raft's errors a class.
func logError(err error) error {
	switch {
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return fmt.Errorf("%w: %w", ErrNotLeader, err)
	case errors.Is(err, raft.ErrLeadershipLost), errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrAbortedByRestore):
		return fmt.Errorf("%w: %w", ErrNotYet, err)
	}
	return err
}

func serverID(member uint32) raft.ServerID {
	return raft.ServerID(strconv.FormatUint(uint64(member), 10))
}

func memberOf(id raft.ServerID) (uint32, bool) {
	member, err := strconv.ParseUint(string(id), 10, 32)
	return uint32(member), err == nil && member != 0
}

// members is raft's configuration for a genesis: every validator votes, for ever.
func members(g *Genesis) raft.Configuration {
	var c raft.Configuration
	for _, v := range g.Validators {
		id := serverID(v.Index)
		c.Servers = append(c.Servers, raft.Server{Suffrage: raft.Voter, ID: id, Address: raft.ServerAddress(id)})
	}
	return c
}
