package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
)

// names lists what lies in dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteReplacesTheWholeFileAndLeavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "share")
	for _, content := range []string{"first, and longer", "second"} {
		if err := durable.WriteSecret(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := durable.ReadSecret(path, 100)
		if err != nil || string(got) != content {
			t.Fatalf("read %q, %v; want %q", got, err, content)
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("folder holds %q, want the file alone", got)
	}
}

func TestModes(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		write func(string, []byte) error
		want  fs.FileMode
	}{
		"secret, replacing": {durable.WriteSecret, 0o600},
		"secret, new":       {durable.CreateSecret, 0o600},
		"public, replacing": {durable.WritePublic, 0o644},
		"public, new":       {durable.CreatePublic, 0o644},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", ""))
		if err := c.write(path, []byte("x")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != c.want {
			t.Errorf("%s: mode %#o, want %#o", name, got, c.want)
		}
	}
}

func TestCreateNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := durable.CreateSecret(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := durable.CreateSecret(path, []byte("new"))
	if !errors.Is(err, durable.ErrExists) {
		t.Fatalf("second creation: %v, want ErrExists", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Fatalf("file now holds %q", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("folder holds %q, want the old file alone", got)
	}
}

func TestSecretReadableByOthersIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.ReadSecret(path, 10); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Fatalf("error %v does not say what to do", err)
	}
}

func TestLongFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := durable.WritePublic(path, make([]byte, 11)); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.Read(path, 10); err == nil {
		t.Fatal("11 bytes were read under a limit of 10")
	}
	if _, err := durable.Read(path, 11); err != nil {
		t.Fatal(err)
	}
}

func TestAbortLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := durable.WritePublic(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	f, err := durable.NewFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(bytes.Repeat([]byte("half"), 1000)); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Fatalf("file holds %q", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Fatalf("folder holds %q", got)
	}
}

func TestUnwritableFolderGivesOneClearErrorAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	for folder, mode := range map[string]fs.FileMode{filepath.Dir(dir): 0o755, dir: 0o555} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "share")
	err := asNobody(t, func() error { return durable.WriteSecret(path, []byte("secret")) })
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v; want one about permission that names %s", err, path)
	}
	if got := strings.Count(err.Error(), dir); got != 1 {
		t.Errorf("error names the folder %d times: %v", got, err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("folder holds %q", got)
	}
}

func TestAFolderInTheWayIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := durable.WritePublic(dir, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Fatalf("error %v", err)
	}
}

func TestLockKeepsTwoHoldersApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := durable.TakeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := durable.TakeLock(path); !errors.Is(err, durable.ErrLocked) {
		t.Fatalf("second taker got %v, want ErrLocked", err)
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := durable.TakeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// asNobody runs f as a user who owns nothing: root may write anywhere, so a test run by root has to become somebody else.
func asNobody(t *testing.T, f func() error) error {
	t.Helper()
	if os.Geteuid() != 0 {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setfsuid(0); err != nil {
			t.Error(err)
		}
	}()
	return f()
}

// TestWhatIsNoFileDoesNotHoldTheReaderUp: a pipe in a file's place would make a daemon wait for ever, deaf to signals.
func TestWhatIsNoFileDoesNotHoldTheReaderUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(string, int64) ([]byte, error){"Read": durable.Read, "ReadSecret": durable.ReadSecret} {
		if data, err := read(path, 10); err != nil || len(data) != 0 {
			t.Errorf("%s of a pipe that nobody writes to: %q, %v, want nothing", name, data, err)
		}
		if _, err := read(t.TempDir(), 10); err == nil || !strings.Contains(err.Error(), "is a folder") {
			t.Errorf("%s of a folder: %v", name, err)
		}
	}
	r, w, err := os.Pipe() // as the shell's <(command) makes it
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err := durable.Read(fmt.Sprintf("/dev/fd/%d", r.Fd()), 10); string(data) != "hello" || err != nil {
		t.Errorf("read %q, %v from a pipe with hello in it", data, err)
	}
}
