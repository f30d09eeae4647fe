package finality

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Journal is a validator's memory of what it voted for. It is a file of its own, beside the voting key and as precious: whoever votes
// without it may sign two blocks at one height, and be proven to have done so.
//
// The file is a header, magic || public key || checksum, and records of u64 height, 32 bytes of digest and 8 bytes of checksum, each
// over the checksum before it. Record returns when the bytes are on disk. An incomplete last record, cut short or with zeros at its
// beginning or end, is what a crash leaves: its vote never left, and it is cut off. Anything else that is wrong is ErrJournal.
type Journal struct {
	path string
	f    *os.File
	sum  [checksumSize]byte
	size int64
	last Block // Height 0: none yet
	lost error // set when the file's state is unknown or behind; no more votes
}

// ErrJournal: the journal is missing, damaged or behind, and the voting key must not be used.
var ErrJournal = errors.New("vote journal")

const (
	journalMagic = "daybreak-votes-v1\n"
	checksumSize = 8
	headerSize   = len(journalMagic) + len(PublicKey{}) + checksumSize
	recordSize   = 8 + 32 + checksumSize
	maxJournal   = 1 << 20 // bytes; beyond it all but the last record is dropped
)

// CreateJournal makes the empty journal of a new voting key. It never replaces one: fs.ErrExist.
func CreateJournal(path string, key PublicKey) error { return createJournal(path, header(key)) }

// CreateJournalAbove makes the journal of a voting key whose own is lost. It refuses every height up to floor, above which the key
// must never have voted. fs.ErrExist: there is one.
func CreateJournalAbove(path string, key PublicKey, floor uint64) error {
	b := header(key)
	record, _ := encodeRecord([checksumSize]byte(b[len(b)-checksumSize:]), Block{Height: floor})
	return createJournal(path, append(b, record...))
}

func createJournal(path string, data []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w: a journal is made once", path, fs.ErrExist)
	}
	return writeJournal(path, data)
}

func header(key PublicKey) []byte {
	b := append([]byte(journalMagic), key[:]...)
	sum := checksum([checksumSize]byte{}, b)
	return append(b, sum[:]...)
}

func checksum(before [checksumSize]byte, b []byte) [checksumSize]byte {
	h := sha256.Sum256(append(before[:], b...))
	return [checksumSize]byte(h[:])
}

// writeJournal puts a whole journal on disk, or nothing.
func writeJournal(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the write has failed already; that is the error to report
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("syncing folder %s: %w", path, err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// OpenJournal opens the journal of a voting key. ErrJournal says that there is none, that it is another key's, or that it is damaged:
// then the key must not vote again. The caller keeps other processes away from the file.
func OpenJournal(path string, key PublicKey) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing, and nobody knows what its key voted for", ErrJournal, path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	j := &Journal{path: path, f: f}
	if err := j.load(key); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

func (j *Journal) load(key PublicKey) error {
	data, err := io.ReadAll(io.LimitReader(j.f, maxJournal+int64(recordSize)+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", j.path, err)
	}
	want := header(key)
	switch {
	case len(data) > maxJournal+recordSize:
		return j.damaged("it is longer than a journal gets")
	case len(data) < headerSize || !bytes.HasPrefix(data, []byte(journalMagic)):
		return j.damaged("it does not begin as a journal does")
	case !bytes.Equal(data[:headerSize], want):
		return fmt.Errorf("%w: %s is the journal of another voting key", ErrJournal, j.path)
	}
	j.sum, j.size = [checksumSize]byte(want[headerSize-checksumSize:]), int64(headerSize)
	for rest := data[headerSize:]; len(rest) > 0; rest = rest[recordSize:] {
		if len(rest) < recordSize || !j.take(rest[:recordSize]) {
			if len(rest) > recordSize || len(rest) == recordSize && !torn(rest) {
				return j.damaged("record %d of it does not fit its checksum", (j.size-int64(headerSize))/int64(recordSize)+1)
			}
			return j.cut()
		}
	}
	return nil
}

// take reads one record; false if it does not fit.
func (j *Journal) take(record []byte) bool {
	sum := checksum(j.sum, record[:recordSize-checksumSize])
	height := binary.BigEndian.Uint64(record)
	if !bytes.Equal(sum[:], record[recordSize-checksumSize:]) || height <= j.last.Height {
		return false
	}
	j.last = Block{Height: height, Digest: [32]byte(record[8:40])}
	j.sum, j.size = sum, j.size+int64(recordSize)
	return true
}

// torn says whether a crash may have left a whole record like this: a part of it, up to the end of a disk's sector or from there on, was
// never written. Of any other record the vote may have left.
func torn(record []byte) bool {
	return binary.BigEndian.Uint64(record) == 0 || record[recordSize-1] == 0
}

// cut removes an incomplete last record, so that the next one follows the last whole one.
func (j *Journal) cut() error {
	if err := errors.Join(j.f.Truncate(j.size), j.f.Sync()); err != nil {
		return fmt.Errorf("cutting the torn end of %s: %w", j.path, err)
	}
	return nil
}

func (j *Journal) damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s is damaged: "+format, append([]any{ErrJournal, j.path}, args...)...)
}

// Last is the newest vote; Height is 0 if there is none. In a journal that was started anew it is the floor, without a digest.
func (j *Journal) Last() Block { return j.last }

// Record writes down that b is to be voted for, and returns when that is on disk. Only then may the vote be signed. A block below the
// last one, or another at its height, is ErrConflict; the last one again is fine. After a failed write the journal takes nothing more:
// what is on disk is not known.
func (j *Journal) Record(b Block) error {
	switch {
	case j.lost != nil:
		return j.lost
	case b == j.last && b.Height > 0:
		return nil
	case b.Height <= j.last.Height:
		return fmt.Errorf("%w: block %x at height %d, after a vote for %x at height %d", ErrConflict, b.Digest, b.Height, j.last.Digest, j.last.Height)
	}
	if j.size >= maxJournal {
		if err := j.shorten(); err != nil {
			j.lost = fmt.Errorf("%w: %w", ErrJournal, err)
			return j.lost
		}
	}
	record, sum := encodeRecord(j.sum, b)
	_, err := j.f.WriteAt(record, j.size)
	if err = errors.Join(err, j.f.Sync()); err != nil {
		j.lost = fmt.Errorf("%w: writing %s: %w", ErrJournal, j.path, err)
		return j.lost
	}
	j.last, j.sum, j.size = b, sum, j.size+int64(recordSize)
	return nil
}

func encodeRecord(before [checksumSize]byte, b Block) ([]byte, [checksumSize]byte) {
	record := binary.BigEndian.AppendUint64(make([]byte, 0, recordSize), b.Height)
	record = append(record, b.Digest[:]...)
	sum := checksum(before, record)
	return append(record, sum[:]...), sum
}

// shorten replaces the file by one with the last record alone.
func (j *Journal) shorten() error {
	head := make([]byte, headerSize)
	if _, err := j.f.ReadAt(head, 0); err != nil {
		return fmt.Errorf("reading %s: %w", j.path, err)
	}
	record, sum := encodeRecord([checksumSize]byte(head[headerSize-checksumSize:]), j.last)
	if err := writeJournal(j.path, append(head, record...)); err != nil {
		return err
	}
	f, err := os.OpenFile(j.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", j.path, err)
	}
	old := j.f
	j.f, j.sum, j.size = f, sum, int64(headerSize+recordSize)
	return old.Close()
}

// Saw tells the journal of a vote under its key that the network shows: one it does not know means that the journal was set back or
// that somebody else has the key. It returns ErrJournal then, and from there on.
func (j *Journal) Saw(b Block) error {
	if j.lost == nil && (b.Height > j.last.Height || b.Height == j.last.Height && b != j.last) {
		j.lost = fmt.Errorf("%w: there is a vote under this key for block %x at height %d, and %s ends at height %d: it is behind, or the key is used elsewhere",
			ErrJournal, b.Digest, b.Height, j.path, j.last.Height)
	}
	return j.lost
}

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }
