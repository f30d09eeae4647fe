package dkg

import (
	"testing"

	"github.com/daybreak-beacon/daybreak/partials"
)

// TestTheEndDropsSecrets: what remains is the share in the result.
func TestTheEndDropsSecrets(t *testing.T) {
	done, err := New(fuzzConfig(1))
	if err != nil {
		t.Fatal(err)
	}
	for done.Result() == nil {
		for _, e := range done.Pending() {
			if _, err := done.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	failed, err := New(fuzzConfig(1))
	if err != nil {
		t.Fatal(err)
	}
	timeout, err := signEntry(failed.signer, kindTimeout, failed.id, failed.contexts[PhaseAnnounce], 1, []byte{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := failed.Apply(timeout); err != nil || failed.Failure() == nil {
		t.Fatalf("the timeout of the only member does not end the ceremony: %v", err)
	}
	for _, m := range []*Machine{done, failed} {
		if m.cfg.Seed != (Seed{}) || m.board.cfg.Seed != (Seed{}) || m.participant != nil || m.share != (partials.Share{}) {
			t.Errorf("after phase %s the machine still holds secrets", m.phase)
		}
	}
	if done.Result().Share.IsZero() {
		t.Error("the result has no share")
	}
}
