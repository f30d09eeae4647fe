package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
)

const target9 = "0x0000000000000000000000000000000000000009"

// second is when the tests' command lines are typed: a quarter into slot 1000.
var second = time.Unix(1000, 250_000_000)

// parseTerms reads a command line's terms.
func parseTerms(args ...string) (scheduler.Params, terms, error) {
	var t terms
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }}
	t.flags(cmd)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		return scheduler.Params{}, t, cli.Usage("%w", err)
	}
	p, err := t.parse(second)
	return p, t, err
}

func TestEveryFieldOfAnEntryCanBeSaid(t *testing.T) {
	call := tlock.Call{Target: common.HexToAddress(target9), GasLimit: 50_000, Data: []byte{0xbe, 0xef}}
	say := "--call=" + target9 + ":50000:0xbeef"
	for name, c := range map[string]struct {
		args []string
		want scheduler.Params
	}{
		"a slot":                 {[]string{say, "--slot=1010"}, scheduler.Params{Slot: 1010}},
		"a duration, rounded up": {[]string{say, "--in=1.5s"}, scheduler.Params{Slot: 1002}},
		"a time":                 {[]string{say, "--at=1970-01-01T00:20:00Z"}, scheduler.Params{Slot: 1200}},
		"a height":               {[]string{say, "--height=12"}, scheduler.Params{Height: 12}},
		"two calls":              {[]string{say, say, "--slot=1010"}, scheduler.Params{Slot: 1010, Calls: []tlock.Call{call, call}, GasLimit: 120_000}},
		"a gas limit":            {[]string{say, "--slot=1010", "--gas-limit=77777"}, scheduler.Params{Slot: 1010, GasLimit: 77_777}},
		"a gas price":            {[]string{say, "--slot=1010", "--gas-price=9"}, scheduler.Params{Slot: 1010, GasPrice: 9}},
		"guaranteed":             {[]string{say, "--slot=1010", "--class=guaranteed"}, scheduler.Params{Slot: 1010, Class: scheduler.Guaranteed}},
		"late":                   {[]string{say, "--slot=1010", "--late-execute"}, scheduler.Params{Slot: 1010, LateExecute: true}},
		"retries":                {[]string{say, "--slot=1010", "--retries=255"}, scheduler.Params{Slot: 1010, MaxRetries: 255}},
		"a backoff, rounded up":  {[]string{say, "--slot=1010", "--retries=1", "--backoff=1m1ms"}, scheduler.Params{Slot: 1010, MaxRetries: 1, BackoffSlots: 61}},
		"a series of three": {[]string{say, "--slot=1010", "--every=1d", "--times=3", "--pause-on-fail"},
			scheduler.Params{Slot: 1010, PeriodSlots: 86400, Remaining: 2, PauseOnFail: true}},
		"a period, rounded up": {[]string{say, "--slot=1010", "--every=1.2s", "--times=2"}, scheduler.Params{Slot: 1010, PeriodSlots: 2, Remaining: 1}},
		"a reserve": {[]string{say, "--slot=1010", "--reserve=0x00000000000000000000000000000000000070c4:500"},
			scheduler.Params{Slot: 1010, GasLimit: 210_000, ReserveToken: scheduler.Addr{18: 0x70, 19: 0xc4}, ReserveAmount: [12]byte{10: 1, 11: 0xf4}}},
		"the largest reserve": {[]string{say, "--slot=1010", "--reserve=" + target9 + ":79228162514264337593543950335"},
			scheduler.Params{Slot: 1010, GasLimit: 210_000, ReserveToken: scheduler.Addr{19: 9}, ReserveAmount: [12]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}}},
		"dependencies": {[]string{say, "--slot=1010", "--after-end=2", "--after=7", "--after=8"},
			scheduler.Params{Slot: 1010, DependsOn: []scheduler.Dependency{{ID: 7}, {ID: 8}, {ID: 2, Finished: true}}}},
		"a condition by name": {[]string{say, "--when=ETH/USD >= 3500"}, scheduler.Params{Slot: 1011, When: scheduler.Condition{
			Item: scheduler.Word(crypto.Keccak256([]byte("ETH/USD"))), Kind: tlock.WhenValueAtLeast, Operand: uint256.NewInt(3500).Bytes32()}}},
		"a condition by hash, in hex, from a slot on": {[]string{say, "--when=0x" + strings.Repeat("ab", 32) + "<=0x00ff", "--not-before=1100"}, scheduler.Params{Slot: 1100,
			When: scheduler.Condition{Item: scheduler.Word(common.HexToHash(strings.Repeat("ab", 32))), Kind: tlock.WhenValueAtMost, Operand: uint256.NewInt(255).Bytes32()}}},
		"a condition without a value, from a time on": {[]string{say, "--when=ETH/USD:not-halted", "--not-before=1970-01-02"}, scheduler.Params{Slot: 86400,
			When: scheduler.Condition{Item: scheduler.Word(crypto.Keccak256([]byte("ETH/USD"))), Kind: tlock.WhenNotHalted}}},
		"a condition after a while": {[]string{say, "--when=x<=0", "--not-before=5m"}, scheduler.Params{Slot: 1301,
			When: scheduler.Condition{Item: scheduler.Word(crypto.Keccak256([]byte("x"))), Kind: tlock.WhenValueAtMost}}},
	} {
		want := c.want
		if want.Calls == nil {
			want.Calls = []tlock.Call{call}
		}
		if want.GasLimit == 0 {
			want.GasLimit = 60_000
		}
		if name != "guaranteed" {
			want.Class = scheduler.BestEffort
		}
		got, _, err := parseTerms(c.args...)
		if err != nil || string(scheduler.ScheduleInput(got)) != string(scheduler.ScheduleInput(want)) {
			t.Errorf("%s:\n%+v (%v), want\n%+v", name, got, err, want)
		}
	}
}

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	say := "--call=" + target9 + ":50000:"
	for name, args := range map[string][]string{
		"nothing to run":                  {"--in=5s"},
		"no time":                         {say},
		"a slot and a height":             {say, "--in=5s", "--height=7"},
		"a condition and a slot":          {say, "--in=5s", "--when=x>=1"},
		"a not-before without condition":  {say, "--in=5s", "--not-before=5s"},
		"a not-before of no kind":         {say, "--when=x>=1", "--not-before=soon"},
		"a slot beyond all years":         {say, "--slot=253402300800"},
		"a class of its own":              {say, "--in=5s", "--class=fast"},
		"a class by number":               {say, "--in=5s", "--class=0"},
		"256 retries":                     {say, "--in=5s", "--retries=256"},
		"a backoff without retries":       {say, "--in=5s", "--backoff=5s"},
		"a backoff of 137 years":          {say, "--in=5s", "--retries=1", "--backoff=50000d"},
		"a backoff back":                  {say, "--in=5s", "--retries=1", "--backoff=-5s"},
		"a period without a number":       {say, "--in=5s", "--every=5s"},
		"a series of one":                 {say, "--in=5s", "--every=5s", "--times=1"},
		"a number without a period":       {say, "--in=5s", "--times=5"},
		"a period of nothing":             {say, "--in=5s", "--every=0s", "--times=5"},
		"a reserve without an amount":     {say, "--in=5s", "--reserve=" + target9},
		"a reserve of nothing":            {say, "--in=5s", "--reserve=" + target9 + ":0"},
		"a reserve of the zero token":     {say, "--in=5s", "--reserve=0x0000000000000000000000000000000000000000:5"},
		"a reserve of 97 bits":            {say, "--in=5s", "--reserve=" + target9 + ":79228162514264337593543950336"},
		"a negative reserve":              {say, "--in=5s", "--reserve=" + target9 + ":-5"},
		"a dependency on nothing":         {say, "--in=5s", "--after=0"},
		"a dependency by name":            {say, "--in=5s", "--after-end=x"},
		"a condition without an operator": {say, "--when=ETH/USD"},
		"a condition that is strict":      {say, "--when=ETH/USD>5"},
		"a condition without an item":     {say, "--when=>=5"},
		"a condition without a value":     {say, "--when=ETH/USD>="},
		"a condition on a negative value": {say, "--when=ETH/USD>=-5"},
		"a condition on a fraction":       {say, "--when=ETH/USD>=1.5"},
		"a condition of 257 bits":         {say, "--when=x>=0x1" + strings.Repeat("0", 64)},
		"not halted, and a value":         {say, "--when=x:not-halted5"},
		"an item that is half a hash":     {say, "--when=0xabcd>=5"},
		"calls whose gas is 2^64-1":       {"--call=" + target9 + ":18446744073709551615:", "--in=5s"},
		"calls whose gas wraps":           {"--call=" + target9 + ":18446744073709541616:", say, "--in=5s"},
		"calls that overflow together":    {"--call=" + target9 + ":9223372036854775807:", "--call=" + target9 + ":9223372036854775807:", "--in=5s"},
		"a gas limit that cannot double":  {say, "--in=5s", "--round-gas", "--gas-limit=9223372036854775809"},
	} {
		if p, _, err := parseTerms(args...); cli.ExitCode(err) != cli.ExitUsage {
			t.Errorf("%s: %v, %+v", name, err, p)
		}
	}
}

func TestTheGasLimitCanBeRoundedUp(t *testing.T) {
	t.Run("S-SEA-20 the sealing tool rounds the gas limit up to a power of two", func(t *testing.T) {
		for args, want := range map[string]uint64{
			"":                   60_000,
			"--round-gas":        1 << 16,
			"--gas-limit=65536":  1 << 16,
			"--gas-limit=65537":  65_537,
			"--gas-limit=300000": 300_000,
		} {
			for _, round := range []bool{false, true} {
				line := strings.Fields(args + " --slot=1010 --call=" + target9 + ":50000:")
				want := want
				if round {
					line = append(line, "--round-gas")
					for p := uint64(1); ; p <<= 1 {
						if p >= want {
							want = p
							break
						}
					}
				}
				if got, _, err := parseTerms(line...); err != nil || got.GasLimit != want {
					t.Errorf("%q: %d, %v; want %d", line, got.GasLimit, err, want)
				}
			}
		}
	})
}

// policy9 is a policy whose bounds are near.
func policy9() scheduler.Policy {
	p := scheduler.DefaultPolicy()
	p.GasPerBlock, p.GuaranteedGasPerSlot, p.MaxHorizonSlots, p.MinGasPrice = 2_000_000, 800_000, 5000, 10
	p.Treasury, p.GasToken = scheduler.Addr{1}, scheduler.Addr{2}
	return p
}

func TestRulesAreNamedBeforeAnythingIsSent(t *testing.T) {
	say := "--call=" + target9 + ":50000: --gas-price=10 "
	with := func(n int, what string) string { return strings.Repeat(what+" ", n) }
	for line, rule := range map[string]scheduler.Error{
		say + "--open --when=x>=1 --class=guaranteed":                                 scheduler.BadClass,
		say + "--slot=1000":                                                           scheduler.SlotNotInFuture,
		say + "--open --height=7":                                                     scheduler.SlotNotInFuture,
		say + "--slot=6001":                                                           scheduler.BeyondHorizon,
		say + "--open --height=5008":                                                  scheduler.BeyondHorizon,
		say + "--open --in=5s --every=5001s --times=2":                                scheduler.BeyondHorizon,
		say + "--in=5s --retries=1 --backoff=5001s":                                   scheduler.BeyondHorizon,
		say + "--in=5s --pause-on-fail":                                               scheduler.CannotRecur,
		say + "--open --height=9 --every=5s --times=2":                                scheduler.CannotRecur,
		say + "--open --in=5s --every=5s --times=2 --after=1":                         scheduler.CannotRecur,
		say + "--open --when=x>=1 --every=5s --times=2":                               scheduler.CannotRecur,
		say + "--in=5s " + with(9, "--after=1"):                                       scheduler.BadDependency,
		say + "--height=9":                                                            scheduler.BadSeal,
		say + "--in=5s --every=5s --times=2":                                          scheduler.BadSeal,
		say + "--in=5s --reserve=" + target9 + ":5":                                   scheduler.BadSeal,
		say + "--in=5s " + with(8, "--call="+target9+":1:"):                           scheduler.BadCalls,
		say + "--in=5s --call=0x0000000000000000000000000000000000000000:1:":          scheduler.BadTarget,
		say + "--in=5s --call=0x00000000000000000000000000000000000000fe:1:":          scheduler.BadTarget,
		say + "--in=5s --call=0x0200000000000000000000000000000000000000:1:":          scheduler.BadTarget,
		say + "--in=5s --call=" + target9 + ":1:" + strings.Repeat("ab", 4096):        scheduler.DataTooLarge,
		say + "--open --in=5s --call=" + target9 + ":1:" + strings.Repeat("ab", 4096): scheduler.DataTooLarge,
		say + "--in=5s --gas-price=9":                                                 scheduler.GasPriceTooLow,
		say + "--in=5s --gas-price=0":                                                 scheduler.ZeroGasPrice,
		say + "--in=5s --gas-limit=59999":                                             scheduler.GasLimitOutOfRange,
		say + "--in=5s --gas-limit=2000000":                                           scheduler.GasLimitOutOfRange,
		say + "--in=5s --gas-limit=18446744073709551615":                              scheduler.GasLimitOutOfRange,
		say + "--open --in=5s --reserve=0x0200000000000000000000000000000000000000:5": scheduler.ReserveIsGasToken,
		say + "--open --in=5s --class=guaranteed --gas-limit=700000":                  scheduler.SlotReserveFull,
		say + "--in=5s": 0,
		say + "--open --in=5s --every=5s --times=2 --reserve=" + target9 + ":5": 0,
		say + "--when=x:not-halted":    0,
		say + "--open --when=x<=2":     0,
		say + "--slot=6000":            0,
		say + "--open --height=5007":   0,
		say + "--in=5s --round-gas":    0,
		say + "--in=5s --late-execute": 0,
	} {
		p, terms, err := parseTerms(strings.Fields(line)...)
		if err == nil {
			err = checker{policy: policy9(), time: 1000, height: 7, sealed: !terms.open}.check(p)
		}
		switch {
		case rule == 0 && err != nil, rule != 0 && (err == nil || !strings.HasPrefix(err.Error(), rule.Name()+": ")):
			t.Errorf("%.150s: %v, want %v", line, err, rule)
		case rule != 0 && rule != scheduler.SlotNotInFuture && cli.ExitCode(err) != cli.ExitUsage:
			t.Errorf("%.150s: exit code %d", line, cli.ExitCode(err))
		}
	}
}

// TestTheMachineRefusesWhatIsRefusedHere draws command lines and has the machine judge the entries: it must name the same rule.
func TestTheMachineRefusesWhatIsRefusedHere(t *testing.T) {
	policy := policy9()
	host, err := memory.New(memory.Config{ChainID: 7, Policy: policy, Time: 999, Height: 6})
	if err != nil {
		t.Fatal(err)
	}
	payer := scheduler.Addr{3}
	token := scheduler.Addr{19: 0x44}
	if err := host.Mint(payer, *uint256.NewInt(math.MaxUint64)); err != nil {
		t.Fatal(err)
	}
	host.Approve(payer, scheduler.Address, *uint256.NewInt(math.MaxUint64))
	host.RegisterMIP20(token)
	if err := host.MintToken(token, payer, *uint256.NewInt(1000)); err != nil {
		t.Fatal(err)
	}
	host.ApproveToken(token, payer, scheduler.Address, *uint256.NewInt(1000))
	host.Write(scheduler.Word(crypto.Keccak256([]byte("x"))), scheduler.Word{}, false, false)
	if _, err := host.BeginBlock(scheduler.Env{Height: 7, Time: 1000}, scheduler.Update{}, nil); err != nil {
		t.Fatal(err)
	}
	if r := host.Transact(payer, scheduler.Address, 1_000_000, scheduler.DepositInput(*uint256.NewInt(math.MaxUint64))); r.Err != nil {
		t.Fatal(r.Err)
	}
	first := scheduler.Params{Slot: 1001, GasLimit: 60_000, GasPrice: 10, Class: scheduler.BestEffort, Calls: []tlock.Call{{Target: common.HexToAddress(target9)}}}
	if r := host.Transact(payer, scheduler.Address, 1_000_000, scheduler.ScheduleInput(first)); r.Err != nil {
		t.Fatal(r.Err)
	}
	seen := make(map[string]int)
	rapid.Check(t, func(rt *rapid.T) {
		args := drawLine(rt)
		p, _, err := parseTerms(args...)
		if err != nil {
			rt.Fatalf("%q: %v", args, err)
		}
		err = checker{policy: policy, time: 1000, height: 7}.check(p)
		_, want := host.View(payer, scheduler.Address, scheduler.ScheduleInput(p))
		here, there := firstWord(err), firstWord(want)
		if here != there {
			rt.Fatalf("%q: refused here with %v, by the machine with %v", args, err, want)
		}
		seen[here]++
	})
	if len(seen) < 8 {
		t.Errorf("the drawn lines met few rules: %v", seen)
	}
}

func firstWord(err error) string {
	if err == nil {
		return ""
	}
	word, _, _ := strings.Cut(err.Error(), ":")
	return word
}

// drawLine draws a command line of an open entry, near the bounds of policy9 and on both sides of them.
func drawLine(t *rapid.T) []string {
	args := []string{"--open"}
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	add := func(name string, of ...string) {
		if v := one(name, of...); v != "" {
			args = append(args, strings.Fields(v)...)
		}
	}
	for range rapid.IntRange(1, 9).Draw(t, "calls") {
		add("call", "--call="+target9+":50000:", "--call="+target9+":50000:", "--call="+target9+":50000:beef", "--call="+target9+":200000:",
			"--call=0x00000000000000000000000000000000000000fe:1:", "--call="+target9+":1:"+strings.Repeat("00", 2000))
	}
	add("when", "--slot=1001", "--slot=1000", "--slot=6000", "--slot=6001", "--height=8", "--height=7", "--height=5007", "--height=5008", "--when=x>=1", "--when=x:not-halted")
	add("class", "", "", "--class=guaranteed")
	add("late", "", "--late-execute")
	add("retries", "", "--retries=3", "--retries=3 --backoff=5000s", "--retries=3 --backoff=5001s")
	add("series", "", "", "", "--every=5000s --times=2", "--every=5001s --times=3 --pause-on-fail", "--pause-on-fail")
	add("after", "", "", "", "--after=1", strings.Repeat("--after=1 ", 9))
	add("price", "--gas-price=10", "--gas-price=10", "--gas-price=10", "--gas-price=9", "--gas-price=0")
	add("gas", "", "", "", "--gas-limit=59999", "--gas-limit=400000", "--gas-limit=1900000", "--gas-limit=18446744073709551615", "--round-gas")
	add("reserve", "", "", "", "--reserve=0x0200000000000000000000000000000000000000:5", "--reserve=0x0000000000000000000000000000000000000044:5")
	return args
}

func TestADryRunSaysWhatTheChainWillSee(t *testing.T) {
	p, _, err := parseTerms("--call="+target9+":50000:0xbeef", "--slot=1010", "--open", "--gas-price=10", "--reserve="+target9+":5", "--every=5s", "--times=3")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r := request{params: p, cost: 5, fee: uint256.NewInt(50)}
	if err := r.print(&out, true); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Cost, Fee, Input string
		Params           map[string]any
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Cost != "5" || got.Fee != "50" || got.Params["reserve_amount"] != "5" || got.Params["remaining"] != 2.0 || got.Params["slot"] != "1010" {
		t.Errorf("%+v", got)
	}
	if back, err := scheduler.DecodeScheduleInput(common.FromHex(got.Input)); err != nil || fmt.Sprint(back) != fmt.Sprint(p) {
		t.Errorf("the input says %+v (%v), want %+v", back, err, p)
	}
}
