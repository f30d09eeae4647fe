package node

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// standstillAgain is how often a standstill is told in which nothing changes.
	standstillAgain = time.Minute
	// standstillOver is how long no slot may be missed for want of a block until the next one is a new standstill.
	standstillOver = 10 * time.Second
)

// standstill decides when it is told that no blocks come: every second one more slot is missed, and that says nothing new.
type standstill struct {
	text string
	told time.Time
	last time.Time // when a slot was last missed
}

// due tells whether text, which says why no blocks come, is to be told now that another slot is missed.
func (s *standstill) due(now time.Time, text string) bool {
	fresh := now.Sub(s.last) >= standstillOver
	s.last = now
	if !fresh && text == s.text && now.Sub(s.told) < standstillAgain {
		return false
	}
	s.text, s.told = text, now
	return true
}

// noBlock says what no blocks may come of. The log takes an entry when more than half of the validators have stored it.
func (n *Node) noBlock() string {
	connected := n.net.Connected()
	var away []string
	for _, v := range n.genesis.Validators {
		if v.Index != n.self && !slices.Contains(connected, n.peerIDs[v.Index]) {
			away = append(away, v.Name)
		}
	}
	all := len(n.genesis.Validators)
	text := fmt.Sprintf("no block: %d of %d validators connected, %d needed", all-len(away), all, all/2+1)
	if len(away) > 0 {
		text += "; not connected: " + strings.Join(away, ", ")
	}
	return text
}

// tellNoBlock tells that a slot is missed since no block has reached it. It runs in the loop.
func (n *Node) tellNoBlock(slot uint64) {
	if text := n.noBlock(); n.standstill.due(time.Now(), text) {
		n.log.Warn(text, "slot", slot, "reason", string(reasonNoBlock))
	}
}
