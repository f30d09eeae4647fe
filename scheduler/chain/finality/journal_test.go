package finality

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func newJournal(t *testing.T, key PublicKey) (*Journal, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "votes")
	if err := CreateJournal(path, key); err != nil {
		t.Fatal(err)
	}
	return openJournal(t, path, key), path
}

func openJournal(t *testing.T, path string, key PublicKey) *Journal {
	t.Helper()
	j, err := OpenJournal(path, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func record(t *testing.T, j *Journal, blocks ...Block) {
	t.Helper()
	for _, b := range blocks {
		if err := j.Record(b); err != nil {
			t.Fatal(err)
		}
	}
}

var testKey = PublicKey{1, 2, 3}

func TestJournalRefusesASecondDigest(t *testing.T) {
	j, path := newJournal(t, testKey)
	if j.Last() != (Block{}) {
		t.Errorf("a new journal ends at %v", j.Last())
	}
	record(t, j, block(5, 1), block(5, 1), block(9, 2))
	j = openJournal(t, path, testKey)
	for _, bad := range []Block{block(9, 1), block(5, 1), block(8, 1), block(0, 0)} {
		if err := j.Record(bad); !errors.Is(err, ErrConflict) {
			t.Errorf("height %d, digest %x: %v, want ErrConflict", bad.Height, bad.Digest[0], err)
		}
	}
	record(t, j, block(9, 2), block(10, 1))
	if j.Last() != block(10, 1) {
		t.Errorf("ends at %v", j.Last())
	}
}

// TestJournalAtEveryLength: whatever a crash leaves of the last record, the records before it are known, and the next one is kept.
func TestJournalAtEveryLength(t *testing.T) {
	j, path := newJournal(t, testKey)
	record(t, j, block(1, 1), block(2, 2))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(whole) - recordSize; n < len(whole); n++ {
		torn := filepath.Join(t.TempDir(), "votes")
		for name, data := range map[string][]byte{
			"cut":        whole[:n],
			"zeroed":     append(append([]byte{}, whole[:n]...), make([]byte, len(whole)-n)...),
			"begun late": slices.Concat(whole[:len(whole)-recordSize], make([]byte, max(8, n-len(whole)+recordSize)), whole[max(n, len(whole)-recordSize+8):]),
		} {
			if err := os.WriteFile(torn, data, 0o600); err != nil {
				t.Fatal(err)
			}
			j := openJournal(t, torn, testKey)
			if j.Last() != block(1, 1) {
				t.Fatalf("%s at %d: ends at %v", name, n, j.Last())
			}
			record(t, j, block(3, 3))
			if again := openJournal(t, torn, testKey); again.Last() != block(3, 3) {
				t.Fatalf("%s at %d, then written to: ends at %v", name, n, again.Last())
			}
		}
	}
}

// TestJournalDamage: what no crash leaves is refused, bit by bit.
func TestJournalDamage(t *testing.T) {
	j, path := newJournal(t, testKey)
	record(t, j, block(1, 1), block(2, 2), block(3, 3))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "votes")
	try := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if j, err := OpenJournal(bad, testKey); !errors.Is(err, ErrJournal) {
			t.Errorf("%s: opened, %v, want ErrJournal", what, err)
			if err == nil {
				_ = j.Close()
			}
		}
	}
	for at := range whole {
		flipped := append([]byte{}, whole...)
		flipped[at] ^= 0x10
		try("a flipped bit", flipped)
	}
	for n := range headerSize {
		try("a cut header", whole[:n])
	}
	swapped := append([]byte{}, whole...)
	copy(swapped[headerSize:], whole[headerSize+recordSize:headerSize+2*recordSize])
	copy(swapped[headerSize+recordSize:], whole[headerSize:headerSize+recordSize])
	try("two records swapped", swapped)
	again, sum := encodeRecord(j.sum, block(3, 9))
	after, _ := encodeRecord(sum, block(4, 4))
	try("a second vote at a height", append(append(append([]byte{}, whole...), again...), after...))
	try("a file too long", make([]byte, maxJournal+recordSize+1))
}

func TestJournalMissingOrForeign(t *testing.T) {
	_, path := newJournal(t, testKey)
	if err := CreateJournal(path, testKey); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made again: %v, want fs.ErrExist", err)
	}
	if _, err := OpenJournal(path, PublicKey{9}); !errors.Is(err, ErrJournal) {
		t.Errorf("under another key: %v, want ErrJournal", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, testKey); !errors.Is(err, ErrJournal) {
		t.Errorf("missing: %v, want ErrJournal", err)
	}
}

// TestJournalAnew: a journal that replaces a lost one refuses what the key may have voted for.
func TestJournalAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes")
	if err := CreateJournalAbove(path, testKey, 100); err != nil {
		t.Fatal(err)
	}
	if err := CreateJournalAbove(path, testKey, 200); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made again: %v, want fs.ErrExist", err)
	}
	j := openJournal(t, path, testKey)
	for _, b := range []Block{block(1, 1), block(100, 1)} {
		if err := j.Record(b); !errors.Is(err, ErrConflict) {
			t.Errorf("height %d: %v, want ErrConflict", b.Height, err)
		}
	}
	record(t, j, block(101, 1))
	if j = openJournal(t, path, testKey); j.Last() != block(101, 1) {
		t.Errorf("ends at %v", j.Last())
	}
}

// TestJournalBehind: a vote under the key that the journal does not know ends its use.
func TestJournalBehind(t *testing.T) {
	for name, saw := range map[string]Block{"higher": block(6, 1), "another at its height": block(5, 2)} {
		j, _ := newJournal(t, testKey)
		record(t, j, block(5, 1))
		if err := errors.Join(j.Saw(block(5, 1)), j.Saw(block(4, 7))); err != nil {
			t.Errorf("own votes: %v", err)
		}
		if err := j.Saw(saw); !errors.Is(err, ErrJournal) {
			t.Errorf("%s: %v, want ErrJournal", name, err)
		}
		if err := j.Record(block(100, 1)); !errors.Is(err, ErrJournal) {
			t.Errorf("%s, then a vote: %v, want ErrJournal", name, err)
		}
	}
}

// TestJournalGetsShorter: a long journal is replaced by its last record, and goes on.
func TestJournalGetsShorter(t *testing.T) {
	j, path := newJournal(t, testKey)
	record(t, j, block(1, 1))
	// Grow the file to its bound without a hundred thousand syncs: the records are as Record writes them.
	for h := uint64(2); j.size < maxJournal; h++ {
		b, sum := encodeRecord(j.sum, block(h, 1))
		if _, err := j.f.WriteAt(b, j.size); err != nil {
			t.Fatal(err)
		}
		j.last, j.sum, j.size = block(h, 1), sum, j.size+int64(recordSize)
	}
	j = openJournal(t, path, testKey)
	last := j.Last()
	if err := j.shorten(); err != nil {
		t.Fatal(err)
	}
	if j = openJournal(t, path, testKey); j.Last() != last { // as after a crash before the next record
		t.Errorf("shortened, it ends at %v, want %v", j.Last(), last)
	}
	record(t, j, block(last.Height+1, 2), block(last.Height+2, 3))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(headerSize + 3*recordSize); info.Size() != want {
		t.Errorf("the file has %d bytes, want %d", info.Size(), want)
	}
	j = openJournal(t, path, testKey)
	if err := j.Record(last); j.Last() != block(last.Height+2, 3) || !errors.Is(err, ErrConflict) {
		t.Errorf("ends at %v; an old vote: %v", j.Last(), err)
	}
}

// TestJournalAfterAFailedWrite: once a write failed nobody knows what is on disk, and nothing more is signed.
func TestJournalAfterAFailedWrite(t *testing.T) {
	j, path := newJournal(t, testKey)
	if err := j.f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"a write that fails", "the next one, which would not"} {
		if err := j.Record(block(1, 1)); !errors.Is(err, ErrJournal) {
			t.Fatalf("%s: %v, want ErrJournal", what, err)
		}
		var err error
		if j.f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.f.Close() })
	}
}
