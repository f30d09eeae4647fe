package memory_test

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

var feed = scheduler.Addr{0: 0xfe, 1: 0xed}

// catalogHost is a host whose catalog has one writer and lists one item, never written.
func catalogHost(t *testing.T, item scheduler.Word) *memory.Host {
	t.Helper()
	h, err := memory.New(config())
	if err != nil {
		t.Fatal(err)
	}
	h.AllowWriter(feed)
	h.List(item)
	return h
}

func TestCatalogContract(t *testing.T) {
	item, other := scheduler.Word{1}, scheduler.Word{2}
	h := catalogHost(t, item)
	send := func(from scheduler.Addr, input []byte) memory.Receipt {
		return h.Transact(from, scheduler.OracleAddress, 100_000, input)
	}
	expectEvent := func(r memory.Receipt, want memory.CatalogEvent) {
		t.Helper()
		if !r.Success || len(r.Logs) != 1 || r.Logs[0].Address != scheduler.OracleAddress {
			t.Fatalf("%s: %+v", want.Name, r)
		}
		if got, ok := memory.DecodeCatalogEvent(r.Logs[0].Topics, r.Logs[0].Data); !ok || got != want {
			t.Errorf("event %+v (%v), want %+v", got, ok, want)
		}
	}
	expectItem := func(want scheduler.Item, wantListed bool) {
		t.Helper()
		if got, listed := h.Item(item); got != want || listed != wantListed {
			t.Errorf("item %+v, listed %v; want %+v, %v", got, listed, want, wantListed)
		}
	}
	value := scheduler.Word{31: 7}
	expectEvent(send(feed, memory.SetFlagsInput(item, true, false)), memory.CatalogEvent{Name: "Flags", Item: item, Halted: true})
	expectItem(scheduler.Item{Halted: true}, true)
	written := scheduler.Item{Value: value, Halted: true, Written: true, Height: 7, Time: 1000}
	expectEvent(send(feed, memory.WriteInput(item, value)), memory.CatalogEvent{Name: "Written", Item: item, Value: value})
	expectItem(written, true) // a write lifts no halt
	expectEvent(send(feed, memory.SetFlagsInput(item, false, true)), memory.CatalogEvent{Name: "Flags", Item: item, Disputed: true})
	written.Halted, written.Disputed = false, true
	expectItem(written, true)
	expectEvent(send(feed, memory.DelistInput(item)), memory.CatalogEvent{Name: "Delisted", Item: item})
	expectItem(written, false)
	expectEvent(send(feed, memory.ListInput(item)), memory.CatalogEvent{Name: "Listed", Item: item})
	expectItem(written, true)

	before := h.StateHash()
	stranger := scheduler.Addr{3}
	for name, c := range map[string]struct {
		from  scheduler.Addr
		input []byte
		want  error
	}{
		"a stranger's write":         {stranger, memory.WriteInput(item, value), memory.ErrNotWriter},
		"the scheduler's":            {scheduler.Address, memory.WriteInput(item, value), memory.ErrNotWriter},
		"a stranger's flags":         {stranger, memory.SetFlagsInput(item, false, false), memory.ErrNotWriter},
		"a stranger's listing":       {stranger, memory.ListInput(other), memory.ErrNotWriter},
		"a stranger's delisting":     {stranger, memory.DelistInput(item), memory.ErrNotWriter},
		"a write without an item":    {feed, memory.WriteInput(other, value), memory.ErrNotListed},
		"flags without an item":      {feed, memory.SetFlagsInput(other, true, true), memory.ErrNotListed},
		"delisting what is not":      {feed, memory.DelistInput(other), memory.ErrNotListed},
		"listing twice":              {feed, memory.ListInput(item), memory.ErrListed},
		"nothing":                    {feed, nil, memory.ErrCatalogMethod},
		"another method":             {feed, scheduler.CancelInput(1), memory.ErrCatalogMethod},
		"a byte too few":             {feed, cut(memory.WriteInput(item, value)), memory.ErrCatalogMethod},
		"a byte too many":            {feed, append(memory.WriteInput(item, value), 0), memory.ErrCatalogMethod},
		"a flag that is 2":           {feed, with(memory.SetFlagsInput(item, false, false), 4+63, 2), memory.ErrCatalogMethod},
		"a flag with dirty padding":  {feed, with(memory.SetFlagsInput(item, false, false), 4+64, 1), memory.ErrCatalogMethod},
		"isWriter of no clean word":  {feed, abiPack(t, "isWriter", [32]byte{1}), memory.ErrCatalogMethod},
		"latest with trailing words": {feed, append(abiPack(t, "latest", [32]byte(item)), make([]byte, 32)...), memory.ErrCatalogMethod},
	} {
		r := send(c.from, c.input)
		if r.Success || !errors.Is(r.Err, c.want) || len(r.Logs) != 0 {
			t.Errorf("%s: %+v, want %v", name, r, c.want)
		}
	}
	if h.StateHash() != before {
		t.Error("a refused call changed something")
	}
	if gas := send(feed, memory.WriteInput(item, value)).GasUsed; gas != 21_000+2_600+16*68 {
		t.Errorf("a write used %d gas", gas)
	}
}

// catalogABI is the contract as go-ethereum reads it; isWriter takes a word there, so that a dirty address can be packed.
const catalogABI = `[
 {"type":"function","name":"write","inputs":[{"type":"bytes32"},{"type":"uint256"}]},
 {"type":"function","name":"setFlags","inputs":[{"type":"bytes32"},{"type":"bool"},{"type":"bool"}]},
 {"type":"function","name":"list","inputs":[{"type":"bytes32"}]},
 {"type":"function","name":"delist","inputs":[{"type":"bytes32"}]},
 {"type":"function","name":"latest","inputs":[{"type":"bytes32"}],"outputs":[{"type":"uint256"},{"type":"bool"},{"type":"bool"},{"type":"uint64"},{"type":"uint64"},{"type":"bool"},{"type":"bool"}]},
 {"type":"function","name":"isWriter","inputs":[{"type":"address"}],"outputs":[{"type":"bool"}]}
]`

func parsedABI(t *testing.T) abi.ABI {
	t.Helper()
	a, err := abi.JSON(bytes.NewReader([]byte(catalogABI)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// abiPack is a call with arguments of one word each.
func abiPack(t *testing.T, method string, words ...[32]byte) []byte {
	t.Helper()
	input := slices.Clone(parsedABI(t).Methods[method].ID)
	for _, w := range words {
		input = append(input, w[:]...)
	}
	return input
}

func TestCatalogReads(t *testing.T) {
	item := scheduler.Word{1}
	h := catalogHost(t, item)
	read := func(method string, args ...any) []any {
		t.Helper()
		a := parsedABI(t)
		input, err := a.Pack(method, args...)
		if err != nil {
			t.Fatal(err)
		}
		ret, err := h.View(scheduler.Addr{9}, scheduler.OracleAddress, input)
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.Unpack(method, ret)
		if err != nil {
			t.Fatalf("%s returns %x: %v", method, ret, err)
		}
		return out
	}
	if got := read("latest", item); got[3] != uint64(0) || got[5] != true || got[6] != false {
		t.Errorf("listed, never written: %v", got)
	}
	h.Write(item, scheduler.Word{30: 1}, true, false)
	if got := read("latest", item); got[0].(interface{ Int64() int64 }).Int64() != 256 || !slices.Equal(got[1:], []any{true, false, uint64(7), uint64(1000), true, true}) {
		t.Errorf("written: %v", got)
	}
	if !read("isWriter", common.Address(feed))[0].(bool) || read("isWriter", common.Address{1})[0].(bool) {
		t.Error("isWriter errs")
	}
}

// TestCatalogInputs compares the encoders with go-ethereum's.
func TestCatalogInputs(t *testing.T) {
	item, a := scheduler.Word{1, 2, 3}, parsedABI(t)
	pack := func(method string, args ...any) []byte {
		t.Helper()
		input, err := a.Pack(method, args...)
		if err != nil {
			t.Fatal(err)
		}
		return input
	}
	for _, c := range []struct{ got, want []byte }{
		{memory.WriteInput(item, scheduler.Word{31: 9}), pack("write", item, big.NewInt(9))},
		{memory.SetFlagsInput(item, true, false), pack("setFlags", item, true, false)},
		{memory.SetFlagsInput(item, false, true), pack("setFlags", item, false, true)},
		{memory.ListInput(item), pack("list", item)},
		{memory.DelistInput(item), pack("delist", item)},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("got  %x\nwant %x", c.got, c.want)
		}
	}
}

func TestCatalogEventsAreReadStrictly(t *testing.T) {
	h := catalogHost(t, scheduler.Word{1})
	r := h.Transact(feed, scheduler.OracleAddress, 100_000, memory.SetFlagsInput(scheduler.Word{1}, true, true))
	topics, data := r.Logs[0].Topics, r.Logs[0].Data
	for name, c := range map[string]struct {
		topics []scheduler.Word
		data   []byte
	}{
		"no topics": {nil, data}, "no item": {topics[:1], data}, "a topic more": {append(topics[:2:2], topics[0]), data},
		"another event": {[]scheduler.Word{{5}, topics[1]}, data}, "short data": {topics, cut(data)}, "a flag of 2": {topics, with(data, 31, 2)},
	} {
		if e, ok := memory.DecodeCatalogEvent(c.topics, c.data); ok {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func FuzzCatalogContract(f *testing.F) {
	item := scheduler.Word{1}
	for _, input := range [][]byte{
		memory.WriteInput(item, scheduler.Word{7}), memory.SetFlagsInput(item, true, true), memory.ListInput(scheduler.Word{2}), memory.DelistInput(item), nil,
	} {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		h := catalogHost(t, item)
		before := h.StateHash()
		r := h.Transact(feed, scheduler.OracleAddress, 1<<40, input)
		if r.Success == (r.Err != nil) || !r.Success && h.StateHash() != before {
			t.Fatalf("%+v", r)
		}
		for _, l := range r.Logs {
			if _, ok := memory.DecodeCatalogEvent(l.Topics, l.Data); !ok {
				t.Fatalf("log %+v does not decode", l)
			}
		}
	})
}

func cut(b []byte) []byte { return b[:len(b)-1] }

func with(b []byte, at int, value byte) []byte {
	b = bytes.Clone(b)
	b[at] = value
	return b
}
