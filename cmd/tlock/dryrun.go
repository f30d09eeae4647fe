package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// plan is what a dry run prints. Numbers of 64 bits and more are decimal strings, as in a replay script's schedule.
type plan struct {
	Cost   string     `json:"cost"` // gas the entry is budgeted at
	Fee    string     `json:"fee"`  // cost * gas price, locked in escrow for each run
	Payer  string     `json:"payer,omitempty"`
	Params planParams `json:"params"`
	To     string     `json:"to"` // the scheduler
	Input  string     `json:"input"`
}

// planParams is Params; what is zero is left out.
type planParams struct {
	Calls         []planCall       `json:"calls,omitempty"`
	Slot          string           `json:"slot,omitempty"`
	Height        string           `json:"height,omitempty"`
	GasLimit      string           `json:"gas_limit"`
	GasPrice      string           `json:"gas_price"`
	Class         uint8            `json:"class"`
	LateExecute   bool             `json:"late_execute,omitempty"`
	MaxRetries    uint8            `json:"max_retries,omitempty"`
	BackoffSlots  uint32           `json:"backoff_slots,omitempty"`
	PeriodSlots   string           `json:"period_slots,omitempty"`
	Remaining     uint32           `json:"remaining,omitempty"`
	PauseOnFail   bool             `json:"pause_on_fail,omitempty"`
	ReserveToken  string           `json:"reserve_token,omitempty"`
	ReserveAmount string           `json:"reserve_amount,omitempty"`
	DependsOn     []planDependency `json:"depends_on,omitempty"`
	Ciphertext    string           `json:"ciphertext,omitempty"`
	Commitment    string           `json:"commitment,omitempty"`
	When          *planCondition   `json:"when,omitempty"`
}

type planCall struct {
	Target   string `json:"target"`
	GasLimit string `json:"gas_limit"`
	Data     string `json:"data"`
}

type planDependency struct {
	ID       string `json:"id"`
	Finished bool   `json:"finished"`
}

type planCondition struct {
	Item    string `json:"item"`
	Kind    uint8  `json:"kind"`
	Operand string `json:"operand"`
}

// print is the dry run.
func (r *request) print(w io.Writer, oneLine bool) error {
	out := plan{
		Cost: strconv.FormatUint(r.cost, 10), Fee: r.fee.Dec(), Params: planOf(r.params),
		To: scheduler.Address.String(), Input: hex0x(scheduler.ScheduleInput(r.params)),
	}
	if r.payer != nil {
		out.Payer = scheduler.Addr(r.payer.Address).String()
	}
	enc := json.NewEncoder(w)
	if !oneLine {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(out)
}

func planOf(p scheduler.Params) planParams {
	out := planParams{
		Slot: nonzero(p.Slot), Height: nonzero(p.Height), GasLimit: strconv.FormatUint(p.GasLimit, 10), GasPrice: strconv.FormatUint(p.GasPrice, 10),
		Class: p.Class, LateExecute: p.LateExecute, MaxRetries: p.MaxRetries, BackoffSlots: p.BackoffSlots,
		PeriodSlots: nonzero(p.PeriodSlots), Remaining: p.Remaining, PauseOnFail: p.PauseOnFail,
	}
	for _, c := range p.Calls {
		out.Calls = append(out.Calls, planCall{scheduler.Addr(c.Target).String(), strconv.FormatUint(c.GasLimit, 10), hex0x(c.Data)})
	}
	for _, d := range p.DependsOn {
		out.DependsOn = append(out.DependsOn, planDependency{strconv.FormatUint(d.ID, 10), d.Finished})
	}
	if reserves(p) {
		out.ReserveToken, out.ReserveAmount = p.ReserveToken.String(), new(uint256.Int).SetBytes(p.ReserveAmount[:]).Dec()
	}
	if len(p.Ciphertext) > 0 {
		out.Ciphertext, out.Commitment = hex0x(p.Ciphertext), p.Commitment.String()
	}
	if conditional(p) {
		out.When = &planCondition{p.When.Item.String(), p.When.Kind, new(uint256.Int).SetBytes(p.When.Operand[:]).Dec()}
	}
	return out
}

func nonzero(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

func hex0x(b []byte) string { return fmt.Sprintf("0x%x", b) }
