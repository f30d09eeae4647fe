package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/tlock"
)

func verifyCmd() *cobra.Command {
	var src source
	cmd := &cobra.Command{
		Use:   "verify SLOT KEY",
		Short: "Check that a key is the group's key of a slot",
		Long: `Check KEY (96 bytes of hex) against the group key of a network. It fits if the validators' group signed SLOT:
nobody can make such a key without enough of them.`,
		Example: `  tlock verify --network network.json 1893456000 0xa1b2…`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			slot, err := parseSlot(args[0])
			if err != nil {
				return err
			}
			key, err := keyArg("KEY", args[1])
			if err != nil {
				return err
			}
			network, err := src.network(cmd.Context())
			if err != nil {
				return err
			}
			if err := network.GroupKey.Verify(network.Namespace, tlock.SlotIdentity(slot), key); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "ok: the group's key of slot %d\n", slot)
			return err
		},
	}
	src.flags(cmd)
	return cmd
}
