package tlock_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/tlock"
)

func drawCalls(t *rapid.T) []tlock.Call {
	calls := make([]tlock.Call, rapid.IntRange(0, 9).Draw(t, "calls"))
	for i := range calls {
		copy(calls[i].Target[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "target"))
		calls[i].GasLimit = rapid.Uint64().Draw(t, "gas")
		calls[i].Data = rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
	}
	return calls
}

func TestCallsDecodeToWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := drawCalls(t)
		encoded := tlock.EncodeCalls(calls)
		got, err := tlock.DecodeCalls(encoded)
		if err != nil {
			t.Fatalf("decoding own encoding: %v", err)
		}
		if len(got) != len(calls) {
			t.Fatalf("got %d calls, want %d", len(got), len(calls))
		}
		for i := range got {
			if got[i].Target != calls[i].Target || got[i].GasLimit != calls[i].GasLimit || !bytes.Equal(got[i].Data, calls[i].Data) {
				t.Fatalf("call %d: got %+v, want %+v", i, got[i], calls[i])
			}
		}
	})
}

func TestCallsEncodeAsGoEthereumDoes(t *testing.T) {
	tuples, err := abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{
		{Name: "target", Type: "address"}, {Name: "gasLimit", Type: "uint64"}, {Name: "data", Type: "bytes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	args := abi.Arguments{{Type: tuples}}
	type gethCall struct {
		Target   common.Address
		GasLimit uint64
		Data     []byte
	}
	rapid.Check(t, func(t *rapid.T) {
		calls := drawCalls(t)
		theirs := make([]gethCall, len(calls))
		for i, c := range calls {
			theirs[i] = gethCall{c.Target, c.GasLimit, c.Data}
		}
		want, err := args.Pack(theirs)
		if err != nil {
			t.Fatal(err)
		}
		if got := tlock.EncodeCalls(calls); !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	})
}

// Offsets of words in the encoding of one call with five bytes of data.
const (
	wordArray   = 0
	wordCount   = 1
	wordTuple   = 2
	wordTarget  = 3
	wordGas     = 4
	wordDataAt  = 5
	wordDataLen = 6
	wordData    = 7
)

func TestCallsInAnyOtherFormAreRefused(t *testing.T) {
	good := tlock.EncodeCalls([]tlock.Call{{Target: [20]byte{19: 7}, GasLimit: 21000, Data: []byte("hello")}})
	set := func(word int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint64(b[word*32+24:], v); return b }
	}
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 1; return b }
	}
	for name, change := range map[string]func([]byte) []byte{
		"empty input":                        func([]byte) []byte { return nil },
		"array offset other than 32":         set(wordArray, 64),
		"count of zero with a call behind":   set(wordCount, 0),
		"count larger than the input":        set(wordCount, 2),
		"count of 2^64-1":                    set(wordCount, 1<<64-1),
		"count above 64 bits":                flip(wordCount * 32),
		"call offset past the canonical one": set(wordTuple, 64),
		"dirty address word":                 flip(wordTarget*32 + 11),
		"gas limit above 64 bits":            flip(wordGas*32 + 23),
		"data offset other than 96":          set(wordDataAt, 128),
		"data longer than the input":         set(wordDataLen, 33),
		"data length 2^64-1":                 set(wordDataLen, 1<<64-1),
		"data length 2^64-31 (pads to zero)": set(wordDataLen, 1<<64-31),
		"data shorter: padding not zero":     set(wordDataLen, 4),
		"dirty padding":                      flip(wordData*32 + 31),
		"one byte cut off":                   func(b []byte) []byte { return b[:len(b)-1] },
		"last word cut off":                  func(b []byte) []byte { return b[:len(b)-32] },
		"trailing byte":                      func(b []byte) []byte { return append(b, 0) },
		"trailing word":                      func(b []byte) []byte { return append(b, make([]byte, 32)...) },
		"more than an entry may hold":        func([]byte) []byte { return make([]byte, tlock.MaxCallsSize+1) },
	} {
		calls, err := tlock.DecodeCalls(change(bytes.Clone(good)))
		wantClass(t, name, err, tlock.ErrMalformed)
		if calls != nil {
			t.Errorf("%s: refused, yet calls came back", name)
		}
	}
}

func TestDecodedCallsShareNoMemoryWithTheInput(t *testing.T) {
	in := tlock.EncodeCalls([]tlock.Call{{Data: []byte("hello")}})
	calls, err := tlock.DecodeCalls(in)
	if err != nil {
		t.Fatal(err)
	}
	clear(in)
	if got := string(calls[0].Data); got != "hello" {
		t.Errorf("data became %q when the input was overwritten", got)
	}
}

func FuzzDecodeCalls(f *testing.F) {
	f.Add(tlock.EncodeCalls(nil))
	f.Add(tlock.EncodeCalls([]tlock.Call{{Target: [20]byte{1}, GasLimit: 2, Data: []byte{3}}}))
	f.Add(tlock.EncodeCalls([]tlock.Call{{Data: make([]byte, 32)}, {GasLimit: 1<<64 - 1}}))
	f.Add(bytes.Repeat([]byte{0xff}, 96))
	f.Fuzz(func(t *testing.T, b []byte) {
		calls, err := tlock.DecodeCalls(b)
		if err != nil {
			return
		}
		again := tlock.EncodeCalls(calls)
		if !bytes.Equal(again, b) {
			t.Fatalf("accepted %x, which encodes to %x", b, again)
		}
		if twice, err := tlock.DecodeCalls(again); err != nil || !reflect.DeepEqual(twice, calls) {
			t.Fatalf("decoding again gave %v, %v", twice, err)
		}
	})
}
