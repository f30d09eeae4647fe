package p2p_test

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/internal/p2ptest"
)

func TestConformanceTCP(t *testing.T)  { p2ptest.Run(t, realEnv(tcpAny)) }
func TestConformanceQUIC(t *testing.T) { p2ptest.Run(t, realEnv(quicAny)) }

func realEnv(pattern string) p2ptest.Env {
	return func(t *testing.T, n int, body func(*p2ptest.Cluster)) {
		hs := newHosts(t, n, pattern)
		c := &p2ptest.Cluster{T: t, Nets: make([]p2p.Network, n)}
		for i, h := range hs.hosts {
			c.Nets[i] = h
		}
		c.Restart = func(i int) { c.Nets[i] = hs.start(i) }
		body(c)
	}
}
