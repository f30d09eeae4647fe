package finality

import (
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// Heights a Tally works on. Votes are for heads, so that what is far below the newest applied block needs none: it becomes final with
// a later one.
const (
	// maxAhead is how far above the newest block that is final or applied here votes are kept: others may be ahead.
	maxAhead = 256
	// keptBehind is how far below the newest final block they are, so that a late second vote is still seen as one.
	keptBehind = 64
	// keptBelow is how far below the newest applied block they are: others may be behind.
	keptBelow = 256
)

// Verdict says what became of a vote that was added.
type Verdict int

// The verdicts of Tally.Add. Nobody is to blame for one of these.
const (
	Kept      Verdict = iota + 1
	Duplicate         // the validator's vote for this block is here already
	Stale             // the height is final or applied for long
	TooFar            // the height is more than maxAhead above the newest block that is final or applied here
	Surplus           // two different votes of this validator at this height are here already
)

// Tally collects votes and says what to check. It is pure and serial: Add and AddCertificate take facts, Job.Run does the work
// anywhere, Finish takes its outcome.
type Tally struct {
	voters  *Voters
	final   uint64
	applied uint64
	rounds  map[uint64]*round
}

// round is one height.
type round struct {
	votes   []*ballot // in the order they came; at most two of a validator
	busy    [][32]byte
	certain *Certificate
}

type ballot struct {
	Vote
	state ballotState
}

type ballotState int

const (
	unchecked ballotState = iota
	good
	bad
)

// NewTally starts at the newest height known to be final.
func NewTally(v *Voters, final uint64) *Tally {
	return &Tally{voters: v, final: final, rounds: make(map[uint64]*round)}
}

// Final is the newest height with a certificate.
func (t *Tally) Final() uint64 { return t.final }

// Applied tells the tally of the newest block that was applied here, so that votes are counted of where the chain is, however far that
// is from the last block known to be final: a node that starts knows none, and blocks go on while too few validators vote.
func (t *Tally) Applied(height uint64) {
	if height > t.applied {
		t.applied = height
		t.forget()
	}
}

// forget drops what lies below the window.
func (t *Tally) forget() {
	for height := range t.rounds { // any order: each is judged alone
		if t.past(height) {
			delete(t.rounds, height)
		}
	}
}

// Add takes a vote whose author is known to be its validator. A job is returned when there is something to check: a second vote at a
// height, or enough votes for a certificate.
func (t *Tally) Add(v Vote) (Verdict, *Job, error) {
	if _, ok := t.voters.key(v.Index); !ok || v.Height == 0 {
		return 0, nil, invalid("vote of validator %d at height %d", v.Index, v.Height)
	}
	if verdict, outside := Outside(v.Height, t.final, t.applied); outside {
		return verdict, nil, nil
	}
	r := t.round(v.Height)
	// What turned out to be bad makes room: a validator must not escape evidence by a forged vote sent first.
	r.votes = slices.DeleteFunc(r.votes, func(b *ballot) bool { return b.Index == v.Index && b.state == bad })
	var earlier *ballot
	others := 0
	for _, b := range r.votes {
		if b.Index != v.Index {
			continue
		}
		if b.Digest == v.Digest {
			return Duplicate, nil, nil
		}
		earlier, others = b, others+1
	}
	if others > 1 {
		return Surplus, nil, nil
	}
	r.votes = append(r.votes, &ballot{Vote: v})
	if earlier != nil {
		return Kept, t.job(v.Block, true, []*ballot{earlier, r.votes[len(r.votes)-1]}), nil
	}
	return Kept, t.count(v.Block), nil
}

// Outside says why a vote for height is of no use, if it is not, to whom final is the newest final block and applied the newest applied one.
func Outside(height, final, applied uint64) (Verdict, bool) {
	newest := max(final, applied)
	switch {
	case final >= keptBehind && height <= final-keptBehind, applied >= keptBelow && height <= applied-keptBelow:
		return Stale, true
	case height > newest && height-newest > maxAhead:
		return TooFar, true
	}
	return 0, false
}

// past reports whether a height is final or applied for so long that nothing of it is kept.
func (t *Tally) past(height uint64) bool {
	verdict, _ := Outside(height, t.final, t.applied)
	return verdict == Stale
}

func (t *Tally) round(height uint64) *round {
	r := t.rounds[height]
	if r == nil {
		r = &round{}
		t.rounds[height] = r
	}
	return r
}

// count returns a job if the block has enough votes and no certificate yet.
func (t *Tally) count(b Block) *Job {
	r := t.rounds[b.Height]
	if r.certain != nil && r.certain.Digest == b.Digest || slices.Contains(r.busy, b.Digest) {
		return nil
	}
	var votes []*ballot
	for _, v := range r.votes {
		if v.Digest == b.Digest && v.state != bad {
			votes = append(votes, v)
		}
	}
	if len(votes) < t.voters.threshold {
		return nil
	}
	r.busy = append(r.busy, b.Digest)
	return t.job(b, false, votes)
}

// Job is a check to be run by anyone, once. It holds copies.
type Job struct {
	voters   *Voters
	block    Block
	conflict bool
	votes    []ballot
}

func (t *Tally) job(b Block, conflict bool, votes []*ballot) *Job {
	j := &Job{voters: t.voters, block: b, conflict: conflict}
	for _, v := range votes {
		j.votes = append(j.votes, *v)
	}
	return j
}

// Outcome is what a Job found.
type Outcome struct {
	job         *Job
	certificate *Certificate
}

// Run does the job: for a certificate one check of the sum, and only if that fails one of each vote.
func (j *Job) Run(run tlock.Runner) Outcome {
	if j.conflict {
		for i := range j.votes {
			j.check(&j.votes[i], j.voters.prepare(j.votes[i].Block))
		}
		return Outcome{job: j}
	}
	p := j.voters.prepare(j.block)
	if c, ok := j.voters.aggregate(p, j.plain()); ok {
		for i := range j.votes {
			j.votes[i].state = good
		}
		return Outcome{j, c}
	}
	each(run, len(j.votes), func(i int) { j.check(&j.votes[i], p) })
	votes := j.plain()
	if len(votes) < j.voters.threshold {
		return Outcome{job: j}
	}
	c, ok := j.voters.aggregate(p, votes)
	if !ok {
		panic("finality: internal error: good votes do not add up")
	}
	return Outcome{j, c}
}

func (j *Job) check(b *ballot, p prepared) {
	if b.state != unchecked {
		return
	}
	b.state = good
	if j.voters.verify(p, b.Vote) != nil {
		b.state = bad
	}
}

// plain are the job's votes that are not known to be bad.
func (j *Job) plain() (votes []Vote) {
	for _, b := range j.votes {
		if b.state != bad {
			votes = append(votes, b.Vote)
		}
	}
	return votes
}

func each(run tlock.Runner, n int, f func(i int)) {
	if run != nil {
		run(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}

// Result is what is known after a job.
type Result struct {
	Certificate *Certificate // new; the block and its ancestors are final
	Evidence    *Evidence    // a validator voted twice
	Bad         []uint32     // validators whose votes do not verify: each sent its own
	Fork        *Fork        // two certificates at one height
}

// Fork is two certificates at one height: more than n-t validators signed both, and are named by Evidence. Whoever sees one must
// not go on.
type Fork struct{ First, Second *Certificate }

// Error tells an operator what it means.
func (f *Fork) Error() string {
	return fmt.Sprintf("two blocks are final at height %d: %x and %x: more than a third of the validators signed both; stop and compare with the others",
		f.First.Height, f.First.Digest, f.Second.Digest)
}

// Finish takes a job's outcome. A further job is returned if there is more to check.
func (t *Tally) Finish(out Outcome) (Result, *Job) {
	var res Result
	j := out.job
	r := t.rounds[j.block.Height]
	if r == nil {
		return res, nil // final for long
	}
	for i := range j.votes {
		b := r.find(j.votes[i].Vote)
		if b == nil || b.state != unchecked {
			continue
		}
		if b.state = j.votes[i].state; b.state == bad {
			res.Bad = append(res.Bad, b.Index)
		}
	}
	if j.conflict {
		if j.votes[0].state == good && j.votes[1].state == good {
			res.Evidence = &Evidence{j.votes[0].Vote, j.votes[1].Vote}
		}
		return res, t.count(j.block)
	}
	r.busy = slices.DeleteFunc(r.busy, func(d [32]byte) bool { return d == j.block.Digest })
	if out.certificate == nil {
		return res, t.count(j.block)
	}
	res.Certificate, res.Fork = t.settle(out.certificate)
	return res, nil
}

func (r *round) find(v Vote) *ballot {
	for _, b := range r.votes {
		if b.Vote == v {
			return b
		}
	}
	return nil
}

// AddCertificate takes a certificate that Voters.VerifyCertificate accepted, such as one a node that was away has fetched. The result is
// empty if it says nothing new.
func (t *Tally) AddCertificate(c *Certificate) (res Result) {
	if !t.past(c.Height) {
		res.Certificate, res.Fork = t.settle(c)
	}
	return res
}

func (t *Tally) settle(c *Certificate) (*Certificate, *Fork) {
	r := t.round(c.Height)
	if r.certain != nil {
		if r.certain.Digest != c.Digest {
			return nil, &Fork{r.certain, c}
		}
		return nil, nil
	}
	r.certain = c
	if c.Height > t.final {
		t.final = c.Height
		t.forget()
	}
	return c, nil
}
