package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/devnet"
)

func devnetCmd() *cobra.Command {
	var (
		n         int
		dir       string
		exitAfter time.Duration
	)
	cmd := &cobra.Command{
		Use:   "devnet",
		Short: "Run a whole network on this machine, for trying out",
		Long: `Run a network of validators on this machine: fresh keys, a fresh genesis, free ports, the ceremony, and all logs
merged on stderr. Ctrl-C stops all of them.

stdout tells scripts where things are, one per line: "node INDEX URL" for each validator, "account FILE" for the key of
an account with gas tokens, and "ready" once slots get their keys. The account also has the token
` + strings.ToLower(devnet.Token.Hex()) + `, and writes the oracle item ` + devnet.Item.Name + ` ("beacond oracle").`,
		Example: `  beacond devnet
  beacond devnet -n 7 --dir /tmp/net --exit-after 60s`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 || n > devnet.MaxValidators {
				return cli.Usage("-n %d: a devnet has 1 to %d validators", n, devnet.MaxValidators)
			}
			if exitAfter < 0 {
				return cli.Usage("--exit-after %s lies in the past", exitAfter)
			}
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			folder, remove, err := devnetDir(dir)
			if err != nil {
				return err
			}
			defer remove()
			ctx, cancel := cmd.Context(), context.CancelFunc(func() {})
			if exitAfter > 0 {
				ctx, cancel = context.WithTimeoutCause(ctx, exitAfter, errTimeUp)
			}
			defer cancel()
			net, err := devnet.New(devnet.Options{
				Dir: folder, Validators: n, Exe: exe, Output: cmd.ErrOrStderr(), Colour: cli.IsTerminal(cmd.ErrOrStderr()),
			})
			if err != nil {
				return err
			}
			return errors.Join(superviseDevnet(ctx, cmd, net), net.Close())
		},
	}
	cmd.Flags().IntVarP(&n, "validators", "n", 4, "how many validators")
	cmd.Flags().StringVar(&dir, "dir", "", "keep the validators' folders here; must be empty (default: a temporary folder)")
	cmd.Flags().DurationVar(&exitAfter, "exit-after", 0, "stop by itself after this long; 0 for never")
	return cmd
}

var errTimeUp = errors.New("time is up")

// superviseDevnet runs the network until ctx is done. A validator that ends by itself is an error.
func superviseDevnet(ctx context.Context, cmd *cobra.Command, net *devnet.Network) error {
	if err := net.StartAll(); err != nil {
		return err
	}
	for _, v := range net.Nodes {
		fmt.Fprintf(cmd.OutOrStdout(), "node %d %s\n", v.Index, v.URL)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "account %s\n", net.KeyFile)
	if err := net.WaitReady(ctx); err != nil {
		if ctx.Err() != nil {
			return cli.NotYet(err)
		}
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), "ready")
	ended := make(chan string, len(net.Nodes))
	for _, v := range net.Nodes {
		go func() {
			<-v.Ended()
			ended <- v.Name
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case name := <-ended:
		return fmt.Errorf("%s has ended by itself: its log says why", name)
	}
}

// devnetDir is the folder of a devnet, and what removes it if it was temporary.
func devnetDir(dir string) (folder string, remove func(), err error) {
	if dir != "" {
		return dir, func() {}, nil
	}
	folder, err = os.MkdirTemp("", "daybreak-devnet-*")
	if err != nil {
		return "", nil, err
	}
	return folder, func() { _ = os.RemoveAll(folder) }, nil // what is left lies in the temporary folder
}
