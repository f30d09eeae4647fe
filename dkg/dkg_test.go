package dkg_test

import (
	"fmt"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/partials"
)

func TestEveryMemberEndsWithOneKey(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7, 16} {
		t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
			c := newCluster(t, n, nil)
			c.run()
			g := c.group(all(n)...)
			if g.N() != n || g.Threshold() != partials.Threshold(n) || g.Epoch() != 1 {
				t.Errorf("group of %d, threshold %d, epoch %d", g.N(), g.Threshold(), g.Epoch())
			}
			for i, m := range c.machines {
				if s := m.Status(); s.Phase != dkg.PhaseDone || s.Problem != nil || len(m.Faults()) != 0 {
					t.Errorf("machine %d: %+v, faults %v", i+1, s, m.Faults())
				}
			}
			// announce, deal, response and confirm of each, whose last n-t come too late to matter.
			if len(c.log) != 4*n {
				t.Errorf("%d entries, want %d", len(c.log), 4*n)
			}
		})
	}
}

func TestNoEntryIsLongerThanTheBound(t *testing.T) {
	for n := 1; n <= 4; n++ {
		c := newCluster(t, n, func(cfg *dkg.Config) { cfg.Threshold = n })
		c.run()
		c.group(all(n)...)
		longest := 0
		for _, e := range c.log {
			longest = max(longest, len(e))
		}
		if longest != dkg.MaxEntrySize(n) {
			t.Errorf("n=%d: the longest entry of a ceremony has %d bytes, and MaxEntrySize is %d", n, longest, dkg.MaxEntrySize(n))
		}
	}
}
