package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
	"github.com/daybreak-beacon/daybreak/scheduler/tasks"
)

// resendVote is how often the own vote goes out again while its block is not final: gossip may lose messages.
const resendVote = 2 * time.Second

// voter votes for the blocks that this validator applied. Its journal is on disk before a vote leaves.
type voter struct {
	domain  finality.Domain
	secret  finality.Secret
	journal *finality.Journal // nil if it cannot be trusted: then this validator does not vote
	asked   bool              // the others were asked for earlier votes
	anew    bool              // the journal is lost, and the operator has said to start another
	last    *finality.Vote    // owned by the voting task
}

// openVoter reads voting key and journal. A bad journal does not keep the daemon from running: it follows the chain, signs slots and
// serves, and does not vote.
func (n *Node) openVoter() error {
	secret, err := n.home.VotingKey()
	if err != nil {
		return err
	}
	v, _ := n.genesis.Validator(n.self)
	if secret.Public() != v.VotingKey {
		return fmt.Errorf("the voting key in %s is not the one that genesis %s has for this validator: put the validator's file back from a backup",
			n.home.Path(fileVotingKey), n.home.GenesisPath())
	}
	n.voter = &voter{domain: finality.NewDomain(n.genesis.ChainID, n.hash), secret: secret}
	journal, err := finality.OpenJournal(n.home.Path(fileVotes), v.VotingKey)
	switch {
	case errors.Is(err, finality.ErrJournal) && n.home.votesLost():
		n.voter.anew = true
		n.refuseToVote(errors.New("its vote journal is lost; another one is started once it has caught up"))
	case errors.Is(err, finality.ErrJournal):
		n.refuseToVote(cli.Hint(err, "put the file back as it was; a copy of an earlier day will not do",
			"if it is gone for good and no other copy of this validator runs, start once with --lost-votes"))
	case err != nil:
		return err
	default:
		n.voter.journal = journal
		n.onEnd(journal.Close)
		return n.home.forgetVotesLost() // a crash may have left it: the next loss is one that the operator has not spoken of
	}
	return nil
}

// refuseToVote ends this validator's voting: another vote could be a second one at its height.
func (n *Node) refuseToVote(err error) {
	n.log.Error("this validator does not vote", "err", err)
	n.finality.refused(err)
}

// voteTask votes for the head if it has moved, and sends the last vote again while its block is not final.
func (n *Node) voteTask(ctx context.Context, _ *tasks.WatchdogContext) tasks.WatchdogResult {
	if v := n.vote(ctx); v != nil {
		n.voter.last = v
	} else if v := n.voter.last; v == nil || v.Height <= n.finality.head().Number {
		return tasks.NewWatchdogResult(tasks.NoWork(), tasks.Continue())
	}
	if err := n.sendVote(ctx, *n.voter.last); err != nil {
		return tasks.NewWatchdogResult(tasks.RetryableFailure(0).Because(err), tasks.Continue())
	}
	return tasks.NewWatchdogResult(tasks.Success(1), tasks.Continue())
}

// vote signs the head, unless it is voted for or is of the past. A vote for a block is one for its ancestors, so that of many blocks
// that came at once only the newest is voted for.
func (n *Node) vote(ctx context.Context) *finality.Vote {
	head := n.chain.Head()
	v := n.voter
	if head.Number == 0 || n.catchingUp() || v.last != nil && v.last.Height == head.Number {
		return nil
	}
	if v.anew {
		n.startJournal(head)
	}
	if n.finality.refusal() == nil && !v.asked {
		v.asked = n.askForOwnVotes(ctx)
	}
	if n.finality.refusal() != nil || !v.asked {
		return nil
	}
	if c := n.finality.newestCertificate(); c != nil && c.Has(n.self) {
		if err := v.journal.Saw(c.Block); err != nil {
			n.refuseToVote(err)
			return nil
		}
	}
	if last := v.journal.Last(); head.Number < last.Height || head.Number == last.Height && last.Digest == ([32]byte{}) {
		return nil // voted for in an earlier life, and not yet applied again; or below the floor of a journal started anew
	}
	block := finality.Block{Height: head.Number, Digest: head.Hash}
	if err := v.journal.Record(block); err != nil {
		n.refuseToVote(err)
		return nil
	}
	vote := v.secret.Sign(v.domain, n.self, block)
	n.loop.do(n.ctx, func() { n.takeVote(vote) })
	return &vote
}

// votesFloor is how many blocks above the head a journal begins that replaces a lost one. The validator's earlier votes were for
// blocks that it had applied, and since then the others have gone on to this head; the rest is for what this node has not heard of yet.
const votesFloor = 16

// startJournal starts a journal in place of a lost one, once this validator has the chain again and blocks are of the present.
func (n *Node) startJournal(head chain.Head) {
	if head.Time+catchingUpFrom < uint64(time.Now().Unix()) || n.finality.head().Number == 0 {
		return
	}
	path, key, floor := n.home.Path(fileVotes), n.voter.secret.Public(), head.Number+votesFloor
	err := finality.CreateJournalAbove(path, key, floor)
	if err == nil {
		n.voter.journal, err = finality.OpenJournal(path, key)
	}
	if err == nil {
		err = n.home.forgetVotesLost()
	}
	if err != nil {
		n.voter.anew = false
		n.refuseToVote(err)
		return
	}
	n.onEnd(n.voter.journal.Close)
	n.voter.anew = false
	n.finality.refused(nil)
	n.log.Info("vote journal started anew", "votes_from_block", floor+1)
}

// DeclareVotesLost notes that the operator knows that the vote journal is gone, so that the next start makes another. It refuses if
// the journal is there.
func (h Home) DeclareVotesLost() error {
	if _, err := os.Lstat(h.Path(fileVotes)); err == nil {
		return cli.Hint(fmt.Errorf("the vote journal %s is there", h.Path(fileVotes)), "start without --lost-votes: it is for one start, after the file was lost",
			"if a start without it says that the journal is damaged or behind, move it away first")
	}
	return durable.WritePublic(h.Path(fileVotesLost), nil)
}

func (h Home) forgetVotesLost() error {
	if err := os.Remove(h.Path(fileVotesLost)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// votesLost tells whether DeclareVotesLost was called since there was a journal.
func (h Home) votesLost() bool {
	_, err := os.Lstat(h.Path(fileVotesLost))
	return err == nil
}

func (n *Node) sendVote(ctx context.Context, v finality.Vote) error {
	err := n.topics.votes.Publish(ctx, v.Encode())
	if err != nil && !errors.Is(err, p2p.ErrClosed) && ctx.Err() == nil {
		n.log.Error("vote not sent", "err", err)
	}
	return err
}

// checkVote goes from cheap to dear: shape, author, window, and the pairing last.
func (n *Node) checkVote(m *p2p.Message) error {
	v, err := finality.DecodeVote(m.Data)
	if err != nil {
		return err
	}
	if v.Index != n.members[m.Author] {
		return classed(errInvalid, "vote of validator %d sent by %d", v.Index, n.members[m.Author])
	}
	head, final := n.chain.Head().Number, n.finality.head().Number
	switch verdict, _ := finality.Outside(v.Height, final, head); verdict {
	case finality.Stale:
		return classed(errStale, "vote for height %d, and %d is final, the head %d", v.Height, final, head)
	case finality.TooFar:
		return classed(errNotYet, "vote for height %d, and the head is %d", v.Height, head)
	}
	if len(n.genesis.Validators) <= verifyUpTo {
		if err := n.finality.voters.Verify(v); err != nil {
			return err
		}
	}
	m.Parsed = v
	return nil
}

func (n *Node) handleVote(m *p2p.Message) {
	v := m.Parsed.(finality.Vote)
	n.loop.do(n.ctx, func() { n.takeVote(v) })
}

// takeVote runs in the loop.
func (n *Node) takeVote(v finality.Vote) {
	n.finality.tally.Applied(n.chain.Head().Number)
	_, job, err := n.finality.tally.Add(v)
	if err != nil {
		n.log.Debug("vote not taken in", "index", v.Index, "height", v.Height, "err", err)
	}
	n.checkVotes(job)
}

// checkVotes runs a job of the tally on a worker and takes in what it found.
func (n *Node) checkVotes(job *finality.Job) {
	if job == nil {
		return
	}
	onWorker(n, func() finality.Outcome { return job.Run(nil) }, func(out finality.Outcome) {
		result, next := n.finality.tally.Finish(out)
		n.takeVotes(result)
		n.checkVotes(next)
	})
}

// takeVotes acts on what the tally found, or made of a certificate. It runs in the loop.
func (n *Node) takeVotes(r finality.Result) {
	if len(r.Bad) > 0 {
		n.log.Warn("validators sent bad votes", "index", r.Bad)
	}
	if e := r.Evidence; e != nil {
		n.log.Error("a validator voted for two blocks at one height", "index", e.First.Index, "height", e.First.Height,
			"first", hex0x(e.First.Digest[:]), "second", hex0x(e.Second.Digest[:]))
		n.finality.keepEvidence(*e)
	}
	if r.Fork != nil {
		n.stop(r.Fork)
		return
	}
	if r.Certificate != nil {
		n.finality.keep(r.Certificate)
		n.finalize()
	}
}

// finalize takes in that blocks are certified or applied: the newest that is both is final, with all before it. A certificate for
// another block than the one applied here means that this validator or the others have been lied to: it stops. It runs in the loop.
func (n *Node) finalize() {
	before := n.finality.head()
	if err := n.finality.advance(n.chain); err != nil {
		n.stop(err)
		return
	}
	if head := n.finality.head(); head.Number > before.Number {
		n.metrics.final.Set(float64(head.Number))
		n.log.Debug("final", "height", head.Number, "slot", head.Time)
	}
}
