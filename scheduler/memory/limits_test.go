package memory_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func TestLimits(t *testing.T) {
	with := func(l scheduler.Limits) memory.Config {
		c := config()
		c.Limits = l
		return c
	}
	t.Run("a limit is from 1 to the protocol's", func(t *testing.T) {
		for _, l := range []scheduler.Limits{{Scan: 4097}, {Reads: 1025}, {Watchers: 1025}, {WatchersPerItem: 257}} {
			if _, err := memory.New(with(l)); err == nil || !strings.HasPrefix(err.Error(), "scheduler limits: ") {
				t.Errorf("%+v: got error %v", l, err)
			}
		}
		m, err := scheduler.New(1, config().Policy)
		must(t, err)
		if _, err := m.WithLimits(scheduler.Limits{Scan: 1, Reads: 1, Watchers: 1}); err == nil {
			t.Error("a machine takes a limit of zero")
		}
	})
	t.Run("a state belongs to its limits", func(t *testing.T) {
		small, err := memory.New(with(scheduler.Limits{Reads: 2}))
		must(t, err)
		var out bytes.Buffer
		must(t, small.Export(&out))
		for _, c := range []memory.Config{config(), with(scheduler.Limits{Reads: 3}), with(scheduler.Limits{Scan: 2})} {
			if _, err := memory.Import(c, bytes.NewReader(out.Bytes()), 1<<20); !errors.Is(err, memory.ErrExport) {
				t.Errorf("limits %+v: got error %v", c.Limits, err)
			}
		}
		_, err = memory.Import(with(scheduler.Limits{Reads: 2}), bytes.NewReader(out.Bytes()), 1<<20)
		must(t, err)
	})
	t.Run("the protocol's limits, said or not, are one state", func(t *testing.T) {
		said, err := memory.New(with(scheduler.DefaultLimits()))
		must(t, err)
		expect(t, "state", said.StateHash(), newHost(t).StateHash())
	})
}

func TestUnmetered(t *testing.T) {
	c := config()
	c.Unmetered = true
	c.Targets = map[scheduler.Addr]memory.Target{
		code: func(f *memory.Frame) ([]byte, error) {
			if err := f.Use(1 << 40); err != nil {
				return nil, err
			}
			return f.Call(bob, 1<<40, []byte("on"))
		},
	}
	h, err := memory.New(c)
	must(t, err)
	r := h.Transact(alice, code, 0, make([]byte, 1000))
	must(t, r.Err)
	expect(t, "gas used", r.GasUsed, 0)
	expect(t, "logs", len(r.Logs), 1)
}
