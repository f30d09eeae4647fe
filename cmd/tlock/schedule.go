package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/account"
	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// scheduling is what a person asks for.
type scheduling struct {
	src     source
	terms   terms
	keyFile string
	dryRun  bool
	wait    bool
	asJSON  bool
}

func scheduleCmd() *cobra.Command {
	var s scheduling
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Have calls run on chain at a time, hidden until then",
		Long: `Schedule calls that the network's chain runs at a slot, at a block's number, or after an oracle write. Unless --open is
given they are sealed: who schedules, when and with how much gas can be seen, where the calls go and what they say cannot,
until the block that runs them.

A call is TARGET:GAS:DATA, an account, the gas it may use, and its input in hex (which may be empty); --call may be
repeated, up to eight times, and the calls run in order, all or none. Durations count in slots of a second, rounded up.

The account of --key-file pays. What is missing in its escrow at the scheduler for the first run is approved and deposited
first, and what a reserve takes over all runs is approved to the scheduler. Retries and the later runs of a series take
their fees from escrow as they come: "tlock deposit" puts more there. Whatever the scheduler is sure to refuse is refused before
anything is sent, with the scheduler's name of the rule. --dry-run stops there, and prints what the entry costs, its
parameters, and the calldata for a wallet to send; an open entry's dry run needs no node and no account.

It prints the entry's number once a block has taken it in, and with --wait what became of it: it goes on through retries
and the runs of a series, one line a run. Exit code 1 if the last run failed, or the series paused or starved.`,
		Example: `  tlock schedule --node http://127.0.0.1:26680 --key-file account.key --in 10s \
    --call 0x00000000000000000000000000000000000a11ce:50000:0xdeadbeef --wait

  # every day for a year, two retries a minute apart, paused if a day fails for good
  tlock schedule … --at 2030-01-01T06:00Z --every 24h --times 365 --retries 2 --backoff 1m --pause-on-fail --open

  # pay 500 of a token to the first call's target when entry 7 has succeeded
  tlock schedule … --in 1h --after 7 --reserve 0x00000000000000000000000000000000000070c4:500 --open

  # once the price is written that high
  tlock schedule … --when 'ETH/USD>=350000000000' --not-before 2030-01-01T00:00Z --open

  # what would it cost?
  tlock schedule --in 1h --open --call 0x00000000000000000000000000000000000a11ce:50000: --dry-run`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.terms.gasPrice == 0 && cmd.Flags().Changed("gas-price") {
				return refusal(scheduler.ZeroGasPrice, "leave --gas-price out to pay the network's lowest", "--gas-price 0")
			}
			return s.run(cmd)
		},
	}
	s.src.flags(cmd)
	cmd.Flags().Lookup("network").Usage = "network file; without one, the node is believed about the group key"
	cmd.Flags().StringVar(&s.keyFile, "key-file", "", "file with the account's secp256k1 key in hex (required, but for the dry run of an open entry)")
	s.terms.flags(cmd)
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "send nothing: print the cost, the fee and the parameters as JSON")
	cmd.Flags().BoolVar(&s.wait, "wait", false, "wait until the entry, and what follows from it, has run")
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "for scripts")
	cmd.Flags().SortFlags = false
	return cmd
}

// request is an entry ready to be sent.
type request struct {
	params  scheduler.Params
	cost    uint64
	fee     *uint256.Int
	checker checker
	payer   *account.Account // nil for an open entry's dry run
	node    *api.Client      // nil for a dry run without one
	info    api.Info
	chainID *big.Int
}

func (s *scheduling) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	now := time.Now()
	params, err := s.terms.parse(now)
	if err != nil {
		return err
	}
	if s.keyFile == "" && !(s.dryRun && s.terms.open) {
		return cli.Hint(cli.Usage("who pays? give --key-file FILE"), account.KeyHint)
	}
	r := &request{params: params, checker: checker{policy: scheduler.DefaultPolicy(), time: uint64(now.Unix()), sealed: !s.terms.open}}
	if s.src.node != "" || !s.dryRun {
		if r.node, err = s.src.client(); err != nil {
			return err
		}
		defer r.node.Close()
	}
	if s.keyFile != "" {
		if r.payer, err = account.Read(s.keyFile); err != nil {
			return err
		}
	}
	if r.node != nil {
		if err := r.ask(ctx); err != nil {
			return err
		}
	}
	if r.params.GasPrice == 0 {
		r.params.GasPrice = r.checker.policy.MinGasPrice
	}
	if err := r.checker.check(r.params); err != nil {
		return err
	}
	r.cost, _ = r.checker.cost(r.params) // check has seen that it is in range
	r.fee = new(uint256.Int).Mul(uint256.NewInt(r.cost), uint256.NewInt(r.params.GasPrice))
	if err := s.seal(ctx, r); err != nil {
		return err
	}
	if r.node != nil && r.payer != nil {
		if err := r.try(ctx); err != nil {
			return err
		}
	}
	if !s.terms.open && s.terms.condition != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "note: validators do not sign conditions' keys yet: sealed, this entry will expire with a full refund; with --open it runs")
	}
	if s.dryRun {
		return r.print(cmd.OutOrStdout(), s.asJSON)
	}
	return s.send(cmd, r)
}

// ask learns what the node's network allows and where it is.
func (r *request) ask(ctx context.Context) error {
	policy, err := r.node.Policy(ctx)
	if err != nil {
		return err
	}
	if r.info, err = r.node.Info(ctx); err != nil {
		return err
	}
	token, err := accountOf("node's gas token", policy.GasToken)
	if err != nil {
		return err
	}
	r.checker.policy = scheduler.Policy{
		GasPerBlock: policy.GasPerBlock, GuaranteedGasPerSlot: policy.GuaranteedGasPerSlot, MaxHorizonSlots: policy.MaxHorizonSlots,
		MaxLateSlots: policy.MaxLateSlots, CancelRefundBps: policy.CancelRefundBps, MaxEntriesPerBlock: policy.MaxEntriesPerBlock,
		MinGasPrice: policy.MinGasPrice, GasToken: scheduler.Addr(token),
	}
	r.checker.time, r.checker.height = max(r.checker.time, r.info.Head.Timestamp), r.info.Head.Number
	return nil
}

// seal puts the sealed calls in place of the calls, unless the entry is to be open.
func (s *scheduling) seal(ctx context.Context, r *request) error {
	if r.node == nil && !r.checker.sealed {
		return nil
	}
	network, err := s.src.network(ctx)
	if err != nil {
		return err
	}
	r.chainID = network.Namespace.ChainID()
	if !r.checker.sealed {
		return nil
	}
	p := &r.params
	to := tlock.SlotSeal(p.Slot, r.payer.Address)
	if conditional(*p) {
		to, err = tlock.ConditionSeal(tlock.Condition{Payer: r.payer.Address, Item: p.When.Item, Kind: p.When.Kind, Operand: p.When.Operand, NotBefore: p.Slot})
		if err != nil {
			return err
		}
	}
	p.Ciphertext, p.Commitment, err = tlock.SealCalls(network.Namespace, network.GroupKey, to, tlock.EncodeCalls(p.Calls))
	if err != nil {
		return fmt.Errorf("sealing the calls: %w", err)
	}
	p.Calls = nil
	return nil
}

// try has the node try the call. What it lacks of escrow and allowance is not there yet.
func (r *request) try(ctx context.Context) error {
	_, err := r.node.Try(ctx, api.Call{From: r.payer.Address.Hex(), To: scheduler.Address.String(), Input: fmt.Sprintf("%#x", scheduler.ScheduleInput(r.params))})
	why, refused := api.Refused(err)
	if !refused {
		return err
	}
	for _, later := range []scheduler.Error{scheduler.InsufficientEscrow, scheduler.TransferFailed} {
		if strings.HasPrefix(why, later.Name()) {
			return nil
		}
	}
	return refusedError(why)
}

func refusedError(why string) error { return fmt.Errorf("the scheduler refused the entry: %s", why) }

// accountOf reads an account's address. what names the place it was read from.
func accountOf(what, text string) (common.Address, error) {
	if !common.IsHexAddress(text) {
		return common.Address{}, fmt.Errorf("%s %q is not an account", what, shorten(text))
	}
	return common.HexToAddress(text), nil
}

// send posts the entry, waits for its block, and with --wait for what becomes of it.
func (s *scheduling) send(cmd *cobra.Command, r *request) error {
	ctx := cmd.Context()
	hash, err := r.submit(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	out := outcome{Slot: r.params.Slot, Height: r.params.Height, Transaction: hash, Status: "scheduled", conditional: conditional(r.params)}
	if out.Entry, err = r.entryOf(ctx, hash); err != nil {
		return err
	}
	if !s.wait {
		return out.print(cmd.OutOrStdout(), s.asJSON)
	}
	f := follower{c: r.node, out: cmd.OutOrStdout(), progress: cmd.ErrOrStderr(), asJSON: s.asJSON}
	return f.follow(ctx, out)
}

// lateBlock is how long after the end of the slot it was to schedule for a transaction can still come to light.
const lateBlock = 15 * time.Second

// entryOf waits until the transaction is in a block, and returns the entry it made. Once slot or height has come no block can take it.
func (r *request) entryOf(ctx context.Context, hash string) (uint64, error) {
	receipt, err := account.Receipt(ctx, r.node, hash, r.tooLate)
	if errors.Is(err, account.ErrNoBlock) {
		return 0, cli.Hint(fmt.Errorf("its time has come and transaction %s is in no block: nothing was scheduled", hash),
			"the network stands still, or the node does not pass transactions on: ask another node")
	}
	if err != nil {
		return 0, err
	}
	if !receipt.Success {
		return 0, refusedError(cli.Word(receipt.Error))
	}
	for _, l := range receipt.Logs {
		if l.Name == "Scheduled" {
			return l.ID, nil
		}
	}
	return 0, fmt.Errorf("transaction %s scheduled nothing", hash)
}

// tooLate tells whether no block can take the entry in any more.
func (r *request) tooLate(ctx context.Context) (bool, error) {
	if r.params.Slot != 0 {
		return time.Now().After(tlock.SlotEnd(r.params.Slot).Add(lateBlock)), nil
	}
	info, err := r.node.Info(ctx)
	return err == nil && info.Head.Number > r.params.Height, err
}

// outcome is what schedule prints: what became of an entry so far.
type outcome struct {
	Entry       uint64 `json:"entry"`
	Slot        uint64 `json:"slot,omitempty"`
	Height      uint64 `json:"height,omitempty"`
	Transaction string `json:"transaction,omitempty"` // that scheduled it; none for the later periods of a series
	Status      string `json:"status"`
	Block       uint64 `json:"block,omitempty"` // that ran it
	Success     bool   `json:"success,omitempty"`
	Next        uint64 `json:"next,omitempty"`    // entry of the series' next period
	Starved     bool   `json:"starved,omitempty"` // the series ends: the next period could not be paid, or found no room
	conditional bool
	expirable   bool
}

func (o outcome) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(o)
	}
	text := fmt.Sprintf("entry %d %s", o.Entry, o.Status)
	switch {
	case o.Block > 0:
		text += fmt.Sprintf(" in block %d", o.Block)
	case o.Status != "scheduled":
	case o.conditional:
		text += ", waiting for its condition"
	case o.Height > 0:
		text += fmt.Sprintf(" for block %d", o.Height)
	default:
		text += fmt.Sprintf(" for slot %d", o.Slot)
	}
	if o.Next > 0 {
		text += fmt.Sprintf(", next is entry %d", o.Next)
	}
	if o.Starved {
		text += ", and the series starved"
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
