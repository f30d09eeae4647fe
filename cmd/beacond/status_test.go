package main

import (
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
)

// healthy is what a validator says of itself when all is well, in second 1000.
func healthy() api.Info {
	return api.Info{
		GroupKey: "0xaa", Epoch: 1, Validators: 4, Threshold: 3, Index: 2, Name: "bob", Slot: 1000, LatestKey: 999,
		Head: api.Head{Number: 7, Timestamp: 999}, Final: api.Head{Number: 6, Timestamp: 998}, Leader: 1, Peers: 3, Share: api.ShareHeld, Ceremony: "done",
	}
}

func TestStatusSaysHowTheValidatorIs(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*api.Info)
		exit   int
		says   []string // in what is printed
		err    string
	}{
		"all is well": {func(*api.Info) {}, cli.ExitOK, []string{"share         held\n", "latest key    slot 999, 1s ago\n", "final         block 6, 1 behind the head\n"}, ""},
		"it does not vote": {
			func(i *api.Info) { i.NotVoting, i.DoubleVotes, i.Final.Number = "vote journal: missing", 2, 7 },
			cli.ExitError, []string{"block 7, the head; this validator does not vote; 2 double votes, see /v1/evidence\n"}, "votes for no block: vote journal: missing",
		},
		"nothing becomes final": {func(i *api.Info) { i.Final.Timestamp = 900 }, cli.ExitError, nil, "no block is final since slot 900"},
		"the share is lost": {
			func(i *api.Info) { i.Share = api.ShareLost },
			cli.ExitError, []string{"share         none: put ceremony/share-1 back from the backup\n"}, "no share of the group key",
		},
		"no share was dealt": {
			func(i *api.Info) { i.Share = api.ShareNone },
			cli.ExitOK, []string{"share         none; it takes part again when the key is dealt anew\n"}, "",
		},
		"the ceremony is under way": {
			func(i *api.Info) {
				i.GroupKey, i.Epoch, i.LatestKey, i.Share, i.Ceremony = "", 0, 0, "", "in phase announce, waiting for [3]"
			},
			cli.ExitNotYet, []string{"share         none yet\n", "latest key    none yet\n", "in phase announce, waiting for [3]"}, "in phase announce",
		},
		"it is catching up": {
			func(i *api.Info) {
				i.CatchingUp, i.Leader, i.Share = true, 0, ""
				i.Head = api.Head{Number: 3, Timestamp: 900}
			},
			cli.ExitNotYet, []string{"group key     0xaa\n", "head          block 3 of slot 900, 100s ago, catching up\n", "not known before it has caught up\n"},
			"catching up: block 3 of slot 900",
		},
		"it would catch up, but is alone": {
			func(i *api.Info) { i.CatchingUp, i.Leader, i.Peers, i.Head.Timestamp = true, 0, 1, 900 },
			cli.ExitError, nil, "stands still since slot 900",
		},
		"nobody leads": {
			func(i *api.Info) { i.Leader, i.Head.Timestamp = 0, 900 },
			cli.ExitError, nil, "stands still since slot 900",
		},
		"it is behind": {func(i *api.Info) { i.Head.Timestamp = 900 }, cli.ExitNotYet, nil, "100 slots behind"},
		"no keys come": {func(i *api.Info) { i.LatestKey = 900 }, cli.ExitError, nil, "since slot 900"},
	} {
		info := healthy()
		c.change(&info)
		var out strings.Builder
		if err := printStatus(&out, info, time.Unix(1000, 0)); err != nil {
			t.Fatal(err)
		}
		for _, says := range c.says {
			if !strings.Contains(out.String(), says) {
				t.Errorf("%s: printed\n%s, which lacks %q", name, out.String(), says)
			}
		}
		err := judge(info)
		if cli.ExitCode(err) != c.exit || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: exit %d with %v, want %d with %q", name, cli.ExitCode(err), err, c.exit, c.err)
		}
	}
}
