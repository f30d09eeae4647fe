package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/demo"
)

func demoCmd() *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a whole network at work, and check it, in about half a minute",
		Long: `Run four validators on this machine and show, checking each step: the ceremony, a key for every second, a sealed call
that runs in the block that carries its key, and a file that opens when its time has come and not before. Exit code 0 only
if all of it went as told.`,
		Example: `  beacond demo --file README.md`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			if o.Tlock == "" {
				o.Tlock = filepath.Join(filepath.Dir(exe), "tlock")
			}
			for _, path := range []string{o.Tlock, o.File} {
				if _, err := os.Stat(path); err != nil {
					return cli.Hint(fmt.Errorf("the demo needs %s: %w", path, err), "--tlock says where the command line is, --file what to seal")
				}
			}
			o.Beacond, o.Out, o.Colour = exe, cmd.OutOrStdout(), cli.IsTerminal(cmd.OutOrStdout())
			return demo.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Tlock, "tlock", "", "path of tlock (default: beside beacond)")
	cmd.Flags().StringVar(&o.File, "file", "README.md", "file to seal and open")
	return cmd
}
