package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"text/tabwriter"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/account"
	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func oracleCmd() *cobra.Command {
	var o oracleFlags
	cmd := &cobra.Command{
		Use:   "oracle",
		Short: "Write to the oracle's items, for which conditional entries wait",
		Long: `Write to the items of the network's oracle catalog, as one of the writers that its genesis names. Entries scheduled with
"tlock schedule --when" fire on a write that satisfies their condition, unless the item is halted or disputed. A feed
does the same by transactions to 0x…fd; this is for trying out and for tests.

ITEM is a name, such as ETH/USD, or the item's id: 0x and 64 hexadecimal digits.`,
	}
	o.flags(cmd)
	cmd.AddCommand(oracleWriteCmd(&o), oracleListCmd(&o))
	for _, a := range []struct {
		use, short, done string
		input            func(item api.Item, id scheduler.Word) []byte
	}{
		{"halt", "Halt an item: no write fires an entry until it is resumed", "halted", func(item api.Item, id scheduler.Word) []byte {
			return memory.SetFlagsInput(id, true, item.Disputed)
		}},
		{"dispute", "Mark an item's value as disputed, until it is resumed", "disputed", func(item api.Item, id scheduler.Word) []byte {
			return memory.SetFlagsInput(id, item.Halted, true)
		}},
		{"resume", "Lift the halt and the dispute of an item", "resumed", func(_ api.Item, id scheduler.Word) []byte {
			return memory.SetFlagsInput(id, false, false)
		}},
		{"delist", "Take an item out of the catalog: entries that watch it can be expired", "delisted", func(_ api.Item, id scheduler.Word) []byte {
			return memory.DelistInput(id)
		}},
	} {
		sub := &cobra.Command{
			Use: a.use + " ITEM", Short: a.short, Args: cobra.ExactArgs(1),
			Example: "  beacond oracle " + a.use + " --node http://127.0.0.1:26680 --key-file account.key ETH/USD",
			RunE: func(cmd *cobra.Command, args []string) error {
				return o.send(cmd, args[0], a.done, a.input)
			},
		}
		cmd.AddCommand(sub)
	}
	return cmd
}

func oracleWriteCmd(o *oracleFlags) *cobra.Command {
	return &cobra.Command{
		Use: "write ITEM VALUE", Short: "Write a value, in the item's own units",
		Example: "  beacond oracle write --node http://127.0.0.1:26680 --key-file account.key ETH/USD 350000000000",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := uint256.FromDecimal(args[1])
			if err != nil {
				return cli.Usage("value %q is not a whole number below 2^256", args[1])
			}
			return o.send(cmd, args[0], "is "+value.Dec(), func(_ api.Item, id scheduler.Word) []byte {
				return memory.WriteInput(id, value.Bytes32())
			})
		},
	}
}

func oracleListCmd(o *oracleFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list [ITEM]", Short: "List an item in the catalog; without ITEM, print those of the genesis",
		Example: "  beacond oracle list --node http://127.0.0.1:26680",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return o.send(cmd, args[0], "listed", func(_ api.Item, id scheduler.Word) []byte { return memory.ListInput(id) })
			}
			c, err := o.client()
			if err != nil {
				return err
			}
			defer c.Close()
			items, err := c.Items(cmd.Context())
			if err != nil {
				return err
			}
			return printItems(cmd.OutOrStdout(), items)
		},
	}
}

func printItems(w io.Writer, items []api.Item) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, i := range items {
		value, written := i.Value, fmt.Sprintf("block %d, %s", i.Block, time.Unix(int64(i.Time), 0).UTC().Format(time.RFC3339))
		if value == "" {
			value, written = "-", "never written"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", cli.Word(i.Name), cli.Word(value), written, itemState(i))
	}
	return tw.Flush()
}

// itemState says what keeps an item's writes from firing entries.
func itemState(i api.Item) string {
	switch {
	case !i.Listed:
		return "not listed"
	case i.Halted && i.Disputed:
		return "halted and disputed"
	case i.Halted:
		return "halted"
	case i.Disputed:
		return "disputed"
	}
	return "ok"
}

// oracleFlags say which node and whose transactions.
type oracleFlags struct{ node, keyFile string }

func (o *oracleFlags) flags(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&o.node, "node", "", "base URL of a node, such as http://127.0.0.1:26680 (required)")
	cmd.PersistentFlags().StringVar(&o.keyFile, "key-file", "", "file with a writer's secp256k1 key in hex")
}

func (o *oracleFlags) client() (*api.Client, error) {
	if o.node == "" {
		return nil, cli.Usage("which network? give --node URL")
	}
	c, err := api.NewClient(o.node)
	if err != nil {
		return nil, cli.Usage("--node: %w", err)
	}
	return c, nil
}

// inclusion is how long a transaction is waited for.
const inclusion = 30 * time.Second

// send calls the catalog about an item, waits for the block, and prints what is done.
func (o *oracleFlags) send(cmd *cobra.Command, name, done string, input func(api.Item, scheduler.Word) []byte) error {
	if o.keyFile == "" {
		return cli.Hint(cli.Usage("who writes? give --key-file FILE"), "the genesis names the accounts that may")
	}
	ctx := cmd.Context()
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	who, err := account.Read(o.keyFile)
	if err != nil {
		return err
	}
	item, err := c.Item(ctx, name)
	if err != nil {
		return err
	}
	id, err := hexutil.Decode(item.Item)
	if err != nil || len(id) != len(scheduler.Word{}) {
		return fmt.Errorf("node's answer about item %s makes no sense", cli.Word(name))
	}
	receipt, err := sendToCatalog(ctx, c, who, input(item, scheduler.Word(id)))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s since block %d\n", cli.Word(name), done, receipt.Block)
	return err
}

// sendToCatalog tries a call, sends it, and waits for its block.
func sendToCatalog(ctx context.Context, c *api.Client, who *account.Account, input []byte) (r api.Receipt, err error) {
	catalog := common.Address(scheduler.OracleAddress)
	_, err = c.Try(ctx, api.Call{From: who.Address.Hex(), To: catalog.Hex(), Input: hexutil.Encode(input)})
	if why, refused := api.Refused(err); refused {
		return r, fmt.Errorf("the catalog refused: %s", cli.Word(why))
	}
	if err != nil {
		return r, err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return r, err
	}
	state, err := c.Account(ctx, who.Address.Hex())
	if err != nil {
		return r, err
	}
	hashes, err := who.Send(ctx, c, new(big.Int).SetUint64(info.ChainID), state.Nonce, []account.Call{{To: catalog, Input: input}})
	if err != nil {
		return r, err
	}
	end := time.Now().Add(inclusion)
	r, err = account.Receipt(ctx, c, hashes[0], func(context.Context) (bool, error) { return time.Now().After(end), nil })
	if errors.Is(err, account.ErrNoBlock) {
		return r, cli.Hint(fmt.Errorf("transaction %s is in no block after %s", hashes[0], inclusion), "the network stands still; the transaction waits and may still be done")
	}
	if err == nil && !r.Success {
		err = fmt.Errorf("the catalog refused: %s", cli.Word(r.Error))
	}
	return r, err
}
