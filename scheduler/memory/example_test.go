package memory_test

import (
	"fmt"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// A sealed entry from its deposit to its run, on the in-memory host.
func Example() {
	policy := scheduler.DefaultPolicy()
	policy.Treasury, policy.GasToken = scheduler.Addr{1}, scheduler.Addr{2}
	chain, err := memory.New(memory.Config{ChainID: 31337, Policy: policy, Time: 1000})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The group key. On a network no one holds its secret; here one scalar stands for all validators.
	secret := bls.ScalarFromUint64(7)
	group, err := tlock.GroupKeyFromPoint(bls.MulG1Public(secret))
	if err != nil {
		fmt.Println(err)
		return
	}

	payer, target, proposer := scheduler.Addr{3}, scheduler.Addr{4}, scheduler.Addr{5}
	chain.Approve(payer, scheduler.Address, *uint256.NewInt(1_000_000_000))
	if err := chain.Mint(payer, *uint256.NewInt(1_000_000_000)); err != nil {
		fmt.Println(err)
		return
	}

	block := func(height, time uint64, update scheduler.Update, txs ...[]byte) {
		runs, err := chain.BeginBlock(scheduler.Env{Height: height, Time: time, Proposer: proposer}, update, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, run := range runs {
			receipt := chain.ExecuteRun(i)
			fmt.Printf("block %d runs entry %d: %q, fee paid %t\n", height, run.ID, run.Input, receipt.Outcome == scheduler.Success)
		}
		for _, input := range txs {
			if r := chain.Transact(payer, scheduler.Address, 1_000_000, input); r.Err != nil {
				fmt.Println(r.Err)
			}
		}
		chain.EndBlock(nil)
	}

	calls := tlock.EncodeCalls([]scheduler.Call{{Target: target, GasLimit: 50_000, Data: []byte("good morning")}})
	ciphertext, commitment, err := tlock.SealCalls(chain.Namespace(), group, tlock.SlotSeal(1005, payer), calls)
	if err != nil {
		fmt.Println(err)
		return
	}
	groupKey := group.Bytes()
	block(1, 1001, scheduler.Update{GroupKey: groupKey[:]},
		scheduler.DepositInput(*uint256.NewInt(500_000_000)),
		scheduler.ScheduleInput(scheduler.Params{
			Ciphertext: ciphertext, Commitment: commitment, Slot: 1005, GasLimit: 100_000, GasPrice: 1_000, Class: scheduler.BestEffort,
		}))
	block(2, 1005, scheduler.Update{})

	view := scheduler.View{Reader: chain.Space(scheduler.Address)}
	fmt.Println("slots whose key is wanted:", view.WantedSlots(chain.Beacon(), 1006))

	key := chain.Namespace().Point(tlock.SlotIdentity(1005)).Mul(secret).Bytes()
	block(3, 1006, scheduler.Update{Slots: []scheduler.SlotKey{{Slot: 1005, Key: key}}})
	fmt.Println("executed:", view.Status(1) == scheduler.Executed)
	// Output:
	// slots whose key is wanted: [1005]
	// block 3 runs entry 1: "good morning", fee paid true
	// executed: true
}
