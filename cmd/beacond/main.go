// Command beacond runs a Daybreak validator.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
)

func main() { os.Exit(run()) }

// run is main without the exit, for the script tests.
func run() int { return cli.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "beacond",
		Short: "Run a Daybreak validator",
		Long: `beacond runs a validator of a Daybreak network: it holds one share of the network's key, signs every slot (second)
once it is over, and runs the scheduler's chain together with the others.

To start a network, every operator runs "init" and sends its validator.json to one of them, who runs "genesis" and sends
the result to all; then each runs "run". To try one out on this machine, run "devnet" or "demo".

Exit codes: 0 done, 1 error, 2 wrong usage, 3 not yet (the same command works later).`,
		Version: node.Version(),
	}
	root.AddCommand(initCmd(), genesisCmd(), runCmd(), statusCmd(), tasksCmd(), devnetCmd(), demoCmd(), replayCmd(), oracleCmd())
	return root
}
