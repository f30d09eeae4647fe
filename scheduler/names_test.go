package scheduler_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func TestErrors(t *testing.T) {
	const document = "NotChain NotPayer NotScheduled NotPaused NotDue NotExpired BadTarget BadCalls BadTrigger BadDependency " +
		"SlotNotInFuture BeyondHorizon GasLimitOutOfRange ZeroGasPrice GasPriceTooLow DataTooLarge BadClass SlotReserveFull SlotFull " +
		"InsufficientEscrow TransferFailed BadReserve ReserveIsGasToken CallFailed CannotRecur BadSeal BadCondition WatchFull Running"

	t.Run("S-ITF-08 the 29 errors by name and selector", func(t *testing.T) {
		var names []string
		for _, e := range scheduler.Errors() {
			names = append(names, e.Name())
			expect(t, "selector of "+e.Name(), string(scheduler.RevertData(fmt.Errorf("wrapped: %w", e))), string(crypto.Keccak256([]byte(e.Name() + "()"))[:4]))
			if text := e.Error(); !strings.HasPrefix(text, e.Name()+": ") || len(text) < len(e.Name())+10 {
				t.Errorf("%q does not say what to do", text)
			}
		}
		expect(t, "names", strings.Join(names, " "), document)
		expect(t, "another error reverts without data", len(scheduler.RevertData(errors.New("x"))), 0)
	})
}

func TestEvents(t *testing.T) {
	t.Run("S-ITF-07 topics and arguments", func(t *testing.T) {
		for signature, indexed := range map[string]int{
			"Scheduled(uint64 id,address payer,uint64 key,uint256 reserved)": 2,
			"Executed(uint64 id,uint8 attempt)":                              1,
			"ExecutionFailed(uint64 id,uint8 attempt,bool willRetry)":        1,
			"Recurred(uint64 id,uint64 nextId,uint64 key)":                   2,
			"RecurrenceStarved(uint64 id)":                                   1,
			"Paused(uint64 id)":                                              1,
			"Cancelled(uint64 id,uint256 refund)":                            1,
			"Expired(uint64 id,uint256 refund)":                              1,
			"Deposited(address payer,uint256 amount)":                        1,
			"Withdrawn(address payer,uint256 amount)":                        1,
		} {
			name, rest, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
			args := strings.Split(rest, ",")
			var types []string
			for _, a := range args {
				types = append(types, strings.Fields(a)[0])
			}
			topics := []scheduler.Word{scheduler.Word(crypto.Keccak256([]byte(name + "(" + strings.Join(types, ",") + ")")))}
			var data []byte
			for i := range args {
				word := scheduler.Word{31: byte(i + 1)}
				if i < indexed {
					topics = append(topics, word)
				} else {
					data = append(data, word[:]...)
				}
			}
			ev, ok := scheduler.DecodeEvent(topics, data)
			expect(t, name+" decodes", ok, true)
			expect(t, "name", ev.Name, name)
			for i, a := range ev.Args {
				expect(t, "argument of "+name, a.Type+" "+a.Name, args[i])
				expect(t, "value", a.Word, scheduler.Word{31: byte(i + 1)})
			}
			if _, ok := scheduler.DecodeEvent(topics, append(data, 0)); ok {
				t.Errorf("%s decodes with a byte too many", name)
			}
			if _, ok := scheduler.DecodeEvent(topics[:len(topics)-1], data); ok {
				t.Errorf("%s decodes with a topic missing", name)
			}
		}
		executed := scheduler.Word(crypto.Keccak256([]byte("Executed(uint64,uint8)"))).String()
		failed := scheduler.Word(crypto.Keccak256([]byte("ExecutionFailed(uint64,uint8,bool)"))).String()
		expect(t, "the ledger's topic of Executed", executed[:10]+executed[62:], "0x366f3b38ff26")
		expect(t, "the ledger's topic of ExecutionFailed", failed[:10]+failed[62:], "0x6a5c13965e3f")
	})
}

func TestExpireInsideAndOutside(t *testing.T) {
	t.Run("S-CXL-05 inside a run Running comes before NotScheduled and NotExpired", func(t *testing.T) {
		w := newWorld(t)
		var inside []error
		w.script = func(f *memory.Frame) ([]byte, error) {
			for _, id := range []uint64{1, 2, 99} { // finished, queued, unknown
				_, err := f.Call(scheduler.Address, 100_000, scheduler.ExpireInput(id))
				inside = append(inside, err)
			}
			return nil, nil
		}
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 105))
			w.schedule(entryOf(300_000, 150))
			w.schedule(with(entryOf(800_000, 110), to(scriptTarget), func(p *scheduler.Params) { p.Calls[0].GasLimit = 500_000 }))
		})
		w.block(105)
		w.block(110, func() {
			expectErr(t, "outside, finished", w.expire(1), scheduler.NotScheduled)
			expectErr(t, "outside, queued", w.expire(2), scheduler.NotExpired)
			expectErr(t, "outside, unknown", w.expire(99), scheduler.NotScheduled)
		})
		expect(t, "calls inside", len(inside), 3)
		for _, err := range inside {
			expectErr(t, "inside", err, scheduler.Running)
		}
	})

	t.Run("S-ITF-10 a simulated expire answers as the transaction does", func(t *testing.T) {
		w := newWorld(t)
		w.block(100, func() {
			w.deposit(alice, 1e9)
			w.schedule(entryOf(300_000, 110))
		})
		for _, time := range []uint64{101, 170} {
			if time == 170 {
				w.Seize(scheduler.Address, amount(1e9)) // so that it cannot run
			}
			w.block(time)
			_, simulated := w.View(bob, scheduler.Address, scheduler.ExpireInput(1))
			expectErr(t, "transaction", w.expire(1), simulated)
		}
		w.expectStatus(1, scheduler.Expired)
	})
}
