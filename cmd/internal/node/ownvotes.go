package node

import (
	"context"
	"sync"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// protocolVotes asks a peer what it knows of the asker's votes. The request is one byte, which says nothing yet; the answer is the
// newest certificate that the asker's vote is in, or nothing.
const protocolVotes = "votes/1"

// askVotesFor is how long a peer has to answer.
const askVotesFor = 2 * time.Second

// serveVotes answers validators that start.
func (n *Node) serveVotes() error {
	_, err := p2p.ServeRequests(n.net, protocolVotes, p2p.RequestLimits{MaxRequest: 1, PerPeer: p2p.Rate{PerSecond: 1, Burst: 8}},
		func(_ context.Context, from p2p.PeerID, _ []byte) ([]byte, error) {
			if c := n.finality.newestWith(n.members[from]); c != nil {
				return c.Encode(), nil
			}
			return nil, nil
		})
	return err
}

// askForOwnVotes lets the journal see what the others know of this validator's votes, once, before the first vote after a start: a
// journal that was set back does not know what it forgot. It tells whether anybody could be asked. What all peers have forgotten,
// since they restarted too, is not found.
func (n *Node) askForOwnVotes(ctx context.Context) bool {
	peers := n.net.Connected()
	if len(peers) == 0 {
		return len(n.genesis.Validators) == 1
	}
	found := make([]*finality.Certificate, len(peers))
	var wg sync.WaitGroup
	for i, peer := range peers {
		wg.Go(func() { found[i] = n.fetchOwnVote(ctx, peer) })
	}
	wg.Wait()
	for _, c := range found {
		if c == nil {
			continue
		}
		if err := n.voter.journal.Saw(c.Block); err != nil {
			n.refuseToVote(err)
		}
		n.loop.call(ctx, func() { n.takeVotes(n.finality.tally.AddCertificate(c)) })
	}
	return true
}

// fetchOwnVote asks one peer; nil if it knows nothing or answers with what does not verify.
func (n *Node) fetchOwnVote(ctx context.Context, peer p2p.PeerID) *finality.Certificate {
	ctx, cancel := context.WithTimeout(ctx, askVotesFor)
	defer cancel()
	answer, err := p2p.Request(ctx, n.net, peer, protocolVotes, []byte{0}, finality.MaxCertificate)
	if err != nil || len(answer) == 0 {
		n.log.Debug("peer knows of no own vote", "index", n.members[peer], "err", err)
		return nil
	}
	c, err := finality.DecodeCertificate(answer)
	if err == nil {
		err = n.finality.voters.VerifyCertificate(c)
	}
	if err == nil && !c.Has(n.self) {
		err = classed(errInvalid, "a certificate without this validator's vote")
	}
	if err != nil {
		n.log.Warn("a member answered with what is wrong", "index", n.members[peer], "err", err)
		return nil
	}
	return c
}
