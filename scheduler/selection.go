package scheduler

// selectRuns gives out the block's budget and returns the chosen entries in run order (document 002, "When an entry runs"). Chosen
// entries carry FlagDetached from here on.
func (c *call) selectRuns(s *scan) []*candidate {
	byID := map[uint64]*candidate{}
	for _, e := range s.candidates {
		byID[e.id] = e
	}
	waitFor(s.candidates, byID, func(id uint64) bool { return !readHead(c.State, id).settled(c.State) })
	left, maxCount := c.policy.GasPerBlock, int(c.policy.MaxEntriesPerBlock)
	var chosen []*candidate
	inOrder(s.candidates, budgetOrder, func(e *candidate) bool {
		// The count stops BestEffort only; the gas budget stops both, and what fits the rest may still go (S-SEL-06, S-SEL-07).
		if e.cost() > left || !e.guaranteed() && len(chosen) >= maxCount {
			if e.guaranteed() {
				s.held[e.key] = true // it waits in place (S-SEL-11)
			}
			return false
		}
		left -= e.cost()
		e.chosen = true
		chosen = append(chosen, e)
		// A dependent joins the block only if this run is the last of its dependency.
		return e.attempts >= e.maxRetries
	})
	return inRunOrder(chosen)
}

// inRunOrder sorts the chosen entries so that each follows the dependencies chosen with it (S-SEL-13).
func inRunOrder(chosen []*candidate) []*candidate {
	byID := map[uint64]*candidate{}
	for _, e := range chosen {
		byID[e.id] = e
	}
	waitFor(chosen, byID, func(uint64) bool { return false })
	sorted := make([]*candidate, 0, len(chosen))
	inOrder(chosen, runOrder, func(e *candidate) bool {
		sorted = append(sorted, e)
		return true
	})
	return sorted
}
