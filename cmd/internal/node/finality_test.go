package node_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// waitInfo waits until what the node says of itself is as wanted.
func waitInfo(t *testing.T, c *api.Client, what string, ok func(api.Info) bool) api.Info {
	t.Helper()
	var info api.Info
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var err error
		if info, err = c.Info(t.Context()); err == nil && ok(info) {
			return info
		}
	}
	t.Fatalf("%s did not come within %s; the node says %+v", what, patience, info)
	return info
}

// startAll starts a validator in each folder. stop closes those that are in the list by then: a test may put others in.
func startAll(t *testing.T, homes []node.Home) (nodes []*node.Node, stop func()) {
	t.Helper()
	for _, home := range homes {
		nodes = append(nodes, start(t, home))
	}
	return nodes, func() {
		for _, n := range nodes {
			closeNode(t, n)
		}
	}
}

// checkCertificate fetches the certificate of a height from a node and verifies it as anyone can who has the genesis.
func checkCertificate(t *testing.T, c *api.Client, home node.Home, number uint64) (api.Certificate, *finality.Certificate) {
	t.Helper()
	got, err := c.Certificate(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(got.Certificate, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := finality.DecodeCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	g, err := home.LoadGenesis()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Voters().VerifyCertificate(cert); err != nil {
		t.Errorf("certificate of block %d: %v", number, err)
	}
	block, err := c.Block(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	if cert.Height != number || got.Hash != block.Hash || fmt.Sprintf("%#x", cert.Digest) != block.Hash {
		t.Errorf("certificate of block %d names block %d, %#x; the block is %s", number, cert.Height, cert.Digest, block.Hash)
	}
	return got, cert
}

// TestBlocksBecomeFinal: from the first block on each one gets a certificate, on every validator, through a restart, and with one
// validator that lost its vote journal and so votes no more.
func TestBlocksBecomeFinal(t *testing.T) {
	homes := newHomes(t, 4)
	nodes, stop := startAll(t, homes)
	defer stop()
	var height uint64
	for i, n := range nodes {
		info := waitInfo(t, client(t, n), "a final block", func(i api.Info) bool { return i.Final.Number >= 3 && i.LatestKey > 0 })
		if block, err := client(t, n).Block(t.Context(), info.Final.Number); err != nil || block.Head != info.Final {
			t.Errorf("node %d: the final block is %+v, and /v1/info calls it %+v (%v)", i+1, block.Head, info.Final, err)
		}
		if info.NotVoting != "" || info.DoubleVotes != 0 {
			t.Errorf("node %d: %+v", i+1, info)
		}
		height = max(height, info.Final.Number)
	}
	for i, n := range nodes {
		c := client(t, n)
		waitInfo(t, c, "the same final block", func(i api.Info) bool { return i.Final.Number >= height })
		got, _ := checkCertificate(t, c, homes[i], height)
		if len(got.Voters) < 3 {
			t.Errorf("block %d is signed by %v", height, got.Voters)
		}
		if _, err := c.Certificate(t.Context(), height+1000); err == nil {
			t.Error("a certificate of a block to come")
		}
		if evidence, err := c.Evidence(t.Context()); err != nil || len(evidence) != 0 {
			t.Errorf("evidence %v, %v, and all are honest", evidence, err)
		}
	}

	// One loses its journal. It says so, and the other three go on.
	closeNode(t, nodes[3])
	if err := os.Remove(homes[3].Path("votes")); err != nil {
		t.Fatal(err)
	}
	nodes[3] = start(t, homes[3])
	mute := client(t, nodes[3])
	info := waitInfo(t, mute, "a final block after the restart", func(i api.Info) bool { return i.Final.Number > height+2 })
	if !strings.Contains(info.NotVoting, "missing") {
		t.Errorf("it lost its journal, and says of voting: %q", info.NotVoting)
	}
	// A certificate of a block that was built while it was back, so that its vote would be in time.
	last := waitInfo(t, mute, "another final block", func(i api.Info) bool { return i.Final.Number > info.Final.Number+2 })
	if got, cert := checkCertificate(t, mute, homes[3], last.Final.Number); cert.Has(4) || len(got.Voters) != 3 {
		t.Errorf("block %d is signed by %v, and validator 4 cannot vote", last.Final.Number, got.Voters)
	}

	// Another restarts with its journal, and votes again.
	closeNode(t, nodes[0])
	nodes[0] = start(t, homes[0])
	c := client(t, nodes[0])
	waitInfo(t, c, "a block with its vote", func(i api.Info) bool {
		got, err := c.Certificate(t.Context(), 0)
		return err == nil && got.Number > last.Final.Number && len(got.Voters) == 3 && got.Voters[0] == 1
	})
	if info := waitInfo(t, c, "its state", func(api.Info) bool { return true }); info.NotVoting != "" {
		t.Errorf("it has its journal, and says of voting: %q", info.NotVoting)
	}
}

// TestAnOldVoteJournalIsNoticed: a validator whose journal was set back hears from the others what it has forgotten, and votes for
// nothing: its next vote could be a second one at its height.
func TestAnOldVoteJournalIsNoticed(t *testing.T) {
	homes := newHomes(t, 4)
	nodes, stop := startAll(t, homes)
	defer stop()
	c := client(t, nodes[3])
	first := waitInfo(t, c, "a final block", func(i api.Info) bool { return i.Final.Number >= 2 })
	journal := homes[3].Path("votes")
	old, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for voted := uint64(0); voted <= first.Final.Number+1; {
		last := waitInfo(t, c, "more votes", func(i api.Info) bool { return i.Final.Number > first.Final.Number+1 })
		if got, cert := checkCertificate(t, c, homes[3], last.Final.Number); cert.Has(4) {
			voted = got.Number
		}
	}
	closeNode(t, nodes[3])
	if err := os.WriteFile(journal, old, 0o600); err != nil {
		t.Fatal(err)
	}
	nodes[3] = start(t, homes[3])
	info := waitInfo(t, client(t, nodes[3]), "what it says of its journal", func(i api.Info) bool { return i.NotVoting != "" })
	if !strings.Contains(info.NotVoting, "behind") {
		t.Errorf("it says of voting: %q", info.NotVoting)
	}
}

// TestNothingOpensWithoutVotes: with too few voters blocks go on, and no slot is signed.
func TestNothingOpensWithoutVotes(t *testing.T) {
	homes := newHomes(t, 3) // 3 make a certificate, 2 a majority of the log
	nodes, stop := startAll(t, homes)
	defer stop()
	waitKey(t, client(t, nodes[2]), 0)
	closeNode(t, nodes[2])
	if err := os.Remove(homes[2].Path("votes")); err != nil {
		t.Fatal(err)
	}
	nodes[2] = start(t, homes[2])
	c := client(t, nodes[2])
	before := waitInfo(t, c, "its start", func(i api.Info) bool { return i.NotVoting != "" && !i.CatchingUp && i.Head.Timestamp+3 > i.Slot })
	after := waitInfo(t, c, "more blocks", func(i api.Info) bool { return i.Head.Number > before.Head.Number+4 })
	if after.Final.Number > before.Head.Number || after.LatestKey > before.Head.Timestamp {
		t.Errorf("block %d is final and slot %d has its key; two of three voted from block %d of slot %d on",
			after.Final.Number, after.LatestKey, before.Head.Number, before.Head.Timestamp)
	}
	k, err := c.Key(context.Background(), before.Head.Timestamp+2)
	if err == nil {
		t.Errorf("slot %d, which no final block has reached, has the key %v", before.Head.Timestamp+2, k)
	}
}

// TestAJournalThatIsThereIsNotLost: what an operator said of an earlier loss does not hold for the next one, even if the daemon was
// killed before it could forget it.
func TestAJournalThatIsThereIsNotLost(t *testing.T) {
	home := newHomes(t, 1)[0]
	votes, kept := home.Path("votes"), home.Path("votes.away")
	for _, move := range [][2]string{{votes, kept}, {kept, votes}} {
		if err := os.Rename(move[0], move[1]); err != nil {
			t.Fatal(err)
		}
		if move[0] == votes {
			if err := home.DeclareVotesLost(); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeNode(t, start(t, home))
	if err := os.Remove(votes); err != nil {
		t.Fatal(err)
	}
	n := start(t, home)
	defer closeNode(t, n)
	waitInfo(t, client(t, n), "a block", func(i api.Info) bool { return i.Head.Number > 0 })
	if info := waitInfo(t, client(t, n), "its state", func(api.Info) bool { return true }); !strings.Contains(info.NotVoting, "missing") {
		t.Errorf("it lost its journal, nobody said so, and of voting it says %q", info.NotVoting)
	}
}
