package scheduler

// Components of Cost (document 002, "Cost").
const (
	costExecute        = 160_000
	costWord           = 6_000
	costDependency     = 5_000
	costRecurrence     = 160_000
	costRecurrenceWord = 22_100
	costReserve        = 80_000
)

// Cost is what an entry is budgeted at (document 002, "Cost"; S-COST-01): dataLen is the length of the ABI-encoded calls, of a
// sealed entry that of the ciphertext. ok is false when the sum leaves 64 bits.
func Cost(gasLimit, dataLen, dependencies uint64, recurring, reserved bool) (cost uint64, ok bool) {
	words := dataLen / 32
	if dataLen%32 != 0 {
		words++
	}
	const small = 1 << 32 // beyond it the sum is far above any gasPerBlock; below it no product overflows
	if words >= small || dependencies >= small {
		return 0, false
	}
	overhead := costExecute + costWord*words + costDependency*dependencies
	if recurring {
		overhead += costRecurrence + costRecurrenceWord*words
	}
	if reserved {
		overhead += costReserve
	}
	cost = gasLimit + overhead
	return cost, cost >= overhead
}
