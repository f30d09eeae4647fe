package main

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestCallsWhoseGasOverflowsAreRefused(t *testing.T) {
	const to = "0x0000000000000000000000000000000000000009:"
	for name, c := range map[string]struct {
		calls []string
		ok    bool
	}{
		"an ordinary one":              {[]string{to + "50000:0x"}, true},
		"2^64-1":                       {[]string{to + "18446744073709551615:"}, false},
		"wraps to a small sum":         {[]string{to + "18446744073709541616:", to + "50000:"}, false},
		"two that overflow together":   {[]string{to + "9223372036854775807:", to + "9223372036854775807:"}, false},
		"one that needs no gas itself": {[]string{to + "0:"}, true},
	} {
		s := scheduling{keyFile: "key", calls: c.calls}
		_, err := s.parse()
		if (err == nil) != c.ok || err != nil && cli.ExitCode(err) != cli.ExitUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCallsThatCanNeverRunAreRefusedBeforeTheyArePaid(t *testing.T) {
	token := common.Address{7}
	nine := make([]tlock.Call, 9)
	for i := range nine {
		nine[i].Target = [20]byte{1}
	}
	for name, c := range map[string]struct {
		calls []tlock.Call
		says  string
	}{
		"zero address":  {[]tlock.Call{{}}, "can never run"},
		"scheduler":     {[]tlock.Call{{Target: scheduler.Address}}, "can never run"},
		"gas token":     {[]tlock.Call{{Target: token}}, "can never run"},
		"nine calls":    {nine, "at most 8"},
		"eight calls":   {nine[:8], ""},
		"second is bad": {[]tlock.Call{{Target: [20]byte{1}}, {}}, "can never run"},
	} {
		err := refuse(c.calls, token)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
