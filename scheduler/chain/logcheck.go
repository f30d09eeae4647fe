package chain

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// checkedWAL keeps with every entry a CRC-32C of what it says, in raft's field for such layers, and checks it whenever the
// entry is read. Raft-wal itself assumes that what it has once written stays as it is, and checks only the last write.
//
// Without this a validator with one changed bit skips a block that all others apply. If it then comes to lead the log, its
// blocks continue a chain that nobody else has, and the network stands still under it.
type checkedWAL struct{ *wal.WAL }

var _ raft.MonotonicLogStore = (*checkedWAL)(nil)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(l *raft.Log) []byte {
	head := binary.BigEndian.AppendUint64(nil, l.Index)
	head = append(binary.BigEndian.AppendUint64(head, l.Term), byte(l.Type))
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, l.Data)
	return binary.BigEndian.AppendUint32(nil, sum)
}

// StoreLog implements raft.LogStore.
func (w checkedWAL) StoreLog(l *raft.Log) error { return w.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (w checkedWAL) StoreLogs(logs []*raft.Log) error {
	checked := make([]*raft.Log, len(logs))
	for i, l := range logs {
		c := *l // raft goes on using its own, other goroutines too
		c.Extensions = checksum(l)
		checked[i] = &c
	}
	return w.WAL.StoreLogs(checked)
}

// GetLog implements raft.LogStore.
func (w checkedWAL) GetLog(index uint64, l *raft.Log) error {
	if err := w.WAL.GetLog(index, l); err != nil {
		return err // raft compares its own errors
	}
	if l.Index != index || string(l.Extensions) != string(checksum(l)) {
		return fmt.Errorf("entry %d: %w: it does not match its checksum", index, ErrDamaged)
	}
	l.Extensions = nil
	return nil
}

// checkEntries reads the whole log once, so that a damaged one is refused at the start and not met on the way.
func (f *logFiles) checkEntries(dir string) error {
	first, err := f.wal.FirstIndex()
	if err != nil {
		return fmt.Errorf("reading the log in %s: %w", dir, err)
	}
	var l raft.Log
	for i := first; i != 0 && i <= f.lastIndex; i++ {
		if err := f.wal.GetLog(i, &l); err != nil {
			return fmt.Errorf("reading the log in %s: %w", dir, err)
		}
	}
	return nil
}
