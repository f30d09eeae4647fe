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
