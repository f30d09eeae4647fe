package node

import (
	"testing"

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
