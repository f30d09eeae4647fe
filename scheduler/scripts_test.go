package scheduler_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/replay"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// TestScripts plays the scripts of testdata, one or more for each of the worked scenarios, and holds the chain to what stands in the
// file beside each: the scenario's numbers, worked out by hand from its text. A line of such a file is
//
//	TIME WHAT ARGUMENT … VALUE …
//
// and speaks of the state after the block of that time, or of what that block did. The first line is the scenario's name.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scenario-*.jsonl")
	must(t, err)
	seen := map[int]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		expected, err := os.ReadFile(strings.TrimSuffix(file, "jsonl") + "expect")
		must(t, err)
		name, _, _ := strings.Cut(strings.TrimPrefix(string(expected), "# "), "\n")
		number, err := strconv.Atoi(strings.TrimRight(strings.Fields(name)[1], "bcde"))
		must(t, err)
		seen[number] = true
		t.Run(name, func(t *testing.T) {
			script, err := replay.Parse(bytes.NewReader(text))
			must(t, err)
			if !bytes.Equal(script.Encode(), text) {
				t.Errorf("%s is not in the form that Encode writes", file)
			}
			output := playScript(t, script, readExpectations(t, expected))
			// Played once more, and this time while it is read, the script gives the same output, byte for byte.
			var again []byte
			err = replay.Stream(bytes.NewReader(text), func(line []byte) error {
				again = append(again, line...)
				return nil
			})
			if !bytes.HasPrefix(again, output) || err == nil && !bytes.HasPrefix(again[len(output):], []byte(`{"final":`)) {
				t.Errorf("streamed (%v):\n%s\nwant:\n%s", err, again, output)
			}
		})
	}
	for i := 1; i <= 55; i++ {
		// The worked scenarios 45 (validity of blocks) and 50 (a validator's clock) are the chain's.
		if !seen[i] && i != 45 && i != 50 {
			t.Errorf("no script plays scenario %d", i)
		}
	}
}

// expectation is one line of an expect file.
type expectation struct {
	line int
	time uint64
	what string
	args []string
}

func readExpectations(t *testing.T, text []byte) (all []expectation) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		time, err := strconv.ParseUint(words[0], 10, 64)
		must(t, err)
		all = append(all, expectation{n, time, words[1], words[2:]})
	}
	must(t, lines.Err())
	if len(all) == 0 {
		t.Fatal("nothing is expected")
	}
	return all
}

// playScript plays a script and checks what is expected of it; it returns the lines of its blocks.
func playScript(t *testing.T, script replay.Script, expected []expectation) (output []byte) {
	player, err := replay.NewPlayer(script.Genesis)
	must(t, err)
	checked := 0
	for _, b := range script.Blocks {
		line, err := player.Block(b)
		for _, e := range expected {
			if e.time != b.Time {
				continue
			}
			checked++
			c := &scriptCheck{t, player, line, err, e}
			c.check()
		}
		if err != nil {
			break
		}
		output = append(output, line.Encode()...)
	}
	expect(t, "expectations checked", checked, len(expected))
	return output
}

// scriptCheck checks one expectation after the block it speaks of.
type scriptCheck struct {
	*testing.T
	player *replay.Player
	line   replay.BlockLine
	err    error
	expectation
}

func (c *scriptCheck) check() {
	c.Helper()
	if c.what == "invalid" {
		if want := strings.Join(c.args, " "); c.err == nil || !strings.Contains(c.err.Error(), want) {
			c.Errorf("line %d: block %d: got error %v, want one with %q", c.expectation.line, c.time, c.err, want)
		}
		return
	}
	if c.err != nil {
		c.Fatalf("block %d: %v", c.time, c.err)
	}
	args, want := c.split()
	if got := c.actual(args); got != want {
		c.Errorf("line %d: block %d: %s %s: got %q, want %q", c.expectation.line, c.time, c.what, strings.Join(args, " "), got, want)
	}
}

// split parts the arguments from the values.
func (c *scriptCheck) split() (args []string, want string) {
	n := map[string]int{
		"available": 1, "locked": 1, "gas_token": 1, "balance": 2, "allowance": 2, "held": 2, "status": 1, "entry": 1, "calls": 1, "queue": 1,
		"queue_length": 1, "reserved_gas": 1, "sealed_pending": 1, "watchers": 1, "watchers_length": 1, "watched_height": 1, "hash": 1,
	}[c.what]
	want = strings.Join(c.args[n:], " ")
	if c.what == "hash" && !strings.HasPrefix(want, "0x") {
		want = c.hashOf(c.args[n:])
	}
	return c.args[:n], want
}

func (c *scriptCheck) actual(args []string) string {
	v, host := c.player.View(), c.player.Host()
	switch c.what {
	case "height":
		return fmt.Sprint(c.line.Height)
	case "ran":
		return join(c.line.Leading, func(l replay.Leading) string { return fmt.Sprint(l.ID) })
	case "outcomes":
		return join(c.line.Leading, func(l replay.Leading) string { return string(l.Outcome) })
	case "hash":
		return c.line.Leading[c.number(args[0])].Hash.String()
	case "events":
		return join(c.line.Events, func(e replay.Event) string { return e.Name + "(" + strings.Join(e.Args, ",") + ")" })
	case "errors":
		return join(c.line.Errors, func(e string) string {
			if e == "" {
				return "null"
			}
			return e
		})
	case "cursor_slot":
		return fmt.Sprint(c.line.CursorSlot)
	case "cursor_height":
		return fmt.Sprint(c.line.CursorHeight)
	case "next_id":
		return fmt.Sprint(v.NextID())
	case "available":
		a := v.Balance(c.account(args[0]))
		return a.Dec()
	case "locked":
		a := v.Locked(c.account(args[0]))
		return a.Dec()
	case "gas_token":
		a := host.Balance(c.account(args[0]))
		return a.Dec()
	case "balance":
		a := host.TokenBalance(c.account(args[0]), c.account(args[1]))
		return a.Dec()
	case "allowance":
		a := host.TokenAllowance(c.account(args[0]), c.account(args[1]), scheduler.Address)
		return a.Dec()
	case "held":
		a := host.Held(c.account(args[0]), c.account(args[1]))
		return a.Dec()
	case "status":
		return [...]string{"None", "Scheduled", "Executed", "Failed", "Cancelled", "Expired", "Paused"}[v.Status(c.number(args[0]))]
	case "entry":
		return c.entryFields(c.number(args[0]))
	case "calls":
		calls, err := tlock.DecodeCalls(v.Entry(c.number(args[0])).Calls)
		must(c, err)
		return join(calls, func(call scheduler.Call) string {
			return fmt.Sprintf("%s:%d:0x%x", scriptNames[scheduler.Addr(call.Target)], call.GasLimit, call.Data)
		})
	case "queue":
		return join(v.QueueAt(c.number(args[0])), func(id uint64) string { return fmt.Sprint(id) })
	case "queue_length":
		return fmt.Sprint(len(v.QueueAt(c.number(args[0]))))
	case "reserved_gas":
		return fmt.Sprint(v.ReservedGas(c.number(args[0])))
	case "sealed_pending":
		return fmt.Sprint(v.SealedPending(c.number(args[0])))
	case "watchers":
		return join(v.WatchersOf(scriptItem(args[0])), func(id uint64) string { return fmt.Sprint(id) })
	case "watchers_length":
		return fmt.Sprint(len(v.WatchersOf(scriptItem(args[0]))))
	case "watched_height":
		return fmt.Sprint(v.WatchedHeight(scriptItem(args[0])))
	}
	c.Fatalf("line %d: nothing is called %q", c.expectation.line, c.what)
	return ""
}

func join[T any](list []T, text func(T) string) string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = text(v)
	}
	return strings.Join(all, " ")
}

func (c *scriptCheck) number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	must(c, err)
	return n
}

// scriptNames are the accounts that the expect files name.
var scriptNames = map[scheduler.Addr]string{
	addr(0xaa): "a", addr(0xbb): "b", addr(0x77): "treasury", addr(0xdd): "proposer", addr(0x20): "token", addr(0x01): "ok", addr(0x02): "revert",
	addr(0xc1): "c1", addr(0xc2): "c2", addr(0xc3): "c3", scheduler.Address: "scheduler", {19: 0xfc}: "quarantine",
}

func (c *scriptCheck) account(name string) scheduler.Addr {
	for a, n := range scriptNames {
		if n == name {
			return a
		}
	}
	c.Fatalf("line %d: no account is called %q", c.expectation.line, name)
	return scheduler.Addr{}
}

// scriptItem is ETH/USD for "item", and 0x1010…, 0x2020… for "i0", "i1" and on.
func scriptItem(name string) (w scheduler.Word) {
	if name == "item" {
		return scheduler.Word(crypto.Keccak256([]byte("ETH/USD")))
	}
	for i := range w {
		w[i] = (name[1] - '0' + 1) << 4
	}
	return w
}

// entryFields shows of an entry the fields that the expectation names, as the final line writes them.
func (c *scriptCheck) entryFields(id uint64) string {
	var entries struct {
		Final struct {
			Entries map[string]map[string]any `json:"entries"`
		} `json:"final"`
	}
	must(c, json.Unmarshal(c.player.Final().Encode(), &entries))
	fields := entries.Final.Entries[strconv.FormatUint(id, 10)]
	return join(c.args[1:], func(pair string) string {
		name, _, _ := strings.Cut(pair, "=")
		return fmt.Sprintf("%s=%v", name, fields[name])
	})
}

// hashOf is the hash of a leading transaction by its fields, computed with go-ethereum.
func (c *scriptCheck) hashOf(fields []string) string {
	f := map[string]string{}
	for _, pair := range fields {
		name, v, _ := strings.Cut(pair, "=")
		f[name] = v
	}
	input, err := hex.DecodeString(strings.TrimPrefix(f["input"], "0x"))
	must(c, err)
	list, err := rlp.EncodeToBytes([]any{
		big.NewInt(chainID), c.number(f["id"]), c.number(f["attempt"]), common.Address(c.account(f["payer"])),
		common.Address(c.account(f["target"])), c.number(f["cost"]), c.number(f["price"]), input,
	})
	must(c, err)
	return scheduler.Word(crypto.Keccak256(append([]byte{scheduler.SystemTxType}, list...))).String()
}
