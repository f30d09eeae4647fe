package proctest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// shownLines is how much of each validator's log a failure shows.
const shownLines = 40

// logBook takes the validators' merged output, whole lines "NAME | TEXT", and the test's own notes. All of it goes to a file;
// the last lines of each are kept to be shown.
type logBook struct {
	mu    sync.Mutex // guards what follows
	file  *os.File
	tails map[string][]string
	watch func(name, text string) // sees each line as it comes; nil for nobody
}

func newLogBook(path string) (*logBook, error) {
	f, err := os.Create(path)
	return &logBook{file: f, tails: make(map[string][]string)}, err
}

func (b *logBook) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		name, text, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " | ")
		b.line(name, text)
	}
	return len(p), nil
}

// note writes down what the test does, in place among the validators' lines.
func (b *logBook) note(text string) {
	b.line("test", time.Now().UTC().Format("15:04:05.000")+" ---- "+text)
}

func (b *logBook) line(name, text string) {
	b.mu.Lock()
	watch := b.watch
	_, _ = fmt.Fprintf(b.file, "%s | %s\n", name, text) // a full disk shows in what it does to the validators
	if !strings.Contains(text, " debug ") && !strings.Contains(text, "key recovered ") {
		tail := append(b.tails[name], text)
		b.tails[name] = tail[max(0, len(tail)-shownLines):]
	}
	b.mu.Unlock()
	if watch != nil {
		watch(name, text)
	}
}

// onLine has f called for each line from now on, in the goroutine that writes it; nil for no longer.
func (b *logBook) onLine(f func(name, text string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch = f
}

func (b *logBook) tail(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.tails[name], "\n    ")
}

// said tells whether the last lines of a validator hold a text.
func (c *cluster) said(m *member, text string) error {
	if !strings.Contains(c.book.tail(m.Name), text) {
		return fmt.Errorf("%s has not said %q", m.Name, text)
	}
	return nil
}
