package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func entryCmd() *cobra.Command {
	var (
		src    source
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "entry ID",
		Short: "Tell how an entry is, and what happens next",
		Long: `Ask a node about an entry of the scheduler: its status, its terms in words, and what it waits for. Of an entry that has
ended little is left on chain.`,
		Example: `  tlock entry --node http://127.0.0.1:26680 7`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID("ID", args[0])
			if err != nil {
				return err
			}
			c, err := src.client()
			if err != nil {
				return err
			}
			defer c.Close()
			e, err := c.Entry(cmd.Context(), id)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(e)
			}
			info, err := c.Info(cmd.Context())
			if err != nil {
				return err
			}
			return printEntry(cmd.OutOrStdout(), e, info.Head, time.Now())
		},
	}
	cmd.Flags().StringVar(&src.node, "node", "", "base URL of a node, such as http://127.0.0.1:26680 (required)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for scripts")
	return cmd
}

// printEntry writes one line for each thing there is to tell.
func printEntry(w io.Writer, e api.Entry, head api.Head, now time.Time) error {
	line := func(name, format string, args ...any) string {
		return fmt.Sprintf("%-10s %s\n", name, cli.Word(fmt.Sprintf(format, args...)))
	}
	var b strings.Builder
	b.WriteString(line("entry", "%d", e.ID))
	b.WriteString(line("status", "%s", e.Status))
	b.WriteString(line("next", "%s", nextOf(e, head, now)))
	b.WriteString(line("payer", "%s", e.Payer))
	if e.Status == "scheduled" || e.Status == "paused" {
		for _, l := range termsOf(e) {
			b.WriteString(line(l[0], "%s", l[1]))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// termsOf is what an entry that has not ended says of itself.
func termsOf(e api.Entry) (lines [][2]string) {
	add := func(name, format string, args ...any) {
		lines = append(lines, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if e.Sealed {
		add("calls", "sealed, %d bytes", len(e.Calls)/2-1)
	} else {
		for _, c := range callsOf(e.Calls) {
			add("call", "%s", c)
		}
	}
	add("class", "%s", e.Class)
	add("gas", "limit %d, at %d each", e.GasLimit, e.GasPrice)
	if e.Status == "scheduled" {
		add("fee", "%s locked", e.Fee)
	}
	if e.When != nil {
		add("condition", "%s, written in slot %d or later", conditionText(*e.When), e.DueSlot)
	}
	switch {
	case e.LateExecute:
		add("deadline", "none: it also runs late")
	case e.Deadline > 0:
		add("deadline", "slot %d", e.Deadline)
	}
	if e.MaxRetries > 0 {
		add("retries", "%d of %d used, %d slots after a failure", min(e.Attempts, e.MaxRetries), e.MaxRetries, max(e.BackoffSlots, 1))
	}
	if e.PeriodSlots > 0 {
		text := fmt.Sprintf("every %s, %d more after this one", saySeconds(int64(e.PeriodSlots)), e.Remaining)
		if e.PauseOnFail {
			text += ", pauses on failure"
		}
		add("series", "%s", text)
	}
	if e.ReserveToken != "" {
		add("reserve", "%s of %s on hold for the first call's target", e.ReserveAmount, e.ReserveToken)
	}
	for _, d := range e.DependsOn {
		need := "must have succeeded"
		if d.Finished {
			need = "must have ended"
		}
		add("after", "entry %d (%s) %s", d.ID, d.Status, need)
	}
	return lines
}

// callsOf reads the encoded calls of an open or opened entry. Calls that do not decode will fail.
func callsOf(text string) (calls []string) {
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return nil
	}
	decoded, err := tlock.DecodeCalls(raw)
	if err != nil {
		return nil
	}
	for _, c := range decoded {
		data := hex0x(c.Data)
		if len(data) > 66 {
			data = fmt.Sprintf("%s… (%d bytes)", data[:66], len(c.Data))
		}
		calls = append(calls, fmt.Sprintf("%s, %d gas, data %s", scheduler.Addr(c.Target), c.GasLimit, data))
	}
	return calls
}

func conditionText(c api.Condition) string {
	switch c.Kind {
	case tlock.WhenValueAtLeast:
		return fmt.Sprintf("item %s is at least %s", c.Item, c.Operand)
	case tlock.WhenValueAtMost:
		return fmt.Sprintf("item %s is at most %s", c.Item, c.Operand)
	default:
		return fmt.Sprintf("item %s is not halted", c.Item)
	}
}

// nextOf is what happens next to an entry, as seen from the head.
func nextOf(e api.Entry, head api.Head, now time.Time) string {
	switch e.Status {
	case "executed":
		return "nothing: it ran"
	case "failed":
		return "nothing: its last run failed"
	case "cancelled":
		return "nothing: it was canceled"
	case "expired":
		return "nothing: it could not run in time, and its fee went back"
	case "paused":
		return fmt.Sprintf("its payer resumes or cancels it: a run failed; \"tlock resume %d\" goes on with the next period", e.ID)
	}
	if e.Expirable {
		return fmt.Sprintf("it will not run any more: \"tlock expire %d\" returns its whole fee", e.ID)
	}
	if e.Watching {
		return "it waits for an oracle write that satisfies its condition"
	}
	if e.Height > 0 && e.Height > head.Number {
		return fmt.Sprintf("it is due at block %d; the head is %d", e.Height, head.Number)
	}
	if e.Slot > head.Timestamp && e.Slot > 0 {
		at := time.Unix(int64(min(e.Slot, maxSlot)), 0).UTC().Format(time.RFC3339)
		return fmt.Sprintf("it is due at slot %d, %s, in %s", e.Slot, at, saySeconds(max(0, int64(min(e.Slot, maxSlot))-now.Unix())))
	}
	for _, d := range e.DependsOn {
		if d.Status == "scheduled" {
			return fmt.Sprintf("it is due and waits for entry %d", d.ID)
		}
	}
	if e.Sealed {
		return fmt.Sprintf("it is due and waits for its key, until slot %s", new(big.Int).Add(new(big.Int).SetUint64(e.Slot), big.NewInt(scheduler.GraceSlots+1)))
	}
	return "it is due and waits for room in a block"
}
