package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

func genesisCmd() *cobra.Command {
	var (
		out                string
		o                  node.GenesisOptions
		gasToken, treasury string
		allocs             []string
		assets             assetFlags
		genesisTime        int64
	)
	cmd := &cobra.Command{
		Use:   "genesis VALIDATOR.json …",
		Short: "Make the genesis of a network from its validators' descriptors",
		Long: `Make the genesis of a network. The order of the files gives the validators their indices. All validators put the
same file into their folders as genesis.json.

The gas token of the in-memory chain exists only as --alloc says: ACCOUNT=AMOUNT in base units. So do the MIP20 tokens
that entries may reserve, as --token says. Conditional entries wait for writes of oracle items: --oracle-item lists one,
which "beacond oracle" lists more of, and --oracle-writer names an account that may write.`,
		Example: `  beacond genesis --chain-id 31337 --alloc 0x00000000000000000000000000000000000a11ce=1000000000000 \
    -o genesis.json alice/validator.json bob/validator.json carol/validator.json dave/validator.json

  # a token to reserve, and two items to wait for, the first with a value to begin with
  beacond genesis … --token 0x00000000000000000000000000000000000070c4:0x00000000000000000000000000000000000a11ce=1000000 \
    --oracle-writer 0x000000000000000000000000000000000000feed --oracle-item ETH/USD=350000000000 --oracle-item BTC/USD`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Hint(cli.Usage("no validators: give the validator.json of each"), "\"beacond init\" makes one")
			}
			var err error
			if o.Balances, err = parseAllocs(allocs); err != nil {
				return err
			}
			if o.Tokens, err = parseTokens(assets.tokens); err != nil {
				return err
			}
			if o.Catalog, err = parseCatalog(assets.writers, assets.items); err != nil {
				return err
			}
			if o.GasToken, err = parseAccount("--gas-token", gasToken); err != nil {
				return err
			}
			if o.Treasury, err = parseAccount("--treasury", treasury); err != nil {
				return err
			}
			if genesisTime <= 0 || genesisTime >= 1<<40 {
				return cli.Usage("--time %d is no time: give the Unix time in seconds", genesisTime)
			}
			if err := (chain.CeremonySettings{MinQual: o.MinQual, PhaseTimeoutSeconds: o.PhaseTimeout}).Check(len(args)); err != nil {
				return cli.Usage("--min-qual and --phase-timeout: %w", err)
			}
			if o.ChainID == 0 {
				o.ChainID = randomChainID()
			}
			o.Time = uint64(genesisTime)
			g, err := makeGenesis(o, args)
			if err != nil {
				return err
			}
			for _, w := range g.Warnings() {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
			}
			if out == "-" {
				_, err = cmd.OutOrStdout().Write(g.Encode())
			} else if err = durable.CreatePublic(out, g.Encode()); err == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "made %s, hash %#x\nhint: every validator puts it into its folder as genesis.json\n", out, g.Hash())
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "genesis.json", "where to write it; - for stdout")
	f.Uint64Var(&o.ChainID, "chain-id", 0, "number that no other network uses; 0 draws one")
	f.Int64Var(&genesisTime, "time", time.Now().Unix(), "when the network begins, unix seconds")
	f.StringArrayVar(&allocs, "alloc", nil, "gas tokens to begin with, ACCOUNT=AMOUNT; may be repeated")
	f.StringArrayVar(&assets.tokens, "token", nil, "MIP20 tokens to begin with, TOKEN:HOLDER=AMOUNT; may be repeated")
	f.StringArrayVar(&assets.writers, "oracle-writer", nil, "account that may write to the oracle's items; may be repeated")
	f.StringArrayVar(&assets.items, "oracle-item", nil, "oracle item to begin with, NAME or NAME=VALUE; may be repeated")
	f.StringVar(&gasToken, "gas-token", strings.ToLower(node.DefaultGasToken.Hex()), "account of the gas token")
	f.StringVar(&treasury, "treasury", strings.ToLower(node.DefaultTreasury.Hex()), "account credited with what canceled entries leave")
	f.IntVar(&o.MinQual, "min-qual", 0, "members that must deal in the ceremony; 0 for all")
	f.Uint64Var(&o.PhaseTimeout, "phase-timeout", 0, "seconds a member waits in a phase of the ceremony; 0 for the default")
	f.Lookup("time").DefValue = "now"
	return cmd
}

func makeGenesis(o node.GenesisOptions, files []string) (*chain.Genesis, error) {
	var validators []node.Descriptor
	for _, path := range files {
		d, err := node.LoadDescriptor(path)
		if err != nil {
			return nil, err
		}
		validators = append(validators, d)
	}
	return node.NewGenesis(o, validators)
}

func parseAllocs(allocs []string) (chain.Balances, error) {
	balances := make(chain.Balances)
	for _, a := range allocs {
		account, amount, ok := strings.Cut(a, "=")
		value, err := uint256.FromDecimal(amount)
		if !ok || err != nil || !common.IsHexAddress(account) {
			return nil, cli.Usage("--alloc %q is not ACCOUNT=AMOUNT, such as 0x00000000000000000000000000000000000a11ce=1000000", a)
		}
		balances[common.HexToAddress(account)] = value
	}
	return balances, nil
}

func parseAccount(flag, text string) (node.Address, error) {
	if !common.IsHexAddress(text) {
		return node.Address{}, cli.Usage("%s %q is not an account: write 0x and 40 hexadecimal digits", flag, text)
	}
	return common.HexToAddress(text), nil
}

// randomChainID draws a number that JavaScript can hold and nobody else is likely to use.
func randomChainID() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return 1<<32 + binary.BigEndian.Uint64(b[:])>>12
}
