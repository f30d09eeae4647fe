package chain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

func TestGenesisFileRoundTrip(t *testing.T) {
	g := testGenesis(4)
	parsed, err := chain.ParseGenesis(g.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Hash() != g.Hash() || !bytes.Equal(parsed.Encode(), g.Encode()) {
		t.Error("a genesis changed on its way through a file")
	}
}

func TestGenesisHashIgnoresLayoutNamesAndAddresses(t *testing.T) {
	g := testGenesis(4)
	want := g.Hash()
	var compact bytes.Buffer
	if err := json.Compact(&compact, g.Encode()); err != nil {
		t.Fatal(err)
	}
	parsed, err := chain.ParseGenesis(compact.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	parsed.Validators[0].Name, parsed.Validators[1].Addrs = "renamed", []string{"/dns/moved.example/tcp/1"}
	if parsed.Hash() != want {
		t.Error("layout, names or addresses changed the hash")
	}
}

func TestGenesisHashCoversEveryAgreedValue(t *testing.T) {
	seen := map[[32]byte]string{testGenesis(4).Hash(): "unchanged"}
	for name, edit := range map[string]func(*chain.Genesis){
		"chain id":       func(g *chain.Genesis) { g.ChainID++ },
		"time":           func(g *chain.Genesis) { g.Time++ },
		"fewer members":  func(g *chain.Genesis) { g.Validators = g.Validators[:3] },
		"network key":    func(g *chain.Genesis) { g.Validators[2].NetworkKey[0] ^= 1 },
		"proposer":       func(g *chain.Genesis) { g.Validators[2].Proposer[0] ^= 1 },
		"policy":         func(g *chain.Genesis) { g.Policy.MinGasPrice++ },
		"balance":        func(g *chain.Genesis) { g.Balances[alice.addr] = uint256.NewInt(1) },
		"holder":         func(g *chain.Genesis) { g.Balances[chain.Addr{1}] = uint256.NewInt(0) },
		"block gas":      func(g *chain.Genesis) { g.BlockGasLimit++ },
		"turn":           func(g *chain.Genesis) { g.TurnBlocks++ },
		"skip":           func(g *chain.Genesis) { g.SkipSeconds++ },
		"threshold":      func(g *chain.Genesis) { g.Ceremony.Threshold++ },
		"minimum QUAL":   func(g *chain.Genesis) { g.Ceremony.MinQual-- },
		"phase timeout":  func(g *chain.Genesis) { g.Ceremony.PhaseTimeoutSeconds++ },
		"voting key":     func(g *chain.Genesis) { g.Validators[1].VotingKey = votingKey(9).Public() },
		"members' order": func(g *chain.Genesis) { g.Validators[0], g.Validators[1] = g.Validators[1], g.Validators[0] },
	} {
		g := testGenesis(4)
		edit(g)
		hash := g.Hash()
		if other, ok := seen[hash]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash] = name
	}
}

func TestGenesisDefaults(t *testing.T) {
	g := testGenesis(7)
	g.Ceremony, g.TurnBlocks, g.SkipSeconds, g.BlockGasLimit = chain.CeremonySettings{}, 0, 0, 0
	parsed, err := chain.ParseGenesis(g.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if c := parsed.Ceremony; c.Threshold != 5 || c.MinQual != 7 || c.PhaseTimeoutSeconds == 0 {
		t.Errorf("ceremony %+v, want threshold 5 and min_qual 7 of 7", c)
	}
	if parsed.TurnBlocks != 4 || parsed.SkipSeconds != 3 {
		t.Errorf("turn %d and skip %d, want 4 and 3", parsed.TurnBlocks, parsed.SkipSeconds)
	}
	if parsed.FaultsTolerated() != 2 || len(parsed.Warnings()) != 0 {
		t.Errorf("7 validators tolerate %d, warnings %v", parsed.FaultsTolerated(), parsed.Warnings())
	}
	if w := testGenesis(3).Warnings(); len(w) != 1 || !strings.Contains(w[0], "no fault is tolerated") {
		t.Errorf("warnings of 3 validators: %v", w)
	}
}

func TestGenesisRefusals(t *testing.T) {
	valid := string(testGenesis(4).Encode())
	for name, c := range map[string]struct{ from, to, want string }{
		"unknown field":        {`"chain_id"`, `"chian_id": 1, "chain_id"`, "chian_id"},
		"field given twice":    {`"chain_id"`, `"chain_id": 1, "chain_id"`, "given twice"},
		"in another case":      {`"chain_id"`, `"Chain_ID": 1, "chain_id"`, "given twice"},
		"holder given twice":   {alice.addr.Hex(), bob.addr.Hex(), "given twice"},
		"short key":            {`"network_key": "`, `"network_key": "00`, "64 hexadecimal digits"},
		"another's voting key": {votingKey(1).Public().String(), votingKey(3).Public().String(), "proof of possession is not of this voting key"},
		"no voting key":        {`"voting_key": "` + votingKey(1).Public().String() + `",`, ``, "take voting_key and voting_proof"},
		"short voting key":     {`"voting_key": "0x`, `"voting_key": "0x00`, "96 hexadecimal digits"},
		"short address":        {alice.addr.Hex(), "0x1234", "40 hexadecimal digits"},
		"amount not decimal":   {`"1000000000000000"`, `"0x10"`, "decimal"},
		"amount negative":      {`"1000000000000000"`, `"-1"`, "decimal"},
		"amount too large":     {`"1000000000000000"`, `"1` + strings.Repeat("0", 80) + `"`, "decimal"},
		"amount a number":      {`"1000000000000000"`, `5`, "decimal strings"},
		"chain id 0":           {`"chain_id": 31337`, `"chain_id": 0`, "chain_id is 0"},
		"time in ms":           {`"genesis_time": 1800000000`, `"genesis_time": 1800000000000`, "in seconds"},
		"index repeated":       {`"index": 2`, `"index": 1`, "position 2"},
		"wrong threshold":      {`"threshold": 3`, `"threshold": 2`, "floor(2n/3)+1"},
		"min_qual too low":     {`"min_qual": 4`, `"min_qual": 3`, "min_qual"},
		"policy out of range":  {`"cancel_refund_bps": 9000`, `"cancel_refund_bps": 10001`, "cancelRefundBps"},
		"too much gas":         {`"gas_per_block": 30000000`, `"gas_per_block": 300000001`, "gas_per_block"},
		"trailing content":     {"\n}\n", "\n}\n{}", "follows"},
		"cut short":            {"\n}\n", "\n", "EOF"},
	} {
		text := strings.Replace(valid, c.from, c.to, 1)
		if text == valid {
			t.Fatalf("%s: nothing was edited", name)
		}
		_, err := chain.ParseGenesis([]byte(text))
		if !errors.Is(err, chain.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that names %q", name, err, c.want)
		}
	}
}

func TestGenesisReportsAllProblemsAtOnce(t *testing.T) {
	g := testGenesis(4)
	g.ChainID, g.Validators[1].Proposer, g.Validators[3].NetworkKey = 0, chain.Addr{19: 0xfe}, g.Validators[0].NetworkKey
	g.Balances[chain.Addr{19: 0xff}] = uint256.NewInt(1)
	err := g.Validate()
	for _, want := range []string{"4 problems", "chain_id", "validator 2", "1 and 4", "system address"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
}

// TestGenesisVotingKeysAreTheirOwners: a key that is another's comes with a proof that verifies.
func TestGenesisVotingKeysAreTheirOwners(t *testing.T) {
	g := testGenesis(4)
	g.Validators[2].VotingKey, g.Validators[2].VotingProof = g.Validators[0].VotingKey, g.Validators[0].VotingProof
	if err := g.Validate(); err == nil || !strings.Contains(err.Error(), "1 and 3 have the same voting_key") {
		t.Error(err)
	}
}

func TestTwoValidatorsCannotHaveOneAddress(t *testing.T) {
	g := testGenesis(3)
	g.Validators[2].Addrs = append(g.Validators[2].Addrs, g.Validators[0].Addrs[0])
	if err := g.Validate(); err == nil || !strings.Contains(err.Error(), "validators 1 and 3 have the same address") {
		t.Errorf("one address of two validators: %v", err)
	}
}

func FuzzParseGenesis(f *testing.F) {
	f.Add(testGenesis(1).Encode())
	f.Add(testGenesis(4).Encode())
	f.Add(assetGenesis().Encode())
	f.Add([]byte(`{"balances":{"0x00":"1"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := chain.ParseGenesis(data)
		if err != nil {
			return
		}
		again, err := chain.ParseGenesis(g.Encode())
		if err != nil || again.Hash() != g.Hash() {
			t.Fatalf("an accepted genesis does not survive its own encoding: %v", err)
		}
	})
}
