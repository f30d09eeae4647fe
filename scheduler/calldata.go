package scheduler

import "github.com/holiman/uint256"

// Calldata of the contract's methods, for clients.

// ScheduleInput is the calldata of schedule(params).
func ScheduleInput(p Params) []byte {
	w := abiWriter(selectorBytes("schedule(" + paramsType + ")"))
	w.uint(abiWord)
	w.params(p)
	return w
}

// DecodeScheduleInput reads what ScheduleInput writes, and nothing else: ErrMethod, ErrCalldata.
func DecodeScheduleInput(input []byte) (Params, error) {
	if len(input) < 4 || [4]byte(input) != selectorOf("schedule("+paramsType+")") {
		return Params{}, ErrMethod
	}
	return (&abiReader{rest: input[4:]}).scheduleArgs()
}

// DepositInput is the calldata of deposit(amount).
func DepositInput(amount uint256.Int) []byte { return amountInput("deposit(uint256)", amount) }

// WithdrawInput is the calldata of withdraw(amount).
func WithdrawInput(amount uint256.Int) []byte { return amountInput("withdraw(uint256)", amount) }

// CancelInput is the calldata of cancel(id).
func CancelInput(id uint64) []byte { return idInput("cancel(uint64)", id) }

// ExpireInput is the calldata of expire(id).
func ExpireInput(id uint64) []byte { return idInput("expire(uint64)", id) }

// ResumeInput is the calldata of resume(id).
func ResumeInput(id uint64) []byte { return idInput("resume(uint64)", id) }

// ExecuteInput is the calldata of execute(id), which only the system may call.
func ExecuteInput(id uint64) []byte { return idInput("execute(uint64)", id) }

func amountInput(signature string, amount uint256.Int) []byte {
	w := abiWriter(selectorBytes(signature))
	w.uint256(amount)
	return w
}

func idInput(signature string, id uint64) []byte {
	w := abiWriter(selectorBytes(signature))
	w.uint(id)
	return w
}

func selectorBytes(signature string) []byte {
	s := selectorOf(signature)
	return s[:]
}
