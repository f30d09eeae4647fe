package simnet_test

import (
	"crypto/ed25519"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/p2ptest"
	"github.com/daybreak-beacon/daybreak/p2p/simnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func peerIDs(t testing.TB, n int) []p2p.PeerID {
	t.Helper()
	var out []p2p.PeerID
	for i := range n {
		key := ed25519.NewKeyFromSeed(append([]byte{byte(i), byte(i >> 8)}, make([]byte, 30)...))
		id, err := p2p.PeerIDOf(key.Public().(ed25519.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, id)
	}
	return out
}

func newNet(t testing.TB, seed uint64, n int, o simnet.Options) (*simnet.Net, []p2p.PeerID) {
	t.Helper()
	ids := peerIDs(t, n)
	sim, err := simnet.New(seed, ids, o)
	if err != nil {
		t.Fatal(err)
	}
	return sim, ids
}

func start(t testing.TB, sim *simnet.Net, id p2p.PeerID) p2p.Network {
	t.Helper()
	h, err := sim.Start(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func simEnv(t *testing.T, n int, body func(*p2ptest.Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		sim, ids := newNet(t, 1, n, simnet.Options{})
		defer sim.Close()
		c := &p2ptest.Cluster{T: t}
		for _, id := range ids {
			c.Nets = append(c.Nets, start(t, sim, id))
		}
		c.Restart = func(i int) { c.Nets[i] = start(t, sim, ids[i]) }
		body(c)
	})
}

func TestConformance(t *testing.T) { p2ptest.Run(t, simEnv) }
