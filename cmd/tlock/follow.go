package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
)

// pollBlock is how often a node is asked for something that comes with a block.
const pollBlock = 250 * time.Millisecond

func pause(ctx context.Context) error {
	select {
	case <-time.After(pollBlock):
		return nil
	case <-ctx.Done():
		return cli.NotYet(fmt.Errorf("interrupted while waiting for a block"))
	}
}

// follower waits for what becomes of an entry: its retries, and the later periods of its series.
type follower struct {
	c        *api.Client
	out      io.Writer // one line for each entry that has ended
	progress io.Writer // retries
	asJSON   bool
}

// follow prints what became of the entry and of each that follows it in its series. The error tells if the last did not succeed.
func (f follower) follow(ctx context.Context, o outcome) error {
	for {
		if err := f.wait(ctx, &o); err != nil {
			return err
		}
		if err := o.print(f.out, f.asJSON); err != nil {
			return err
		}
		if o.Next == 0 {
			return o.judge()
		}
		o = outcome{Entry: o.Next}
	}
}

// wait waits until the entry is over.
func (f follower) wait(ctx context.Context, o *outcome) error {
	var told api.Receipt // newest run that was told
	for {
		e, err := f.c.Entry(ctx, o.Entry)
		if err != nil {
			return err
		}
		o.Status, o.expirable = cli.Word(e.Status), e.Expirable
		if e.Slot != 0 || e.Height != 0 {
			o.Slot, o.Height = e.Slot, e.Height
		}
		runs, err := f.c.Runs(ctx, o.Entry)
		if err != nil {
			return err
		}
		if n := len(runs); n > 0 && (runs[n-1].Block != told.Block || runs[n-1].Index != told.Index) {
			told = runs[n-1]
			f.tell(o.Entry, told)
		}
		if e.Status != "scheduled" || e.Expirable {
			o.Success = e.Status == "executed"
			return o.ended(told)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// tell says that a run failed and that another follows.
func (f follower) tell(entry uint64, run api.Receipt) {
	if arg(run, entry, "ExecutionFailed", "willRetry") == "true" {
		fmt.Fprintf(f.progress, "entry %d failed in block %d and is tried again\n", entry, run.Block)
	}
}

// ended takes the last run of an entry in.
func (o *outcome) ended(run api.Receipt) error {
	if o.expirable || run.Block == 0 || o.Status == "cancelled" || o.Status == "expired" {
		return nil
	}
	o.Block = run.Block
	o.Starved = arg(run, o.Entry, "RecurrenceStarved", "id") != ""
	if next := arg(run, o.Entry, "Recurred", "nextId"); next != "" {
		id, err := strconv.ParseUint(next, 10, 64)
		if err != nil {
			return fmt.Errorf("node's receipt of entry %d: next period %q is not a number", o.Entry, shorten(next))
		}
		o.Next = id
	}
	return nil
}

// arg is an argument of an event about the entry in a receipt; "" if there is no such event.
func arg(r api.Receipt, entry uint64, event, name string) string {
	for _, l := range r.Logs {
		if l.Name == event && l.ID == entry {
			return l.Args[name]
		}
	}
	return ""
}

// judge turns the end of an entry, or of its series, into an error and advice if it is not a good one.
func (o outcome) judge() error {
	switch {
	case o.expirable:
		return cli.Hint(fmt.Errorf("entry %d will not run any more", o.Entry), fmt.Sprintf("\"tlock expire %d\" returns its whole fee", o.Entry))
	case o.Status == "paused":
		return cli.Hint(fmt.Errorf("entry %d failed and its series is paused", o.Entry),
			fmt.Sprintf("\"tlock resume %d\" goes on with the next period, \"tlock cancel %d\" ends the series", o.Entry, o.Entry))
	case o.Starved:
		return cli.Hint(fmt.Errorf("the series ended early after entry %d: the next period could not be paid, or no slot had room", o.Entry),
			"deposit more, approve more of a reserve's token, and schedule the rest anew")
	case !o.Success:
		return fmt.Errorf("entry %d did not succeed: %s", o.Entry, o.Status)
	}
	return nil
}
