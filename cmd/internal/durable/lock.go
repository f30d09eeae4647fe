package durable

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked: another live process holds the lock.
var ErrLocked = errors.New("in use by another process")

// Lock is held until Unlock or the end of the process, however it ends.
type Lock struct{ f *os.File }

// TakeLock takes the lock file at path, made if missing, or fails at once with ErrLocked.
func TakeLock(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, secretMode)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return &Lock{f}, nil
}

// Unlock gives the lock back. The file stays: removing it would let two processes hold two files of one name.
func (l *Lock) Unlock() error { return l.f.Close() }
