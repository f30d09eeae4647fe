package main

import (
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
)

func runCmd() *cobra.Command {
	var (
		home      string
		lostLog   bool
		lostVotes bool
	)
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the validator of a folder until it is told to stop",
		Long: `Run the validator of a folder that "beacond init" made and genesis.json lies in, until Ctrl-C or SIGTERM. The first time it
takes part in the ceremony, once the other validators are there. Its log goes to stderr; config.json has its addresses and
the log's level and form.

While it runs, "beacond status" and "beacond tasks" tell how it is. The two flags are for a folder that has lost a part; the
README says when each is safe.

Exit code 0 after a stop that was asked for, 1 if it cannot start or go on: the last line says why.`,
		Example: `  beacond run --home ~/validator`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := needHome(home)
			if err != nil {
				return err
			}
			cfg, err := h.LoadConfig()
			if err != nil {
				return err
			}
			log, err := cli.NewLogger(cmd.ErrOrStderr(), cfg.LogLevel, cfg.LogFormat)
			if err != nil {
				return err
			}
			if err := h.CheckLog(lostLog); err != nil {
				return err
			}
			if lostVotes {
				if err := h.DeclareVotesLost(); err != nil {
					return err
				}
			}
			n, err := node.Start(h, log)
			if err != nil {
				return err
			}
			failed := n.Wait(cmd.Context())
			if failed == nil {
				log.Info("stopping")
			}
			if err := n.Close(); err != nil {
				log.Error("stopping", "err", err)
			}
			return failed
		},
	}
	homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&lostLog, "lost-log", false, "the folder's log is gone for good: begin an empty one and take the chain from the others")
	cmd.Flags().BoolVar(&lostVotes, "lost-votes", false, "the folder's vote journal is gone for good and no copy of this validator runs: begin another, above all blocks there are")
	return cmd
}
