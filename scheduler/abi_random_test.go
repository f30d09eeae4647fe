package scheduler_test

import (
	"bytes"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// beaconMethods of contractABI belong to the beacon contract, the others to the scheduler.
var beaconMethods = []string{"groupKey", "keyAt", "conditionKey"}

// drawABI is a random value of an ABI type, as go-ethereum packs it. Lengths and numbers are often at an end of their range.
func drawABI(t *rapid.T, typ abi.Type) reflect.Value {
	v := reflect.New(typ.GetType()).Elem()
	switch typ.T {
	case abi.UintTy:
		n := new(big.Int).SetBytes(drawBytes(t, "number", typ.Size/8))
		switch rapid.IntRange(0, 3).Draw(t, "end") {
		case 0:
			n.SetUint64(0)
		case 1:
			n.Sub(n.Lsh(big.NewInt(1), uint(typ.Size)), big.NewInt(1))
		case 2:
			n.Rsh(n, uint(typ.Size)/2)
		}
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.ValueOf(n))
		} else {
			v.SetUint(n.Uint64())
		}
	case abi.BoolTy:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case abi.AddressTy, abi.FixedBytesTy:
		reflect.Copy(v, reflect.ValueOf(drawBytes(t, "bytes", v.Len())))
	case abi.BytesTy:
		v.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "bytes"))
	case abi.SliceTy:
		n := rapid.IntRange(0, 10).Draw(t, "length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			v.Index(i).Set(drawABI(t, *typ.Elem))
		}
	case abi.TupleTy:
		for i, elem := range typ.TupleElems {
			v.Field(i).Set(drawABI(t, *elem))
		}
	default:
		t.Fatalf("no generator for %v", typ)
	}
	return v
}

func drawArgs(t *rapid.T, in abi.Arguments) (values []any) {
	for _, a := range in {
		values = append(values, drawABI(t, a.Type).Interface())
	}
	return values
}

// contractCall calls a method of either contract on a fork and says whether its calldata were accepted.
func contractCall(w *world, name string, input []byte) (ret []byte, accepted bool, err error) {
	to := scheduler.Address
	if slices.Contains(beaconMethods, name) {
		to = scheduler.BeaconAddress
	}
	ret, err = w.View(alice, to, input)
	return ret, !errors.Is(err, scheduler.ErrCalldata) && !errors.Is(err, scheduler.ErrMethod), err
}

func TestMethodsAreTheClientsMethods(t *testing.T) {
	var want []string
	for name, m := range parsedABI(t).Methods {
		if !slices.Contains(beaconMethods, name) {
			want = append(want, m.Sig)
		}
	}
	got := scheduler.MethodSignatures()
	slices.Sort(want)
	slices.Sort(got)
	t.Run("S-ITF-01 six transactions, execute and the reads, and nothing else", func(t *testing.T) {
		expectList(t, "methods", got, want...)
	})
}

// TestCalldataOfEveryMethod compares with go-ethereum both ways: what it packs is accepted, and of what is changed in it exactly that is
// accepted which it would pack itself.
func TestCalldataOfEveryMethod(t *testing.T) {
	parsed := parsedABI(t)
	w := newWorld(t)
	w.install(w.secret)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 110))
	})
	for name, method := range parsed.Methods {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				input, err := parsed.Pack(name, drawArgs(t, method.Inputs)...)
				if err != nil {
					t.Fatal(err)
				}
				ret, accepted, err := contractCall(w, name, input)
				if !accepted {
					t.Fatalf("canonical calldata %x: %v", input, err)
				}
				if err == nil {
					checkReturn(t, method, ret)
				}
				for _, changed := range hostile(t, input) {
					_, accepted, err := contractCall(w, name, changed)
					if want := isCanonical(method.Inputs, changed[4:]); accepted != want {
						t.Fatalf("accepted: %v (%v), want %v: %x", accepted, err, want, changed)
					}
				}
			})
		})
	}
}

// checkReturn demands that a method's answer is canonical. Transactions but schedule return nothing.
func checkReturn(t rapid.TB, method abi.Method, ret []byte) {
	t.Helper()
	if len(method.Outputs) == 0 && len(ret) != 0 || len(method.Outputs) > 0 && !isCanonical(method.Outputs, ret) {
		t.Fatalf("%s returned %x", method.Name, ret)
	}
}

// isCanonical: go-ethereum reads b and packs the same bytes again, and no number is wider than its type, which go-ethereum lets pass for
// uint96.
func isCanonical(args abi.Arguments, b []byte) bool {
	if len(args) == 0 {
		return len(b) == 0
	}
	values, err := args.UnpackValues(b)
	if err != nil {
		return false
	}
	for i, v := range values {
		if !inRange(args[i].Type, reflect.ValueOf(v)) {
			return false
		}
	}
	again, err := args.PackValues(values)
	return err == nil && bytes.Equal(again, b)
}

func inRange(typ abi.Type, v reflect.Value) bool {
	switch typ.T {
	case abi.UintTy:
		n, big := v.Interface().(*big.Int)
		return !big || n.BitLen() <= typ.Size
	case abi.TupleTy:
		for i, elem := range typ.TupleElems {
			if !inRange(*elem, v.Field(i)) {
				return false
			}
		}
	}
	return true
}

// hostile are variations of calldata: words replaced by numbers that offsets, lengths and values must not be, bits flipped, the end
// moved.
func hostile(t *rapid.T, input []byte) (all [][]byte) {
	all = append(all, append(slices.Clone(input), 0), append(slices.Clone(input), make([]byte, 32)...))
	if len(input) == 4 {
		return all
	}
	words := (len(input) - 4) / 32
	word := func() []byte {
		changed := slices.Clone(input)
		all = append(all, changed)
		return changed[4+32*rapid.IntRange(0, words-1).Draw(t, "word"):][:32]
	}
	number := func(w []byte, v *uint256.Int) { v.WriteToSlice(w) }
	was := func(w []byte) *uint256.Int { return new(uint256.Int).SetBytes(w) }
	w := word() // an offset or length one off
	number(w, was(w).AddUint64(was(w), 1))
	w = word() // an offset one word on
	number(w, was(w).AddUint64(was(w), 32))
	w = word() // or back
	number(w, was(w).SubUint64(was(w), 32))
	w = word()
	copy(w, bytes.Repeat([]byte{0xff}, 32)) // a huge length
	w = word()
	number(w, uint256.NewInt(1<<63))
	w = word()
	number(w, uint256.NewInt(uint64(len(input))))
	w = word()
	clear(w)
	w = word() // dirty bytes before a short value
	w[rapid.IntRange(0, 23).Draw(t, "at")] ^= 1
	w = word() // or after bytes
	w[31-rapid.IntRange(0, 30).Draw(t, "at")] ^= 0x80
	return append(all, input[:len(input)-1], input[:len(input)-32], input[:rapid.IntRange(4, len(input)-1).Draw(t, "cut")])
}

func drawEntry(t *rapid.T) scheduler.Entry {
	e := scheduler.Entry{
		Payer: scheduler.Addr(drawBytes(t, "payer", 20)), Key: rapid.Uint64().Draw(t, "key"), Status: scheduler.Status(rapid.Uint8().Draw(t, "status")),
		Attempts: rapid.Uint8().Draw(t, "attempts"), MaxRetries: rapid.Uint8().Draw(t, "maxRetries"), Flags: rapid.Uint8().Draw(t, "flags"),
		GasLimit: rapid.Uint64().Draw(t, "gasLimit"), GasPrice: rapid.Uint64().Draw(t, "gasPrice"), DeadlineSlot: rapid.Uint64().Draw(t, "deadline"),
		PeriodSlots: rapid.Uint64().Draw(t, "period"), ReserveToken: scheduler.Addr(drawBytes(t, "token", 20)), ReserveAmount: [12]byte(drawBytes(t, "amount", 12)),
		Remaining: rapid.Uint32().Draw(t, "remaining"), BackoffSlots: rapid.Uint32().Draw(t, "backoff"), DependsOnFinished: rapid.Uint8().Draw(t, "mask"),
		DueSlot: rapid.Uint64().Draw(t, "due"), DataLen: rapid.Uint32().Draw(t, "dataLen"), WhenKind: rapid.Uint8().Draw(t, "kind"),
		Calls: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "calls"), DependsOn: rapid.SliceOfN(rapid.Uint64(), 0, 9).Draw(t, "dependsOn"),
		Commitment: scheduler.Word(drawBytes(t, "commitment", 32)), WhenItem: scheduler.Word(drawBytes(t, "item", 32)),
		WhenOperand: scheduler.Word(drawBytes(t, "operand", 32)),
	}
	return e
}

func TestEntryIsGethsTupleByteForByte(t *testing.T) {
	outputs := parsedABI(t).Methods["entry"].Outputs
	t.Run("S-ITF-03 random entries", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			e := drawEntry(t)
			want, err := outputs.Pack(gethEntryOf(e))
			if err != nil {
				t.Fatal(err)
			}
			if got := scheduler.AbiEntry(e); !bytes.Equal(got, want) {
				t.Fatalf("got %x\nwant %x", got, want)
			}
		})
	})
}

// eventTypes of go-ethereum for the types of our events.
func eventType(t testing.TB, name string) abi.Type {
	typ, err := abi.NewType(name, "", nil)
	must(t, err)
	return typ
}

func TestEventsOfGoEthereum(t *testing.T) {
	t.Run("S-ITF-07 random events decode as go-ethereum packs them, and nothing else does", func(t *testing.T) {
		for signature, indexed := range eventSignatures {
			name, args := parseEvent(signature)
			rapid.Check(t, func(rt *rapid.T) {
				topics := []scheduler.Word{eventTopic(name, args)}
				var data []byte
				var want []scheduler.Word
				for i, a := range args {
					packed, err := abi.Arguments{{Type: eventType(t, a.typ)}}.Pack(drawABI(rt, eventType(t, a.typ)).Interface())
					if err != nil {
						rt.Fatal(err)
					}
					want = append(want, scheduler.Word(packed))
					if i < indexed {
						topics = append(topics, scheduler.Word(packed))
					} else {
						data = append(data, packed...)
					}
				}
				ev, ok := scheduler.DecodeEvent(topics, data)
				if !ok || ev.Name != name {
					rt.Fatalf("%s does not decode: %v %v", name, topics, data)
				}
				for i, a := range ev.Args {
					if a.Name != args[i].name || a.Type != args[i].typ || a.Word != want[i] {
						rt.Fatalf("argument %d of %s: got %+v, want %+v %v", i, name, a, args[i], want[i])
					}
				}
				at := rapid.IntRange(0, len(args)-1).Draw(rt, "argument")
				if args[at].typ == "uint256" {
					return
				}
				// One bit above the width of a short argument.
				if at < indexed {
					topics[1+at][rapid.IntRange(0, 11).Draw(rt, "byte")] ^= 0x10
				} else {
					data[32*(at-indexed)+rapid.IntRange(0, 11).Draw(rt, "byte")] ^= 0x10
				}
				if _, ok := scheduler.DecodeEvent(topics, data); ok {
					rt.Fatalf("%s with a dirty %s decodes", name, args[at].name)
				}
			})
		}
	})
}

// FuzzCall gives arbitrary calldata to the contract, from a user and, inside a run, from a target. Nothing panics; what fails changes
// nothing; what is accepted is canonical.
func FuzzCall(f *testing.F) {
	parsed := parsedABI(f)
	for _, m := range parsed.Methods {
		f.Add(append(slices.Clone(m.ID), make([]byte, 32*len(m.Inputs))...))
	}
	for _, input := range [][]byte{
		nil, scheduler.ScheduleInput(entryOf(300_000, 110)), scheduler.CancelInput(1), scheduler.ExpireInput(2), scheduler.DepositInput(amount(5)),
		scheduler.ScheduleInput(with(entryOf(300_000, 110), calls(8), needs(1, 2))), scheduler.ScheduleInput(scheduler.Params{}),
	} {
		f.Add(input)
	}
	w := newWorld(f)
	w.install(w.secret)
	w.block(100, func() {
		w.deposit(alice, 1e9)
		w.schedule(entryOf(300_000, 105))
		w.schedule(entryOf(300_000, 110))
	})
	w.block(105)
	byID := map[[4]byte]abi.Method{}
	for _, m := range parsed.Methods {
		byID[[4]byte(m.ID)] = m
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		fork := *w
		fork.Host, fork.TB = w.Fork(), t
		before := fork.StateHash()
		r := fork.transact(alice, input)
		if !r.Success {
			expect(t, "state after a refusal", fork.StateHash(), before)
			return
		}
		method := byID[[4]byte(input)]
		if !isCanonical(method.Inputs, input[4:]) {
			t.Fatalf("%s took %x", method.Name, input)
		}
		checkReturn(t, method, r.Return)
	})
}

func FuzzBeaconCall(f *testing.F) {
	parsed := parsedABI(f)
	byID := map[[4]byte]abi.Method{}
	for _, name := range beaconMethods {
		m := parsed.Methods[name]
		byID[[4]byte(m.ID)] = m
		f.Add(append(slices.Clone(m.ID), make([]byte, 32*len(m.Inputs))...))
		f.Add(append(slices.Clone(m.ID), bytes.Repeat([]byte{0xff}, 32)...))
	}
	f.Add([]byte(nil))
	w := newWorld(f)
	w.install(w.secret)
	w.block(100)
	w.carry(0)
	w.block(101)
	f.Fuzz(func(t *testing.T, input []byte) {
		ret, err := w.Beacon().Call(input)
		if err != nil {
			if !errors.Is(err, scheduler.ErrCalldata) && !errors.Is(err, scheduler.ErrMethod) || ret != nil {
				t.Fatalf("got %x, %v", ret, err)
			}
			return
		}
		method := byID[[4]byte(input)]
		if !isCanonical(method.Inputs, input[4:]) {
			t.Fatalf("%s took %x", method.Name, input)
		}
		checkReturn(t, method, ret)
	})
}

func FuzzDecodeEvent(f *testing.F) {
	for signature, indexed := range eventSignatures {
		name, args := parseEvent(signature)
		topic := eventTopic(name, args)
		f.Add(append(topic[:], make([]byte, 32*indexed)...), make([]byte, 32*(len(args)-indexed)))
	}
	f.Add([]byte(nil), []byte(nil))
	f.Fuzz(func(t *testing.T, topics, data []byte) {
		var words []scheduler.Word
		for ; len(topics) >= 32; topics = topics[32:] {
			words = append(words, scheduler.Word(topics))
		}
		ev, ok := scheduler.DecodeEvent(words, data)
		if !ok {
			if ev.Name != "" || ev.Args != nil {
				t.Fatalf("refused, yet %+v came back", ev)
			}
			return
		}
		var again []byte
		for _, a := range ev.Args {
			again = append(again, a.Word[:]...)
			if _, err := (abi.Arguments{{Type: eventType(t, a.Type)}}).UnpackValues(a.Word[:]); err != nil {
				t.Fatalf("%s of %s holds %v, which is no %s", a.Name, ev.Name, a.Word, a.Type)
			}
		}
		var whole []byte
		for _, w := range words[1:] {
			whole = append(whole, w[:]...)
		}
		if whole = append(whole, data...); !bytes.Equal(again, whole) {
			t.Fatalf("%s: arguments %x of the log %x", ev.Name, again, whole)
		}
	})
}
