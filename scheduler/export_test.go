package scheduler

// What tests of the codec and of a run's inside need to see.

var (
	AbiEntry = abiEntry
	NextDue  = nextDue
)

// MethodSignatures lists the contract's methods.
func MethodSignatures() (all []string) {
	for _, f := range methods { // any order: the caller sorts
		all = append(all, f.signature)
	}
	return all
}

// MakeCalls makes an entry's calls as its run does.
func (m *Machine) MakeCalls(env Env, h *Host, calls []Call, gasLimit uint64) (used uint64, err error) {
	return (&call{m, env, h}).makeCalls(&entry{gasLimit: gasLimit}, calls)
}

// Select reads a block's due entries and selects among them, as BeginBlock does, and says how many it chose.
func (m *Machine) Select(env Env, h *Host) int {
	c := &call{m, env, h}
	return len(c.selectRuns(c.scanQueues()))
}
