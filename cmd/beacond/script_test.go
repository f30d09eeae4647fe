package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/daybreak-beacon/daybreak/cmd/internal/clitest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"beacond": func() { os.Exit(run()) }})
}

// TestScripts runs the real command: what it makes, and what it refuses, with which words and exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: clitest.Commands(), RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ACCOUNT", "0x00000000000000000000000000000000000a11ce")
			env.Setenv("TOKEN", "0x00000000000000000000000000000000000070c4")
			return nil
		},
	})
}
