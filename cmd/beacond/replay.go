package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/scheduler/replay"
)

func replayCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE",
		Short: "Run the scheduler by a script, without a network",
		Long: `Run the scheduler by a script of JSON lines, alone on a chain in memory: no network, no clock, no randomness. It prints one
JSON line for each block, and a last one with the state that is left. The same script gives the same output on every machine.

FILE "-" is the standard input. The format is described in scheduler/replay/README.md, with examples.

Exit code 1: the script is malformed, or a block breaks a rule of its chain; the lines before it have been printed.`,
		Example: `  beacond replay scheduler/replay/examples/late-key.jsonl
  beacond replay - < trial.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, name, err := openScript(cmd, args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			err = replay.Stream(in, func(line []byte) error {
				_, err := cmd.OutOrStdout().Write(line)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		},
	}
}

func openScript(cmd *cobra.Command, file string) (in io.ReadCloser, name string, err error) {
	if file == "-" {
		return io.NopCloser(cmd.InOrStdin()), "standard input", nil
	}
	in, err = os.Open(file)
	return in, file, err
}
