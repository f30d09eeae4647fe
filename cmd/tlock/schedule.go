package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// Gas that a call and a run need beyond what the called accounts use (document 002 "Cost", S-SCH-21).
const callOverhead = 10_000

// scheduling is what a person asks for.
type scheduling struct {
	src      source
	until    when
	keyFile  string
	calls    []string
	open     bool
	round    bool
	wait     bool
	asJSON   bool
	gasPrice uint64
	gasToken string
}

func scheduleCmd() *cobra.Command {
	var s scheduling
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Have calls run on chain at a time, hidden until then",
		Long: `Schedule calls that the network's chain runs at a slot. They are sealed to the slot: who schedules, when and with how
much gas can be seen, where the calls go and what they say cannot, until the block that runs them. --open leaves them
readable.

The account of --key-file pays. What is missing in its escrow at the scheduler is approved and deposited first. A call is
TARGET:GAS:DATA, an account, the gas it may use, and its input in hex (which may be empty); --call may be repeated, up to
eight times, and the calls run in order, all or none.

It prints the entry's number once a block has taken it in, and with --wait what became of it.`,
		Example: `  tlock schedule --node http://127.0.0.1:26680 --key-file account.key --in 10s \
    --call 0x00000000000000000000000000000000000a11ce:50000:0xdeadbeef --wait`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.src.flags(cmd)
	cmd.Flags().Lookup("network").Usage = "network file; without one, the node is believed about the group key"
	cmd.Flags().StringVar(&s.until.until, "at", "", "a time, such as 2030-01-01T00:00Z")
	cmd.Flags().StringVar(&s.until.in, "in", "", "a duration from now, such as 10s, 5m, 36h")
	cmd.Flags().StringVar(&s.until.slot, "slot", "", "a slot: whole seconds since 1970")
	cmd.Flags().StringVar(&s.keyFile, "key-file", "", "file with the account's secp256k1 key in hex (required)")
	cmd.Flags().StringArrayVar(&s.calls, "call", nil, "TARGET:GAS:DATA; may be repeated (required)")
	cmd.Flags().BoolVar(&s.open, "open", false, "do not seal: everybody can read the calls at once")
	cmd.Flags().BoolVar(&s.round, "round-gas", false, "round the gas limit up to a power of two, so that it tells less")
	cmd.Flags().BoolVar(&s.wait, "wait", false, "wait until the entry has run")
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "for scripts")
	cmd.Flags().Uint64Var(&s.gasPrice, "gas-price", scheduler.DefaultPolicy().MinGasPrice, "gas tokens per gas, in base units")
	cmd.Flags().StringVar(&s.gasToken, "gas-token", "", "account of the network's gas token (default: the node tells)")
	return cmd
}

// outcome is what schedule prints.
type outcome struct {
	Entry       uint64 `json:"entry"`
	Slot        uint64 `json:"slot"`
	Transaction string `json:"transaction"`
	Status      string `json:"status"`
	Block       uint64 `json:"block,omitempty"` // that ran it
	Success     bool   `json:"success,omitempty"`
}

func (s *scheduling) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	calls, err := s.parse()
	if err != nil {
		return err
	}
	slot, err := s.until.slotOf(time.Now(), "at")
	if err != nil {
		return err
	}
	c, err := s.src.client()
	if err != nil {
		return err
	}
	defer c.Close()
	network, err := s.src.network(ctx)
	if err != nil {
		return err
	}
	payer, err := readAccount(s.keyFile, network.Namespace.ChainID())
	if err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	if err := refuse(calls, common.HexToAddress(info.GasToken)); err != nil {
		return err
	}
	params, err := s.params(network, slot, calls, payer.address)
	if err != nil {
		return err
	}
	hash, err := s.submit(ctx, c, info, payer, params)
	if err != nil {
		return err
	}
	out := outcome{Slot: slot, Transaction: hash, Status: "scheduled"}
	if out.Entry, err = entryOf(ctx, c, hash, slot); err != nil {
		return err
	}
	if s.wait {
		if err := follow(ctx, c, &out); err != nil {
			return err
		}
	}
	return s.print(cmd, out)
}

func (s *scheduling) parse() ([]tlock.Call, error) {
	if s.keyFile == "" {
		return nil, cli.Usage("who pays? give --key-file FILE")
	}
	if len(s.calls) == 0 {
		return nil, cli.Usage("what shall run? give --call TARGET:GAS:DATA")
	}
	var calls []tlock.Call
	for _, text := range s.calls {
		call, err := parseCall(text)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	if _, ok := gasLimit(calls); !ok {
		return nil, cli.Usage("the calls' gas is out of range: together it must stay below 2^63")
	}
	return calls, nil
}

// gasLimit is what an entry needs for its calls; false if it is beyond any block's.
func gasLimit(calls []tlock.Call) (sum uint64, ok bool) {
	for _, c := range calls {
		if c.GasLimit > math.MaxInt64-callOverhead-sum {
			return 0, false
		}
		sum += c.GasLimit + callOverhead
	}
	return sum, true
}

// refuse finds what the scheduler is sure to refuse, be it only when a sealed entry opens: by then the fee is paid.
func refuse(calls []tlock.Call, gasToken common.Address) error {
	if len(calls) > scheduler.MaxCalls {
		return cli.Usage("%d calls; an entry has at most %d", len(calls), scheduler.MaxCalls)
	}
	for _, c := range calls {
		to := common.Address(c.Target)
		if to == (common.Address{}) || to.Cmp(common.Address(scheduler.Address)) == 0 || to == gasToken {
			return cli.Usage("a call to %s can never run: it is the zero address, the scheduler or the gas token", to)
		}
	}
	return nil
}

func parseCall(text string) (tlock.Call, error) {
	bad := cli.Hint(cli.Usage("--call %q is not TARGET:GAS:DATA", shorten(text)), "for instance 0x00000000000000000000000000000000000a11ce:50000:0xdeadbeef")
	target, rest, ok := strings.Cut(text, ":")
	gas, data, ok2 := strings.Cut(rest, ":")
	limit, err := strconv.ParseUint(gas, 10, 64)
	input, err2 := hex.DecodeString(strings.TrimPrefix(data, "0x"))
	if !ok || !ok2 || err != nil || err2 != nil || !common.IsHexAddress(target) {
		return tlock.Call{}, bad
	}
	return tlock.Call{Target: common.HexToAddress(target), GasLimit: limit, Data: input}, nil
}

// params makes the entry: sealed to the slot and payer, unless it is to be open.
func (s *scheduling) params(network tlock.Network, slot uint64, calls []tlock.Call, payer common.Address) (scheduler.Params, error) {
	p := scheduler.Params{Slot: slot, GasPrice: s.gasPrice, Class: scheduler.BestEffort}
	p.GasLimit, _ = gasLimit(calls) // parse has seen that it is in range
	if s.round && p.GasLimit&(p.GasLimit-1) != 0 {
		p.GasLimit = 1 << bits.Len64(p.GasLimit)
	}
	if s.open {
		p.Calls = calls
		return p, nil
	}
	ciphertext, commitment, err := tlock.SealCalls(network.Namespace, network.GroupKey, tlock.SlotSeal(slot, payer), tlock.EncodeCalls(calls))
	if err != nil {
		return p, fmt.Errorf("sealing the calls: %w", err)
	}
	p.Ciphertext, p.Commitment = ciphertext, commitment
	return p, nil
}

// submit posts the schedule call, and before it what makes it payable. It returns the schedule transaction's hash.
func (s *scheduling) submit(ctx context.Context, c *api.Client, info api.Info, payer *account, p scheduler.Params) (string, error) {
	state, err := c.Account(ctx, payer.address.Hex())
	if err != nil {
		return "", err
	}
	funding, err := s.funding(info, state, p)
	if err != nil {
		return "", err
	}
	calls := append(funding, call{common.Address(scheduler.Address), scheduler.ScheduleInput(p)})
	hashes, err := payer.send(ctx, c, state.Nonce, calls)
	if err != nil {
		return "", err
	}
	return hashes[len(hashes)-1], nil
}

// funding is what has to happen before the entry's fee can be reserved: approve and deposit what escrow lacks.
func (s *scheduling) funding(info api.Info, state api.Account, p scheduler.Params) ([]call, error) {
	size := len(p.Ciphertext)
	if size == 0 {
		size = len(tlock.EncodeCalls(p.Calls))
	}
	cost, ok := scheduler.Cost(p.GasLimit, uint64(size), 0, false, false)
	if !ok {
		return nil, fmt.Errorf("the calls' gas is out of range")
	}
	fee := new(uint256.Int).Mul(uint256.NewInt(cost), uint256.NewInt(p.GasPrice))
	escrow, err1 := uint256.FromDecimal(state.Escrow)
	balance, err2 := uint256.FromDecimal(state.Balance)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("node's answer about account %s makes no sense", state.Address)
	}
	if escrow.Cmp(fee) >= 0 {
		return nil, nil
	}
	missing := new(uint256.Int).Sub(fee, escrow)
	if balance.Cmp(missing) < 0 {
		return nil, cli.Hint(fmt.Errorf("account %s has %s gas tokens and %s in escrow, and the entry costs %s", state.Address, balance.Dec(), escrow.Dec(), fee.Dec()),
			"send it gas tokens, or lower --gas-price")
	}
	token, err := s.token(info)
	if err != nil {
		return nil, err
	}
	return []call{{token, approveInput(missing)}, {common.Address(scheduler.Address), scheduler.DepositInput(*missing)}}, nil
}

func (s *scheduling) token(info api.Info) (common.Address, error) {
	text := s.gasToken
	if text == "" {
		text = info.GasToken
	}
	if !common.IsHexAddress(text) {
		return common.Address{}, cli.Usage("--gas-token %q is not an account", text)
	}
	return common.HexToAddress(text), nil
}

// approveInput is the calldata of approve(0xFE, amount).
func approveInput(amount *uint256.Int) []byte {
	word := amount.Bytes32()
	input := append(crypto.Keccak256([]byte("approve(address,uint256)"))[:4], make([]byte, 12)...)
	return append(append(input, scheduler.Address[:]...), word[:]...)
}

// pollBlock is how often a node is asked for something that comes with a block.
const pollBlock = 250 * time.Millisecond

// lateBlock is how long after the end of the slot it was to schedule for a transaction can still come to light.
const lateBlock = 15 * time.Second

// entryOf waits until the transaction is in a block, and returns the entry it made. Once the slot is over no block can take it.
func entryOf(ctx context.Context, c *api.Client, hash string, slot uint64) (uint64, error) {
	for {
		r, err := c.Receipt(ctx, hash)
		switch {
		case err == nil && !r.Success:
			return 0, fmt.Errorf("the scheduler refused the entry: %s", r.Error)
		case err == nil:
			for _, l := range r.Logs {
				if l.Name == "Scheduled" {
					return l.ID, nil
				}
			}
			return 0, fmt.Errorf("transaction %s scheduled nothing", hash)
		case !api.NotYet(err):
			return 0, err
		case time.Now().After(tlock.SlotEnd(slot).Add(lateBlock)):
			return 0, cli.Hint(fmt.Errorf("slot %d is over and transaction %s is in no block: nothing was scheduled", slot, hash),
				"the network stands still, or the node does not pass transactions on: ask another node")
		}
		if err := pause(ctx); err != nil {
			return 0, err
		}
	}
}

// follow waits until the entry is over, and tells what became of it.
func follow(ctx context.Context, c *api.Client, out *outcome) error {
	for {
		e, err := c.Entry(ctx, out.Entry)
		if err != nil {
			return err
		}
		if e.Status != "scheduled" {
			out.Status, out.Success = cli.Word(e.Status), e.Status == "executed"
			break
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	runs, err := c.Runs(ctx, out.Entry)
	if len(runs) > 0 {
		out.Block = runs[len(runs)-1].Block
	}
	return err
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(pollBlock):
		return nil
	case <-ctx.Done():
		return cli.NotYet(fmt.Errorf("interrupted while waiting for a block"))
	}
}

func (s *scheduling) print(cmd *cobra.Command, out outcome) error {
	if s.asJSON {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(out); err != nil {
			return err
		}
	} else if out.Block > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "entry %d %s in block %d\n", out.Entry, out.Status, out.Block)
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "entry %d %s for slot %d\n", out.Entry, out.Status, out.Slot)
	}
	if s.wait && !out.Success {
		return fmt.Errorf("entry %d did not succeed: %s", out.Entry, out.Status)
	}
	return nil
}
