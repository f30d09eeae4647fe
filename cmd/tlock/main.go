// Command tlock seals files and calls until a time, and opens them once that time has come.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
)

func main() { os.Exit(run()) }

// run is main without the exit, for the script tests.
func run() int { return cli.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "tlock",
		Short: "Seal a file or a call until a time; open it when the time has come",
		Long: `tlock seals files and calls until a time. What it seals, nobody can open before that time: the key is made by a
network of validators together, second by second, and none of them has it earlier.

On a network's chain, "tlock schedule" has calls run at a time, sealed until then or open, again and again, or once an
oracle says so; "tlock entry" tells how an entry is, "tlock account" what an account has; cancel, expire, resume, deposit and withdraw do what their names say.

Sealing needs the network's public data, from a network file (--network) or from a node (--node). Opening needs the key
of the slot (second) the file was sealed to, which every node hands out once the slot is over.

Exit codes: 0 done, 1 error, 2 wrong usage, 3 not yet (the same command works later).`,
	}
	root.AddCommand(sealCmd(), openCmd(), waitCmd(), verifyCmd(), inspectCmd(), scheduleCmd(), entryCmd(), accountCmd(), depositCmd(), withdrawCmd(), vectorsCmd())
	root.AddCommand(entryActCmds()...)
	return root
}
