package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
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
	why     error             // why it does not
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
	case errors.Is(err, finality.ErrJournal):
		n.refuseToVote(err)
	case err != nil:
		return err
	default:
		n.voter.journal = journal
		n.onEnd(journal.Close)
	}
	return nil
}

// refuseToVote ends this validator's voting: another vote could be a second one at its height.
func (n *Node) refuseToVote(err error) {
	n.voter.why = err
	n.log.Error("this validator does not vote any more", "err", err)
	n.finality.refused(err)
}

// voteTask votes for the head if it has moved, and sends the last vote again while its block is not final.
func (n *Node) voteTask(ctx context.Context, _ *tasks.WatchdogContext) tasks.WatchdogResult {
	if v := n.vote(); v != nil {
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
func (n *Node) vote() *finality.Vote {
	head := n.chain.Head()
	v := n.voter
	if v.why != nil || head.Number == 0 || n.catchingUp() || v.last != nil && v.last.Height == head.Number {
		return nil
	}
	if c := n.finality.newestCertificate(); c != nil && c.Has(n.self) {
		if err := v.journal.Saw(c.Block); err != nil {
			n.refuseToVote(err)
			return nil
		}
	}
	if last := v.journal.Last(); head.Number < last.Height {
		return nil // voted for in an earlier life, and not yet applied again
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
	if final := n.finality.head().Number; v.Height > final && v.Height-final > finality.MaxAhead {
		return classed(errNotYet, "vote for height %d, and %d is final", v.Height, final)
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
	n.wg.Go(func() {
		select {
		case n.workers <- struct{}{}:
		case <-n.ctx.Done():
			return
		}
		out := job.Run(nil)
		<-n.workers
		n.loop.do(n.ctx, func() {
			result, next := n.finality.tally.Finish(out)
			n.takeVotes(result)
			n.checkVotes(next)
		})
	})
}

// takeVotes acts on what the tally found. It runs in the loop.
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
