package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
)

// input opens what a command reads: the file called name, or stdin for "" and "-".
func input(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "" || name == "-" {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is a folder; make an archive of it first, for instance with tar", name))
	}
	return f, nil
}

// output is where a command's data go. Nothing has the final name before finish.
type output struct {
	io.Writer
	finish func() error // the data are complete
	abort  func()       // they are not; does nothing after finish
}

// outputTo begins the output: stdout for "-"; else a file called name, which replaces another only if replace is set.
// text says that the data are readable; other data are refused to a terminal.
func outputTo(name string, replace, text bool, stdout io.Writer) (*output, error) {
	if name == "-" {
		return outputToStdout(text, stdout)
	}
	if _, err := os.Stat(name); err == nil && !replace {
		return nil, existsError(name)
	}
	f, err := durable.NewFile(name)
	if err != nil {
		return nil, err
	}
	commit := f.Commit
	if !replace {
		commit = func() error {
			err := f.CommitNew()
			if errors.Is(err, durable.ErrExists) {
				return existsError(name)
			}
			return err
		}
	}
	return &output{Writer: f, finish: commit, abort: f.Abort}, nil
}

func existsError(name string) error {
	return cli.Hint(fmt.Errorf("%s is there already and was not replaced", name), fmt.Sprintf("-o %s replaces it", name))
}

func outputToStdout(text bool, stdout io.Writer) (*output, error) {
	if !text && cli.IsTerminal(stdout) {
		return nil, errBinary
	}
	buf := bufio.NewWriterSize(stdout, 64<<10)
	return &output{Writer: buf, finish: buf.Flush, abort: func() {}}, nil
}

var errBinary = cli.Hint(errors.New("the output is binary and stdout is a terminal"), "write to a file with -o FILE, or pipe it on")

// printable tells whether the start of some data can be shown on a terminal without harm.
func printable(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(head) {
			return false
		}
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' && r != utf8.RuneError {
			return false
		}
		head = head[n:]
	}
	return true
}
