package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
)

func TestExitCodes(t *testing.T) {
	plain := errors.New("broken")
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"no error":                 {nil, 0},
		"any error":                {plain, 1},
		"usage":                    {cli.Usage("no"), 2},
		"not yet":                  {cli.NotYet(plain), 3},
		"a hint keeps the code":    {cli.Hint(cli.NotYet(plain), "wait"), 3},
		"a hint on a plain error":  {cli.Hint(plain, "mend it"), 1},
		"wrapped by somebody else": {fmt.Errorf("opening: %w", cli.NotYet(plain)), 3},
	} {
		if got := cli.ExitCode(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if cli.Hint(nil, "x") != nil {
		t.Error("a hint made an error of nil")
	}
}

func TestErrorsAreOneLineAndAHintEach(t *testing.T) {
	var out bytes.Buffer
	err := cli.Hint(fmt.Errorf("opening x: %w", cli.Hint(errors.New("no such file"), "inner")), "outer 1", "outer 2")
	cli.Print(&out, "tlock", err)
	want := "tlock: opening x: no such file\nhint: outer 1\nhint: outer 2\nhint: inner\n"
	if got := out.String(); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestHintsOfJoinedErrorsAreShown(t *testing.T) {
	var out bytes.Buffer
	err := errors.Join(cli.Hint(errors.New("no log"), "put it back"), nil)
	cli.Print(&out, "beacond", fmt.Errorf("%w: %w", errors.New("starting"), err))
	if want := "beacond: starting: no log\nhint: put it back\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestMistakesOfUseAreUsageErrors(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string // how the error begins, and its hint
	}{
		"no command":                     {nil, "robot: a command is missing\n"},
		"unknown command":                {[]string{"fly"}, "robot: unknown command \"fly\" for \"robot\"\nhint: see \"robot --help\"\n"},
		"misspelt command":               {[]string{"wakl"}, "robot: unknown command \"wakl\" for \"robot\"\nhint: did you mean \"robot walk\"?\n"},
		"misspelt command with its flag": {[]string{"cary", "--by", "hand", "ball"}, "robot: unknown command \"cary\" for \"robot\"\nhint: did you mean \"robot carry\"?\n"},
		"unknown flag":                   {[]string{"walk", "--fast"}, "robot: unknown flag: --fast\nhint: see \"robot walk --help\"\n"},
		"surplus argument":               {[]string{"walk", "home"}, "robot: \"home\" is one argument too many\nhint: see \"robot walk --help\"\n"},
		"missing argument":               {[]string{"carry"}, "robot: THING PLACE is missing\nhint: see \"robot carry --help\"\n"},
		"second argument is missing":     {[]string{"carry", "ball"}, "robot: PLACE is missing\nhint: see \"robot carry --help\"\n"},
		"third of two arguments":         {[]string{"carry", "ball", "home", "now"}, "robot: \"now\" is one argument too many\nhint: see \"robot carry --help\"\n"},
	} {
		root := &cobra.Command{Use: "robot"}
		carry := &cobra.Command{Use: "carry THING PLACE", Args: cobra.ExactArgs(2), RunE: func(*cobra.Command, []string) error { return nil }}
		carry.Flags().String("by", "", "")
		root.AddCommand(&cobra.Command{Use: "walk", RunE: func(*cobra.Command, []string) error { return nil }}, carry)
		cli.Prepare(root)
		root.SetArgs(c.args)
		root.SetOut(&bytes.Buffer{})
		err := root.Execute()
		var out bytes.Buffer
		cli.Print(&out, "robot", err)
		if got := cli.ExitCode(err); got != cli.ExitUsage || out.String() != c.want {
			t.Errorf("%s: exit code %d, want 2; printed\n%swant\n%s", name, got, out.String(), c.want)
		}
	}
}

func TestTextLogIsOneShortLineARecord(t *testing.T) {
	var out bytes.Buffer
	log, err := cli.NewLogger(&out, "info", "text")
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("not shown")
	log.With("peer", "v1").WithGroup("block").Warn("slow", "height", 7, "why", "no\nidea", "by", slog.GroupValue(slog.Int("index", 2)), "", slog.Value{})
	line := out.String()
	if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, " warn  slow peer=v1 block.height=7 block.why=\"no\\nidea\" block.by.index=2\n") {
		t.Errorf("wrote %q", line)
	}
}

func TestJSONLogWhereNobodyReads(t *testing.T) {
	var out bytes.Buffer
	log, err := cli.NewLogger(&out, "debug", "auto")
	if err != nil {
		t.Fatal(err)
	}
	log.Debug("shown", "slot", 7)
	if !strings.HasPrefix(out.String(), `{"time":`) || !strings.Contains(out.String(), `"slot":7`) {
		t.Errorf("wrote %q", out.String())
	}
}

func TestUnknownLogSettingsAreRefused(t *testing.T) {
	for _, c := range [][2]string{{"loud", "text"}, {"info+2", "text"}, {"info", "xml"}} {
		if _, err := cli.NewLogger(&bytes.Buffer{}, c[0], c[1]); err == nil {
			t.Errorf("level %q, format %q: accepted", c[0], c[1])
		}
	}
}

func TestWhatOthersSayCannotMoveTheCursor(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text":          {"slot 7: nicht vorüber — «noch nicht»", "slot 7: nicht vorüber — «noch nicht»"},
		"lines of a list":     {"a\nb", "a\nb"},
		"clear the screen":    {"\x1b[2Jok", `\x1b[2Jok`},
		"write over the line": {"error\rok   ", `error\rok   `},
		"C1 control":          {"\u009b31m", `\u009b31m`},
		"right to left":       {"a\u202eb", `a\u202eb`},
		"no UTF-8":            {"a\xffb", `a\xffb`},
	} {
		if got := cli.Printable(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := cli.Word("v1\nhint: send money"); got != "v1 hint: send money" {
		t.Errorf("a name begins a line of its own: %q", got)
	}
	var out bytes.Buffer
	cli.Print(&out, "tlock", cli.Hint(errors.New("node: \x1b]0;x\a"), "\x1b[31m"))
	if want := "tlock: node: \\x1b]0;x\\a\nhint: \\x1b[31m\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
