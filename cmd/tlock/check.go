package main

import (
	"fmt"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// refusal is a usage error that names the rule of the scheduler which the command line breaks, and what to do about it.
func refusal(rule scheduler.Error, hint, format string, args ...any) error {
	return cli.Hint(cli.Usage("%s: %s", rule.Name(), fmt.Sprintf(format, args...)), hint)
}

// checker knows what the scheduler is sure to refuse. Of a sealed entry it also finds what would fail once the entry opens: by
// then the fee is paid.
type checker struct {
	policy scheduler.Policy
	time   uint64 // of the head, or of the clock
	height uint64 // of the head; 0 if no node was asked
	sealed bool
}

// check applies the rules in the scheduler's order (document 002 "Scheduling an entry", S-SCH-02 to S-SCH-25) to params whose
// calls are not sealed yet. What depends on other entries, the catalog or tokens, only a node knows.
func (c checker) check(p scheduler.Params) error {
	for _, rule := range []func(scheduler.Params) error{
		c.class, c.trigger, c.recurrence, c.dependencies, c.shape, c.calls, c.price, c.gas, c.reserve, c.capacity,
	} {
		if err := rule(p); err != nil {
			return err
		}
	}
	return nil
}

func (c checker) class(p scheduler.Params) error {
	if conditional(p) && p.Class != scheduler.BestEffort {
		return refusal(scheduler.BadClass, "leave --class out", "a conditional entry is best-effort")
	}
	return nil
}

func (c checker) trigger(p scheduler.Params) error {
	horizon := c.policy.MaxHorizonSlots
	within := fmt.Sprintf("this network schedules at most %s ahead", saySeconds(int64(horizon)))
	switch {
	case p.Slot != 0 && p.Slot <= c.time: // not wrong usage: it was right a moment ago
		return cli.Hint(fmt.Errorf("SlotNotInFuture: slot %d began at %s", p.Slot, time.Unix(int64(p.Slot), 0).UTC().Format(time.RFC3339)),
			fmt.Sprintf("the present slot is %d; choose a later one", c.time))
	case c.height != 0 && p.Height != 0 && p.Height <= c.height:
		return cli.Hint(fmt.Errorf("SlotNotInFuture: block %d is there already", p.Height), fmt.Sprintf("the head is %d; choose a later one", c.height))
	case p.Slot != 0 && p.Slot-c.time > horizon:
		return refusal(scheduler.BeyondHorizon, within, "slot %d is too far ahead", p.Slot)
	case c.height != 0 && p.Height != 0 && p.Height-c.height > horizon:
		return refusal(scheduler.BeyondHorizon, fmt.Sprintf("this network schedules at most %d blocks ahead", horizon), "block %d is too far ahead", p.Height)
	case p.PeriodSlots > horizon:
		return refusal(scheduler.BeyondHorizon, within, "--every %d slots is too long", p.PeriodSlots)
	case uint64(p.BackoffSlots) > horizon:
		return refusal(scheduler.BeyondHorizon, within, "--backoff %d slots is too long", p.BackoffSlots)
	}
	return nil
}

func (c checker) recurrence(p scheduler.Params) error {
	switch {
	case p.PauseOnFail && p.PeriodSlots == 0:
		return refusal(scheduler.CannotRecur, "give --every and --times, or leave it out", "--pause-on-fail is for a series")
	case p.PeriodSlots == 0:
		return nil
	case p.Height != 0:
		return refusal(scheduler.CannotRecur, "begin the series at a slot: --at, --in or --slot", "a series of blocks' numbers does not exist")
	case len(p.DependsOn) > 0:
		return refusal(scheduler.CannotRecur, "leave out either --every or --after and --after-end", "a series cannot wait for other entries")
	case conditional(p):
		return refusal(scheduler.CannotRecur, "leave out either --every or --when", "a conditional entry does not recur")
	}
	return nil
}

func (c checker) dependencies(p scheduler.Params) error {
	if len(p.DependsOn) > scheduler.MaxDependencies {
		return refusal(scheduler.BadDependency, "let an entry between them wait for some", "%d dependencies; an entry has at most %d", len(p.DependsOn), scheduler.MaxDependencies)
	}
	return nil
}

// shape is what sealed entries cannot have.
func (c checker) shape(p scheduler.Params) error {
	if !c.sealed {
		return nil
	}
	for _, r := range []struct {
		has  bool
		what string
	}{{p.Height != 0, "an entry at a block's number"}, {p.PeriodSlots != 0, "a series"}, {reserves(p), "an entry with a token reserve"}} {
		if r.has {
			return refusal(scheduler.BadSeal, "--open leaves the calls readable", "%s cannot be sealed", r.what)
		}
	}
	return nil
}

func (c checker) calls(p scheduler.Params) error {
	if len(p.Calls) > scheduler.MaxCalls {
		return refusal(scheduler.BadCalls, "make two entries, the second --after the first", "%d calls; an entry has at most %d", len(p.Calls), scheduler.MaxCalls)
	}
	for i, call := range p.Calls {
		to := scheduler.Addr(call.Target)
		if to == (scheduler.Addr{}) || to == scheduler.Address || to == c.policy.GasToken {
			return refusal(scheduler.BadTarget, "call a contract that does it instead",
				"call %d to %s can never run: it is the zero address, the scheduler or the gas token", i+1, to)
		}
	}
	limit := scheduler.MaxEncodedCalls
	if c.sealed {
		limit = tlock.MaxSealedCalls
	}
	if size := len(tlock.EncodeCalls(p.Calls)); size > limit {
		return refusal(scheduler.DataTooLarge, "shorten the calls' data, or make two entries", "the calls take %d bytes encoded, of at most %d", size, limit)
	}
	return nil
}

func (c checker) price(p scheduler.Params) error {
	lowest := fmt.Sprintf("this network's lowest is %d; leave --gas-price out to pay that", c.policy.MinGasPrice)
	switch {
	case p.GasPrice == 0:
		return refusal(scheduler.ZeroGasPrice, lowest, "--gas-price 0")
	case p.GasPrice < c.policy.MinGasPrice:
		return refusal(scheduler.GasPriceTooLow, lowest, "--gas-price %d is too low", p.GasPrice)
	}
	return nil
}

func (c checker) gas(p scheduler.Params) error {
	if need, ok := gasNeeded(p); !ok || p.GasLimit < need {
		return refusal(scheduler.GasLimitOutOfRange, "leave --gas-limit out to have it computed",
			"--gas-limit %d does not cover the calls' gas, %d for each call, and %d for a reserve: %d", p.GasLimit, callOverhead, captureGas, need)
	}
	if cost, ok := c.cost(p); !ok || cost > c.policy.GasPerBlock {
		return refusal(scheduler.GasLimitOutOfRange, "give less gas to the calls, or make two entries; --round-gas asks for up to twice as much",
			"with gas limit %d the entry costs %s gas, and a block has %d for all", p.GasLimit, costText(cost, ok), c.policy.GasPerBlock)
	}
	return nil
}

func costText(cost uint64, ok bool) string {
	if !ok {
		return "more than 2^64"
	}
	return fmt.Sprint(cost)
}

// cost is what the entry is budgeted at, sealed or not.
func (c checker) cost(p scheduler.Params) (uint64, bool) {
	size := len(tlock.EncodeCalls(p.Calls))
	if c.sealed {
		size = tlock.PayloadSize(size)
	}
	return scheduler.Cost(p.GasLimit, uint64(size), uint64(len(p.DependsOn)), p.PeriodSlots != 0, reserves(p))
}

func (c checker) reserve(p scheduler.Params) error {
	if p.ReserveToken == c.policy.GasToken && reserves(p) {
		return refusal(scheduler.ReserveIsGasToken, "reserve another token", "the gas token cannot be reserved")
	}
	return nil
}

func (c checker) capacity(p scheduler.Params) error {
	cost, _ := c.cost(p)
	if p.Class == scheduler.Guaranteed && cost > c.policy.GuaranteedGasPerSlot {
		return refusal(scheduler.SlotReserveFull, "give less gas to the calls, or leave --class guaranteed out",
			"the entry costs %d gas, and a slot guarantees %d to all", cost, c.policy.GuaranteedGasPerSlot)
	}
	return nil
}
