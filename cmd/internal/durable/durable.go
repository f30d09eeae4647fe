// Package durable puts files on disk whole or not at all.
//
// A write goes to a temporary name in the same folder, is synced, takes its final name by a rename, and the folder is
// synced: after a crash at any instruction the final name holds either the old content or the new one, and after a
// successful return the new one survives a power cut. A failed write leaves nothing behind. Secrets get mode 0600 from
// the first byte on.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Modes of the two kinds of files.
const (
	secretMode fs.FileMode = 0o600
	publicMode fs.FileMode = 0o644
)

// ErrExists: the file is there already and is not overwritten.
var ErrExists = fs.ErrExist

// WriteSecret replaces path by data, readable by its owner only.
func WriteSecret(path string, data []byte) error {
	return write(path, data, secretMode, (*File).Commit)
}

// WritePublic replaces path by data, readable by all.
func WritePublic(path string, data []byte) error {
	return write(path, data, publicMode, (*File).Commit)
}

// CreateSecret writes data to path, readable by its owner only, and refuses with ErrExists if path is there already.
func CreateSecret(path string, data []byte) error {
	return write(path, data, secretMode, (*File).CommitNew)
}

// CreatePublic writes data to path, readable by all, and refuses with ErrExists if path is there already.
func CreatePublic(path string, data []byte) error {
	return write(path, data, publicMode, (*File).CommitNew)
}

func write(path string, data []byte, mode fs.FileMode, commit func(*File) error) error {
	f, err := newFile(path, mode)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return commit(f)
}

// ReadSecret reads a file of at most limit bytes and refuses one that others than its owner may read.
func ReadSecret(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && !info.IsDir() {
		return nil, fmt.Errorf("%s is readable by others (mode %#o): run \"chmod 600 %s\" and ask who may have read it", path, info.Mode().Perm(), path)
	}
	return Read(path, limit)
}

// Read reads a file of at most limit bytes. A pipe is read as far as somebody writes to it; one that nobody has open for writing
// is empty, where opening it in the ordinary way would wait for ever.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("%s is a folder, not a file", path))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is longer than the %d bytes such a file can have", path, limit)
	}
	return data, nil
}

// File is a file being written under a temporary name. End it with Commit or CommitNew; Abort after either does nothing.
type File struct {
	f    *os.File
	path string
	done bool
}

// NewFile begins a file, readable by all, that will be called path. The folder must exist and be writable.
func NewFile(path string) (*File, error) { return newFile(path, publicMode) }

func newFile(path string, mode fs.FileMode) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is there and is not a regular file", path)
	}
	// CreateTemp gives mode 0600, so a secret is never readable by others, not for an instant.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	file := &File{f: f, path: path}
	if mode != secretMode {
		if err := f.Chmod(mode); err != nil {
			file.Abort()
			return nil, fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return file, nil
}

func (f *File) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	if err != nil {
		err = fmt.Errorf("writing %s: %w", f.path, err)
	}
	return n, err
}

// Commit gives the file its final name, replacing what was there, once its bytes are safe.
func (f *File) Commit() error { return f.commit(os.Rename) }

// CommitNew is Commit that refuses with ErrExists if the name is taken.
func (f *File) CommitNew() error {
	// A hard link, unlike a rename, fails if the name exists: no gap between the check and the write.
	return f.commit(func(from, to string) error {
		if err := os.Link(from, to); err != nil {
			return err
		}
		return os.Remove(from)
	})
}

func (f *File) commit(name func(from, to string) error) error {
	f.done = true
	tmp := f.f.Name()
	err := f.f.Sync()
	err = errors.Join(err, f.f.Close())
	if err == nil {
		err = name(tmp, f.path)
	}
	if err != nil {
		if link, ok := errors.AsType[*os.LinkError](err); ok {
			err = link.Err // without the temporary name, which tells the reader nothing
		}
		_ = os.Remove(tmp) // the write has failed already; that is the error to report
		return fmt.Errorf("writing %s: %w", f.path, err)
	}
	return syncDir(filepath.Dir(f.path))
}

// Abort throws the temporary file away.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	// The file is given up, so errors of its removal change nothing for the caller.
	_ = f.f.Close()
	_ = os.Remove(f.f.Name())
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("syncing folder %s: %w", path, err)
	}
	return errors.Join(d.Sync(), d.Close())
}
