package devnet

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// colours of the validators' lines, in order; more validators than colours begin again.
var colours = []string{"\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[34m", "\x1b[31m", "\x1b[96m", "\x1b[93m"}

const colourOff = "\x1b[0m"

// maxLine bounds one line of a child's output, in bytes; a longer one is cut into several.
const maxLine = 64 << 10

// output merges the lines of several writers into one, whole lines only.
type output struct {
	mu     sync.Mutex // one line, one write
	w      io.Writer
	colour bool
}

// lines is a writer whose lines appear in the output behind "label | ".
func (o *output) lines(i int, label string) *lineWriter {
	before, after := "", ""
	if o.colour {
		before, after = colours[i%len(colours)], colourOff
	}
	return &lineWriter{out: o, before: before + label + " | ", after: after + "\n"}
}

// lineWriter is used by one goroutine at a time, as exec.Cmd does.
type lineWriter struct {
	out           *output
	before, after string
	rest          []byte // begun line
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		skip := 1
		if end < 0 && len(l.rest) >= maxLine {
			end, skip = maxLine, 0
		}
		if end < 0 {
			return len(p), nil
		}
		if err := l.line(l.rest[:end]); err != nil {
			return 0, err
		}
		l.rest = append(l.rest[:0], l.rest[end+skip:]...)
	}
}

// flush writes a last line that had no end.
func (l *lineWriter) flush() {
	if len(l.rest) > 0 {
		_ = l.line(l.rest) // the process is gone; nobody is left to tell
		l.rest = nil
	}
}

func (l *lineWriter) line(text []byte) error {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	_, err := fmt.Fprintf(l.out.w, "%s%s%s", l.before, text, l.after)
	return err
}
