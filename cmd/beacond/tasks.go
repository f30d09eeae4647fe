package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
)

func tasksCmd() *cobra.Command {
	var (
		url    string
		home   string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List what a running validator does in the background",
		Long: `List the background work of a running validator: what each task waits for, how its last run ended, and what its runs
took. It asks the operator's listener, which is on loopback by default.

  CONDITION  active    it is scheduled or runs          idle      it has nothing to do and waits to be woken
             retrying  its last run failed; it goes on  disabled  it is not wanted now
             failed    it has stopped and should not have: restart the daemon and report it
  NEXT       when it runs next; "running" since when; "overdue" if that time has passed
  LAST       how the last run ended, and when; with the number of things done
  STREAK     failures in a row of the kind that is expected now and then
  MEAN, MAX  time of completed runs since the start

` + taskHelp() + `
Exit code 1 if a task has failed.`,
		Example: `  beacond tasks --home ~/validator
  beacond tasks --operator http://127.0.0.1:26690 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			base, err := listenerURL("operator", url, home, operatorListener)
			if err != nil {
				return err
			}
			c, err := api.NewClient(base)
			if err != nil {
				return cli.Usage("--operator: %w", err)
			}
			defer c.Close()
			t, raw, err := c.Tasks(cmd.Context())
			if err != nil {
				return cli.Hint(err, "is it running, and is "+base+" its operator's listener? config.json tells the address")
			}
			if asJSON {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", raw)
			} else {
				err = printTasks(cmd.OutOrStdout(), t)
			}
			if err != nil {
				return err
			}
			return judgeTasks(t)
		},
	}
	homeFlag(cmd, &home)
	cmd.Flags().Lookup("home").Usage = "the validator's folder, whose config tells the address"
	cmd.Flags().StringVar(&url, "operator", "", "base URL of the operator's listener instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "all there is, for scripts")
	return cmd
}

func operatorListener(c node.Config) string { return c.Operator }

// taskHelp is a line for each task.
func taskHelp() string {
	var b strings.Builder
	for _, t := range node.TaskHelp {
		fmt.Fprintf(&b, "  %-27s  %s\n", t[0], t[1])
	}
	return b.String()
}

// judgeTasks turns the list into the exit code.
func judgeTasks(all api.Tasks) error {
	for _, t := range all.Tasks {
		if t.Condition == "failed" {
			return fmt.Errorf("task %s has failed: %s", cli.Word(t.Identity), cli.Word(t.Reason))
		}
	}
	return nil
}

func printTasks(w io.Writer, all api.Tasks) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TASK\tCONDITION\tNEXT\tLAST\tSTREAK\tRUNS\tMEAN\tMAX")
	for _, t := range all.Tasks {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", cli.Word(t.Identity), cli.Word(t.Condition), nextText(t, all.At), lastText(t, all.At),
			t.Failures, t.Counters.Started, duration(t.Work.Elapsed.Mean), duration(t.Work.Elapsed.Maximum))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, t := range all.Tasks {
		if t.LastPanic == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s panicked %d times, the last time with: %s\n", cli.Word(t.Identity), t.Counters.Panics, cli.Word(t.LastPanic)); err != nil {
			return err
		}
	}
	return nil
}

// nextText is what a task waits for.
func nextText(t api.Task, now uint64) string {
	switch {
	case t.Attempt != nil && t.Attempt.StartedAt != nil && t.Attempt.Overrun:
		return "running for " + since(*t.Attempt.StartedAt, now) + ", too long"
	case t.Attempt != nil && t.Attempt.StartedAt != nil:
		return "running for " + since(*t.Attempt.StartedAt, now)
	case t.State == "inactive" && (t.Reason == "declared" || t.Reason == "stopped"):
		return "when there is work"
	case t.State == "inactive":
		return "never: " + cli.Word(t.Reason)
	case t.Wakeup != nil && t.Overdue:
		return "overdue by " + since(t.Wakeup.Deadline, now)
	case t.Wakeup != nil:
		return "in " + since(now, t.Wakeup.Deadline)
	}
	return cli.Word(t.State)
}

// lastText is how the last run ended.
func lastText(t api.Task, now uint64) string {
	o := t.LastOutcome
	if o == nil {
		return "-"
	}
	text := cli.Word(o.Kind)
	if o.Units > 0 {
		text += fmt.Sprintf(" (%d)", o.Units)
	}
	text += " " + since(o.At, now) + " ago"
	if o.Detail != "" {
		text += ": " + cli.Word(o.Detail)
	}
	return text
}

// since is a time between two instants for people.
func since(from, to uint64) string {
	d := time.Duration(to - min(from, to))
	if d >= time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// duration is a measured time for people; nil was never measured.
func duration(d *time.Duration) string {
	switch {
	case d == nil:
		return "-"
	case *d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
