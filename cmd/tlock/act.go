package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/account"
	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
)

// act is a transaction to the scheduler about an entry or about escrow, and what it prints.
type act struct {
	src     source
	keyFile string
	asJSON  bool
}

func (a *act) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.src.node, "node", "", "base URL of a node, such as http://127.0.0.1:26680 (required)")
	cmd.Flags().StringVar(&a.src.file, "network", "", "network file: the node must be of this network")
	cmd.Flags().StringVar(&a.keyFile, "key-file", "", "file with the account's secp256k1 key in hex (required)")
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "for scripts")
}

// entryActs are the transactions that name an entry: cancel, expire and resume (document 002 "Cancelling, expiring, and
// withdrawing" and "Failures, retries, and recurrence").
var entryActs = []struct {
	use, short, long string
	input            func(id uint64) []byte
	event            string // that the transaction leaves if it worked
	arg, says        string // what is printed: says, with the event's argument
}{
	{
		"cancel", "Take back an entry before it runs", `Cancel an entry of yours that has not run, or end a series of yours that is paused. What a cancel returns of the fee is
the network's policy; a token reserve is released in full.`,
		scheduler.CancelInput, "Cancelled", "refund", "canceled, %s returned to escrow",
	},
	{
		"expire", "Clear away an entry that will never run", `Expire an entry that can run no more, whoever's it is: past its deadline, passed over, still sealed half a minute after
its slot, or without its oracle item. Its payer gets the whole fee back, and a token reserve.`,
		scheduler.ExpireInput, "Expired", "refund", "expired, %s returned to its payer's escrow",
	},
	{
		"resume", "Go on with a paused series", `Schedule the next period of a series of yours that paused because a run failed. The failed run is not repeated. Escrow
must hold the next fee.`,
		scheduler.ResumeInput, "Recurred", "nextId", "resumed, next is entry %s",
	},
}

func entryActCmds() (cmds []*cobra.Command) {
	for _, e := range entryActs {
		var a act
		cmd := &cobra.Command{
			Use: e.use + " ID", Short: e.short, Long: e.long, Args: cobra.ExactArgs(1),
			Example: "  tlock " + e.use + " --node http://127.0.0.1:26680 --key-file account.key 7",
			RunE: func(cmd *cobra.Command, args []string) error {
				id, err := parseID("ID", args[0])
				if err != nil {
					return err
				}
				done, err := a.send(cmd.Context(), func(context.Context, *api.Client, api.Account) ([]account.Call, error) {
					return []account.Call{{To: common.Address(scheduler.Address), Input: e.input(id)}}, nil
				})
				if errors.Is(err, errRefused) && !strings.Contains(err.Error(), scheduler.InsufficientEscrow.Name()) {
					return cli.Hint(err, fmt.Sprintf("\"tlock entry %d\" tells how it is", id))
				}
				if err != nil {
					return err
				}
				for _, l := range done.Logs {
					if l.Name == e.event && l.ID == id {
						return a.print(cmd, done, fmt.Sprintf("entry %d "+e.says, id, l.Args[e.arg]))
					}
				}
				return fmt.Errorf("transaction %s left no event %s of entry %d", done.Hash, e.event, id)
			},
		}
		a.flags(cmd)
		cmds = append(cmds, cmd)
	}
	return cmds
}

func depositCmd() *cobra.Command {
	var a act
	cmd := &cobra.Command{
		Use:   "deposit AMOUNT",
		Short: "Pay gas tokens into escrow, from which entries are paid",
		Long: `Approve AMOUNT of the gas token, in base units, to the scheduler and pay it into your escrow there. "tlock schedule"
deposits what an entry's first run lacks by itself; retries and the later periods of a series take theirs from what is
there.`,
		Example: `  tlock deposit --node http://127.0.0.1:26680 --key-file account.key 1000000000`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.escrow(cmd, args[0], "Deposited", "deposited %s", func(policy api.Policy, who api.Account, amount *uint256.Int) ([]account.Call, error) {
				// The approval would stand in a block before the deposit could be tried.
				if err := enough(who, who.Balance, amount, "gas tokens", "give it gas tokens, or deposit less"); err != nil {
					return nil, err
				}
				token, err := accountOf("node's gas token", policy.GasToken)
				return deposit(token, amount), err
			})
		},
	}
	a.flags(cmd)
	return cmd
}

func withdrawCmd() *cobra.Command {
	var a act
	cmd := &cobra.Command{
		Use:   "withdraw AMOUNT",
		Short: "Take gas tokens out of escrow",
		Long: `Take AMOUNT of the gas token, in base units, out of your escrow at the scheduler. What is locked for entries is not
available; "tlock cancel" frees it. If your account quarantines what it receives, the tokens go to the quarantine.`,
		Example: `  tlock withdraw --node http://127.0.0.1:26680 --key-file account.key 1000000000`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.escrow(cmd, args[0], "Withdrawn", "withdrew %s", func(_ api.Policy, who api.Account, amount *uint256.Int) ([]account.Call, error) {
				if err := enough(who, who.Escrow, amount, "in escrow that is not locked", `"tlock cancel" frees what is locked for an entry`); err != nil {
					return nil, err
				}
				return []account.Call{{To: common.Address(scheduler.Address), Input: scheduler.WithdrawInput(*amount)}}, nil
			})
		},
	}
	a.flags(cmd)
	return cmd
}

// enough is an error unless what an account has is at least the amount that is to be taken from it.
func enough(who api.Account, has string, amount *uint256.Int, what, hint string) error {
	have, err := uint256.FromDecimal(has)
	if err != nil {
		return fmt.Errorf("node's answer about account %s makes no sense", shorten(who.Address))
	}
	if have.Cmp(amount) < 0 {
		return cli.Hint(fmt.Errorf("account %s has %s %s, and this takes %s", cli.Word(who.Address), have.Dec(), what, amount.Dec()), hint)
	}
	return nil
}

// escrow sends the calls about an amount and prints the event that the last of them leaves.
func (a *act) escrow(cmd *cobra.Command, text, event, says string, calls func(api.Policy, api.Account, *uint256.Int) ([]account.Call, error)) error {
	amount, err := parseAmount(text)
	if err != nil || text == "" || amount.IsZero() {
		return cli.Usage("%q is not an amount: a number above zero, in base units of the gas token", shorten(text))
	}
	done, err := a.send(cmd.Context(), func(ctx context.Context, c *api.Client, who api.Account) ([]account.Call, error) {
		policy, err := c.Policy(ctx)
		if err != nil {
			return nil, err
		}
		return calls(policy, who, amount)
	})
	if err != nil {
		return err
	}
	for _, l := range done.Logs {
		if l.Name == event {
			return a.print(cmd, done, fmt.Sprintf(says, l.Args["amount"]))
		}
	}
	return fmt.Errorf("transaction %s left no event %s", done.Hash, event)
}

// errRefused is an answer of the scheduler; its error follows.
var errRefused = errors.New("the scheduler refused")

// inclusion is how long a transaction that can stand in any block is waited for.
const inclusion = 30 * time.Second

// send signs and posts the calls, and waits for the last one's block. A call that stands alone is tried before it is sent.
func (a *act) send(ctx context.Context, make func(context.Context, *api.Client, api.Account) ([]account.Call, error)) (done api.Receipt, err error) {
	if a.keyFile == "" {
		return done, cli.Hint(cli.Usage("whose? give --key-file FILE"), account.KeyHint)
	}
	c, err := a.src.client()
	if err != nil {
		return done, err
	}
	defer c.Close()
	who, err := account.Read(a.keyFile)
	if err != nil {
		return done, err
	}
	network, err := a.src.network(ctx)
	if err != nil {
		return done, err
	}
	state, err := c.Account(ctx, who.Address.Hex())
	if err != nil {
		return done, err
	}
	calls, err := make(ctx, c, state)
	if err != nil {
		return done, err
	}
	if len(calls) == 1 {
		_, err := c.Try(ctx, api.Call{From: who.Address.Hex(), To: calls[0].To.Hex(), Input: hex0x(calls[0].Input)})
		if why, refused := api.Refused(err); refused {
			return done, fmt.Errorf("%w: %s", errRefused, cli.Word(why))
		}
		if err != nil {
			return done, err
		}
	}
	hashes, err := who.Send(ctx, c, network.Namespace.ChainID(), state.Nonce, calls)
	if err != nil {
		return done, err
	}
	return settle(ctx, c, hashes[len(hashes)-1])
}

// settle waits for the block of a transaction and tells if it failed there.
func settle(ctx context.Context, c *api.Client, hash string) (api.Receipt, error) {
	end := time.Now().Add(inclusion)
	done, err := account.Receipt(ctx, c, hash, func(context.Context) (bool, error) { return time.Now().After(end), nil })
	if errors.Is(err, account.ErrNoBlock) {
		return done, cli.Hint(fmt.Errorf("transaction %s is in no block after %s", hash, inclusion), "the network stands still; the transaction waits and may still be done")
	}
	if err == nil && !done.Success {
		err = fmt.Errorf("%w: %s", errRefused, cli.Word(done.Error))
	}
	return done, err
}

func (a *act) print(cmd *cobra.Command, done api.Receipt, text string) (err error) {
	if a.asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(done)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}
