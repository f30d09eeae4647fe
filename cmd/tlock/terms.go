package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"github.com/spf13/cobra"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// terms are the flags that describe an entry (document 002 "Scheduling an entry").
type terms struct {
	until       when
	height      uint64
	notBefore   string
	condition   string
	calls       []string
	gasLimit    uint64
	roundGas    bool
	gasPrice    uint64
	class       string
	lateExecute bool
	retries     uint8
	backoff     string
	every       string
	times       uint32
	pauseOnFail bool
	reserve     string
	after       []string
	afterEnd    []string
	open        bool
}

// flags adds the terms' flags to cmd.
func (t *terms) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&t.calls, "call", nil, "TARGET:GAS:DATA; may be repeated (required)")
	f.BoolVar(&t.open, "open", false, "do not seal: everybody can read the calls at once")

	f.StringVar(&t.until.until, "at", "", "run at a time, such as 2030-01-01T00:00Z")
	f.StringVar(&t.until.in, "in", "", "run after a duration, such as 10s, 5m, 36h, 30d")
	f.StringVar(&t.until.slot, "slot", "", "run at a slot: whole seconds since 1970")
	f.Uint64Var(&t.height, "height", 0, "run at a block's number (with --open)")
	f.StringVar(&t.condition, "when", "", "run after an oracle write: ITEM>=VALUE, ITEM<=VALUE or ITEM:not-halted; ITEM is a name or its hash")
	f.StringVar(&t.notBefore, "not-before", "", "with --when, the earliest write that counts: a time, a duration or a slot (default: 10s)")

	f.Uint64Var(&t.gasLimit, "gas-limit", 0, "gas of the run (default: what the calls and a reserve need)")
	f.BoolVar(&t.roundGas, "round-gas", false, "round the gas limit up to a power of two, so that a sealed entry's tells less")
	f.Uint64Var(&t.gasPrice, "gas-price", 0, "gas tokens per gas, in base units (default: the network's lowest)")
	f.StringVar(&t.class, "class", "best-effort", "best-effort, or guaranteed: gas of the slot is reserved")

	f.BoolVar(&t.lateExecute, "late-execute", false, "run even if blocks come too late for the deadline")
	f.Uint8Var(&t.retries, "retries", 0, "how often a failed run is tried again, each time for another fee")
	f.StringVar(&t.backoff, "backoff", "", "with --retries, how long after a failure (default: the next slot)")

	f.StringVar(&t.every, "every", "", "run again and again, this long after the last due time (with --open)")
	f.Uint32Var(&t.times, "times", 0, "how many runs, the first among them; goes with --every")
	f.BoolVar(&t.pauseOnFail, "pause-on-fail", false, "a failed run pauses the series until \"tlock resume\"")

	f.StringVar(&t.reserve, "reserve", "", "TOKEN:AMOUNT paid to the first call's target as it runs, held until then (with --open)")
	f.StringArrayVar(&t.after, "after", nil, "entry that must have succeeded; may be repeated")
	f.StringArrayVar(&t.afterEnd, "after-end", nil, "entry that must have ended, however; may be repeated")
}

// parse turns the flags into Params, still open, at the time now. What they say may break the scheduler's rules: see checker.
func (t *terms) parse(now time.Time) (p scheduler.Params, err error) {
	p = scheduler.Params{
		Height: t.height, GasLimit: t.gasLimit, GasPrice: t.gasPrice, LateExecute: t.lateExecute, MaxRetries: t.retries, PauseOnFail: t.pauseOnFail,
	}
	for _, step := range []func(*scheduler.Params, time.Time) error{
		t.parseCalls, t.parseTrigger, t.parseClass, t.parseRetries, t.parseSeries, t.parseReserve, t.parseDependencies, t.parseGas,
	} {
		if err := step(&p, now); err != nil {
			return scheduler.Params{}, err
		}
	}
	return p, nil
}

func (t *terms) parseCalls(p *scheduler.Params, _ time.Time) error {
	if len(t.calls) == 0 {
		return cli.Hint(cli.Usage("what shall run? give --call TARGET:GAS:DATA"), callExample)
	}
	for _, text := range t.calls {
		call, err := parseCall(text)
		if err != nil {
			return err
		}
		p.Calls = append(p.Calls, call)
	}
	return nil
}

const callExample = "for instance --call 0x00000000000000000000000000000000000a11ce:50000:0xdeadbeef"

func parseCall(text string) (call tlock.Call, err error) {
	bad := func(why string, part string) (tlock.Call, error) {
		return tlock.Call{}, cli.Hint(cli.Usage("--call: %q "+why, shorten(part)), callExample)
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return bad("is not TARGET:GAS:DATA", text)
	}
	if !common.IsHexAddress(parts[0]) {
		return bad(fmt.Sprintf("is no account: TARGET has 40 hexadecimal digits, this has %d characters", len(strings.TrimPrefix(parts[0], "0x"))), parts[0])
	}
	call.Target = common.HexToAddress(parts[0])
	if call.GasLimit, err = strconv.ParseUint(parts[1], 10, 64); err != nil {
		return bad("is no GAS: a whole number, such as 50000", parts[1])
	}
	if call.Data, err = hex.DecodeString(strings.TrimPrefix(parts[2], "0x")); err != nil {
		return bad("is no DATA: an even number of hexadecimal digits, or nothing", parts[2])
	}
	return call, nil
}

// parseTrigger reads when the entry runs: exactly one of a slot in three forms, a height, and a condition.
func (t *terms) parseTrigger(p *scheduler.Params, now time.Time) (err error) {
	given := t.until.given()
	if t.height != 0 {
		given++
	}
	if t.condition != "" {
		given++
	}
	if given != 1 {
		return cli.Hint(cli.Usage("say when: exactly one of --at, --in, --slot, --height and --when"),
			"for instance --in 5m, or --at 2030-01-01T00:00Z", "with --when, --not-before says from when on")
	}
	switch {
	case t.notBefore != "" && t.condition == "":
		return cli.Hint(cli.Usage("--not-before goes with --when"), "an entry without a condition runs at a time: --at, --in, --slot or --height")
	case t.height != 0:
		return nil
	case t.condition != "":
		if p.When, err = parseCondition(t.condition); err == nil {
			p.Slot, err = parseMoment(cmp.Or(t.notBefore, soon), now)
		}
	default:
		p.Slot, err = t.until.parse(now)
	}
	if err == nil && p.Slot > maxSlot {
		err = cli.Usage("slot %d lies beyond the year 9999", p.Slot)
	}
	return err
}

// soon is from when on a write counts unless --not-before says so: the entry must be in a block before.
const soon = "10s"

// parseMoment reads a time in any of the forms that --at, --in and --slot take one each.
func parseMoment(text string, now time.Time) (uint64, error) {
	for _, w := range []when{{slot: text}, {in: text}, {until: text}} {
		if slot, err := w.parse(now); err == nil {
			return slot, nil
		}
	}
	return 0, cli.Hint(cli.Usage("--not-before %q is no time, duration or slot", shorten(text)), "write 2030-01-01T00:00Z, 5m, or whole seconds since 1970")
}

// operators of a condition, as they are written and as document 002 "Conditional entries" numbers them.
var operators = []struct {
	text string
	kind uint8
}{{">=", tlock.WhenValueAtLeast}, {"<=", tlock.WhenValueAtMost}, {":not-halted", tlock.WhenNotHalted}}

// parseCondition reads ITEM>=VALUE, ITEM<=VALUE or ITEM:not-halted.
func parseCondition(text string) (c scheduler.Condition, err error) {
	bad := cli.Hint(cli.Usage("--when %q is none of ITEM>=VALUE, ITEM<=VALUE and ITEM:not-halted", shorten(text)),
		"for instance --when 'ETH/USD>=350000000000': the item's name, or 0x and the 64 digits of its hash; the value in the item's own units")
	for _, op := range operators {
		at := strings.LastIndex(text, op.text)
		if at <= 0 {
			continue
		}
		name, value := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(op.text):])
		if (op.kind == tlock.WhenNotHalted) != (value == "") || name == "" {
			return c, bad
		}
		c.Kind = op.kind
		if value != "" {
			amount, err := parseAmount(value)
			if err != nil {
				return scheduler.Condition{}, bad
			}
			c.Operand = amount.Bytes32()
		}
		c.Item, err = itemOf(name)
		return c, err
	}
	return c, bad
}

// itemOf is an item's id: keccak256 of its name, or the id itself as hex.
func itemOf(name string) (scheduler.Word, error) {
	if strings.HasPrefix(name, "0x") {
		id, err := hexBytes(name, 32)
		if err != nil {
			return scheduler.Word{}, cli.Usage("--when: item %w", err)
		}
		return scheduler.Word(id), nil
	}
	return scheduler.Word(crypto.Keccak256([]byte(name))), nil
}

// parseAmount reads a number below 2^256 in decimal, or in hex with 0x.
func parseAmount(text string) (*uint256.Int, error) {
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		digits = strings.TrimLeft(digits, "0")
		if digits == "" && len(text) > 2 {
			return new(uint256.Int), nil
		}
		return uint256.FromHex("0x" + digits)
	}
	for _, r := range text {
		if r < '0' || r > '9' {
			return nil, fmt.Errorf("%q is not a number", shorten(text))
		}
	}
	return uint256.FromDecimal(text)
}

func (t *terms) parseClass(p *scheduler.Params, _ time.Time) error {
	switch t.class {
	case "guaranteed":
		p.Class = scheduler.Guaranteed
	case "best-effort":
		p.Class = scheduler.BestEffort
	default:
		return cli.Usage("--class %q is neither guaranteed nor best-effort", shorten(t.class))
	}
	return nil
}

func (t *terms) parseRetries(p *scheduler.Params, _ time.Time) error {
	if t.backoff == "" {
		return nil
	}
	slots, err := parseSlots("--backoff", t.backoff)
	if err == nil && t.retries == 0 {
		err = cli.Usage("--backoff goes with --retries")
	}
	if err == nil && slots > math.MaxUint32 {
		err = cli.Usage("--backoff %s is longer than any horizon", t.backoff)
	}
	p.BackoffSlots = uint32(slots)
	return err
}

// parseSlots is a duration in slots, rounded up.
func parseSlots(flag, text string) (uint64, error) {
	d, err := parseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", flag, err)
	}
	slots := uint64(d / time.Second)
	if d%time.Second != 0 {
		slots++
	}
	return slots, nil
}

// parseSeries reads a recurrence. The scheduler counts the periods that follow the first one.
func (t *terms) parseSeries(p *scheduler.Params, _ time.Time) (err error) {
	if t.every == "" {
		if t.times != 0 {
			return refusal(scheduler.CannotRecur, "for instance --every 1h --times 24", "--times %d needs --every", t.times)
		}
		return nil
	}
	if t.times < 2 {
		return refusal(scheduler.CannotRecur, "for instance --every 1h --times 24", "--every needs --times, the number of runs, 2 at least")
	}
	p.Remaining = t.times - 1
	p.PeriodSlots, err = parseSlots("--every", t.every)
	if err == nil && p.PeriodSlots == 0 {
		err = cli.Usage("--every %s: a period has one slot at least", t.every)
	}
	return err
}

func (t *terms) parseReserve(p *scheduler.Params, _ time.Time) error {
	if t.reserve == "" {
		return nil
	}
	token, text, ok := strings.Cut(t.reserve, ":")
	amount, err := parseAmount(text)
	if !ok || err != nil || !common.IsHexAddress(token) || text == "" {
		return cli.Hint(cli.Usage("--reserve %q is not TOKEN:AMOUNT", shorten(t.reserve)), "the token's account and an amount in its base units")
	}
	if amount.BitLen() > 96 {
		return cli.Usage("--reserve: an amount has 96 bits at most")
	}
	word := amount.Bytes32()
	p.ReserveToken, p.ReserveAmount = scheduler.Addr(common.HexToAddress(token)), [12]byte(word[20:])
	if amount.IsZero() || p.ReserveToken == (scheduler.Addr{}) {
		return refusal(scheduler.BadReserve, "leave --reserve out if nothing is to be paid", "--reserve needs a token and an amount, neither of them zero")
	}
	return nil
}

func (t *terms) parseDependencies(p *scheduler.Params, _ time.Time) error {
	for _, list := range []struct {
		flag     string
		ids      []string
		finished bool
	}{{"--after", t.after, false}, {"--after-end", t.afterEnd, true}} {
		for _, text := range list.ids {
			id, err := parseID(list.flag, text)
			if err != nil {
				return err
			}
			p.DependsOn = append(p.DependsOn, scheduler.Dependency{ID: id, Finished: list.finished})
		}
	}
	return nil
}

// parseID reads an entry's id. what names the place it was read from.
func parseID(what, text string) (uint64, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, cli.Hint(cli.Usage("%s: %q is not an entry's id", what, shorten(text)), "ids are 1, 2, 3 …; \"tlock schedule\" prints them")
	}
	return id, nil
}

// parseGas computes the gas limit that the calls need, unless one is given.
func (t *terms) parseGas(p *scheduler.Params, _ time.Time) error {
	need, ok := gasNeeded(*p)
	if !ok {
		return refusal(scheduler.GasLimitOutOfRange, "give less gas to the calls", "the calls' gas is out of range: together it must stay below 2^63")
	}
	if p.GasLimit == 0 {
		p.GasLimit = need
	}
	if t.roundGas && p.GasLimit&(p.GasLimit-1) != 0 {
		if p.GasLimit > 1<<63 {
			return refusal(scheduler.GasLimitOutOfRange, "give a smaller --gas-limit", "--gas-limit %d is out of range", p.GasLimit)
		}
		p.GasLimit = 1 << bits.Len64(p.GasLimit)
	}
	return nil
}

// Gas that making a call and capturing a reserve take beside what the called accounts use (S-SCH-21).
const (
	callOverhead = 10_000
	captureGas   = 150_000
)

// gasNeeded is the least gas limit of an entry with these calls; false if it is beyond any block's.
func gasNeeded(p scheduler.Params) (sum uint64, ok bool) {
	if reserves(p) {
		sum = captureGas
	}
	for _, c := range p.Calls {
		if c.GasLimit > math.MaxInt64-callOverhead-sum {
			return 0, false
		}
		sum += c.GasLimit + callOverhead
	}
	return sum, true
}

func conditional(p scheduler.Params) bool { return p.When != scheduler.Condition{} }
func reserves(p scheduler.Params) bool {
	return p.ReserveToken != scheduler.Addr{} || p.ReserveAmount != [12]byte{}
}
