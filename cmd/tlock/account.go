package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/account"
	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
)

func accountCmd() *cobra.Command {
	var (
		src     source
		keyFile string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "account [ADDRESS]",
		Short: "Tell an account's address, gas tokens and escrow",
		Long: `Tell the address of a key file's account, and with --node what an account has there: gas tokens; escrow at the scheduler,
from which entries are paid; tokens that reserves can hold. What is locked for entries is in neither gas tokens nor escrow.

An account is a secp256k1 key: 64 hexadecimal digits in a file that only you can read.`,
		Example: `  tlock account --node http://127.0.0.1:26680 --key-file account.key
  tlock account --node http://127.0.0.1:26680 0x00000000000000000000000000000000000a11ce

  # a new account
  (umask 077; openssl rand -hex 32 > account.key); tlock account --key-file account.key`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := whose(keyFile, args)
			if err != nil {
				return err
			}
			if src.node == "" {
				return printAccount(cmd, api.Account{Address: hex0x(address[:])}, asJSON)
			}
			a, err := ask(cmd.Context(), src, address)
			if err != nil {
				return err
			}
			return printAccount(cmd, a, asJSON)
		},
	}
	cmd.Flags().StringVar(&src.node, "node", "", "base URL of a node, such as http://127.0.0.1:26680; without one, only the address is told")
	cmd.Flags().StringVar(&keyFile, "key-file", "", "file with the account's secp256k1 key in hex, in place of ADDRESS")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for scripts")
	return cmd
}

// whose is the account given, by its key or by its address.
func whose(keyFile string, args []string) (common.Address, error) {
	switch {
	case (keyFile == "") == (len(args) == 0):
		return common.Address{}, cli.Usage("whose? give one of ADDRESS and --key-file FILE")
	case keyFile != "":
		who, err := account.Read(keyFile)
		if err != nil {
			return common.Address{}, err
		}
		return who.Address, nil
	case !common.IsHexAddress(args[0]):
		return common.Address{}, cli.Hint(cli.Usage("ADDRESS %q is not an account", shorten(args[0])), "an account is 0x and 40 hexadecimal digits")
	}
	return common.HexToAddress(args[0]), nil
}

func ask(ctx context.Context, src source, address common.Address) (api.Account, error) {
	c, err := src.client()
	if err != nil {
		return api.Account{}, err
	}
	defer c.Close()
	return c.Account(ctx, hex0x(address[:]))
}

// printAccount writes one line for each thing there is to tell.
func printAccount(cmd *cobra.Command, a api.Account, asJSON bool) (err error) {
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(a)
	}
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%-10s  %s\n", name, cli.Word(value)) }
	line("account", a.Address)
	if a.Balance != "" {
		line("gas tokens", a.Balance)
		line("escrow", a.Escrow)
	}
	for _, t := range a.Tokens {
		line("token", fmt.Sprintf("%s  %s, and %s held for reserves", t.Token, t.Balance, t.Held))
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), b.String())
	return err
}
