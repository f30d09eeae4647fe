// Package cli holds what the two command lines share: exit codes, errors that carry a hint, and the way both are shown.
//
// Data goes to stdout, everything said to a person goes to stderr. A script reads the exit code:
//
//	0  done
//	1  an error
//	2  wrong usage of the command line
//	3  not yet: the same command will work later
//
// An error is printed as "name: what was being done: why", followed by one "hint:" line for each thing that would help. What
// it quotes may come from a node or a file that means harm: whatever could move a terminal's cursor or begin a line of its own
// is shown as an escape.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Exit codes of both binaries.
const (
	ExitOK     = 0
	ExitError  = 1
	ExitUsage  = 2
	ExitNotYet = 3
)

// Error is an error with the exit code and the advice that belong to it.
type Error struct {
	Code  int
	Err   error
	Hints []string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Hint wraps err with advice, one line each. The exit code stays what err's own is.
func Hint(err error, hints ...string) error {
	if err == nil {
		return nil
	}
	return &Error{Code: ExitCode(err), Err: err, Hints: hints}
}

// Usage is an error in the way the command was called: exit code 2.
func Usage(format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// NotYet wraps err as "works later": exit code 3.
func NotYet(err error) error { return &Error{Code: ExitNotYet, Err: err} }

// ExitCode is the exit code that belongs to err.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ExitError
}

// Print writes err and all hints along its chain to w in the form described at the package.
func Print(w io.Writer, name string, err error) {
	if msg := strings.TrimSpace(err.Error()); msg != "" {
		fmt.Fprintf(w, "%s: %s\n", name, Printable(msg))
	}
	for _, h := range hintsOf(err) {
		fmt.Fprintf(w, "hint: %s\n", Printable(h))
	}
}

// hintsOf collects the hints of all errors that err is made of, from the outside in.
func hintsOf(err error) (hints []string) {
	if e, ok := err.(*Error); ok {
		hints = append(hints, e.Hints...)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		hints = append(hints, hintsOf(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			hints = append(hints, hintsOf(part)...)
		}
	}
	return hints
}

// Printable is s with everything that is not text for a terminal written as an escape. Line feeds stay: a list of errors has
// them.
func Printable(s string) string {
	plain := func(r rune) bool { return r == '\n' || strconv.IsPrint(r) && r != utf8.RuneError }
	if !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if plain(r) {
			b.WriteString(s[:n])
		} else {
			quoted := strconv.QuoteToASCII(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// Word is somebody else's text made fit to stand within a line of ours.
func Word(s string) string { return Printable(strings.Join(strings.Fields(s), " ")) }

// Main runs root until it is done, or until SIGINT or SIGTERM cancels its context, and returns the exit code.
// A second signal ends the process at once.
func Main(root *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	log.SetOutput(io.Discard) // libraries talk there about what comes back as an error too
	Prepare(root)
	if err := root.ExecuteContext(ctx); err != nil {
		Print(root.ErrOrStderr(), root.Name(), err)
		return ExitCode(err)
	}
	return ExitOK
}

// Prepare makes every command below root report usage mistakes as Usage errors and leave the printing to Main.
func Prepare(root *cobra.Command) {
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return Hint(&Error{Code: ExitUsage, Err: err}, fmt.Sprintf("see %q", cmd.CommandPath()+" --help"))
	})
	prepareArgs(root)
}

// prepareArgs turns the errors of argument checks, which cobra leaves plain, into usage errors.
func prepareArgs(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.NoArgs
	}
	cmd.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return Hint(&Error{Code: ExitUsage, Err: argsError(c, args, err)}, argsHint(c, args))
		}
		return nil
	}
	if cmd.HasSubCommands() && cmd.RunE == nil {
		// The flags of a command whose name is misspelt are no flags of its parent: the name is the mistake to tell.
		cmd.FParseErrWhitelist.UnknownFlags = true
		cmd.RunE = func(c *cobra.Command, args []string) error {
			if err := c.Help(); err != nil {
				return err
			}
			return Usage("a command is missing")
		}
	}
	for _, sub := range cmd.Commands() {
		prepareArgs(sub)
	}
}

// argsError says which argument of the command's usage line is missing, or which is one too many.
func argsError(c *cobra.Command, args []string, err error) error {
	var names []string
	for _, name := range strings.Fields(c.Use)[1:] {
		if strings.HasPrefix(name, "[") || name == "…" {
			return err // how many there may be is not in the usage line
		}
		names = append(names, name)
	}
	switch {
	case len(args) < len(names):
		return fmt.Errorf("%s is missing", strings.Join(names[len(args):], " "))
	case len(args) > len(names) && !c.HasSubCommands():
		return fmt.Errorf("%q is one argument too many", args[len(names)])
	}
	return err
}

// argsHint names the command that was probably meant, or the one that explains.
func argsHint(c *cobra.Command, args []string) string {
	if c.HasSubCommands() && len(args) > 0 {
		c.SuggestionsMinimumDistance = 2 // letters; cobra knows it only where it prints suggestions itself
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			return fmt.Sprintf("did you mean %q?", c.CommandPath()+" "+near[0])
		}
	}
	return fmt.Sprintf("see %q", c.CommandPath()+" --help")
}
