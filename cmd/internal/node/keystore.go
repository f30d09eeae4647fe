package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// keyStore keeps the recovered keys of slots. They are public and can be fetched again, so writes are not synced: after
// a crash the last few may be missing, never wrong.
type keyStore struct {
	db *pebble.DB
}

// Space of names in the store: one letter, then the slot in 8 bytes, big-endian.
const (
	prefixKey      = 'k'
	nameBackfilled = "backfilled"
	nameFirst      = "first"
)

func openKeyStore(dir string, log *slog.Logger) (*keyStore, error) {
	db, err := pebble.Open(dir, &pebble.Options{
		FS:           vfs.Default, // without pebble's disk health checker, whose goroutine outlives a failed Open
		Logger:       pebbleLog{log},
		MemTableSize: 1 << 20, // a key is 104 bytes, one a second: small buffers do
		CacheSize:    1 << 20,
		MaxOpenFiles: 64,
	})
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("opening key store: %w", err), fmt.Sprintf("if %s is damaged, move it away: its keys are public and come from the others again", dir))
	}
	return &keyStore{db}, nil
}

func (s *keyStore) close() error { return s.db.Close() }

func keyName(slot uint64) []byte { return binary.BigEndian.AppendUint64([]byte{prefixKey}, slot) }

// put stores the key of slot. The caller has verified it.
func (s *keyStore) put(slot uint64, key tlock.Key) error {
	b := key.Bytes()
	return s.db.Set(keyName(slot), b[:], pebble.NoSync)
}

// get returns the key's 96 bytes of slot, or false.
func (s *keyStore) get(slot uint64) (key [tlock.KeySize]byte, ok bool, err error) {
	b, closer, err := s.db.Get(keyName(slot))
	if errors.Is(err, pebble.ErrNotFound) {
		return key, false, nil
	}
	if err != nil {
		return key, false, fmt.Errorf("reading key of slot %d: %w", slot, err)
	}
	n := copy(key[:], b)
	if err := closer.Close(); err != nil {
		return key, false, err
	}
	if n != len(key) {
		return key, false, fmt.Errorf("reading key of slot %d: the key store is damaged; stop the node and remove its folder keys, it will be fetched again", slot)
	}
	return key, true, nil
}

// latest returns the newest slot with a key, or false.
func (s *keyStore) latest() (uint64, bool, error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{prefixKey}, UpperBound: []byte{prefixKey + 1}})
	if err != nil {
		return 0, false, err
	}
	var slot uint64
	ok := it.Last()
	if ok {
		slot = binary.BigEndian.Uint64(it.Key()[1:])
	}
	return slot, ok, it.Close()
}

// missing returns the slots in from..to (inclusive) without a key, at most limit of them.
func (s *keyStore) missing(from, to uint64, limit int) (slots []uint64, err error) {
	if from > to {
		return nil, nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: keyName(from), UpperBound: keyName(to + 1)})
	if err != nil {
		return nil, err
	}
	next := from
	for ok := it.First(); ok && len(slots) < limit; ok = it.Next() {
		have := binary.BigEndian.Uint64(it.Key()[1:])
		for ; next < have && len(slots) < limit; next++ {
			slots = append(slots, next)
		}
		next = have + 1
	}
	for ; next <= to && len(slots) < limit; next++ {
		slots = append(slots, next)
	}
	return slots, it.Close()
}

// backfilled is the slot up to which missing keys have been asked for from peers; 0 for none.
func (s *keyStore) backfilled() (uint64, error) { return s.number(nameBackfilled) }

func (s *keyStore) setBackfilled(slot uint64) error { return s.setNumber(nameBackfilled, slot) }

// first is the first slot that the group signs; 0 if that was not written down yet.
func (s *keyStore) first() (uint64, error) { return s.number(nameFirst) }

func (s *keyStore) setFirst(slot uint64) error { return s.setNumber(nameFirst, slot) }

func (s *keyStore) number(name string) (uint64, error) {
	b, closer, err := s.db.Get([]byte(name))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("key store: reading %s: %w", name, err)
	}
	var n uint64
	if len(b) == 8 {
		n = binary.BigEndian.Uint64(b)
	}
	return n, closer.Close()
}

func (s *keyStore) setNumber(name string, n uint64) error {
	return s.db.Set([]byte(name), binary.BigEndian.AppendUint64(nil, n), pebble.NoSync)
}

// pebbleLog passes the store's own talk on at debug level.
type pebbleLog struct{ log *slog.Logger }

func (l pebbleLog) Infof(format string, args ...any) {
	l.log.Debug("key store: " + fmt.Sprintf(format, args...))
}
func (l pebbleLog) Errorf(format string, args ...any) {
	l.log.Error("key store: " + fmt.Sprintf(format, args...))
}

// Fatalf must not return, says pebble.
func (l pebbleLog) Fatalf(format string, args ...any) {
	panic("key store: " + fmt.Sprintf(format, args...))
}
