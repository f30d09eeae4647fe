// Package clitest holds the verbs that the script tests of both command lines share. Only tests use it.
package clitest

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Commands returns the verbs:
//
//	exit CODE COMMAND …   run it; it must end with that exit code
//	files DIR [NAME …]    DIR holds exactly these names
//	occupy VAR            take a TCP port on loopback until the script ends, and set VAR to it
//	truncate FILE SIZE    cut a file, or with a negative SIZE cut so many bytes off its end
//	expand FILE …         put environment variables into the text of files
func Commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"exit": exit, "files": files, "occupy": occupy, "truncate": truncate, "expand": expand,
	}
}

func need(ts *testscript.TestScript, neg bool, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func exit(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "exit CODE COMMAND …")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		status, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = status.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func files(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 1, "files DIR [NAME …]")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(args[1:], " ") {
		ts.Fatalf("%s holds %q, want %q", args[0], got, args[1:])
	}
}

func occupy(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "occupy VAR")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

func truncate(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 2, "truncate FILE SIZE")
	path := ts.MkAbs(args[0])
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	if size < 0 {
		info, err := os.Stat(path)
		ts.Check(err)
		size += info.Size()
	}
	ts.Check(os.Truncate(path, size))
}

func expand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 1, "expand FILE …")
	for _, name := range args {
		path := ts.MkAbs(name)
		info, err := os.Stat(path)
		ts.Check(err)
		text, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, []byte(os.Expand(string(text), ts.Getenv)), info.Mode()))
	}
}
