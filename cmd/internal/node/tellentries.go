package node

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// tellReceipt tells what a transaction did at the scheduler and the oracle catalog: metrics, the event stream, and one log line a run.
func (n *Node) tellReceipt(h *chain.Header, r *chain.Receipt) {
	events := eventsOf(r)
	for _, e := range events {
		n.metrics.entries.WithLabelValues(e.Name).Inc()
		kind := api.EventEntry
		if e.ID == 0 {
			kind = api.EventEscrow
		}
		n.events.publish(kind, api.SchedulerEvent{ID: e.ID, What: e.Name, Args: e.Args, Block: h.Number, Time: h.Time})
	}
	n.tellItems(h, r)
	for _, l := range entryLines(r, events) {
		n.log.Info(l.text, append([]any{"entry", l.entry, "height", h.Number, "slot", h.Time}, l.attrs...)...)
	}
}

func eventsOf(r *chain.Receipt) (events []schedulerEvent) {
	for _, l := range r.Logs {
		if e, ok := decodeLog(l); ok {
			events = append(events, e)
		}
	}
	return events
}

// entryLine is one line of the log about an entry.
type entryLine struct {
	entry uint64
	text  string
	attrs []any
}

// entryLines is what the log says about the entries of a receipt. A run is one line, with what follows from it: the retry, the
// next period, the end of the series. What its calls did to other entries is told apart.
func entryLines(r *chain.Receipt, events []schedulerEvent) (lines []entryLine) {
	run := entryLine{entry: r.Entry, text: "entry not run", attrs: []any{"reason", r.Reason}}
	for _, e := range events {
		switch {
		case e.ID == 0: // of escrow
		case e.ID == r.Entry:
			run.add(e)
		default:
			lines = append(lines, entryLine{e.ID, "entry " + words(e.Name), eventAttrs(e)})
		}
	}
	if r.Entry != 0 {
		lines = append([]entryLine{run}, lines...)
	}
	return lines
}

// add takes an event of the entry's own run into its line.
func (l *entryLine) add(e schedulerEvent) {
	switch e.Name {
	case "Executed":
		l.text, l.attrs = "entry ran", eventAttrs(e)
	case "ExecutionFailed":
		l.text, l.attrs = "entry failed", eventAttrs(e)
	case "Recurred":
		l.attrs = append(l.attrs, eventAttrs(e)...)
	default: // RecurrenceStarved, Paused
		l.attrs = append(l.attrs, "series", words(e.Name))
	}
}

// eventAttrs are the arguments of an event as the log names them.
func eventAttrs(e schedulerEvent) (attrs []any) {
	for _, a := range []struct{ arg, name string }{
		{"attempt", "attempt"}, {"willRetry", "will_retry"}, {"nextId", "next"}, {"key", "for"}, {"payer", "payer"}, {"refund", "refund"},
	} {
		value, ok := e.Args[a.arg]
		if ok && a.arg == "key" {
			value = keyText(value)
		}
		if ok {
			attrs = append(attrs, a.name, value)
		}
	}
	return attrs
}

// keyText says what a queue key waits for.
func keyText(decimal string) string {
	switch key, err := strconv.ParseUint(decimal, 10, 64); {
	case err != nil:
		return decimal
	case key == scheduler.WatchKey:
		return "condition"
	case key&scheduler.HeightKey != 0:
		return fmt.Sprintf("height:%d", key&^scheduler.HeightKey)
	default:
		return fmt.Sprintf("slot:%d", key)
	}
}

// words turns an event's name into words: RecurrenceStarved is "recurrence starved".
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte(' ')
			}
			r |= 0x20
		}
		b.WriteRune(r)
	}
	return b.String()
}
