package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// when is the answer to "until when?", given as exactly one of a time, a duration from now, or a slot.
type when struct {
	until string
	in    string
	slot  string
}

// slotOf is the slot meant by w at the time now: times between two slots count as the later one, so that nothing opens
// early. A slot that is over is refused, because its key is public. Advice names timeFlag, the flag that w.until was read from.
func (w when) slotOf(now time.Time, timeFlag string) (uint64, error) {
	if w.given() != 1 {
		return 0, cli.Hint(cli.Usage("say when: exactly one of --%s, --in and --slot", timeFlag),
			fmt.Sprintf("for instance --in 5m, or --%s 2030-01-01T00:00Z", timeFlag))
	}
	slot, err := w.parse(now)
	if err != nil {
		return 0, err
	}
	if slot > maxSlot {
		return 0, cli.Usage("slot %d lies beyond the year 9999", slot)
	}
	if opens := tlock.SlotEnd(slot); !opens.After(now) {
		return 0, cli.Hint(fmt.Errorf("slot %d is over since %s: its key is public, so sealing to it hides nothing", slot, opens.UTC().Format(time.RFC3339)),
			fmt.Sprintf("the present slot is %d; choose a later one", now.Unix()))
	}
	return slot, nil
}

// given counts the answers.
func (w when) given() (n int) {
	for _, s := range []string{w.until, w.in, w.slot} {
		if s != "" {
			n++
		}
	}
	return n
}

// parse reads the one answer that is given.
func (w when) parse(now time.Time) (uint64, error) {
	switch {
	case w.slot != "":
		slot, err := strconv.ParseUint(w.slot, 10, 64)
		if err != nil {
			return 0, cli.Usage("--slot %q is not a slot: a whole number of seconds since 1970", w.slot)
		}
		return slot, nil
	case w.in != "":
		d, err := parseDuration(w.in)
		if err != nil {
			return 0, err
		}
		return tlock.SlotAt(now.Add(d)), nil
	default:
		t, err := parseTime(w.until)
		if err != nil {
			return 0, err
		}
		return tlock.SlotAt(t), nil
	}
}

// maxSlot is the last second of the year 9999, the last that RFC 3339 can write.
const maxSlot = 253402300799

// timeLayouts are the forms of a time: RFC 3339, where seconds may be left out, and a plain day in UTC. The time zone
// is never guessed.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02"}

func parseTime(s string) (time.Time, error) {
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, strings.Replace(s, " ", "T", 1))
		if err == nil && t.Unix() >= 0 {
			return t, nil
		}
	}
	return time.Time{}, cli.Hint(cli.Usage("%q is not a time", s),
		"write 2030-01-01T00:00:00Z, 2030-01-01T01:00+01:00, or 2030-01-01 for its first second in UTC")
}

// parseDuration reads Go's durations with days in front: 90s, 1h30m, 400d, 2d12h.
func parseDuration(s string) (time.Duration, error) {
	bad := cli.Hint(cli.Usage("%q is not a duration ahead", s), "write 90s, 5m, 36h, 30d or 2d12h")
	rest := s
	var total time.Duration
	if days, after, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 32)
		if err != nil || n > math.MaxInt64/uint64(24*time.Hour) {
			return 0, bad
		}
		total, rest = time.Duration(n)*24*time.Hour, after
		if rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || total+d < total {
		return 0, bad
	}
	return total + d, nil
}

// secondsUntil is how long it takes until the slot is over, in whole seconds, rounded up; 0 if it is. It does not use
// time.Duration, which ends at 292 years.
func secondsUntil(slot uint64, now time.Time) int64 {
	return max(0, tlock.SlotEnd(slot).Unix()-now.Unix())
}

// saySeconds is how long a person is told to wait, days in front: 400d, 2d3h, 4m12s.
func saySeconds(s int64) string {
	days, rest := s/86400, s%86400
	text := (time.Duration(rest) * time.Second).String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		text = cut + "m"
	}
	if cut, ok := strings.CutSuffix(text, "h0m"); ok {
		text = cut + "h"
	}
	if days == 0 {
		return text
	}
	if rest == 0 {
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%s", days, text)
}
