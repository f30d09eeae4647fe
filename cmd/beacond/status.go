package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
)

// staleAfter is how old head and newest key of a healthy node may be, in seconds. A slot's key comes a second after its begin.
const staleAfter = 5

func statusCmd() *cobra.Command {
	var (
		url    string
		home   string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell how a running validator is",
		Long: `Ask a running validator how it is. Exit code 0: it follows the chain and slots get their keys. 3: not yet, because the
ceremony is under way or it is catching up. 1: it cannot be reached, its share is lost, or the network stands still.`,
		Example: `  beacond status --home ~/validator
  beacond status --node http://127.0.0.1:26680 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			base, err := listenerURL("node", url, home, publicListener)
			if err != nil {
				return err
			}
			c, err := api.NewClient(base)
			if err != nil {
				return cli.Usage("--node: %w", err)
			}
			defer c.Close()
			info, err := c.Info(cmd.Context())
			if err != nil {
				return cli.Hint(err, "is it running? its log says what it does")
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(info)
			} else {
				err = printStatus(cmd.OutOrStdout(), info, time.Now())
			}
			if err != nil {
				return err
			}
			return judge(info)
		},
	}
	homeFlag(cmd, &home)
	cmd.Flags().Lookup("home").Usage = "the validator's folder, whose config tells the address"
	cmd.Flags().StringVar(&url, "node", "", "base URL of the node instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for scripts")
	return cmd
}

// listenerURL is the address given by the flag, or the one of a listener that the folder's config says.
func listenerURL(flag, url, home string, listener func(node.Config) string) (string, error) {
	if url != "" {
		return url, nil
	}
	h, err := needHome(home)
	if err != nil {
		return "", cli.Usage("which validator? give --home DIR or --%s URL", flag)
	}
	cfg, err := h.LoadConfig()
	if err != nil {
		return "", err
	}
	return "http://" + listener(cfg), nil
}

func publicListener(c node.Config) string { return c.Public }

// judge turns a status into the exit code, with the reason.
func judge(info api.Info) error {
	switch {
	case info.Share == api.ShareLost:
		return cli.Hint(errors.New("this validator has no share of the group key, so it does not sign"),
			"stop it, put "+shareFile(info)+" back from the backup, and start it again",
			"without a backup it takes part again when the key is dealt anew")
	case info.GroupKey == "":
		return cli.NotYet(fmt.Errorf("no group key yet: the ceremony is %s", info.Ceremony))
	case info.CatchingUp && info.Peers+1 > info.Validators/2:
		return cli.NotYet(fmt.Errorf("catching up: block %d of slot %d", info.Head.Number, info.Head.Timestamp))
	case info.Head.Timestamp+staleAfter < info.Slot && info.Leader == 0:
		return fmt.Errorf("the network stands still since slot %d: no validator leads the log", info.Head.Timestamp)
	case info.Head.Timestamp+staleAfter < info.Slot:
		return cli.NotYet(fmt.Errorf("the node is %d slots behind", info.Slot-info.Head.Timestamp))
	case info.NotVoting != "":
		return fmt.Errorf("this validator votes for no block: %s", cli.Word(info.NotVoting))
	case info.Final.Timestamp+staleAfter < info.Slot:
		return fmt.Errorf("no block is final since slot %d: too few validators vote", info.Final.Timestamp)
	case info.LatestKey+staleAfter < info.Slot:
		return fmt.Errorf("no slot has got a key since slot %d", info.LatestKey)
	}
	return nil
}

// shareFile is the share's file in the validator's folder. A share is told to be lost a little before its group is on chain,
// when the epoch is still 0.
func shareFile(s api.Info) string { return fmt.Sprintf("ceremony/share-%d", max(s.Epoch, 1)) }

func shareText(s api.Info) string {
	switch s.Share {
	case "":
		if s.CatchingUp {
			return "not known before it has caught up"
		}
		return "none yet"
	case api.ShareLost:
		return "none: put " + shareFile(s) + " back from the backup"
	case api.ShareNone:
		return "none; it takes part again when the key is dealt anew"
	}
	return cli.Word(s.Share)
}

// finalText tells how far behind the head finality is, and what stands in its way here.
func finalText(s api.Info) string {
	text := "none yet"
	if s.Final.Number > 0 {
		text = fmt.Sprintf("block %d, the head", s.Final.Number)
		if behind := s.Head.Number - min(s.Final.Number, s.Head.Number); behind > 0 {
			text = fmt.Sprintf("block %d, %d behind the head", s.Final.Number, behind)
		}
	}
	if s.NotVoting != "" {
		text += "; this validator does not vote"
	}
	if s.DoubleVotes > 0 {
		text += fmt.Sprintf("; %d double votes, see /v1/evidence", s.DoubleVotes)
	}
	return text
}

func printStatus(w io.Writer, s api.Info, now time.Time) error {
	leader := "none"
	if s.Leader != 0 {
		leader = fmt.Sprint(s.Leader)
	}
	key := s.GroupKey
	if key == "" {
		key = "none yet, the ceremony is " + s.Ceremony
	}
	latest := "none yet"
	if s.LatestKey > 0 {
		latest = fmt.Sprintf("slot %d, %ds ago", s.LatestKey, now.Unix()-int64(s.LatestKey))
	}
	head := fmt.Sprintf("block %d of slot %d, %ds ago", s.Head.Number, s.Head.Timestamp, now.Unix()-int64(s.Head.Timestamp))
	if s.CatchingUp {
		head += ", catching up"
	}
	_, err := fmt.Fprintf(w, `validator     %d of %d (%s), %d make a key
chain id      %d
genesis hash  %s
group key     %s
head          %s
final         %s
share         %s
latest key    %s
leader        %s
peers         %d
version       %s
`, s.Index, s.Validators, cli.Word(s.Name), s.Threshold, s.ChainID, cli.Word(s.GenesisHash), cli.Word(key),
		head, finalText(s), shareText(s), latest, leader, s.Peers, cli.Word(s.Version))
	return err
}
