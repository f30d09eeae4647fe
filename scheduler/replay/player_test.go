package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/replay"
)

func uint256Of(v uint64) *uint256.Int { return uint256.NewInt(v) }

// trial plays blocks that are given as the inside of their lines, after the genesis line with some text replaced, and returns the output.
func trial(t *testing.T, genesis []string, blocks ...string) string {
	t.Helper()
	text := strings.NewReplacer(genesis...).Replace(genesisLine)
	for i, b := range blocks {
		if b != "" && b[0] != ',' {
			b = "," + b
		}
		text += fmt.Sprintf(`{"block":{"time":"%d","proposer":"0xdddddddddddddddddddddddddddddddddddddddd"%s}}`+"\n", 100+i, b)
	}
	output, err := play(text)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

const (
	aliceDeposits = `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","deposit":"100000000"}`
	okTarget      = `"targets":{"0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb":"ok"`
)

// schedules is a transaction of 0xaa… for one call, with more fields of schedule.
func schedules(target, more string) string {
	return `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","schedule":{"calls":[{"target":"` + target + `","gas_limit":"50000"}],` +
		`"gas_limit":"98000","gas_price":"10","class":1,` + more + `}}`
}

func txs(list ...string) string { return `"txs":[` + strings.Join(list, ",") + `]` }

func wantIn(t *testing.T, output string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(output, part) {
			t.Errorf("no %s in:\n%s", part, output)
		}
	}
}

func TestTargets(t *testing.T) {
	const target = "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	deposit7 := fmt.Sprintf("0x%x", scheduler.DepositInput(*uint256Of(7)))
	withdraw1 := fmt.Sprintf("0x%x", scheduler.WithdrawInput(*uint256Of(1)))
	executed, failed := `"Executed","args":["1","0"]`, `"ExecutionFailed","args":["1","0","false"]`
	for _, c := range []struct{ name, kind, want string }{
		{"ok", "ok", executed},
		{"revert", "revert", failed},
		{"burn", "burn", failed},
		{"call whose calldata works", "call:" + deposit7, `{"name":"Deposited","args":["` + target + `","7"]},{"name":` + executed},
		{"call that reverts", "call:" + withdraw1, failed},
		{"call with calldata that is none", "call:0x", failed},
		{"try whose calldata works", "try:" + deposit7, `{"name":"Deposited","args":["` + target + `","7"]},{"name":` + executed},
		{"try that reverts", "try:" + withdraw1, executed},
	} {
		t.Run(c.name, func(t *testing.T) {
			accounts := []string{okTarget, strings.Replace(okTarget, "ok", c.kind, 1), `"accounts":{`, `"accounts":{"` + target + `":{"gas_token":"7"},`}
			wantIn(t, trial(t, accounts, txs(aliceDeposits, schedules(target, `"slot":"101"`)), ""), c.want)
		})
	}
	for _, a := range []string{"ff", "fd", "fc", "fb", "01"} {
		t.Run("an address that is no target: 0x…"+a, func(t *testing.T) {
			wantIn(t, trial(t, nil, txs(aliceDeposits, schedules("0x"+strings.Repeat("00", 19)+a, `"slot":"101"`)), ""), executed)
		})
	}
}

func TestGasIsNotMetered(t *testing.T) {
	t.Run("a callback costs nothing", func(t *testing.T) {
		deposit0 := fmt.Sprintf("0x%x", scheduler.DepositInput(*uint256Of(0)))
		tx := strings.Replace(schedules("0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", `"slot":"101"`), `"gas_limit":"50000"`, `"gas_limit":"0"`, 1)
		wantIn(t, trial(t, []string{okTarget, strings.Replace(okTarget, "ok", "call:"+deposit0, 1)}, txs(aliceDeposits, tx), ""), `"Executed","args":["1","0"]`)
	})
	t.Run("sealed calls that declare more than the entry paid for run out of gas, and may retry", func(t *testing.T) {
		seal := func(gas int) string {
			return `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","schedule":{"slot":"101","gas_limit":"98000","gas_price":"10","class":1,` +
				fmt.Sprintf(`"max_retries":1,"seal":{"calls":[{"target":"0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","gas_limit":"%d"}]}}}`, gas)
		}
		out := trial(t, nil, txs(aliceDeposits, seal(88_000), seal(88_001)), "", `"slot_keys":["101"]`)
		wantIn(t, out, `"Executed","args":["1","0"]`, `"ExecutionFailed","args":["2","0","true"]`)
	})
}

func TestEveryAddressHasApproved(t *testing.T) {
	half := new(uint256.Int).Lsh(uint256Of(1), 255).Dec()
	move := func(verb string) string {
		return `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","` + verb + `":"` + half + `"}`
	}
	out := trial(t, []string{`"10000000000"`, `"` + half + `"`}, txs(move("deposit"), move("withdraw"), move("deposit"), move("withdraw"), move("deposit")))
	wantIn(t, out, `"errors":[null,null,null,null,null]`)
	wantIn(t, trial(t, nil, txs(`{"from":"0x00000000000000000000000000000000000000e1","deposit":"1"}`)), `"errors":["TransferFailed"]`)
}

func TestBlockFields(t *testing.T) {
	t.Run("seize takes at most what is there, before the leading transactions", func(t *testing.T) {
		for _, c := range []struct{ seize, left string }{{"97000001", `"2999999"`}, {"1000000000000", ""}} {
			out := trial(t, nil, txs(aliceDeposits, schedules("0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", `"slot":"101"`)), `"seize":"`+c.seize+`"`)
			wantIn(t, out, `"outcome":"skipped"`)
			if c.left == "" == strings.Contains(out, `fe":"`) {
				t.Errorf("the scheduler's own balance is not %s:\n%s", c.left, out)
			}
			wantIn(t, out, c.left)
		}
	})
	t.Run("mip20 makes an address a token, which no run may call", func(t *testing.T) {
		target := "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
		out := trial(t, nil, txs(aliceDeposits, schedules(target, `"slot":"102"`)), `"mip20":["`+target+`"],`+txs(schedules(target, `"slot":"103"`)), "")
		wantIn(t, out, `"errors":["BadTarget"]`, `"ExecutionFailed","args":["1","0","false"]`)
	})
	t.Run("a group key that a block installs makes its own keys", func(t *testing.T) {
		second := `"group_secret":"0x` + strings.Repeat("00", 31) + `02"`
		none := []string{`"group_secret":"0x0c6d3a7ecd24126c85920d2dcd1fdcc8c451555bbef4a1f34812e8bccebc4a3f",`, ""}
		seal := `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","schedule":{"slot":"103","gas_limit":"98000","gas_price":"10","class":1,` +
			`"seal":{"calls":[{"target":"0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","gas_limit":"50000"}]}}}`
		out := trial(t, none, txs(aliceDeposits, seal), second+`,"slot_keys":["100"],`+txs(seal), "", "", `"slot_keys":["103"]`)
		wantIn(t, out, `"errors":[null,"BadSeal"]`, `"Executed","args":["1","0"]`)
	})
}

func TestLimits(t *testing.T) {
	limit := func(l string) []string { return []string{`"accounts":`, `"limits":{` + l + `},"accounts":`} }
	target := "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	item := func(b string) string { return `"0x` + strings.Repeat(b, 32) + `"` }
	watch := func(b string) string { return schedules(target, `"slot":"101","when":{"item":`+item(b)+`,"kind":1}`) }
	items := []string{`"targets":`, `"items":{` + item("11") + `:{"value":"1"},` + item("22") + `:{"value":"1"}},"targets":`}

	t.Run("scan", func(t *testing.T) {
		out := trial(t, append(limit(`"scan":2`), `"time":"99"`, `"time":"90"`), "", "", "")
		wantIn(t, out, `"cursor_slot":"93"`, `"cursor_slot":"95"`, `"cursor_slot":"97"`)
	})
	t.Run("reads", func(t *testing.T) {
		var list []string
		for range 3 {
			list = append(list, schedules(target, `"slot":"101"`))
		}
		out := trial(t, limit(`"reads":2`), txs(append(list, aliceDeposits)...), "")
		wantIn(t, out, `"errors":["InsufficientEscrow"`)
		out = trial(t, limit(`"reads":2`), txs(append([]string{aliceDeposits}, list...)...), "", "")
		wantIn(t, out, `"events":[{"name":"Executed","args":["1","0"]},{"name":"Executed","args":["2","0"]}],"errors":[],"cursor_slot":"101"`,
			`"events":[{"name":"Executed","args":["3","0"]}],"errors":[],"cursor_slot":"103"`)
	})
	t.Run("watchers", func(t *testing.T) {
		// Height 3 begins at the second of two items, height 4 at the first: one item a block.
		writes := `"writes":[{"item":` + item("11") + `,"value":"1"},{"item":` + item("22") + `,"value":"1"}]`
		out := trial(t, append(limit(`"watchers":1`), items...), txs(aliceDeposits, watch("11"), watch("22")), writes, "", "", "")
		wantIn(t, out, `"height":"4","time":"103","leading":[{"id":"2"`, `"height":"5","time":"104","leading":[{"id":"1"`)
	})
	t.Run("watchers per item", func(t *testing.T) {
		out := trial(t, append(limit(`"watchers_per_item":1`), items...), txs(aliceDeposits, watch("11"), watch("11"), watch("22")))
		wantIn(t, out, `"errors":[null,null,"WatchFull",null]`)
	})
}

func TestFinalLine(t *testing.T) {
	var list []string
	for slot := 200; slot > 198; slot-- {
		for range 4 {
			list = append(list, schedules("0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", fmt.Sprintf(`"slot":"%d"`, slot)))
		}
	}
	for range 2 {
		list = append(list, strings.Replace(schedules("0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", `"height":"1000"`), `"class":1,`, "", 1))
	}
	out := trial(t, nil, txs(append([]string{aliceDeposits}, list...)...), txs(`{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","cancel":"10"}`))
	_, final, _ := strings.Cut(out, `{"final":`)
	if strings.Index(final, `"9":{"payer"`) > strings.Index(final, `"10":{"payer"`) {
		t.Errorf("ids are not in numerical order:\n%s", final)
	}
	wantIn(t, final,
		`"queues":{"199":["5","6","7","8"],"200":["1","2","3","4"],"9223372036854776808":["9"]},"reserved_gas":{"9223372036854776808":"300000"},`+
			`"watchers":{},"watched_height":{},"sealed_pending":{},"next_id":"11"}}`,
		`"available":{"0x7777777777777777777777777777777777777777":"600000","0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"72400000"}`,
		`"gas_token":{"0x00000000000000000000000000000000000000fe":"100000000","0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"9900000000"},"tokens":{}`)
}

// TestBlockAfterTheEnd: a run that has ended stays so.
func TestBlockAfterTheEnd(t *testing.T) {
	p, err := replay.NewPlayer(genesis(t))
	if err != nil {
		t.Fatal(err)
	}
	_, first := p.Block(replay.Block{Time: 99})
	_, second := p.Block(replay.Block{Time: 100})
	if first == nil || second != first {
		t.Errorf("got %v, then %v", first, second)
	}
}

func TestFinalLineOfWhatWaits(t *testing.T) {
	item, token := `"0x`+strings.Repeat("11", 32)+`"`, `"0x2020202020202020202020202020202020202020"`
	genesis := []string{`{"gas_token":"10000000000"}`, `{"gas_token":"10000000000","tokens":{` + token + `:{"balance":"1000","allowance":"300"}}}`,
		`"targets":`, `"items":{` + item + `:{"value":"7"}},"refuses_credit":["0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1"],"targets":`}
	reserve := func(target, slot, amount string) string {
		return strings.Replace(schedules(target, `"slot":"`+slot+`","reserve_token":`+token+`,"reserve_amount":"`+amount+`"`), `"98000"`, `"218000"`, 1)
	}
	out := trial(t, genesis, txs(aliceDeposits,
		reserve("0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1", "101", "100"), // taken, and refused by its receiver
		reserve("0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "200", "200"), // held
		schedules("0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", `"slot":"101","when":{"item":`+item+`,"kind":1,"operand":"8"}`),
		`{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","schedule":{"slot":"150","gas_limit":"98000","gas_price":"10","class":1,"seal":{}}}`,
	), `"writes":[{"item":`+item+`,"value":"7"}]`, "")
	wantIn(t, out,
		`"errors":[null,null,null,null,null]`,
		`"tokens":{`+token+`:{"0x00000000000000000000000000000000000000fc":{"balance":"100"},"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":{"balance":"700"}}}`,
		`"watchers":{`+item+`:["3"]},"watched_height":{`+item+`:"2"},"sealed_pending":{"150":"1"},"next_id":"5"}}`)
}
