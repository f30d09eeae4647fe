package node

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// TestCertificatesOfSomeHeightsAreForgottenToo: of blocks that come at once only the newest gets a certificate.
func TestCertificatesOfSomeHeightsAreForgottenToo(t *testing.T) {
	f := &finalized{certificates: make(map[uint64]*finality.Certificate)}
	const newest = 100_000
	for height := uint64(1); height <= newest; height += 7 {
		f.keep(&finality.Certificate{Block: finality.Block{Height: height}})
	}
	if n := len(f.certificates); n != keptCertificates/7+1 {
		t.Errorf("%d certificates are kept", n)
	}
	f.keep(&finality.Certificate{Block: finality.Block{Height: 1}})
	if _, ok := f.certificate(1); ok {
		t.Error("a certificate of long ago is kept")
	}
	if c := f.newestCertificate(); c == nil || c.Height+7 <= newest {
		t.Errorf("the newest is %v", c)
	}
}

// TestOneValidatorDoesNotCrowdOutEvidenceOfOthers: it may vote twice at as many heights as there are.
func TestOneValidatorDoesNotCrowdOutEvidenceOfOthers(t *testing.T) {
	f := new(finalized)
	pair := func(index uint32, height uint64) finality.Evidence {
		v := finality.Vote{Index: index, Block: finality.Block{Height: height}}
		return finality.Evidence{First: v, Second: v}
	}
	for height := uint64(1); height <= 1000; height++ {
		f.keepEvidence(pair(1, height))
		f.keepEvidence(pair(1, height))
	}
	f.keepEvidence(pair(2, 1))
	if _, got, _ := f.state(); len(got) != keptEvidence+1 || got[keptEvidence] != pair(2, 1) {
		t.Errorf("%d pairs are kept", len(got))
	}
}

// TestCertificateOfAnotherBlock: a certificate makes the applied block of its height final, with all before it. One of a block that is
// not the applied one is an error, which stops the validator; one above the head waits.
func TestCertificateOfAnotherBlock(t *testing.T) {
	g, keys := testGenesis(t, 4)
	c, err := chain.New(chain.Config{Genesis: g})
	if err != nil {
		t.Fatal(err)
	}
	for n := uint64(1); n <= 3; n++ {
		b, err := c.Build(chain.Proposal{Time: g.Time + n, Proposer: 1, Signer: keys[0]})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Apply(n, chain.BlockEntry(b), false); err != nil {
			t.Fatal(err)
		}
	}
	second, _ := c.Block(2)
	f := newFinalized(g)
	for _, step := range []struct {
		what   string
		cert   finality.Block
		final  uint64
		differ bool
	}{
		{"an applied block", finality.Block{Height: 2, Digest: second.Hash}, 2, false},
		{"a block to come", finality.Block{Height: 4, Digest: [32]byte{4}}, 2, false},
		{"another block than the head", finality.Block{Height: 3, Digest: [32]byte{3}}, 2, true},
	} {
		f.keep(&finality.Certificate{Block: step.cert})
		if err := f.advance(c); (err != nil) != step.differ {
			t.Errorf("%s: %v", step.what, err)
		}
		if head := f.head(); head.Number != step.final || head.Hash != second.Hash || head.Time != g.Time+2 {
			t.Errorf("%s: block %d of slot %d is final, want %d", step.what, head.Number, head.Time, step.final)
		}
	}
}
