package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// usage holds that what is not understood is wrong usage.
func usage(t *testing.T, text string, err error) {
	if cli.ExitCode(err) != cli.ExitUsage {
		t.Errorf("%q: exit code %d: %v", text, cli.ExitCode(err), err)
	}
}

// FuzzWhen reads a text as a time, a duration and a slot: nothing opens before the time that was asked for.
func FuzzWhen(f *testing.F) {
	for _, s := range []string{"2030-01-01T00:00:00.5Z", "2030-01-01", "1969-12-31", "5m", "1.0000000001s", "106751d", "-1s", "99999999999", "0x10", "1d1d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		now := time.Unix(1000, 250_000_000)
		if d, err := parseDuration(text); err != nil {
			usage(t, text, err)
		} else if slots, err := parseSlots("--every", text); err != nil || d < 0 || time.Duration(slots) < d/time.Second {
			t.Errorf("%q is %s, and %d slots, %v", text, d, slots, err)
		}
		if at, err := parseTime(text); err != nil {
			usage(t, text, err)
		} else if slot, err := (when{until: text}).parse(now); err != nil || time.Unix(int64(slot), 0).Before(at) {
			t.Errorf("%q is %s, and slot %d, %v", text, at, slot, err)
		}
		if _, err := parseMoment(text, now); err != nil {
			usage(t, text, err)
		}
		if _, err := parseSlot(text); err != nil {
			usage(t, text, err)
		}
	})
}

func FuzzCall(f *testing.F) {
	f.Add(target9 + ":50000:0xbeef")
	f.Add(target9 + ":18446744073709551616:")
	f.Add("::")
	f.Fuzz(func(t *testing.T, text string) {
		call, err := parseCall(text)
		if err != nil {
			usage(t, text, err)
			return
		}
		again, err := parseCall(fmt.Sprintf("%s:%d:%#x", scheduler.Addr(call.Target), call.GasLimit, call.Data))
		if err != nil || string(tlock.EncodeCalls([]tlock.Call{again})) != string(tlock.EncodeCalls([]tlock.Call{call})) {
			t.Errorf("%q is %+v, which is %+v, %v", text, call, again, err)
		}
	})
}

// FuzzTerms reads a text as a condition, a reserve and an amount.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"ETH/USD>=3500", "x<=0xff", "x:not-halted", ">=", "0xab>=1", target9 + ":500", target9 + ":0x", "0x", "0x00", "a>=b<=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseCondition(text); err != nil {
			usage(t, text, err)
		} else {
			op := map[uint8]string{tlock.WhenValueAtLeast: ">=%s", tlock.WhenValueAtMost: "<=%s", tlock.WhenNotHalted: ":not-halted%.0s"}[c.Kind]
			text := c.Item.String() + fmt.Sprintf(op, new(uint256.Int).SetBytes(c.Operand[:]).Dec())
			if again, err := parseCondition(text); err != nil || again != c {
				t.Errorf("%q is %+v, which is %+v, %v", text, c, again, err)
			}
		}
		var p scheduler.Params
		if err := (&terms{reserve: text}).parseReserve(&p, time.Time{}); err != nil {
			usage(t, text, err)
		} else if text != "" && (p.ReserveToken == scheduler.Addr{} || p.ReserveAmount == [12]byte{}) {
			t.Errorf("%q reserves nothing: %+v", text, p)
		}
		if n, err := parseAmount(text); err == nil && text != "" {
			if again, err := parseAmount(n.Dec()); err != nil || !again.Eq(n) {
				t.Errorf("%q is %s, which is %v, %v", text, n.Dec(), again, err)
			}
		}
	})
}
