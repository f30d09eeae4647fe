package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/replay"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// TestExtremes plays scripts whose numbers are as large as they can be written: nothing panics, and the output stays well formed.
func TestExtremes(t *testing.T) {
	const (
		max64  = "18446744073709551615"
		max256 = "115792089237316195423570985008687907853269984665640564039457584007913129639935"
		target = "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	)
	item := `"0x` + strings.Repeat("11", 32) + `"`
	calls := `{"target":"` + target + `","gas_limit":"50000","data":"0x` + strings.Repeat("00", 6000) + `"}`
	var fields []string
	for _, name := range []string{"slot", "height", "gas_limit", "gas_price", "period_slots"} {
		for _, v := range []string{"0", "1", "9223372036854775808", "4611686018427387904", "2305843009213693951", max64} {
			fields = append(fields, `"`+name+`":"`+v+`"`)
		}
	}
	for _, name := range []string{"class", "max_retries", "backoff_slots", "remaining"} {
		fields = append(fields, `"`+name+`":255`)
	}
	fields = append(fields, `"backoff_slots":4294967295`, `"remaining":4294967295`, `"reserve_amount":"79228162514264337593543950335"`,
		`"when":{"item":`+item+`,"kind":255,"operand":"`+max256+`"}`, `"when":{"kind":1}`, `"depends_on":[{"id":"`+max64+`"},{"id":"0","finished":true}]`,
		`"ciphertext":"0x`+strings.Repeat("00", 20_000)+`"`, `"seal":{"calls":[`+calls+`]}`, `"seal":{"calls":[`+calls+`],"wrong":"padding"}`, `"seal":{}`,
		`"seal":{"wrong":"slot"},"slot":"`+max64+`"`, `"seal":{"wrong":"slot"},"when":{"item":`+item+`,"kind":3},"slot":"`+max64+`"`)
	var list []string
	for _, class := range []string{"0", "1"} {
		for _, f := range fields {
			all := `"gas_limit":"98000","gas_price":"10","slot":"105","class":` + class
			for _, own := range []string{"gas_limit", "gas_price", "slot", "class"} {
				if strings.Contains(f, `"`+own+`":`) {
					all = without(all, own)
				}
			}
			if !strings.Contains(f, "seal") {
				f += `,"calls":[{"target":"` + target + `","gas_limit":"50000"}]`
			}
			if all != "" {
				f += "," + all
			}
			list = append(list, `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","schedule":{`+f+`}}`)
		}
	}
	for _, verb := range []string{"deposit", "withdraw"} {
		list = append(list, fmt.Sprintf(`{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","%s":"%s"}`, verb, max256))
	}
	for _, verb := range []string{"cancel", "expire", "resume"} {
		list = append(list, fmt.Sprintf(`{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","%s":"%s"}`, verb, max64))
	}
	for name, policy := range map[string][]string{
		"small": nil,
		"large": {`"gas_per_block":"2000000"`, `"gas_per_block":"` + max64 + `"`, `"800000"`, `"` + max64 + `"`, `"34560000"`, `"2305843009213693951"`,
			`"max_late_slots":"60"`, `"max_late_slots":"2305843009213693951"`, `"max_entries_per_block":4`, `"max_entries_per_block":4294967295`},
	} {
		genesis := append([]string{`"10000000000"`, `"` + max256 + `"`, `"targets":`, `"items":{` + item + `:{"value":"` + max256 + `"}},"targets":`}, policy...)
		deposit := `{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","deposit":"` + max256 + `"}`
		out := trial(t, genesis, txs(append([]string{deposit}, list...)...), "", "", "", "", "", `"slot_keys":["105"]`, "",
			`"writes":[{"item":`+item+`,"value":"`+max256+`"}]`, "", "")
		if !strings.Contains(out, `"final"`) || !strings.Contains(out, "Executed") {
			t.Errorf("%s policy: nothing ran:\n%s", name, out)
		}
	}
}

// without is a list of fields less the one of that name.
func without(fields, name string) string {
	var kept []string
	for _, f := range strings.Split(fields, ",") {
		if !strings.HasPrefix(f, `"`+name+`":`) {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, ",")
}

func TestTimesAtTheEnd(t *testing.T) {
	end := uint64(1 << 60)
	for _, c := range []struct {
		time, height uint64
		want         string
	}{
		{end - 2, end - 3, ""},
		{end - 2, end - 1, "line 2: begin block 1152921504606846976: "},
		{end - 1, 0, "or time 1152921504606846976 is out of range"},
		{end, 0, "line 1: genesis: install the scheduler: height 0 or time 1152921504606846976 is out of range"},
		{0, 1<<64 - 1, "out of range"},
	} {
		script := strings.Replace(genesisLine, `"time":"99","height":"0"`, fmt.Sprintf(`"time":"%d","height":"%d"`, c.time, c.height), 1)
		script += fmt.Sprintf(`{"block":{"time":"%d","proposer":"0xdddddddddddddddddddddddddddddddddddddddd","txs":[`+aliceDeposits+`,`+
			schedules("0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", `"slot":"1152921504640000000"`)+`]}}`, c.time+1)
		out, err := play(script)
		if c.want == "" && (err != nil || !strings.Contains(out, `"errors":[null,null]`)) {
			t.Errorf("time %d, height %d: %v\n%s", c.time, c.height, err, out)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("time %d, height %d: got error %v, want %q", c.time, c.height, err, c.want)
		}
	}
}

// TestMoreKeysThanAnUpdateHas: a line may name as many keys as fit into it, and none of them is made.
func TestMoreKeysThanAnUpdateHas(t *testing.T) {
	secret := bls.ScalarFromUint64(7)
	policy := scheduler.DefaultPolicy()
	policy.Treasury, policy.GasToken = scheduler.Addr{1}, scheduler.Addr{2}
	for name, b := range map[string]replay.Block{
		"slot":      {Time: 2_000_000, SlotKeys: make([]uint64, 1_000_000)},
		"condition": {Time: 2_000_000, ConditionKeys: make([]scheduler.Word, 1_000_000)},
	} {
		p, err := replay.NewPlayer(replay.Genesis{ChainID: 1, Time: 99, GroupSecret: secret, Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Block(b); !errors.Is(err, scheduler.ErrUpdate) {
			t.Errorf("a million %s keys: %v", name, err)
		}
	}
}
