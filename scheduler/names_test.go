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

// failing makes no call, and knows no tokens.
type failing struct{ scheduler.Token }

func (failing) Call(scheduler.Addr, uint64, []byte) ([]byte, uint64, error) {
	return nil, 0, errors.New("no")
}
func (failing) IsMIP20(scheduler.Addr) bool { return false }

// TestEachErrorIsRaised raises each of the 29 once, on a world with a written item, an entry at 110 and a reverting one of bob's.
func TestEachErrorIsRaised(t *testing.T) {
	schedule := func(change ...func(*scheduler.Params)) func(w *world) error {
		return func(w *world) error {
			_, err := w.trySchedule(alice, with(entryOf(300_000, 120), change...))
			return err
		}
	}
	resume := func(id uint64) []byte {
		return append([]byte{0x1c, 0xde, 0xfe, 0xcf}, scheduler.CancelInput(id)[4:]...)
	}
	raise := map[scheduler.Error]func(w *world) error{
		scheduler.NotChain:           func(w *world) error { return w.transact(alice, scheduler.ExecuteInput(1)).Err },
		scheduler.NotPayer:           func(w *world) error { return w.cancel(bob, 1) },
		scheduler.NotScheduled:       func(w *world) error { return w.cancel(alice, 9) },
		scheduler.NotPaused:          func(w *world) error { return w.transact(alice, resume(1)).Err },
		scheduler.NotDue:             func(w *world) error { return w.transact(scheduler.Address, scheduler.ExecuteInput(1)).Err },
		scheduler.NotExpired:         func(w *world) error { return w.expire(1) },
		scheduler.BadTarget:          schedule(to(mip20)),
		scheduler.BadCalls:           schedule(calls(9)),
		scheduler.BadTrigger:         schedule(func(p *scheduler.Params) { p.Height = 50 }),
		scheduler.BadDependency:      schedule(needs(0)),
		scheduler.SlotNotInFuture:    schedule(func(p *scheduler.Params) { p.Slot = 100 }),
		scheduler.BeyondHorizon:      schedule(backoff(34_560_001)),
		scheduler.GasLimitOutOfRange: schedule(func(p *scheduler.Params) { p.GasLimit = 59_999 }),
		scheduler.ZeroGasPrice:       schedule(price(0)),
		scheduler.GasPriceTooLow:     schedule(price(9)),
		scheduler.DataTooLarge:       schedule(func(p *scheduler.Params) { p.Calls[0].Data = make([]byte, 3_873) }),
		scheduler.BadClass:           schedule(func(p *scheduler.Params) { p.Class = 2 }),
		scheduler.SlotReserveFull: func(w *world) error {
			must(w, schedule(guaranteed)(w))
			return schedule(guaranteed, func(p *scheduler.Params) { p.GasLimit = 500_000 - 202_000 + 1 })(w)
		},
		scheduler.SlotFull: func(w *world) error {
			fill(w, 120, 120)
			return schedule()(w)
		},
		scheduler.InsufficientEscrow: func(w *world) error { return w.withdraw(alice, 1e12) },
		scheduler.TransferFailed:     func(w *world) error { return w.transact(proposer, scheduler.DepositInput(amount(1))).Err },
		scheduler.BadReserve:         schedule(reserve(mip20, 0), func(p *scheduler.Params) { p.GasLimit = 300_000 }),
		scheduler.ReserveIsGasToken:  schedule(reserve(gasToken, 1), func(p *scheduler.Params) { p.GasLimit = 300_000 }),
		scheduler.CallFailed: func(w *world) error {
			h := &scheduler.Host{State: w.Space(scheduler.Address), Executor: failing{}, Token: failing{}}
			_, err := w.Machine().MakeCalls(w.Env(), h, entryOf(300_000, 110).Calls, 98_000)
			return err
		},
		scheduler.CannotRecur:  schedule(func(p *scheduler.Params) { p.PeriodSlots = 5 }),
		scheduler.BadSeal:      schedule(func(p *scheduler.Params) { p.Commitment[0] = 1 }),
		scheduler.BadCondition: schedule(when(item, 4, 0)),
		scheduler.WatchFull: func(w *world) error {
			for range 256 {
				must(w, schedule(when(item, scheduler.WhenNotHalted, 0))(w))
			}
			return schedule(when(item, scheduler.WhenNotHalted, 0))(w)
		},
		scheduler.Running: func(w *world) (err error) {
			w.script = func(f *memory.Frame) ([]byte, error) {
				_, err = f.Call(scheduler.Address, f.Gas, scheduler.ExpireInput(1))
				return nil, nil
			}
			must(w, schedule(to(scriptTarget))(w))
			w.EndBlock(nil)
			w.block(120)
			return err
		},
	}
	for _, e := range scheduler.Errors() {
		t.Run("S-ITF-08 "+e.Name(), func(t *testing.T) {
			w := newWorld(t)
			w.Write(item, word(1), false, false)
			w.begin(1, 100)
			w.deposit(alice, 1e11)
			w.schedule(entryOf(300_000, 110))
			expectErr(t, "raised", raise[e](w), e)
		})
	}
}

// eventSignatures are the ten events of document 002, "Interface", with the number of their indexed arguments.
var eventSignatures = map[string]int{
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
}

type eventArg struct{ typ, name string }

func parseEvent(signature string) (name string, args []eventArg) {
	name, rest, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	for _, a := range strings.Split(rest, ",") {
		typ, name, _ := strings.Cut(a, " ")
		args = append(args, eventArg{typ, name})
	}
	return name, args
}

// eventTopic is keccak256 of the signature without names.
func eventTopic(name string, args []eventArg) scheduler.Word {
	var types []string
	for _, a := range args {
		types = append(types, a.typ)
	}
	return scheduler.Word(crypto.Keccak256([]byte(name + "(" + strings.Join(types, ",") + ")")))
}

func TestEvents(t *testing.T) {
	t.Run("S-ITF-07 the topics", func(t *testing.T) {
		topics := map[string]string{
			"Scheduled":         "ccf78dcbd5d8cd2846dcf34b32e9c0d2bb6cfa6a9e109d9a7c59e76d47cc98cf",
			"Executed":          "366f3b386b86e9896611326a9d826eb7cd8b267623b041efeb55064c90dbff26",
			"ExecutionFailed":   "6a5c139619ca0272f9ca2355deeccbf04f293a25f36fa8ef1c6031af1b6f5e3f",
			"Recurred":          "f14c91d188689f1517ac7af9ac33b02a654933fda9c006176fd3a5e667b8edfa",
			"RecurrenceStarved": "0a222fd1fa08c81029110eb9c232a4e03b260a66556b886e60164e6b9a6b2325",
			"Paused":            "db6a871e0ca1412b5a476ec1e7ec005fc584d1afa9bef37a3c64129332bb449b",
			"Cancelled":         "8508212ecd326656664f08bebf8cf94800e5ad95e3580bd4f9d4c3330f62ef91",
			"Expired":           "91cc37bcaeec164e5bc377adb7e09e2a00c91458581814d0294b11a1ab47958a",
			"Deposited":         "2da466a7b24304f47e87fa2e1e5a81b9831ce54fec19055ce277ca2f39ba42c4",
			"Withdrawn":         "7084f5476618d8e60b11ef0d7d3f06914655adb8793e28ff7f018d4c76d505d5",
		}
		expect(t, "events", len(topics), len(eventSignatures))
		for signature := range eventSignatures {
			name, args := parseEvent(signature)
			topic := eventTopic(name, args)
			expect(t, "topic of "+name, topic.String(), "0x"+topics[name])
		}
	})

	t.Run("S-ITF-07 a log with a topic or a byte too many or too few is no event", func(t *testing.T) {
		for signature, indexed := range eventSignatures {
			name, args := parseEvent(signature)
			topics := append([]scheduler.Word{eventTopic(name, args)}, make([]scheduler.Word, indexed)...)
			data := make([]byte, 32*(len(args)-indexed))
			if ev, ok := scheduler.DecodeEvent(topics, data); !ok || ev.Name != name {
				t.Errorf("%s does not decode", name)
			}
			for what, log := range map[string]struct {
				topics []scheduler.Word
				data   []byte
			}{
				"a byte too many":       {topics, append(data[:len(data):len(data)], 0)},
				"a word too many":       {topics, append(data[:len(data):len(data)], make([]byte, 32)...)},
				"a topic too many":      {append(topics[:len(topics):len(topics)], scheduler.Word{}), data},
				"a topic missing":       {topics[:len(topics)-1], data},
				"no topic":              {nil, data},
				"the topic of no event": {append([]scheduler.Word{{1}}, topics[1:]...), data},
			} {
				if _, ok := scheduler.DecodeEvent(log.topics, log.data); ok {
					t.Errorf("%s decodes with %s", name, what)
				}
			}
		}
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
