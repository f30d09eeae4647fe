package scheduler_test

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// contractABI is the interface as a client writes it down, from the document's structs.
const contractABI = `[
{"type":"function","name":"schedule","inputs":[{"name":"p","type":"tuple","components":[
 {"name":"calls","type":"tuple[]","components":[{"name":"target","type":"address"},{"name":"gasLimit","type":"uint64"},{"name":"data","type":"bytes"}]},
 {"name":"slot","type":"uint64"},{"name":"height","type":"uint64"},{"name":"gasLimit","type":"uint64"},{"name":"gasPrice","type":"uint64"},
 {"name":"class","type":"uint8"},{"name":"lateExecute","type":"bool"},{"name":"maxRetries","type":"uint8"},{"name":"backoffSlots","type":"uint32"},
 {"name":"periodSlots","type":"uint64"},{"name":"remaining","type":"uint32"},{"name":"pauseOnFail","type":"bool"},
 {"name":"reserveToken","type":"address"},{"name":"reserveAmount","type":"uint96"},
 {"name":"dependsOn","type":"tuple[]","components":[{"name":"id","type":"uint64"},{"name":"finished","type":"bool"}]},
 {"name":"ciphertext","type":"bytes"},{"name":"commitment","type":"bytes32"},
 {"name":"when","type":"tuple","components":[{"name":"item","type":"bytes32"},{"name":"kind","type":"uint8"},{"name":"operand","type":"uint256"}]}]}],
 "outputs":[{"type":"uint64"}]},
{"type":"function","name":"deposit","inputs":[{"type":"uint256"}]},
{"type":"function","name":"withdraw","inputs":[{"type":"uint256"}]},
{"type":"function","name":"cancel","inputs":[{"type":"uint64"}]},
{"type":"function","name":"expire","inputs":[{"type":"uint64"}]},
{"type":"function","name":"resume","inputs":[{"type":"uint64"}]},
{"type":"function","name":"execute","inputs":[{"type":"uint64"}]},
{"type":"function","name":"status","inputs":[{"type":"uint64"}],"outputs":[{"type":"uint8"}]},
{"type":"function","name":"queueAt","inputs":[{"type":"uint64"}],"outputs":[{"type":"uint64[]"}]},
{"type":"function","name":"reservedGas","inputs":[{"type":"uint64"}],"outputs":[{"type":"uint64"}]},
{"type":"function","name":"sealedPending","inputs":[{"type":"uint64"}],"outputs":[{"type":"uint64"}]},
{"type":"function","name":"watchersOf","inputs":[{"type":"bytes32"}],"outputs":[{"type":"uint64[]"}]},
{"type":"function","name":"watchedHeight","inputs":[{"type":"bytes32"}],"outputs":[{"type":"uint64"}]},
{"type":"function","name":"balance","inputs":[{"type":"address"}],"outputs":[{"type":"uint256"}]},
{"type":"function","name":"cost","inputs":[{"type":"uint64"},{"type":"uint256"},{"type":"uint256"},{"type":"bool"},{"type":"bool"}],"outputs":[{"type":"uint64"}]},
{"type":"function","name":"nextId","outputs":[{"type":"uint64"}]},
{"type":"function","name":"cursorSlot","outputs":[{"type":"uint64"}]},
{"type":"function","name":"cursorHeight","outputs":[{"type":"uint64"}]},
{"type":"function","name":"gasPerBlock","outputs":[{"type":"uint64"}]},
{"type":"function","name":"guaranteedGasPerSlot","outputs":[{"type":"uint64"}]},
{"type":"function","name":"maxHorizonSlots","outputs":[{"type":"uint64"}]},
{"type":"function","name":"maxLateSlots","outputs":[{"type":"uint64"}]},
{"type":"function","name":"cancelRefundBps","outputs":[{"type":"uint16"}]},
{"type":"function","name":"maxEntriesPerBlock","outputs":[{"type":"uint32"}]},
{"type":"function","name":"treasury","outputs":[{"type":"address"}]},
{"type":"function","name":"minGasPrice","outputs":[{"type":"uint64"}]},
{"type":"function","name":"gasToken","outputs":[{"type":"address"}]},
{"type":"function","name":"groupKey","outputs":[{"type":"bytes"}]},
{"type":"function","name":"keyAt","inputs":[{"type":"uint64"}],"outputs":[{"type":"bytes"}]},
{"type":"function","name":"conditionKey","inputs":[{"type":"bytes32"}],"outputs":[{"type":"bytes"}]},
{"type":"function","name":"entry","inputs":[{"type":"uint64"}],"outputs":[{"name":"e","type":"tuple","components":[
 {"name":"payer","type":"address"},{"name":"key","type":"uint64"},{"name":"status","type":"uint8"},{"name":"attempts","type":"uint8"},
 {"name":"maxRetries","type":"uint8"},{"name":"flags","type":"uint8"},{"name":"gasLimit","type":"uint64"},{"name":"gasPrice","type":"uint64"},
 {"name":"deadlineSlot","type":"uint64"},{"name":"periodSlots","type":"uint64"},{"name":"reserveToken","type":"address"},
 {"name":"reserveAmount","type":"uint96"},{"name":"remaining","type":"uint32"},{"name":"backoffSlots","type":"uint32"},
 {"name":"dependsOnFinished","type":"uint8"},{"name":"dueSlot","type":"uint64"},{"name":"dataLen","type":"uint32"},{"name":"whenKind","type":"uint8"},
 {"name":"calls","type":"bytes"},{"name":"dependsOn","type":"uint64[]"},{"name":"commitment","type":"bytes32"},{"name":"whenItem","type":"bytes32"},
 {"name":"whenOperand","type":"uint256"}]}]}]`

func parsedABI(t rapid.TB) abi.ABI {
	t.Helper()
	parsed, err := abi.JSON(strings.NewReader(contractABI))
	must(t, err)
	return parsed
}

// gethParams mirrors scheduler.Params in go-ethereum's types.
type gethParams struct {
	Calls         []gethCall
	Slot          uint64
	Height        uint64
	GasLimit      uint64
	GasPrice      uint64
	Class         uint8
	LateExecute   bool
	MaxRetries    uint8
	BackoffSlots  uint32
	PeriodSlots   uint64
	Remaining     uint32
	PauseOnFail   bool
	ReserveToken  common.Address
	ReserveAmount *big.Int
	DependsOn     []gethDependency
	Ciphertext    []byte
	Commitment    [32]byte
	When          gethCondition
}

type gethCall struct {
	Target   common.Address
	GasLimit uint64
	Data     []byte
}

type gethDependency struct {
	Id       uint64
	Finished bool
}

type gethCondition struct {
	Item    [32]byte
	Kind    uint8
	Operand *big.Int
}

func asGeth(p scheduler.Params) gethParams {
	g := gethParams{
		Calls: []gethCall{}, Slot: p.Slot, Height: p.Height, GasLimit: p.GasLimit, GasPrice: p.GasPrice, Class: p.Class,
		LateExecute: p.LateExecute, MaxRetries: p.MaxRetries, BackoffSlots: p.BackoffSlots, PeriodSlots: p.PeriodSlots,
		Remaining: p.Remaining, PauseOnFail: p.PauseOnFail, ReserveToken: common.Address(p.ReserveToken),
		ReserveAmount: new(big.Int).SetBytes(p.ReserveAmount[:]), DependsOn: []gethDependency{}, Ciphertext: p.Ciphertext,
		Commitment: p.Commitment, When: gethCondition{p.When.Item, p.When.Kind, new(big.Int).SetBytes(p.When.Operand[:])},
	}
	for _, c := range p.Calls {
		g.Calls = append(g.Calls, gethCall{c.Target, c.GasLimit, c.Data})
	}
	for _, d := range p.DependsOn {
		g.DependsOn = append(g.DependsOn, gethDependency{d.ID, d.Finished})
	}
	return g
}

func drawBytes(t *rapid.T, label string, n int) []byte {
	return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, label)
}

func drawParams(t *rapid.T) scheduler.Params {
	p := scheduler.Params{
		Slot: rapid.Uint64().Draw(t, "slot"), Height: rapid.Uint64().Draw(t, "height"), GasLimit: rapid.Uint64().Draw(t, "gasLimit"),
		GasPrice: rapid.Uint64().Draw(t, "gasPrice"), Class: rapid.Uint8().Draw(t, "class"), LateExecute: rapid.Bool().Draw(t, "late"),
		MaxRetries: rapid.Uint8().Draw(t, "maxRetries"), BackoffSlots: rapid.Uint32().Draw(t, "backoff"),
		PeriodSlots: rapid.Uint64().Draw(t, "period"), Remaining: rapid.Uint32().Draw(t, "remaining"), PauseOnFail: rapid.Bool().Draw(t, "pause"),
		ReserveToken: scheduler.Addr(drawBytes(t, "reserveToken", 20)), ReserveAmount: [12]byte(drawBytes(t, "reserveAmount", 12)),
		Ciphertext: rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "ciphertext"), Commitment: scheduler.Word(drawBytes(t, "commitment", 32)),
		When: scheduler.Condition{Item: scheduler.Word(drawBytes(t, "item", 32)), Kind: rapid.Uint8().Draw(t, "kind"), Operand: scheduler.Word(drawBytes(t, "operand", 32))},
	}
	for range rapid.IntRange(0, 10).Draw(t, "calls") {
		p.Calls = append(p.Calls, scheduler.Call{
			Target: [20]byte(drawBytes(t, "target", 20)), GasLimit: rapid.Uint64().Draw(t, "callGas"), Data: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data"),
		})
	}
	for range rapid.IntRange(0, 10).Draw(t, "dependencies") {
		p.DependsOn = append(p.DependsOn, scheduler.Dependency{ID: rapid.Uint64().Draw(t, "id"), Finished: rapid.Bool().Draw(t, "finished")})
	}
	return p
}

func TestScheduleCalldataIsGethsByteForByte(t *testing.T) {
	parsed := parsedABI(t)
	rapid.Check(t, func(t *rapid.T) {
		p := drawParams(t)
		want, err := parsed.Pack("schedule", asGeth(p))
		if err != nil {
			t.Fatal(err)
		}
		got := scheduler.ScheduleInput(p)
		if !bytes.Equal(got, want) {
			t.Fatalf("got %x\nwant %x", got, want)
		}
		back, err := scheduler.DecodeScheduleInput(got)
		if err != nil {
			t.Fatal(err)
		}
		if again := scheduler.ScheduleInput(back); !bytes.Equal(again, got) {
			t.Fatalf("decoded and encoded again: got %x\nwant %x", again, got)
		}
	})
}

// TestCalldataIsStrict changes one byte of an encoding: either it is refused or it decodes to something that encodes to the changed
// bytes, so that no value has two encodings.
func TestCalldataIsStrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		input := scheduler.ScheduleInput(drawParams(t))
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			input[rapid.IntRange(4, len(input)-1).Draw(t, "at")] ^= rapid.ByteRange(1, 255).Draw(t, "flip")
		case 1:
			input = append(input, drawBytes(t, "tail", rapid.IntRange(1, 64).Draw(t, "more"))...)
		case 2:
			input = input[:rapid.IntRange(4, len(input)-1).Draw(t, "cut")]
		}
		p, err := scheduler.DecodeScheduleInput(input)
		if err == nil && !bytes.Equal(scheduler.ScheduleInput(p), input) {
			t.Fatalf("accepted %x, canonical is %x", input, scheduler.ScheduleInput(p))
		}
		if err != nil && !errors.Is(err, scheduler.ErrCalldata) {
			t.Fatalf("got error %v", err)
		}
	})
}

func FuzzDecodeScheduleInput(f *testing.F) {
	f.Add(scheduler.ScheduleInput(entryOf(300_000, 110)))
	f.Add(scheduler.ScheduleInput(with(entryOf(300_000, 110), needs(1, 2), func(p *scheduler.Params) { p.Ciphertext = make([]byte, 428) })))
	f.Add(scheduler.ScheduleInput(scheduler.Params{}))
	huge := scheduler.ScheduleInput(scheduler.Params{})
	copy(huge[4+32+20*32:], bytes.Repeat([]byte{0xff}, 32)) // 2^256-1 calls
	f.Add(huge)
	f.Fuzz(func(t *testing.T, input []byte) {
		p, err := scheduler.DecodeScheduleInput(input)
		if err == nil && !bytes.Equal(scheduler.ScheduleInput(p), input) {
			t.Fatalf("accepted %x, canonical is %x", input, scheduler.ScheduleInput(p))
		}
	})
}

func TestInterface(t *testing.T) {
	parsed := parsedABI(t)
	w := newWorld(t)
	view := func(name string, args ...any) []byte {
		t.Helper()
		input, err := parsed.Pack(name, args...)
		must(t, err)
		ret, err := w.View(bob, scheduler.Address, input)
		must(t, err)
		return ret
	}

	t.Run("S-ITF-12 selectors", func(t *testing.T) {
		for name, want := range map[string]string{
			"schedule": "0e77c29f", "cancel": "4c125e79", "expire": "22228560", "resume": "1cdefecf", "execute": "b590be77",
			"deposit": "b6b55f25", "withdraw": "2e1a7d4d", "entry": "6ced947d", "status": "20bff893", "queueAt": "3c3fd20b", "sealedPending": "ec8abb4b",
		} {
			expect(t, name, common.Bytes2Hex(parsed.Methods[name].ID), want)
		}
		for name, got := range map[string][]byte{
			"schedule": scheduler.ScheduleInput(scheduler.Params{}), "cancel": scheduler.CancelInput(1), "expire": scheduler.ExpireInput(1),
			"execute": scheduler.ExecuteInput(1), "deposit": scheduler.DepositInput(amount(1)), "withdraw": scheduler.WithdrawInput(amount(1)),
		} {
			expect(t, "our selector of "+name, common.Bytes2Hex(got[:4]), common.Bytes2Hex(parsed.Methods[name].ID))
		}
	})

	t.Run("S-POL-01 S-POL-09 each field has a getter", func(t *testing.T) {
		for name, want := range map[string]any{
			"gasPerBlock": uint64(2_000_000), "guaranteedGasPerSlot": uint64(800_000), "maxHorizonSlots": uint64(34_560_000), "maxLateSlots": uint64(60),
			"cancelRefundBps": uint16(8_000), "maxEntriesPerBlock": uint32(4), "treasury": common.Address(treasury), "minGasPrice": uint64(10), "gasToken": common.Address(gasToken),
		} {
			got, err := parsed.Unpack(name, view(name))
			must(t, err)
			expect(t, name, got[0], want)
		}
	})

	t.Run("S-ITF-01 S-ITF-03 reads, and Entry as go-ethereum encodes it", func(t *testing.T) {
		w.install(w.secret)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 110))
			w.schedule(with(w.sealedEntry(111), needs(1), after(1), late, retries(3), backoff(7)))
			w.schedule(with(entryOf(300_000, 110), guaranteed))
		})
		expect(t, "queueAt", common.Bytes2Hex(view("queueAt", uint64(110))), common.Bytes2Hex(mustPack(t, parsed, "queueAt", []uint64{1, 3})))
		expect(t, "reservedGas", common.Bytes2Hex(view("reservedGas", uint64(110))), common.Bytes2Hex(mustPack(t, parsed, "reservedGas", uint64(300_000))))
		expect(t, "sealedPending", common.Bytes2Hex(view("sealedPending", uint64(111))), common.Bytes2Hex(mustPack(t, parsed, "sealedPending", uint64(1))))
		expect(t, "nextId", common.Bytes2Hex(view("nextId")), common.Bytes2Hex(mustPack(t, parsed, "nextId", uint64(4))))
		expect(t, "cursorSlot", common.Bytes2Hex(view("cursorSlot")), common.Bytes2Hex(mustPack(t, parsed, "cursorSlot", uint64(101))))
		expect(t, "cursorHeight", common.Bytes2Hex(view("cursorHeight")), common.Bytes2Hex(mustPack(t, parsed, "cursorHeight", uint64(2))))
		expect(t, "status", common.Bytes2Hex(view("status", uint64(2))), common.Bytes2Hex(mustPack(t, parsed, "status", uint8(1))))
		available := w.view().Balance(alice)
		expect(t, "balance", common.Bytes2Hex(view("balance", common.Address(alice))), common.Bytes2Hex(mustPack(t, parsed, "balance", available.ToBig())))
		for _, id := range []uint64{1, 2, 3, 4} {
			want := mustPack(t, parsed, "entry", gethEntryOf(w.view().Entry(id)))
			expect(t, "entry", common.Bytes2Hex(view("entry", id)), common.Bytes2Hex(want))
		}
	})

	t.Run("A-13 unknown ids read zero", func(t *testing.T) {
		expect(t, "status", w.view().Status(99), scheduler.None)
		want := mustPack(t, parsed, "entry", gethEntryOf(scheduler.Entry{}))
		expect(t, "entry", common.Bytes2Hex(view("entry", uint64(99))), common.Bytes2Hex(want))
	})

	t.Run("S-COST-03 cost without state is what entries are charged", func(t *testing.T) {
		f := w.fork()
		f.begin(2, 101)
		must(t, f.MintToken(mip20, alice, amount(100)))
		f.ApproveToken(mip20, alice, scheduler.Address, amount(100))
		for name, p := range map[string]scheduler.Params{
			"one call": entryOf(300_000, 200), "sealed": f.sealedEntry(200), "dependencies": with(entryOf(300_000, 201), needs(1, 1, 2), after(3)),
			"eight calls": with(entryOf(500_000, 201), calls(8)), "height": with(entryOf(300_000, 0), height(90)),
			"series":  with(entryOf(300_000, 202), func(p *scheduler.Params) { p.PeriodSlots, p.Remaining = 5, 1 }),
			"reserve": with(entryOf(500_000, 202), reserve(mip20, 1)),
			"series with a reserve": with(entryOf(500_000, 203), reserve(mip20, 1), func(p *scheduler.Params) {
				p.PeriodSlots, p.Remaining, p.Calls[0].Data = 5, 1, make([]byte, 100)
			}),
		} {
			locked := f.locked(alice)
			e := f.view().Entry(f.schedule(p))
			input, err := parsed.Pack("cost", e.GasLimit, big.NewInt(int64(e.DataLen)), big.NewInt(int64(len(e.DependsOn))), e.PeriodSlots != 0, e.ReserveToken != scheduler.Addr{})
			must(t, err)
			ret, err := f.View(bob, scheduler.Address, input)
			must(t, err)
			expect(t, "fee of "+name, f.locked(alice)-locked, new(uint256.Int).SetBytes(ret).Uint64()*e.GasPrice)
		}
		input, err := parsed.Pack("cost", ^uint64(0), big.NewInt(0), big.NewInt(0), false, false)
		must(t, err)
		_, err = f.View(bob, scheduler.Address, input)
		expectErr(t, "a cost of more than 64 bits", err, scheduler.GasLimitOutOfRange)
	})

	t.Run("S-BEA-01 the beacon's reads", func(t *testing.T) {
		w.blocks(101, 110)
		w.carry(110)
		w.block(111)
		read := func(name string, args ...any) []byte {
			input, err := parsed.Pack(name, args...)
			must(t, err)
			ret, err := w.View(bob, scheduler.BeaconAddress, input)
			must(t, err)
			out, err := parsed.Unpack(name, ret)
			must(t, err)
			return out[0].([]byte)
		}
		gk := groupKey(t, w.secret).Bytes()
		expect(t, "groupKey", string(read("groupKey")), string(gk[:]))
		key := w.slotKey(110).Key
		expect(t, "keyAt(110)", string(read("keyAt", uint64(110))), string(key[:]))
		expect(t, "keyAt(109)", len(read("keyAt", uint64(109))), 0)
		expect(t, "conditionKey", len(read("conditionKey", [32]byte{1})), 0)
	})

	t.Run("calls that no method takes", func(t *testing.T) {
		cancel := scheduler.CancelInput(1)
		dirty := bytes.Clone(cancel)
		dirty[4] = 1
		for name, c := range map[string]struct {
			input []byte
			want  error
		}{
			"no selector":      {nil, scheduler.ErrMethod},
			"unknown selector": {[]byte{1, 2, 3, 4}, scheduler.ErrMethod},
			"cut short":        {cancel[:35], scheduler.ErrCalldata},
			"trailing bytes":   {append(bytes.Clone(cancel), 0), scheduler.ErrCalldata},
			"dirty bytes":      {dirty, scheduler.ErrCalldata},
		} {
			r := w.transact(alice, c.input)
			expectErr(t, name, r.Err, c.want)
			expect(t, "revert data of "+name, len(scheduler.RevertData(r.Err)), 0)
		}
		_, err := w.Machine().Call(scheduler.Env{ReadOnly: true}, &scheduler.Host{State: w.Space(scheduler.Address)}, cancel)
		expectErr(t, "transaction as a view", err, scheduler.ErrReadOnly)
	})
}

func mustPack(t rapid.TB, parsed abi.ABI, name string, value any) []byte {
	t.Helper()
	b, err := parsed.Methods[name].Outputs.Pack(value)
	must(t, err)
	return b
}

// gethEntry mirrors scheduler.Entry in go-ethereum's types.
type gethEntry struct {
	Payer             common.Address
	Key               uint64
	Status            uint8
	Attempts          uint8
	MaxRetries        uint8
	Flags             uint8
	GasLimit          uint64
	GasPrice          uint64
	DeadlineSlot      uint64
	PeriodSlots       uint64
	ReserveToken      common.Address
	ReserveAmount     *big.Int
	Remaining         uint32
	BackoffSlots      uint32
	DependsOnFinished uint8
	DueSlot           uint64
	DataLen           uint32
	WhenKind          uint8
	Calls             []byte
	DependsOn         []uint64
	Commitment        [32]byte
	WhenItem          [32]byte
	WhenOperand       *big.Int
}

func gethEntryOf(e scheduler.Entry) gethEntry {
	return gethEntry{
		common.Address(e.Payer), e.Key, uint8(e.Status), e.Attempts, e.MaxRetries, e.Flags, e.GasLimit, e.GasPrice, e.DeadlineSlot, e.PeriodSlots,
		common.Address(e.ReserveToken), new(big.Int).SetBytes(e.ReserveAmount[:]), e.Remaining, e.BackoffSlots, e.DependsOnFinished, e.DueSlot,
		e.DataLen, e.WhenKind, e.Calls, e.DependsOn, e.Commitment, e.WhenItem, new(big.Int).SetBytes(e.WhenOperand[:]),
	}
}
