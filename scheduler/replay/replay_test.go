package replay_test

import (
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler/replay"
)

const (
	genesisLine = `{"genesis":{"chain_id":"31337","genesis_hash":"0x1111111111111111111111111111111111111111111111111111111111111111","time":"99",` +
		`"height":"0","group_secret":"0x0c6d3a7ecd24126c85920d2dcd1fdcc8c451555bbef4a1f34812e8bccebc4a3f","policy":{"gas_per_block":"2000000",` +
		`"guaranteed_gas_per_slot":"800000","max_horizon_slots":"34560000","max_late_slots":"60","cancel_refund_bps":8000,` +
		`"max_entries_per_block":4,"treasury":"0x7777777777777777777777777777777777777777","min_gas_price":"10",` +
		`"gas_token":"0x7070707070707070707070707070707070707070"},` +
		`"accounts":{"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":{"gas_token":"10000000000"}},` +
		`"targets":{"0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb":"ok"}}}` + "\n"
	scheduleLine = `{"block":{"time":"100","proposer":"0xdddddddddddddddddddddddddddddddddddddddd",` +
		`"txs":[{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","deposit":"10000000"},` +
		`{"from":"0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","schedule":{"slot":"102","gas_limit":"98000","gas_price":"10","class":1,` +
		`"seal":{"calls":[{"target":"0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","gas_limit":"50000"}]}}}]}}` + "\n"
	keyLine = `{"block":{"time":"103","proposer":"0xdddddddddddddddddddddddddddddddddddddddd","slot_keys":["102"]}}` + "\n"
)

// play runs a script and returns its output.
func play(script string) (string, error) {
	var out strings.Builder
	err := replay.Stream(strings.NewReader(script), func(line []byte) error {
		out.Write(line)
		return nil
	})
	return out.String(), err
}

func TestStreamIsRunOfParse(t *testing.T) {
	text := genesisLine + scheduleLine + keyLine
	streamed, err := play(text)
	if err != nil {
		t.Fatal(err)
	}
	script, err := replay.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(script.Encode()); got != text {
		t.Errorf("encoded:\n%s\nwant:\n%s", got, text)
	}
	var whole strings.Builder
	if err := replay.Run(script, func(line []byte) error { whole.Write(line); return nil }); err != nil {
		t.Fatal(err)
	}
	if whole.String() != streamed {
		t.Errorf("Run:\n%s\nStream:\n%s", whole.String(), streamed)
	}
	for _, want := range []string{`"Executed","args":["1","0"]`, `"outcome":"success"`, `"next_id":"2"`} {
		if !strings.Contains(streamed, want) {
			t.Errorf("no %s in:\n%s", want, streamed)
		}
	}
}
