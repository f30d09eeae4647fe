package finality

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// feed adds a vote and runs every job that follows from it.
func feed(t *Tally, v Vote) (Verdict, Result) {
	verdict, job, err := t.Add(v)
	if err != nil {
		panic(err)
	}
	return verdict, drive(t, job)
}

func drive(t *Tally, job *Job) (all Result) {
	for job != nil {
		var res Result
		res, job = t.Finish(job.Run(nil))
		all.Bad = append(all.Bad, res.Bad...)
		if res.Certificate != nil {
			all.Certificate = res.Certificate
		}
		if res.Evidence != nil {
			all.Evidence = res.Evidence
		}
		if res.Fork != nil {
			all.Fork = res.Fork
		}
	}
	return all
}

func TestThresholdVotesMakeACertificate(t *testing.T) {
	c := newClub(t, 4)
	tally := NewTally(c.voters, 0)
	b := block(1, 1)
	for i := uint32(1); i <= 2; i++ {
		if _, res := feed(tally, c.vote(i, b)); res.Certificate != nil {
			t.Fatalf("certificate after %d votes", i)
		}
	}
	if verdict, _ := feed(tally, c.vote(2, b)); verdict != Duplicate {
		t.Errorf("the same vote again: %v", verdict)
	}
	_, res := feed(tally, c.vote(4, b))
	if res.Certificate == nil || tally.Final() != 1 {
		t.Fatalf("no certificate after 3 votes; final %d", tally.Final())
	}
	if err := c.voters.VerifyCertificate(res.Certificate); err != nil {
		t.Fatal(err)
	}
	if _, res := feed(tally, c.vote(3, b)); res.Certificate != nil {
		t.Error("a second certificate of one block")
	}
}

// TestBadVotesAreBlamed: a forged vote does not stop the others, and names its sender.
func TestBadVotesAreBlamed(t *testing.T) {
	c := newClub(t, 4)
	for name, signature := range map[string][bls.G2Size]byte{
		"of another block": c.vote(2, block(1, 9)).Signature, "not a point": {1}, "the identity": {0: 0xc0},
	} {
		tally := NewTally(c.voters, 0)
		b := block(1, 1)
		feed(tally, Vote{Block: b, Index: 2, Signature: signature})
		feed(tally, c.vote(1, b))
		if _, res := feed(tally, c.vote(3, b)); res.Certificate != nil || !slices.Equal(res.Bad, []uint32{2}) {
			t.Errorf("%s: certificate %v, bad %v", name, res.Certificate, res.Bad)
		}
		if _, res := feed(tally, c.vote(4, b)); res.Certificate == nil || res.Certificate.Has(2) {
			t.Errorf("%s: certificate %v", name, res.Certificate)
		}
	}
}

// TestVotesThatCancelOut: two liars whose errors add up to nothing give a certificate that anybody can check; it is theirs too.
func TestVotesThatCancelOut(t *testing.T) {
	c := newClub(t, 4)
	b := block(1, 1)
	v1, v2 := c.vote(1, b), c.vote(2, b)
	shift := bls.G2Generator()
	v1.Signature = mustG2(t, v1).Add(shift).Bytes()
	v2.Signature = mustG2(t, v2).Sub(shift).Bytes()
	tally := NewTally(c.voters, 0)
	feed(tally, v1)
	feed(tally, v2)
	_, res := feed(tally, c.vote(3, b))
	if res.Certificate == nil || c.voters.VerifyCertificate(res.Certificate) != nil {
		t.Fatal("the sum verifies, and there is no certificate")
	}
}

func mustG2(t *testing.T, v Vote) bls.G2 {
	t.Helper()
	p, err := bls.DecodeG2(v.Signature[:])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDoubleVotesAreEvidence(t *testing.T) {
	c := newClub(t, 4)
	tally := NewTally(c.voters, 0)
	feed(tally, c.vote(3, block(5, 1)))
	_, res := feed(tally, c.vote(3, block(5, 2)))
	if res.Evidence == nil || c.voters.VerifyEvidence(*res.Evidence) != nil {
		t.Fatalf("evidence %v", res.Evidence)
	}
	if verdict, _ := feed(tally, c.vote(3, block(5, 3))); verdict != Surplus {
		t.Errorf("a third vote: %v", verdict)
	}
	// A forged second vote is no evidence against the validator: its sender cannot be another, see Add; it is bad.
	_, res = feed(tally, c.vote(2, block(5, 1)))
	forged := c.vote(2, block(5, 2))
	forged.Signature = c.vote(2, block(6, 2)).Signature
	if _, res = feed(tally, forged); res.Evidence != nil || !slices.Equal(res.Bad, []uint32{2}) {
		t.Errorf("forged second vote: evidence %v, bad %v", res.Evidence, res.Bad)
	}
}

// TestAForgedVoteDoesNotHideADoubleVote: who sends a bad vote first is still caught when it votes twice.
func TestAForgedVoteDoesNotHideADoubleVote(t *testing.T) {
	c := newClub(t, 4)
	tally := NewTally(c.voters, 0)
	forged := c.vote(3, block(5, 9))
	forged.Signature = c.vote(3, block(6, 9)).Signature
	feed(tally, forged)
	_, res := feed(tally, c.vote(3, block(5, 1)))
	if !slices.Equal(res.Bad, []uint32{3}) || res.Evidence != nil {
		t.Fatalf("bad %v, evidence %v", res.Bad, res.Evidence)
	}
	if _, res = feed(tally, c.vote(3, block(5, 2))); res.Evidence == nil || c.voters.VerifyEvidence(*res.Evidence) != nil {
		t.Errorf("evidence %v", res.Evidence)
	}
}

func TestHeightsOutsideTheWindow(t *testing.T) {
	c := newClub(t, 4)
	tally := NewTally(c.voters, 1000)
	for height, want := range map[uint64]Verdict{
		1000 - keptBehind: Stale, 1001 - keptBehind: Kept, 1000 + maxAhead: Kept, 1001 + maxAhead: TooFar, 1<<64 - 1: TooFar, 1: Stale,
	} {
		if got, _ := feed(tally, c.vote(1, block(height, 1))); got != want {
			t.Errorf("height %d at final 1000: %v, want %v", height, got, want)
		}
	}
	if _, _, err := tally.Add(Vote{Block: block(1001, 1), Index: 5}); err == nil {
		t.Error("vote of validator 5 of 4 was taken")
	}
	// Final heights are forgotten, so that memory is bounded.
	for h := uint64(1001); h < 1400; h++ {
		if res := tally.AddCertificate(c.certificate(block(h, 1))); res.Certificate == nil || res.Fork != nil {
			t.Fatalf("height %d: new %v, fork %v", h, res.Certificate, res.Fork)
		}
	}
	if n := len(tally.rounds); n > keptBehind {
		t.Errorf("%d heights are kept", n)
	}
	if res := tally.AddCertificate(c.certificate(block(1001, 1))); res.Certificate != nil {
		t.Error("an old certificate is news")
	}
}

// TestVotesCountWhereTheChainIs: a node that starts anew knows of no final block, and with too few voters blocks go on without any.
// Votes for the head make it final all the same, however far it is from the last one that was.
func TestVotesCountWhereTheChainIs(t *testing.T) {
	c := newClub(t, 4)
	for _, final := range []uint64{0, 1000} {
		tally := NewTally(c.voters, final)
		const head = 1_000_000
		if verdict, _ := feed(tally, c.vote(1, block(head, 1))); verdict != TooFar {
			t.Errorf("a vote for block %d, and block %d is final: %v", head, final, verdict)
		}
		tally.Applied(head)
		for height, want := range map[uint64]Verdict{
			final + 1: Stale, head - keptBelow: Stale, head - keptBelow + 1: Kept, head + maxAhead: Kept, head + maxAhead + 1: TooFar, 1<<64 - 1: TooFar,
		} {
			if got, _ := feed(tally, c.vote(1, block(height, 1))); got != want {
				t.Errorf("height %d at head %d: %v, want %v", height, head, got, want)
			}
		}
		var res Result
		for i := uint32(1); i <= 3; i++ {
			_, res = feed(tally, c.vote(i, block(head, 1)))
		}
		if res.Certificate == nil || tally.Final() != head {
			t.Fatalf("no certificate; final %d", tally.Final())
		}
		// The head never falls, and what it leaves behind is forgotten.
		tally.Applied(1)
		for h := uint64(head); h < head+1000; h++ {
			tally.Applied(h)
			feed(tally, c.vote(1, block(h, 2)))
		}
		if n := len(tally.rounds); n > keptBelow+maxAhead {
			t.Errorf("%d heights are kept", n)
		}
	}
}

func TestTwoCertificatesAreAFork(t *testing.T) {
	c := newClub(t, 4)
	tally := NewTally(c.voters, 0)
	a, b := c.certificate(block(1, 1)), c.certificate(block(1, 2))
	if res := tally.AddCertificate(a); res.Fork != nil {
		t.Fatal(res.Fork)
	}
	if res := tally.AddCertificate(a); res.Certificate != nil {
		t.Error("the same certificate is news")
	}
	fork := tally.AddCertificate(b).Fork
	if fork == nil || fork.Error() == "" {
		t.Fatal("two certificates at one height, and no fork")
	}
}

// TestNoTwoCertificates: whatever n-t liars sign, and in whatever order votes come and jobs end, at most one block of a height gets a
// certificate, every double vote that is seen is evidence against a liar, and nobody honest is blamed.
func TestNoTwoCertificates(t *testing.T) {
	for _, n := range []int{4, 7, 10} {
		c := newClub(t, n)
		liars := n - c.voters.threshold
		t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { c.adversary(t, liars) })
		})
	}
}

func (c *club) adversary(t *rapid.T, liars int) {
	n := c.voters.N()
	var votes []Vote
	for i := uint32(1); i <= uint32(n); i++ {
		if int(i) > liars { // honest: one vote, for a block of the leader's choice, for a liar may lead
			votes = append(votes, c.vote(i, block(1, byte(rapid.IntRange(1, 2).Draw(t, "honest")))))
			continue
		}
		votes = append(votes, c.vote(i, block(1, 1)), c.vote(i, block(1, 2)))
		if rapid.Bool().Draw(t, "forge") {
			votes[len(votes)-1].Signature[95] ^= 1
		}
	}
	votes = rapid.Permutation(votes).Draw(t, "order")
	tally := NewTally(c.voters, 0)
	var waiting []*Job
	seen := map[[32]byte]bool{}
	for len(votes)+len(waiting) > 0 {
		if len(waiting) > 0 && (len(votes) == 0 || rapid.Bool().Draw(t, "finish")) {
			at := rapid.IntRange(0, len(waiting)-1).Draw(t, "job")
			res, next := tally.Finish(waiting[at].Run(nil))
			waiting = slices.Delete(waiting, at, at+1)
			if next != nil {
				waiting = append(waiting, next)
			}
			c.judge(t, res, liars, seen)
			continue
		}
		_, job, err := tally.Add(votes[0])
		if err != nil {
			t.Fatal(err)
		}
		if votes = votes[1:]; job != nil {
			waiting = append(waiting, job)
		}
	}
}

func (c *club) judge(t *rapid.T, res Result, liars int, seen map[[32]byte]bool) {
	if res.Fork != nil {
		t.Fatal("fork")
	}
	if res.Certificate != nil {
		seen[res.Certificate.Digest] = true
		if err := c.voters.VerifyCertificate(res.Certificate); err != nil || len(seen) > 1 {
			t.Fatalf("%d certificates, %v", len(seen), err)
		}
	}
	if res.Evidence != nil && (c.voters.VerifyEvidence(*res.Evidence) != nil || int(res.Evidence.First.Index) > liars) {
		t.Fatalf("evidence against validator %d", res.Evidence.First.Index)
	}
	for _, i := range res.Bad {
		if int(i) > liars {
			t.Fatalf("honest validator %d is blamed", i)
		}
	}
}
