package main

import (
	"fmt"
	"io"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/tlockage"
)

// sealedSuffix ends the name of a sealed file.
const sealedSuffix = ".sealed"

func sealCmd() *cobra.Command {
	var (
		src   source
		until when
		out   string
		text  bool
	)
	cmd := &cobra.Command{
		Use:   "seal [FILE]",
		Short: "Seal a file, or stdin, until a time",
		Long: `Seal FILE, or stdin, so that nobody can open it before the time given. Times between two seconds count as the
later one. The result goes to FILE.sealed, or to stdout when stdin was sealed; it is a file of the age format and may
have any size.`,
		Example: `  tlock seal --network network.json --until 2030-01-01T00:00Z letter.txt
  tlock seal --node http://127.0.0.1:26680 --in 5m -o letter.sealed letter.txt
  tar c folder | tlock seal --network network.json --in 30d > folder.tar.sealed`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			slot, err := until.slotOf(time.Now(), "until")
			if err != nil {
				return err
			}
			network, err := src.network(cmd.Context())
			if err != nil {
				return err
			}
			to, replace := sealedName(name, out)
			if err := seal(network, slot, name, to, replace, text, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "sealed to slot %d, opens at %s\n", slot, tlock.SlotEnd(slot).UTC().Format(time.RFC3339))
			return nil
		},
	}
	src.flags(cmd)
	until.flags(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this file, replacing it; - for stdout")
	cmd.Flags().BoolVarP(&text, "armor", "a", false, "write text that can be mailed and pasted")
	return cmd
}

// flags adds --until, --in and --slot to cmd.
func (w *when) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.until, "until", "", "a time, such as 2030-01-01T00:00Z")
	cmd.Flags().StringVar(&w.in, "in", "", "a duration from now, such as 90s, 5m, 36h, 30d")
	cmd.Flags().StringVar(&w.slot, "slot", "", "a slot: whole seconds since 1970")
}

// sealedName is where the sealed form of name goes, and whether it may replace what is there.
func sealedName(name, out string) (to string, replace bool) {
	switch {
	case out != "":
		return out, true
	case name == "-":
		return "-", false
	}
	return name + sealedSuffix, false
}

func seal(network tlock.Network, slot uint64, name, to string, replace, text bool, stdin io.Reader, stdout io.Writer) error {
	in, err := input(name, stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	recipient, err := tlockage.NewRecipient(network.Namespace, network.GroupKey, tlock.SlotIdentity(slot))
	if err != nil {
		return err
	}
	out, err := outputTo(to, replace, text, stdout)
	if err == errBinary {
		return cli.Hint(err, "--armor makes text")
	}
	if err != nil {
		return err
	}
	defer out.abort()
	if err := encrypt(out, in, recipient, text); err != nil {
		return fmt.Errorf("sealing %s: %w", name, err)
	}
	return out.finish()
}

func encrypt(dst io.Writer, src io.Reader, recipient age.Recipient, text bool) error {
	if text {
		armored := armor.NewWriter(dst)
		if err := encrypt(armored, src, recipient, false); err != nil {
			return err
		}
		return armored.Close()
	}
	w, err := age.Encrypt(dst, recipient)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, src); err != nil {
		return err
	}
	return w.Close()
}
