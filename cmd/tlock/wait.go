package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// pollEvery is how often wait asks again for a key whose slot is over.
const pollEvery = 300 * time.Millisecond

func waitCmd() *cobra.Command {
	var src source
	cmd := &cobra.Command{
		Use:   "wait SLOT",
		Short: "Wait until a slot's key exists, and print it",
		Long:  `Wait until SLOT is over and its key is there, verify it and print it as hex.`,
		Example: `  tlock wait --node http://127.0.0.1:26680 1893456000
  tlock open --key $(tlock wait --node http://127.0.0.1:26680 1893456000) letter.txt.sealed`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			slot, err := parseSlot(args[0])
			if err != nil {
				return err
			}
			if src.node == "" {
				return cli.Usage("this needs a node: give --node URL")
			}
			network, err := src.network(cmd.Context())
			if err != nil {
				return err
			}
			if wait := secondsUntil(slot, time.Now()); wait > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "slot %d is over in %s\n", slot, saySeconds(wait))
			}
			for {
				key, err := fetchKey(cmd.Context(), src, network, slot)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%#x\n", key.Bytes())
					return err
				}
				if cli.ExitCode(err) != cli.ExitNotYet {
					return err
				}
				select {
				case <-time.After(max(pollEvery, time.Until(tlock.SlotEnd(slot)))):
				case <-cmd.Context().Done():
					return cli.NotYet(fmt.Errorf("interrupted while waiting for slot %d", slot))
				}
			}
		},
	}
	src.flags(cmd)
	return cmd
}

func parseSlot(s string) (uint64, error) {
	slot, err := strconv.ParseUint(s, 10, 64)
	if err != nil || slot > maxSlot {
		return 0, cli.Usage("%q is not a slot: whole seconds since 1970", s)
	}
	return slot, nil
}
