package replay_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler/replay"
)

// edit is the script of three lines with one part of it replaced.
func edit(t testing.TB, old, by string) string {
	t.Helper()
	text := genesisLine + scheduleLine + keyLine
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q stands %d times in the script", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, by, 1)
}

func TestParseRefuses(t *testing.T) {
	const (
		secret   = `"group_secret":"0x0c6d3a7ecd24126c85920d2dcd1fdcc8c451555bbef4a1f34812e8bccebc4a3f"`
		seal     = `"seal":{"calls":[{"target":"0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","gas_limit":"50000"}]}`
		deposit  = `"deposit":"10000000"`
		target   = `"0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb":"ok"`
		accounts = `"accounts":{"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":{"gas_token":"10000000000"}}`
		schedule = "line 2: block.txs[1].schedule."
	)
	for _, c := range []struct{ name, old, by, want string }{
		{"unknown field of the line", `{"genesis":{`, `{"note":1,"genesis":{`, "line 1: note: unknown field"},
		{"unknown field, deep", `"gas_limit":"98000"`, `"gas_limt":"98000"`, schedule + "gas_limt: unknown field"},
		{"a field in another case", `"gas_limit":"98000"`, `"Gas_Limit":"98000"`, schedule + "Gas_Limit: unknown field"},
		{"a field twice", deposit, deposit + "," + deposit, `line 2: block.txs[0]: field "deposit" appears twice`},
		{"a field twice, one escaped", deposit, deposit + `,"deposi\u0074":"1"`, `line 2: block.txs[0]: field "deposit" appears twice`},
		{"an address twice", target, target + "," + strings.ToUpper(target[:43]) + `":"ok"`, "line 1: genesis.targets.0XBBBB"},
		{"an address twice in another case", target, target + `,"0x` + strings.ToUpper(target[3:43]) + `":"ok"`, "BBBBBBB: appears twice"},
		{"a missing field", `"time":"99",`, ``, "line 1: genesis.time: the field is missing"},
		{"a number where a string belongs", `"time":"100"`, `"time":100`, "line 2: block.time: must be a decimal number of at most 64 bits in quotes"},
		{"a string where a number belongs", `"class":1`, `"class":"1"`, schedule + "class: must be a whole number of at most 8 bits"},
		{"a number too large", `"class":1`, `"class":256`, schedule + "class: must be a whole number of at most 8 bits"},
		{"a number with an exponent", `"class":1`, `"class":1e0`, schedule + "class: must be a whole number"},
		{"a negative number", `"class":1`, `"class":-1`, schedule + "class: must be a whole number"},
		{"65 bits", `"slot":"102"`, `"slot":"18446744073709551616"`, schedule + "slot: must be a decimal number of at most 64 bits"},
		{"a leading zero", `"slot":"102"`, `"slot":"0102"`, schedule + "slot: must be a decimal number"},
		{"a sign", `"slot":"102"`, `"slot":"+102"`, schedule + "slot: must be a decimal number"},
		{"hex for a number", `"slot":"102"`, `"slot":"0x66"`, schedule + "slot: must be a decimal number"},
		{"97 bits", `"class":1`, `"class":1,"reserve_amount":"79228162514264337593543950336"`, schedule + "reserve_amount: must be a decimal number of at most 96 bits"},
		{"257 bits", deposit, `"deposit":"115792089237316195423570985008687907853269984665640564039457584007913129639936"`, "line 2: block.txs[0].deposit: must be a decimal number of at most 256 bits"},
		{"an address without 0x", target, target[:1] + target[3:], "line 1: genesis.targets.bbbb"},
		{"an address too short", `"proposer":"0xdddddddddddddddddddddddddddddddddddddddd","slot_keys"`, `"proposer":"0xdd","slot_keys"`, "line 3: block.proposer: must be 0x and 20 bytes of hex"},
		{"null", deposit, `"deposit":null`, "line 2: block.txs[0].deposit: must be"},
		{"a list that is none", `["102"]`, `"102"`, "line 3: block.slot_keys: must be a list"},
		{"an element of a list", `["102"]`, `["102",102]`, "line 3: block.slot_keys[1]: must be"},
		{"an object that is none", seal, `"seal":[]`, schedule + "seal: must be an object"},
		{"no transaction", `,` + deposit, ``, "line 2: block.txs[0]: must have one of [deposit withdraw cancel expire resume schedule]"},
		{"two transactions in one", deposit, deposit + `,"cancel":"1"`, "line 2: block.txs[0]: deposit and cancel: a transaction does one thing"},
		{"a transaction of the scheduler", `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",` + deposit, `{"from":"0x00000000000000000000000000000000000000fe",` + deposit, "line 2: block.txs[0].from: the scheduler sends no user transactions"},
		{"seal and calls", `"class":1`, `"class":1,"calls":[]`, schedule + "calls: comes from seal, which is given too"},
		{"an unknown fault", seal, strings.TrimSuffix(seal, "}") + `,"wrong":"key"}`, schedule + `seal.wrong: must be "", "commitment", "tag", "padding" or "slot"`},
		{"an unknown target", target, strings.Replace(target, "ok", "panic", 1), `must be "ok", "revert", "burn", "call:0x…" or "try:0x…"`},
		{"a target with calldata that calls nothing", target, strings.Replace(target, "ok", "ok:0x", 1), `must be "ok"`},
		{"a target that calls without 0x", target, strings.Replace(target, "ok", "call:00", 1), `must be "ok"`},
		{"no value for an item", accounts, accounts + `,"items":{"0x` + strings.Repeat("11", 32) + `":{}}`, "value: the field is missing"},
		{"a limit of zero", accounts, accounts + `,"limits":{"reads":0}`, "line 1: genesis.limits.reads: must not be zero"},
		{"a limit above the protocol's", accounts, accounts + `,"limits":{"reads":1025}`, "line 1: genesis: scheduler limits: reads is 1025, must be from 1 to 1024"},
		{"a secret that is no scalar", secret, `"group_secret":"0x` + strings.Repeat("ff", 32) + `"`, "line 1: genesis.group_secret: must be a scalar"},
		{"a secret of zero", secret, `"group_secret":"0x` + strings.Repeat("00", 32) + `"`, "line 1: genesis.group_secret: must be a scalar"},
		{"a policy the scheduler refuses", `"cancel_refund_bps":8000`, `"cancel_refund_bps":10001`, "line 1: genesis: scheduler policy: cancelRefundBps 10001 exceeds 10000"},
		{"the gas token among the tokens", `{"gas_token":"10000000000"}`, `{"tokens":{"0x` + strings.Repeat("70", 20) + `":{}}}`, "is not one of the other tokens"},
		{"no JSON", `"proposer":"0xdddddddddddddddddddddddddddddddddddddddd","slot_keys"`, `proposer`, "line 3: "},
		{"two values in a line", `"slot_keys":["102"]}}`, `"slot_keys":["102"]}}{}`, "line 3: something follows the object"},
		{"a second genesis", keyLine, genesisLine, "line 3: genesis: unknown field"},
		{"no genesis", genesisLine, "", "line 1: block: unknown field"},
		{"a time that does not grow", `"time":"103"`, `"time":"100"`, "line 3: time 100 is not after the parent's, 100"},
		{"a key before its slot is over", `"time":"103"`, `"time":"102"`, "line 3: begin block 2: invalid beacon update: slot 102 is not over at time 102"},
		{"keys without a group key", secret + ",", "", "line 3: the block names keys, and there is no group_secret to make them with"},
		{"the gas token becomes a MIP20 token", `"slot_keys":["102"]`, `"mip20":["0x` + strings.Repeat("70", 20) + `"]`, "line 3: mip20: the gas token is no MIP20 token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			output, err := play(edit(t, c.old, c.by))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if strings.Contains(output, `"final"`) {
				t.Errorf("a final line follows an error:\n%s", output)
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	whole := genesisLine + scheduleLine + keyLine
	want, err := play(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"spaces, blank lines and carriage returns": "\n" + strings.ReplaceAll(strings.ReplaceAll(whole, ":{", " : { "), "\n", " \r\n\n"),
		"no last line feed":                        strings.TrimSuffix(whole, "\n"),
		"addresses in capitals":                    strings.ReplaceAll(whole, "0x"+strings.Repeat("a", 40), "0x"+strings.Repeat("A", 40)),
		"another order of the fields":              edit(t, `"slot":"102","gas_limit":"98000"`, `"gas_limit":"98000","slot":"102"`),
	} {
		if got, err := play(text); err != nil || got != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := play(""); err == nil || err.Error() != "the script is empty: its first line is the genesis" {
		t.Errorf("an empty script: %v", err)
	}
	fields := edit(t, `"gas_per_block":"2000000",`, "")
	script, err := replay.Parse(strings.NewReader(fields))
	if err != nil || script.Genesis.Policy.GasPerBlock != 30_000_000 || script.Genesis.Policy.MaxEntriesPerBlock != 4 {
		t.Errorf("a policy field that is left out: %v, %+v", err, script.Genesis.Policy)
	}
}

func TestLineTooLong(t *testing.T) {
	long := genesisLine + `{"block":{"time":"` + strings.Repeat("1", replay.MaxLine) + `"}}`
	if _, err := play(long); err == nil || err.Error() != "line 2: longer than 16777216 bytes" {
		t.Errorf("got %v", err)
	}
	broken := errors.New("the disk is gone")
	err := replay.Stream(io.MultiReader(strings.NewReader(genesisLine), &failing{broken}), func([]byte) error { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	if err := replay.Stream(strings.NewReader(genesisLine), func([]byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzScript feeds bytes to the reader and, if they are a script, plays it. What was read is written in a form that reads the same, and a
// script gives its output twice.
func FuzzScript(f *testing.F) {
	f.Add([]byte(genesisLine + scheduleLine + keyLine))
	files, err := filepath.Glob("examples/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		script, err := replay.Parse(bytes.NewReader(text))
		if err != nil {
			return
		}
		encoded := script.Encode()
		again, err := replay.Parse(bytes.NewReader(encoded))
		if err != nil {
			t.Fatalf("%v: it was written as\n%s", err, encoded)
		}
		if !bytes.Equal(again.Encode(), encoded) {
			t.Fatalf("written as\n%s\nand then as\n%s", encoded, again.Encode())
		}
		first, err1 := play(string(text))
		second, err2 := play(string(encoded))
		if first != second || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%v\n%s\n%v\n%s", err1, first, err2, second)
		}
	})
}
