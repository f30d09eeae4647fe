package partials

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// A sheet is the text form of the group and share files: a title line, lines of a name and a value with one space between,
// and a last line with the SHA-256 of all before it. It is written in one way only and read strictly: decoders encode what
// they read and compare. The checksum tells a damaged or cut file from a wrong one; it is no protection against a forger.

const checksumName = "checksum"

type sheetWriter struct{ b bytes.Buffer }

func newSheet(title string) *sheetWriter {
	w := new(sheetWriter)
	w.b.WriteString(title + "\n")
	return w
}

func (w *sheetWriter) line(name, value string) { w.b.WriteString(name + " " + value + "\n") }

func (w *sheetWriter) number(name string, v uint64) { w.line(name, strconv.FormatUint(v, 10)) }

func (w *sheetWriter) hex(name string, v []byte) { w.line(name, "0x"+hex.EncodeToString(v)) }

func (w *sheetWriter) finish() []byte {
	sum := sha256.Sum256(w.b.Bytes())
	w.hex(checksumName, sum[:])
	return w.b.Bytes()
}

// sheetReader takes a sheet apart line by line; the first error sticks. Its errors name lines, never values: a value may be a
// secret.
type sheetReader struct {
	kind  string // for errors: "group file"
	lines []string
	err   error
}

// readSheet checks size, title and checksum of b.
func readSheet(kind, title string, maxSize int, b []byte) *sheetReader {
	r := &sheetReader{kind: kind}
	if len(b) > maxSize {
		return r.fail("is %d bytes long, at most %d are possible", len(b), maxSize)
	}
	first, rest, _ := strings.Cut(string(b), "\n")
	if first != title {
		return r.fail("does not begin with the line %q: it is some other file", title)
	}
	cut := strings.LastIndex(string(b), checksumName+" ")
	if cut < 0 || b[cut-1] != '\n' {
		return r.fail("has no checksum at its end: it was cut short; restore it from a copy")
	}
	sum := sha256.Sum256(b[:cut])
	if string(b[cut:]) != checksumName+" 0x"+hex.EncodeToString(sum[:])+"\n" {
		return r.fail("does not match its checksum: it was damaged or edited; restore it from a copy")
	}
	r.lines = strings.Split(strings.TrimSuffix(rest[:cut-len(title)-1], "\n"), "\n")
	return r
}

func (r *sheetReader) fail(format string, args ...any) *sheetReader {
	if r.err == nil {
		r.err = invalid("%s %s", r.kind, fmt.Sprintf(format, args...))
	}
	return r
}

// line returns the value of the next line, which must have this name.
func (r *sheetReader) line(name string) string {
	if r.err != nil {
		return ""
	}
	if len(r.lines) == 0 {
		r.fail("ends before its line %q", name)
		return ""
	}
	value, ok := strings.CutPrefix(r.lines[0], name+" ")
	if !ok {
		r.fail("has no line %q where it belongs", name)
		return ""
	}
	r.lines = r.lines[1:]
	return value
}

// number reads a decimal number of at most max.
func (r *sheetReader) number(name string, max uint64) uint64 {
	v, err := strconv.ParseUint(r.line(name), 10, 64)
	if r.err == nil && (err != nil || v > max) {
		r.fail("has no number of at most %d in its line %q", max, name)
	}
	return v
}

// hex reads size bytes.
func (r *sheetReader) hex(name string, size int) []byte {
	digits, ok := strings.CutPrefix(r.line(name), "0x")
	v, err := hex.DecodeString(digits)
	if r.err == nil && (!ok || err != nil || len(v) != size) {
		r.fail("has no 0x and %d hex digits in its line %q", 2*size, name)
	}
	return v
}

// end refuses lines that nobody asked for.
func (r *sheetReader) end() error {
	if r.err == nil && len(r.lines) > 0 {
		r.fail("has lines that do not belong there")
	}
	return r.err
}
