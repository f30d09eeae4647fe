package chain

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
)

// Names inside LogConfig.Dir.
const (
	lockName      = "log.lock"
	logName       = "log"
	freshName     = "log.new" // a log that is being created; becomes logName when it is whole
	genesisMarker = "genesis-hash"
)

// logFiles are the open files of a log.
type logFiles struct {
	lock      *os.File
	meta      *metadb.BoltMetaDB
	wal       *checkedWAL
	snapshots *raft.FileSnapshotStore
	lastIndex uint64 // newest entry on disk
}

// openFiles takes the folder's lock, creates the log if there is none and opens it.
func openFiles(cfg LogConfig, conf *raft.Config) (_ *logFiles, err error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the log's folder: %w", err)
	}
	lock, err := lockFolder(cfg.Dir)
	if err != nil {
		return nil, err
	}
	files := &logFiles{lock: lock}
	defer func() {
		if err != nil {
			err = errors.Join(err, files.Close())
		}
	}()
	dir := filepath.Join(cfg.Dir, logName)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := createLog(cfg, conf, dir); err != nil {
			return nil, fmt.Errorf("creating the log: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("looking for the log: %w", err)
	}
	if err := checkMarker(dir, cfg.Genesis.Hash()); err != nil {
		return nil, err
	}
	return files, files.openWhole(dir, conf)
}

// openWhole is open of a log that was whole once: what goes wrong is damage. The libraries below panic at some of it, and
// reading a mapped file that was cut short is a fault, which counts as a panic here.
func (f *logFiles) openWhole(dir string, conf *raft.Config) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("opening the log in %s: %v", dir, v)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}()
	if err := f.open(dir, conf); err != nil {
		return err
	}
	return f.refuseEmpty(dir)
}

// refuseEmpty fails if the log holds neither an entry nor a snapshot: createLog wrote one. Raft-wal takes a segment that is
// gone or blank for one that was never written to.
func (f *logFiles) refuseEmpty(dir string) error {
	if f.lastIndex > 0 {
		return nil
	}
	snapshots, err := f.snapshots.List()
	if err == nil && len(snapshots) == 0 {
		err = errors.New("its entries are gone")
	}
	if err != nil {
		return fmt.Errorf("reading the log in %s: %w", dir, err)
	}
	return nil
}

// LogExists tells whether there is a log in the folder, whole or not.
func LogExists(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// createLog makes a log whose first entry names the genesis members. It appears under its name only when it is whole: a
// crash on the way leaves nothing that a later start would take for a log.
func createLog(cfg LogConfig, conf *raft.Config, dir string) error {
	fresh := filepath.Join(cfg.Dir, freshName)
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	hash := cfg.Genesis.Hash()
	if err := writeSynced(filepath.Join(fresh, genesisMarker), []byte(hex.EncodeToString(hash[:])+"\n")); err != nil {
		return err
	}
	var files logFiles
	err := files.open(fresh, conf)
	if err == nil {
		err = raft.BootstrapCluster(conf, files.wal, files.wal, files.snapshots, nil, members(cfg.Genesis))
	}
	if err := errors.Join(err, files.Close()); err != nil {
		return err
	}
	if err := errors.Join(syncFolder(fresh), os.Rename(fresh, dir)); err != nil {
		return err
	}
	return syncFolder(cfg.Dir)
}

func checkMarker(dir string, hash [32]byte) error {
	have, err := os.ReadFile(filepath.Join(dir, genesisMarker))
	if err != nil {
		return fmt.Errorf("%w: reading whose log %s is: %w", ErrDamaged, dir, err)
	}
	if want := hex.EncodeToString(hash[:]); string(bytes.TrimSpace(have)) != want {
		return fmt.Errorf("%w: the log in %s belongs to the chain with genesis hash %s, the genesis file has %s: "+
			"use the folder of this chain, or an empty one", ErrInvalid, dir, clip(string(bytes.TrimSpace(have))), want)
	}
	return nil
}

func (f *logFiles) open(dir string, conf *raft.Config) (err error) {
	f.meta = new(metadb.BoltMetaDB) // ours to close: the wal leaves it open
	w, err := wal.Open(dir, wal.WithMetaStore(f.meta), wal.WithSegmentSize(walSegmentSize), wal.WithLogger(conf.Logger))
	if err != nil {
		return fmt.Errorf("opening the log in %s: %w", dir, err)
	}
	f.wal = &checkedWAL{w}
	if err := removeTornSnapshots(dir); err != nil {
		return fmt.Errorf("clearing unfinished snapshots in %s: %w", dir, err)
	}
	f.snapshots, err = raft.NewFileSnapshotStoreWithLogger(dir, retainedSnapshots, conf.Logger)
	if err != nil {
		return fmt.Errorf("opening the snapshots in %s: %w", dir, err)
	}
	if f.lastIndex, err = f.wal.LastIndex(); err != nil {
		return err
	}
	return f.checkEntries(dir)
}

// removeTornSnapshots removes what kills in the middle of a snapshot left; raft ignores it and would let it pile up.
func removeTornSnapshots(dir string) error {
	torn, err := filepath.Glob(filepath.Join(dir, "snapshots", "*.tmp"))
	for _, name := range torn {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// Close closes what is open and gives the lock back.
func (f *logFiles) Close() error {
	var errs []error
	if f.wal != nil {
		errs = append(errs, f.wal.Close())
	}
	if f.meta != nil {
		errs = append(errs, f.meta.Close())
	}
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	return errors.Join(errs...)
}

// lockFolder keeps two processes from writing one log. The lock ends with the process.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the log's folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("the log in %s is in use by another process: stop it first: %w", dir, err), f.Close())
	}
	return f, nil
}

func writeSynced(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
