package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/tlockage"
)

func openCmd() *cobra.Command {
	var (
		src    source
		keyHex string
		out    string
	)
	cmd := &cobra.Command{
		Use:   "open [FILE]",
		Short: "Open a sealed file, or stdin, once its time has come",
		Long: `Open FILE, or stdin, with the key of the slot it is sealed to. The key comes from a node (--node) or is given
(--key). The result goes to FILE without ".sealed", or to stdout. It appears under its name only when it is complete.

Before the time has come there is no key: exit code 3, and when to come back. "tlock wait SLOT" waits until then, and
"tlock inspect FILE" tells the slot.`,
		Example: `  tlock open --node http://127.0.0.1:26680 letter.txt.sealed
  tlock open --key 0xa1b2… -o letter.txt letter.sealed
  tlock wait --node http://127.0.0.1:26680 1893456000 && tlock open --node http://127.0.0.1:26680 letter.txt.sealed`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			to, replace, err := openedName(name, out)
			if err != nil {
				return err
			}
			if (keyHex == "") == (src.node == "") {
				return cli.Hint(cli.Usage("where does the key come from? give one of --node and --key"),
					"a node hands out the key of every slot that is over: --node http://127.0.0.1:26680")
			}
			var key tlock.Key
			if keyHex != "" {
				if key, err = keyArg("--key", keyHex); err != nil {
					return err
				}
			}
			return openFile(cmd.Context(), src, key, name, to, replace, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	src.flags(cmd)
	cmd.Flags().StringVar(&keyHex, "key", "", "the slot's key, 96 bytes of hex")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this file, replacing it; - for stdout")
	return cmd
}

// openedName is where the opened form of name goes, and whether it may replace what is there.
func openedName(name, out string) (to string, replace bool, err error) {
	switch rest, cut := strings.CutSuffix(name, sealedSuffix); {
	case out != "":
		return out, true, nil
	case name == "-":
		return "-", false, nil
	case cut && rest != "":
		return rest, false, nil
	}
	return "", false, cli.Usage("%s does not end in %s: say with -o FILE where the content goes", name, sealedSuffix)
}

func openFile(ctx context.Context, src source, given tlock.Key, name, to string, replace bool, stdin io.Reader, stdout io.Writer) error {
	in, err := input(name, stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	sealed, stanza, err := readSealed(name, in)
	if err != nil {
		return err
	}
	key, err := keyFor(ctx, src, given, stanza)
	if err != nil {
		return err
	}
	plain, err := age.Decrypt(sealed, tlockage.NewIdentity(stanza.Namespace, stanza.Identity, key))
	if err != nil {
		return explainOpen(name, err)
	}
	return writeOpened(name, plain, to, replace, stdout)
}

// sealedFile is the readable side of a sealed file after its header was looked at.
func readSealed(name string, in io.Reader) (io.Reader, tlockage.Stanza, error) {
	buf := bufio.NewReaderSize(in, tlockage.MaxHeader)
	if head, err := buf.Peek(len(armor.Header)); err == nil && string(head) == armor.Header {
		buf = bufio.NewReaderSize(armor.NewReader(buf), tlockage.MaxHeader)
	}
	head, err := buf.Peek(tlockage.MaxHeader)
	if err != nil && err != io.EOF {
		return nil, tlockage.Stanza{}, fmt.Errorf("reading %s: %w", name, err)
	}
	stanza, err := tlockage.Inspect(head)
	if err != nil {
		return nil, tlockage.Stanza{}, cli.Hint(fmt.Errorf("%s is not a file that tlock sealed: %w", name, err),
			"a file cut off on the way looks like this too: compare its size with the original's")
	}
	return buf, stanza, nil
}

func writeOpened(name string, plain io.Reader, to string, replace bool, stdout io.Writer) error {
	buf := bufio.NewReader(&payload{name, plain})
	head, err := buf.Peek(512)
	if err != nil && err != io.EOF {
		return err
	}
	out, err := outputTo(to, replace, printable(head), stdout)
	if err != nil {
		return err
	}
	defer out.abort()
	if _, err := io.Copy(out, buf); err != nil {
		return err
	}
	return out.finish()
}

// payload reads the opened content of a file. Its key fits already, so what goes wrong here is damage.
type payload struct {
	name string
	r    io.Reader
}

func (p *payload) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if err != nil && err != io.EOF {
		err = cli.Hint(fmt.Errorf("opening %s: %w", p.name, err), "the file was damaged or cut off on the way: get it again")
	}
	return n, err
}

// explainOpen says what a person can do about a file whose header does not open.
func explainOpen(name string, err error) error {
	err = fmt.Errorf("opening %s: %w", name, err)
	if errors.Is(err, tlock.ErrWrongKey) {
		return cli.Hint(err, "\"tlock inspect\" tells which slot of which network the file is sealed to")
	}
	return cli.Hint(err, "the file was damaged or cut off on the way: get it again")
}

// keyFor finds the key of the slot a file is sealed to: the given one without a node to ask, else the node's, which is verified.
func keyFor(ctx context.Context, src source, given tlock.Key, stanza tlockage.Stanza) (tlock.Key, error) {
	if src.node == "" {
		return given, nil
	}
	network, err := src.network(ctx)
	if err != nil {
		return tlock.Key{}, err
	}
	if err := sameNetwork(stanza.Namespace, network.Namespace); err != nil {
		return tlock.Key{}, err
	}
	slot, ok := stanza.Identity.Slot()
	if !ok {
		return tlock.Key{}, fmt.Errorf("the file is sealed to %s, whose key is on chain: give it with --key", stanza.Identity)
	}
	return fetchKey(ctx, src, network, slot)
}

// sameNetwork refuses to look for a key in the wrong network.
func sameNetwork(sealed, asked tlock.Namespace) error {
	if sealed == asked {
		return nil
	}
	return cli.Hint(fmt.Errorf("the file is sealed for chain %s with genesis %#x, but this is chain %s with genesis %#x",
		sealed.ChainID(), sealed.GenesisHash(), asked.ChainID(), asked.GenesisHash()),
		"ask a node of the network it was sealed for")
}

// fetchKey asks the node for a slot's key and verifies it. A slot that is not over is exit code 3.
func fetchKey(ctx context.Context, src source, network tlock.Network, slot uint64) (tlock.Key, error) {
	c, err := src.client()
	if err != nil {
		return tlock.Key{}, err
	}
	defer c.Close()
	answer, err := c.Key(ctx, slot)
	if api.NotYet(err) {
		return tlock.Key{}, notYet(slot, time.Now())
	}
	if err != nil {
		return tlock.Key{}, err
	}
	key, err := parseKey(answer.Key)
	if err != nil {
		return tlock.Key{}, fmt.Errorf("node's key of slot %d: %w", slot, err)
	}
	if err := network.GroupKey.Verify(network.Namespace, tlock.SlotIdentity(slot), key); err != nil {
		return tlock.Key{}, cli.Hint(fmt.Errorf("the node gave a key of slot %d that is not the group's: %w", slot, err), "ask another node")
	}
	return key, nil
}

// notYet says when to come back for the key of slot.
func notYet(slot uint64, now time.Time) error {
	wait := secondsUntil(slot, now)
	if wait == 0 {
		return cli.NotYet(fmt.Errorf("slot %d is over, but its key has not been made yet: try again in a moment", slot))
	}
	return cli.NotYet(fmt.Errorf("opens in %s, at slot %d", saySeconds(wait), slot))
}

// keyArg reads a key from the command line. what names the place.
func keyArg(what, text string) (tlock.Key, error) {
	key, err := parseKey(text)
	if err != nil {
		return tlock.Key{}, cli.Hint(cli.Usage("%s: %w", what, err), "a key has 96 bytes of hex; \"tlock wait\" prints it")
	}
	return key, nil
}

func parseKey(s string) (tlock.Key, error) {
	raw, err := hexBytes(s, tlock.KeySize)
	if err != nil {
		return tlock.Key{}, err
	}
	return tlock.ParseKey(raw)
}
