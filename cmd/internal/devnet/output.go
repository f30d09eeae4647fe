package devnet

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
)

// colours of the validators' lines, in order; more validators than colours begin again.
var colours = []string{"\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[34m", "\x1b[31m", "\x1b[96m", "\x1b[93m"}

const colourOff = "\x1b[0m"

// maxLine bounds one line of a child's output, in bytes; a longer one is cut into several.
const maxLine = 64 << 10

// output merges the lines of several writers into one, whole lines only. What all of them say alike is shown once.
type output struct {
	mu     sync.Mutex // one line, one write; guards told
	w      io.Writer
	colour bool
	told   map[string]bool
	order  []string // of told, oldest first
}

// keptTold is how many common lines are remembered.
const keptTold = 512

// common are the messages by which every validator tells the same fact of the network.
var common = regexp.MustCompile(`^\S+ info  (key recovered|key on chain|entry |leader changed|ceremony: phase|ceremony done|group key agreed on)`)

// own are the parts of such a line that differ from one validator to the next.
var own = regexp.MustCompile(`^\S+ | (ms|partials|self|late)=\S*`)

// isNews tells whether nobody has said this before. The caller holds the lock.
func (o *output) isNews(line []byte) bool {
	if !common.Match(line) {
		return true
	}
	fact := string(own.ReplaceAll(line, nil))
	if o.told[fact] {
		return false
	}
	if len(o.order) == keptTold {
		delete(o.told, o.order[0])
		o.order = append(o.order[:0], o.order[1:]...)
	}
	o.told[fact] = true
	o.order = append(o.order, fact)
	return true
}

func newOutput(w io.Writer, colour bool) *output {
	return &output{w: w, colour: colour, told: make(map[string]bool)}
}

// lines is a writer whose lines appear in the output behind "label | ", and all of them, as they are, in full.
func (o *output) lines(i int, label string, full io.WriteCloser) *lineWriter {
	before, after := "", ""
	if o.colour {
		before, after = colours[i%len(colours)], colourOff
	}
	return &lineWriter{out: o, full: full, before: before + label + " | ", after: after + "\n"}
}

// lineWriter is used by one goroutine at a time, as exec.Cmd does.
type lineWriter struct {
	out           *output
	full          io.WriteCloser
	before, after string
	rest          []byte // begun line
}

func (l *lineWriter) Write(p []byte) (int, error) {
	if _, err := l.full.Write(p); err != nil {
		return 0, err
	}
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
	if !l.out.isNews(text) {
		return nil
	}
	_, err := fmt.Fprintf(l.out.w, "%s%s%s", l.before, text, l.after)
	return err
}
