package scheduler_test

import (
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func TestPolicy(t *testing.T) {
	t.Run("S-POL-12 the default policy validates once treasury and gas token are given", func(t *testing.T) {
		p := scheduler.DefaultPolicy()
		if _, err := p.Validate(60_000_000); err == nil {
			t.Error("accepted without treasury and gas token")
		}
		p.Treasury, p.GasToken = treasury, gasToken
		warnings, err := p.Validate(60_000_000)
		must(t, err)
		expect(t, "warnings", len(warnings), 0)
	})

	t.Run("S-POL-11 bad policies", func(t *testing.T) {
		for name, c := range map[string]struct {
			change func(*scheduler.Policy)
			text   string
		}{
			"refund above the whole":          {func(p *scheduler.Policy) { p.CancelRefundBps = 10_001 }, "cancelRefundBps"},
			"no run fits a block":             {func(p *scheduler.Policy) { p.GasPerBlock, p.GuaranteedGasPerSlot = 159_999, 0 }, "gasPerBlock"},
			"guaranteed more than the block":  {func(p *scheduler.Policy) { p.GuaranteedGasPerSlot = 2_000_001 }, "guaranteedGasPerSlot"},
			"no entries":                      {func(p *scheduler.Policy) { p.MaxEntriesPerBlock = 0 }, "maxEntriesPerBlock"},
			"no horizon":                      {func(p *scheduler.Policy) { p.MaxHorizonSlots = 0 }, "maxHorizonSlots"},
			"horizon that reaches the flags":  {func(p *scheduler.Policy) { p.MaxHorizonSlots = 1 << 61 }, "maxHorizonSlots"},
			"lateness that reaches the flags": {func(p *scheduler.Policy) { p.MaxLateSlots = 1 << 61 }, "maxLateSlots"},
			"more than the block gas limit":   {func(p *scheduler.Policy) { p.GasPerBlock = 60_000_001 }, "block gas limit"},
			"no treasury":                     {func(p *scheduler.Policy) { p.Treasury = scheduler.Addr{} }, "treasury"},
			"no gas token":                    {func(p *scheduler.Policy) { p.GasToken = scheduler.Addr{} }, "gasToken"},
		} {
			p := testPolicy()
			c.change(&p)
			if _, err := p.Validate(60_000_000); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: got error %v, want one about %s", name, err, c.text)
			}
		}
		var zero scheduler.Policy
		_, err := zero.Validate(0)
		for _, fault := range []string{"gasPerBlock", "maxEntriesPerBlock", "maxHorizonSlots", "treasury", "gasToken"} {
			if !strings.Contains(err.Error(), fault) {
				t.Errorf("one report of all faults: %v lacks %s", err, fault)
			}
		}
		if _, err := scheduler.New(1, zero); err == nil {
			t.Error("New accepted a policy that Validate refuses")
		}
	})

	t.Run("S-POL-11 limits that are allowed", func(t *testing.T) {
		p := testPolicy()
		p.CancelRefundBps, p.GasPerBlock, p.GuaranteedGasPerSlot, p.MaxHorizonSlots, p.MaxEntriesPerBlock = 10_000, 160_000, 80_000, 1<<61-1, 1
		warnings, err := p.Validate(160_000)
		must(t, err)
		expect(t, "warnings", len(warnings), 0)
	})

	t.Run("S-POL-11 warnings", func(t *testing.T) {
		p := testPolicy()
		p.GuaranteedGasPerSlot, p.MaxLateSlots, p.MaxEntriesPerBlock = 1_000_001, 30, 513
		warnings, err := p.Validate(60_000_000)
		must(t, err)
		expect(t, "warnings", len(warnings), 3)
	})

	t.Run("S-POL-10 a state belongs to the policy it was installed under", func(t *testing.T) {
		w := newWorld(t)
		p := testPolicy()
		p.MinGasPrice++
		other, err := scheduler.New(chainID, p)
		must(t, err)
		if err := other.CheckInstalled(w.Space(scheduler.Address)); err == nil {
			t.Error("accepted a state of another policy")
		}
		must(t, w.Machine().CheckInstalled(w.Space(scheduler.Address)))
		if err := w.Machine().Install(w.Space(scheduler.Address), 5, 5); err == nil {
			t.Error("installed over an installed scheduler")
		}
	})

	t.Run("S-CUR-06 cursors at activation on a running chain", func(t *testing.T) {
		h, err := memory.New(memory.Config{ChainID: 1, Policy: testPolicy(), Height: 1_000, Time: 50_000})
		must(t, err)
		v := scheduler.View{Reader: h.Space(scheduler.Address)}
		expect(t, "cursorSlot", v.CursorSlot(), 50_001)
		expect(t, "cursorHeight", v.CursorHeight(), 1_001)
		expect(t, "nextId", v.NextID(), 1)
		if _, err := memory.New(memory.Config{ChainID: 1, Policy: testPolicy(), Time: 1 << 60}); err == nil {
			t.Error("installed at a time whose keys would reach the flag bits")
		}
	})
}

func TestCost(t *testing.T) {
	t.Run("S-COST-01 the ledger's table", func(t *testing.T) {
		for _, c := range []struct {
			gas, length, deps   uint64
			recurring, reserved bool
			want                uint64
		}{
			{98_000, 224, 0, false, false, 300_000},
			{98_000, 224, 1, false, false, 305_000},
			{98_000, 224, 8, false, false, 340_000},
			{98_000, 224, 0, true, false, 614_700},
			{98_000, 224, 0, false, true, 380_000},
			{98_000, 224, 0, true, true, 694_700},
			{98_000, 428, 0, false, false, 342_000},
			{98_000, 684, 0, false, false, 390_000},
			{98_000, 1196, 0, false, false, 486_000},
			{98_000, 2220, 0, false, false, 678_000},
			{98_000, 4268, 0, false, false, 1_062_000},
			{98_000, 173, 0, false, false, 294_000},
			{0, 4096, 8, false, true, 1_048_000},
			{0, 4096, 0, true, true, 3_996_800},
			{0, 4268, 8, false, false, 1_004_000},
			{0, 0, 0, false, false, 160_000},
			{0, 1, 0, false, false, 166_000},
			{0, 32, 0, false, false, 166_000},
			{0, 33, 0, false, false, 172_000},
			{^uint64(0) - 160_000, 0, 0, false, false, ^uint64(0)},
		} {
			got, ok := scheduler.Cost(c.gas, c.length, c.deps, c.recurring, c.reserved)
			expect(t, "fits", ok, true)
			expect(t, "cost", got, c.want)
		}
	})
	t.Run("S-SCH-22 the sum does not wrap", func(t *testing.T) {
		for _, c := range [][3]uint64{{^uint64(0) - 159_999, 0, 0}, {0, ^uint64(0), 0}, {0, 0, ^uint64(0)}, {0, 1 << 60, 1 << 40}} {
			if got, ok := scheduler.Cost(c[0], c[1], c[2], true, true); ok {
				t.Errorf("Cost(%v) fits 64 bits as %d", c, got)
			}
		}
	})
	t.Run("S-COST-05 the fee takes 128 bits", func(t *testing.T) {
		p := testPolicy()
		p.GasPerBlock = 1 << 62
		w := newWorldWith(t, p)
		huge := amount(1)
		huge.Lsh(&huge, 125)
		must(t, w.Mint(alice, huge))
		w.Approve(alice, scheduler.Address, huge)
		w.block(100, func() {
			must(t, w.transact(alice, scheduler.DepositInput(huge)).Err)
			e := with(entryOf(1<<61, 110), price(1<<63))
			w.schedule(e)
			locked, want := w.view().Locked(alice), amount(1)
			want.Lsh(&want, 61+63)
			expect(t, "locked", locked.Hex(), want.Hex())
		})
		w.blocks(101, 110)
		paid, want := w.Balance(proposer), amount(1)
		want.Lsh(&want, 61+63)
		expect(t, "paid", paid.Hex(), want.Hex())
	})
}
