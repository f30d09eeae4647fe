package main

import (
	"math"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
)

func TestWhenNamesASlotAndNeverAnEarlierOne(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 250_000_000, time.UTC)
	for name, c := range map[string]struct {
		w    when
		want uint64
	}{
		"a duration counts from now and rounds up":   {when{in: "5s"}, uint64(now.Unix()) + 6},
		"no time at all is the running second's end": {when{in: "0s"}, uint64(now.Unix()) + 1},
		"minutes":                {when{in: "1h30m"}, uint64(now.Unix()) + 5401},
		"days":                   {when{in: "2d"}, uint64(now.Unix()) + 2*86400 + 1},
		"days and hours":         {when{in: "2d12h"}, uint64(now.Unix()) + 60*3600 + 1},
		"a time":                 {when{until: "2030-01-01T00:00:00Z"}, 1893456000},
		"a time with a fraction": {when{until: "2030-01-01T00:00:00.001Z"}, 1893456001},
		"a time without seconds": {when{until: "2030-01-01T00:00Z"}, 1893456000},
		"a time zone":            {when{until: "2030-01-01T01:00+01:00"}, 1893456000},
		"a space for the T":      {when{until: "2030-01-01 00:00:00Z"}, 1893456000},
		"a day":                  {when{until: "2030-01-01"}, 1893456000},
		"a slot":                 {when{slot: "1893456000"}, 1893456000},
		"the slot that runs now": {when{slot: "1772366400"}, 1772366400},
		"the last possible slot": {when{slot: "253402300799"}, maxSlot},
		"the last possible time": {when{until: "9999-12-31T23:59:59Z"}, maxSlot},
	} {
		got, err := c.w.slotOf(now, "until")
		if err != nil || got != c.want {
			t.Errorf("%s: slot %d, %v; want %d", name, got, err, c.want)
		}
	}
}

func TestWhenRefuses(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		w    when
		code int
	}{
		"nothing":                  {when{}, cli.ExitUsage},
		"two answers":              {when{in: "5s", slot: "9999999999"}, cli.ExitUsage},
		"a duration back":          {when{in: "-5s"}, cli.ExitUsage},
		"a duration without unit":  {when{in: "5"}, cli.ExitUsage},
		"days that overflow":       {when{in: "4000000000d"}, cli.ExitUsage},
		"negative days":            {when{in: "-1d"}, cli.ExitUsage},
		"a time without a zone":    {when{until: "2030-01-01T00:00:00"}, cli.ExitUsage},
		"a time before 1970":       {when{until: "1969-01-01"}, cli.ExitUsage},
		"a slot that is no number": {when{slot: "0x10"}, cli.ExitUsage},
		"a slot beyond all years":  {when{slot: "253402300800"}, cli.ExitUsage},
		"a slot of 64 bits":        {when{slot: "18446744073709551615"}, cli.ExitUsage},
		"a slot that is over":      {when{slot: "1772366399"}, cli.ExitError},
		"a time that is over":      {when{until: "2026-03-01T11:59:58Z"}, cli.ExitError},
	} {
		slot, err := c.w.slotOf(now, "until")
		if got := cli.ExitCode(err); err == nil || got != c.code {
			t.Errorf("%s: slot %d, exit code %d (%v), want %d", name, slot, got, err, c.code)
		}
	}
}

func TestWaitingTimesAreReadable(t *testing.T) {
	now := time.Unix(1000, 250_000_000)
	for slot, want := range map[uint64]string{
		1000: "1s", 1251: "4m12s", 1059: "1m", 4599: "1h", 4600: "1h0m1s", 87399: "1d", 87400: "1d1s", 91060: "1d1h1m1s",
		1<<62 - 1: "53375995583650d7h28m24s", math.MaxUint64: "53375995583650d7h28m25s",
	} {
		if got := saySeconds(secondsUntil(slot, now)); got != want {
			t.Errorf("until slot %d is over: %s, want %s", slot, got, want)
		}
	}
	if got := secondsUntil(999, now); got != 0 {
		t.Errorf("slot 999 is over; %d s are said to be left", got)
	}
}
