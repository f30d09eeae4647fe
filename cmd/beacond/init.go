package main

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
)

// homeFlag adds --home to cmd.
func homeFlag(cmd *cobra.Command, home *string) {
	cmd.Flags().StringVar(home, "home", "", "the validator's folder (required)")
}

func needHome(home string) (node.Home, error) {
	if home == "" {
		return "", cli.Usage("which folder? give --home DIR")
	}
	return node.Home(home), nil
}

func initCmd() *cobra.Command {
	var (
		home, name, proposer string
		addrs                []string
		cfg                  = node.DefaultConfig()
	)
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a validator's folder: network key, config, and its descriptor for genesis",
		Example: `  beacond init --home ~/validator --name alice \
    --proposer 0x00000000000000000000000000000000000a11ce --addr /ip4/203.0.113.7/tcp/26600`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := needHome(home)
			if err != nil {
				return err
			}
			if !common.IsHexAddress(proposer) {
				return cli.Hint(cli.Usage("--proposer %q is not an account", proposer), "give the account that receives the fees of your blocks, 0x and 40 hexadecimal digits")
			}
			d, err := h.Init(cfg, name, common.HexToAddress(proposer), addrs)
			if err != nil {
				return cli.Hint(fmt.Errorf("making a validator: %w", err))
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "made %s\nhint: send %s to whoever makes the genesis; keep the rest to yourself\n", h, h.DescriptorPath())
			_, err = cmd.OutOrStdout().Write(d.Encode())
			return err
		},
	}
	homeFlag(cmd, &home)
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "short name, shown in logs: a-z, 0-9 and - (required)")
	f.StringVar(&proposer, "proposer", "", "account that receives the fees of this validator's blocks (required)")
	f.StringArrayVar(&addrs, "addr", nil, "where the other validators reach this one; may be repeated (required)")
	f.StringArrayVar(&cfg.Listen, "listen", cfg.Listen, "where to listen for them; may be repeated")
	f.StringVar(&cfg.Public, "public", cfg.Public, "host:port of the public HTTP API")
	f.StringVar(&cfg.Operator, "operator", cfg.Operator, "host:port of health, metrics and profiles")
	return cmd
}
