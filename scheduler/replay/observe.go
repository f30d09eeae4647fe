package replay

import (
	"io"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// Stage is a moment within a block.
type Stage string

// The stages of a block, in their order; Ran comes once for each leading transaction, Approved and Transacted for each of the block's
// own.
const (
	Begun      Stage = "begun"      // the beacon update is applied, the runs are chosen, the rest has moved
	Ran        Stage = "ran"        // a leading transaction has run
	Changed    Stage = "changed"    // oracle and tokens are what the block says
	Approved   Stage = "approved"   // the transaction's sender has approved the scheduler
	Transacted Stage = "transacted" // the transaction is done
	Ended      Stage = "ended"      // the opening sweep is done
)

// Step is what an observer is told. The Player's Host and View show the state at that moment; an observer must not change it.
type Step struct {
	At      Stage
	Runs    []scheduler.Run // of the block, from Begun on
	Index   int             // of the leading transaction or of the transaction
	Outcome Outcome         // with Ran
	Err     error           // with Transacted
	Logs    []memory.Log    // with Ran and Transacted
}

// Observe has see called at every stage of the blocks that follow.
func (p *Player) Observe(see func(Step)) { p.see = see }

// UseRunner has keys checked and payloads opened by run, which may use more than one core. The output does not depend on it.
func (p *Player) UseRunner(run scheduler.Runner) { p.run = run }

// Export writes the state as it stands.
func (p *Player) Export(w io.Writer) error { return p.host.Export(w) }

// Import goes on from a state that a player of the same script has exported after the same block.
func (p *Player) Import(r io.Reader, maxBytes int64) error {
	h, err := memory.Import(p.config, r, maxBytes)
	if err == nil {
		p.host = h
	}
	return err
}
