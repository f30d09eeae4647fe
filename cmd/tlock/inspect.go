package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/tlockage"
)

func inspectCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect [FILE]",
		Short: "Tell what a sealed file is sealed to, without opening it",
		Example: `  tlock inspect letter.txt.sealed
  tlock inspect --json letter.txt.sealed`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			in, err := input(name, cmd.InOrStdin())
			if err != nil {
				return err
			}
			defer in.Close()
			_, stanza, err := readSealed(name, in)
			if err != nil {
				return err
			}
			report := describe(stanza, time.Now())
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			}
			return report.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for scripts")
	return cmd
}

// inspection is what the header of a sealed file says.
type inspection struct {
	ChainID     string `json:"chain_id"`
	GenesisHash string `json:"genesis_hash"`
	Slot        uint64 `json:"slot,omitempty"`
	Condition   string `json:"condition,omitempty"`
	Opens       string `json:"opens,omitempty"` // RFC 3339
	Over        bool   `json:"over"`            // the slot is over by this computer's clock
	wait        int64  // seconds
}

func describe(s tlockage.Stanza, now time.Time) inspection {
	r := inspection{ChainID: s.Namespace.ChainID().String(), GenesisHash: fmt.Sprintf("%#x", s.Namespace.GenesisHash())}
	if c, ok := s.Identity.Condition(); ok {
		r.Condition = fmt.Sprintf("%#x", c)
		return r
	}
	r.Slot, _ = s.Identity.Slot()
	opens := tlock.SlotEnd(r.Slot)
	r.Opens, r.wait = opens.UTC().Format(time.RFC3339), secondsUntil(r.Slot, now)
	r.Over = r.wait == 0
	return r
}

func (r inspection) print(w io.Writer) error {
	sealedTo, opens := "condition "+r.Condition, "once the condition is met on chain"
	if r.Condition == "" {
		sealedTo, opens = fmt.Sprintf("slot %d", r.Slot), r.Opens
		if r.Over {
			opens = "since " + opens
		} else {
			opens = fmt.Sprintf("in %s, at %s", saySeconds(r.wait), opens)
		}
	}
	_, err := fmt.Fprintf(w, "chain id      %s\ngenesis hash  %s\nsealed to     %s\nopens         %s\n", r.ChainID, r.GenesisHash, sealedTo, opens)
	return err
}
