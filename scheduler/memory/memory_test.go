package memory_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

var (
	alice    = scheduler.Addr{0: 0xaa}
	bob      = scheduler.Addr{0: 0xbb}
	gasToken = scheduler.Addr{0: 0x70}
	code     = scheduler.Addr{0: 0xc0}
)

func config() memory.Config {
	p := scheduler.DefaultPolicy()
	p.Treasury, p.GasToken = scheduler.Addr{0: 1}, gasToken
	return memory.Config{ChainID: 1, Policy: p, Height: 7, Time: 1000}
}

func newHost(t testing.TB) *memory.Host {
	t.Helper()
	h, err := memory.New(config())
	must(t, err)
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func amount(v uint64) uint256.Int { return *uint256.NewInt(v) }

func key(n int) (w scheduler.Word) {
	binary.BigEndian.PutUint64(w[24:], uint64(n))
	return w
}

func value(n int) (w scheduler.Word) {
	binary.BigEndian.PutUint64(w[:], uint64(n))
	return w
}

func TestStateHashSeesEveryWord(t *testing.T) {
	h := newHost(t)
	s := h.Space(code)
	seen := map[[32]byte]string{h.StateHash(): "nothing"}
	for name, write := range map[string]func(){
		"a word":                       func() { s.Set(key(1), value(1)) },
		"another value":                func() { s.Set(key(1), value(2)) },
		"another key":                  func() { s.Set(key(2), value(1)) },
		"the same in another space":    func() { h.Space(alice).Set(key(1), value(1)) },
		"a blob of the word's bytes":   func() { v := value(1); s.SetBlob(key(1), v[:]) },
		"a shorter blob":               func() { s.SetBlob(key(1), []byte{1}) },
		"that blob with a zero behind": func() { s.SetBlob(key(1), []byte{1, 0}) },
	} {
		before := h.Snapshot()
		write()
		sum := h.StateHash()
		if other, twice := seen[sum]; twice {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[sum] = name
		h.Revert(before)
	}
}

func TestForksAreIndependent(t *testing.T) {
	h := newHost(t)
	h.Space(code).Set(key(1), value(1))
	f := h.Fork()
	done := make(chan struct{})
	go func() { // under -race this shows that the two share nothing that either writes
		defer close(done)
		for n := range 500 {
			f.Space(code).Set(key(n), value(2))
			f.StateHash()
		}
	}()
	for n := range 500 {
		h.Space(code).Set(key(n), value(3))
		h.StateHash()
	}
	<-done
	expect(t, "fork", f.Space(code).Get(key(7)), value(2))
	expect(t, "original", h.Space(code).Get(key(7)), value(3))
}

func TestBlobsAreCopied(t *testing.T) {
	h := newHost(t)
	b := []byte{1, 2, 3}
	h.Space(code).SetBlob(key(1), b)
	b[0] = 9
	expect(t, "blob", string(h.Space(code).Blob(key(1))), "\x01\x02\x03")
}

func TestEnvIsPartOfTheState(t *testing.T) {
	h := newHost(t)
	expect(t, "height", h.Env().Height, 7)
	expect(t, "time", h.Env().Time, 1000)
	_, err := h.BeginBlock(scheduler.Env{Height: 8, Time: 1002, Proposer: bob}, scheduler.Update{}, nil)
	must(t, err)
	h.EndBlock(nil)
	got := h.Fork().Env()
	expect(t, "env", got, scheduler.Env{Height: 8, Time: 1002, Proposer: bob})
}

func TestCalls(t *testing.T) {
	t.Run("an account without code echoes", func(t *testing.T) {
		h := newHost(t)
		r := h.Transact(alice, bob, 100_000, []byte("hello"))
		must(t, r.Err)
		expect(t, "gas", r.GasUsed, 21_000+2_600+5*16)
		expect(t, "topic", r.Logs[0].Topics[0], memory.TopicCalled)
		expect(t, "address", r.Logs[0].Address, bob)
		caller, input, ok := memory.DecodeCalled(r.Logs[0].Data)
		expect(t, "decodes", ok, true)
		expect(t, "caller", caller, alice)
		expect(t, "input", string(input), "hello")
		for n := range r.Logs[0].Data {
			if _, _, ok := memory.DecodeCalled(r.Logs[0].Data[:n]); ok {
				t.Errorf("%d bytes of it decode too", n)
			}
		}
	})

	t.Run("gas runs out", func(t *testing.T) {
		h := newHost(t)
		before := h.StateHash()
		for _, gas := range []uint64{0, 20_999, 23_599} {
			r := h.Transact(alice, bob, gas, nil)
			if !errors.Is(r.Err, memory.ErrOutOfGas) {
				t.Errorf("gas %d: got %v", gas, r.Err)
			}
			expect(t, "gas used", r.GasUsed, gas)
		}
		must(t, h.Transact(alice, bob, 23_600, nil).Err)
		expect(t, "state", h.StateHash(), before)
	})

	t.Run("a failed inner call is undone, the outer one goes on", func(t *testing.T) {
		c := config()
		failing := scheduler.Addr{0: 0xc1}
		c.Targets = map[scheduler.Addr]memory.Target{
			failing: func(f *memory.Frame) ([]byte, error) {
				f.State().Set(key(1), value(1))
				f.State().SetTemp(key(1), value(1))
				f.State().Emit(nil, nil)
				return nil, errors.New("no")
			},
			code: func(f *memory.Frame) ([]byte, error) {
				f.State().Set(key(1), value(1))
				if _, err := f.Call(failing, 10_000, nil); err == nil {
					t.Error("the inner call succeeded")
				}
				return nil, f.Use(1_000)
			},
		}
		h, err := memory.New(c)
		must(t, err)
		r := h.Transact(alice, code, 100_000, nil)
		must(t, r.Err)
		expect(t, "gas", r.GasUsed, 21_000+2_600+2_600+1_000)
		expect(t, "logs", len(r.Logs), 0)
		expect(t, "outer", h.Space(code).Get(key(1)), value(1))
		expect(t, "inner", h.Space(failing).Get(key(1)), scheduler.Word{})
		expect(t, "inner, transient", h.Space(failing).Temp(key(1)), scheduler.Word{})
	})

	t.Run("recursion ends", func(t *testing.T) {
		c := config()
		depth := 0
		c.Targets = map[scheduler.Addr]memory.Target{code: func(f *memory.Frame) ([]byte, error) {
			depth++
			return f.Call(code, f.Gas, nil)
		}}
		h, err := memory.New(c)
		must(t, err)
		if r := h.Transact(alice, code, 10_000_000, nil); !errors.Is(r.Err, memory.ErrDepth) {
			t.Errorf("got %v", r.Err)
		}
		expect(t, "depth", depth, 64)
		must(t, h.Transact(alice, bob, 100_000, nil).Err)
	})

	t.Run("a view leaves no trace", func(t *testing.T) {
		h := newHost(t)
		before := h.StateHash()
		if _, err := h.View(alice, scheduler.Address, scheduler.DepositInput(amount(0))); err != nil {
			t.Error(err)
		}
		expect(t, "state", h.StateHash(), before)
	})
}

// exported is a host with some content and its export.
func exported(t testing.TB) (*memory.Host, []byte) {
	h := newHost(t)
	must(t, h.Mint(alice, amount(5)))
	for n := range 50 {
		h.Space(code).Set(key(n), value(n+1))
		h.Space(code).SetBlob(key(n), bytes.Repeat([]byte{byte(n)}, n))
	}
	var out bytes.Buffer
	must(t, h.Export(&out))
	return h, out.Bytes()
}

func TestExportAndImport(t *testing.T) {
	h, stream := exported(t)
	limit := int64(len(stream))
	back, err := memory.Import(config(), bytes.NewReader(stream), limit)
	must(t, err)
	expect(t, "state", back.StateHash(), h.StateHash())
	expect(t, "env", back.Env(), h.Env())
	var again bytes.Buffer
	must(t, back.Export(&again))
	expect(t, "exported again", again.String(), string(stream))

	t.Run("every truncation is refused", func(t *testing.T) {
		for n := range stream {
			if _, err := memory.Import(config(), bytes.NewReader(stream[:n]), limit); !errors.Is(err, memory.ErrExport) {
				t.Fatalf("%d bytes: got %v", n, err)
			}
		}
	})
	t.Run("every flipped bit is refused", func(t *testing.T) {
		for n := range stream {
			bad := bytes.Clone(stream)
			bad[n] ^= 1
			if _, err := memory.Import(config(), bytes.NewReader(bad), 1<<20); !errors.Is(err, memory.ErrExport) {
				t.Fatalf("byte %d: got %v", n, err)
			}
		}
	})
	t.Run("more than allowed is refused", func(t *testing.T) {
		if _, err := memory.Import(config(), bytes.NewReader(stream), limit-1); !errors.Is(err, memory.ErrExport) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("another policy's state is refused", func(t *testing.T) {
		c := config()
		c.Policy.MaxLateSlots++
		if _, err := memory.Import(c, bytes.NewReader(stream), limit); !errors.Is(err, memory.ErrExport) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a failing reader's error comes through", func(t *testing.T) {
		_, err := memory.Import(config(), failingReader{}, limit)
		if !errors.Is(err, errDisk) || errors.Is(err, memory.ErrExport) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("a failing writer's error comes through", func(t *testing.T) {
		if err := h.Export(failingWriter{}); !errors.Is(err, errDisk) {
			t.Fatalf("got %v", err)
		}
	})
}

var errDisk = errors.New("disk")

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errDisk }

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errDisk }

func FuzzImport(f *testing.F) {
	_, stream := exported(f)
	f.Add(stream)
	f.Add([]byte("daybreak state 2\n"))
	f.Add([]byte(strings.Repeat("\xff", 60)))
	f.Fuzz(func(t *testing.T, stream []byte) {
		h, err := memory.Import(config(), bytes.NewReader(stream), int64(len(stream)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		must(t, h.Export(&again))
		if !bytes.HasPrefix(stream, again.Bytes()) {
			t.Fatalf("imported what exports differently: %x", stream)
		}
	})
}

func FuzzDecodeCalled(f *testing.F) {
	f.Add(make([]byte, 96))
	f.Fuzz(func(t *testing.T, data []byte) {
		if caller, input, ok := memory.DecodeCalled(data); ok && len(data) < 96+len(input) {
			t.Fatalf("%v %x from %x", caller, input, data)
		}
	})
}

// BenchmarkStateHash is the hash after a block that touched 1,000 of 100,000 words.
func BenchmarkStateHash(b *testing.B) {
	h := newHost(b)
	for n := range 100_000 {
		h.Space(code).Set(key(n), value(n+1))
	}
	h.StateHash()
	n := 0
	for b.Loop() {
		for range 1_000 {
			n++
			h.Space(code).Set(key(n*97%100_000), value(n))
		}
		h.StateHash()
	}
}
