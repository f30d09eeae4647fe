package scheduler

import "errors"

// Error is one of the contract's named errors (S-ITF-08). On the wire it is the four bytes of Selector and nothing more.
type Error uint8

// The 29 errors of document 002, "Interface", in its order.
const (
	NotChain Error = iota + 1
	NotPayer
	NotScheduled
	NotPaused
	NotDue
	NotExpired
	BadTarget
	BadCalls
	BadTrigger
	BadDependency
	SlotNotInFuture
	BeyondHorizon
	GasLimitOutOfRange
	ZeroGasPrice
	GasPriceTooLow
	DataTooLarge
	BadClass
	SlotReserveFull
	SlotFull
	InsufficientEscrow
	TransferFailed
	BadReserve
	ReserveIsGasToken
	CallFailed
	CannotRecur
	BadSeal
	BadCondition
	WatchFull
	Running
)

var errorTexts = [...]struct{ name, hint string }{
	NotChain:           {"NotChain", "only block execution calls execute"},
	NotPayer:           {"NotPayer", "only the account that scheduled the entry may do this"},
	NotScheduled:       {"NotScheduled", "the entry is not waiting to run"},
	NotPaused:          {"NotPaused", "the entry is not a paused series"},
	NotDue:             {"NotDue", "the entry is not due or a dependency has not ended"},
	NotExpired:         {"NotExpired", "the entry can still run"},
	BadTarget:          {"BadTarget", "a call may not target the zero address, the scheduler, the gas token or a MIP20 token"},
	BadCalls:           {"BadCalls", "an open entry has one to eight calls"},
	BadTrigger:         {"BadTrigger", "set exactly one of slot and height"},
	BadDependency:      {"BadDependency", "depend on at most eight entries, all scheduled earlier"},
	SlotNotInFuture:    {"SlotNotInFuture", "slot or height must lie after the current block"},
	BeyondHorizon:      {"BeyondHorizon", "slot, height, period or backoff exceeds maxHorizonSlots"},
	GasLimitOutOfRange: {"GasLimitOutOfRange", "gasLimit must cover every call's limit and overhead, and the cost must fit gasPerBlock"},
	ZeroGasPrice:       {"ZeroGasPrice", "gasPrice is zero"},
	GasPriceTooLow:     {"GasPriceTooLow", "gasPrice is below minGasPrice"},
	DataTooLarge:       {"DataTooLarge", "encoded calls may take 4096 bytes, a ciphertext 4268"},
	BadClass:           {"BadClass", "class is 0 (Guaranteed) or 1 (BestEffort)"},
	SlotReserveFull:    {"SlotReserveFull", "the slot's Guaranteed budget is used up: take another slot or BestEffort"},
	SlotFull:           {"SlotFull", "the slot or height, or all 8 slots of a resume, hold maxEntriesPerBlock entries: take another or try later"},
	InsufficientEscrow: {"InsufficientEscrow", "the available escrow is too small: deposit more"},
	TransferFailed:     {"TransferFailed", "a token refused: check balance, allowance and receive policy"},
	BadReserve:         {"BadReserve", "reserveToken and reserveAmount must name an amount of a MIP20 token, or both be zero"},
	ReserveIsGasToken:  {"ReserveIsGasToken", "the gas token cannot be reserved"},
	CallFailed:         {"CallFailed", "a call of the entry failed"},
	CannotRecur:        {"CannotRecur", "a recurrence needs a slot, a period and remaining periods, and no dependencies or condition"},
	BadSeal:            {"BadSeal", "the sealed entry is malformed or no group key is installed"},
	BadCondition:       {"BadCondition", "the condition is malformed or its item has no recorded write"},
	WatchFull:          {"WatchFull", "the item has 256 watchers"},
	Running:            {"Running", "not while a scheduled entry executes"},
}

// Errors lists the named errors in the document's order.
func Errors() []Error {
	all := make([]Error, 0, len(errorTexts)-1)
	for e := NotChain; int(e) < len(errorTexts); e++ {
		all = append(all, e)
	}
	return all
}

// Name is the error's name in the ABI.
func (e Error) Name() string { return errorTexts[e].name }

// Error is the name and what to do about it.
func (e Error) Error() string { return errorTexts[e].name + ": " + errorTexts[e].hint }

// Selector is the revert data: the first four bytes of keccak256("Name()").
func (e Error) Selector() [4]byte { return selectorOf(e.Name() + "()") }

// RevertData is what a contract call that failed with err returns: a named error's selector, or nothing.
func RevertData(err error) []byte {
	var e Error
	if !errors.As(err, &e) {
		return nil
	}
	s := e.Selector()
	return s[:]
}

// Errors of a call that no named error covers. They revert without data.
var (
	// ErrCalldata: the input is not the canonical ABI encoding of a method's arguments.
	ErrCalldata = errors.New("scheduler: calldata is not the canonical encoding of the method's arguments")
	// ErrMethod: the input's selector names no method.
	ErrMethod = errors.New("scheduler: unknown method selector")
	// ErrReadOnly: a transaction was called as a view.
	ErrReadOnly = errors.New("scheduler: a view cannot change state")
)
