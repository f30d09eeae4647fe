package node

import (
	"testing"
	"time"
)

func TestAStandstillIsToldOnChangeAndOnceAMinute(t *testing.T) {
	var s standstill
	begin := time.Unix(1000, 0)
	var told []int
	for second := range 200 {
		text := "one is away"
		switch {
		case second >= 20:
			text = "two are away"
		case second == 0 || second == 1:
			text = "all are there"
		}
		if second >= 150 && second < 165 { // blocks come again
			continue
		}
		if s.due(begin.Add(time.Duration(second)*time.Second), text) {
			told = append(told, second)
		}
	}
	want := []int{0, 2, 20, 80, 140, 165}
	if len(told) != len(want) {
		t.Fatalf("told in the seconds %v, want %v", told, want)
	}
	for i := range want {
		if told[i] != want[i] {
			t.Errorf("told in the seconds %v, want %v", told, want)
		}
	}
}

func TestAStandstillNamesWhoIsNotConnected(t *testing.T) {
	e := newEdge4(t)
	if got, want := e.noBlock(), "no block: 4 of 4 validators connected, 3 needed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, p := range e.peers[1:] {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "two have left", func() bool { return len(e.net.Connected()) == 1 })
	if got, want := e.noBlock(), "no block: 2 of 4 validators connected, 3 needed; not connected: v3, v4"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
