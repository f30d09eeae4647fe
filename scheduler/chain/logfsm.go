package chain

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"

	"github.com/hashicorp/raft"
)

// maxSnapshotSize bounds what a member reads when it is sent a snapshot.
const maxSnapshotSize = 1 << 30

// fsm connects raft to a StateMachine. Raft calls Apply, Snapshot and Restore from one goroutine.
type fsm struct {
	machine     StateMachine
	logger      *slog.Logger
	replayUntil uint64
}

func (f *fsm) Apply(entry *raft.Log) any {
	if err := f.machine.Apply(entry.Index, entry.Data, entry.Index <= f.replayUntil); err != nil {
		return err
	}
	return nil
}

func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	b, err := f.machine.Snapshot()
	return fsmSnapshot(b), err
}

func (f *fsm) Restore(r io.ReadCloser) error {
	b, err := io.ReadAll(io.LimitReader(r, maxSnapshotSize+1))
	if err != nil {
		return fmt.Errorf("reading a snapshot: %w", err)
	}
	if len(b) > maxSnapshotSize {
		return fmt.Errorf("snapshot: %w (over %d bytes)", ErrTooLarge, maxSnapshotSize)
	}
	return f.machine.Restore(b)
}

// fsmSnapshot is a snapshot as it is written to disk.
type fsmSnapshot []byte

func (s fsmSnapshot) Persist(sink raft.SnapshotSink) error {
	if _, err := io.Copy(sink, bytes.NewReader(s)); err != nil {
		_ = sink.Cancel() // the write's error says more
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	return sink.Close()
}

func (fsmSnapshot) Release() {}
