package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/vectorcheck"
)

func vectorsCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "vectors DIR",
		Short:   "Run every test vector of a folder against this build",
		Long:    `Run every vector file in DIR against this build and print a line for each. Exit code 1 if a vector fails.`,
		Example: `  tlock vectors vectors/`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed, err := vectorcheck.Run(os.DirFS(args[0]), cmd.OutOrStdout())
			if err != nil {
				return cli.Hint(err, "the project's own vectors lie in its folder vectors/")
			}
			if failed {
				return errors.New("this build does not agree with the vectors")
			}
			return nil
		},
	}
}
