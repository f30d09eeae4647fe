package node

import (
	"context"
	"encoding/binary"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/p2p/simnet"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// edge4 is validator 1 of four, with its gossip, key store and core, but without log and clock; the test plays the others.
type edge4 struct {
	*Node
	shares []partials.Share
	peers  []p2p.Network // of the validators 2 to 4
	slot   uint64        // one that is over
}

func newEdge4(t *testing.T) *edge4 {
	t.Helper()
	g, keys := testGenesis(t, 4)
	ns, group, shares := testGroup(t, 4)
	n := &Node{
		log: slog.New(slog.DiscardHandler), genesis: g, hash: ns.GenesisHash(), ns: ns, self: 1, key: keys[0], metrics: newMetrics(),
		loop: newLoop(), events: newBroker(1), prepared: newPreparedSlots(ns), outbox: make(chan []byte, 100),
		fetches: make(chan []uint64, 1), workers: make(chan struct{}, 1), wants: newWantLimiter(), ceremonyPool: newCeremonyPool(4),
	}
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	if err := n.findMembers(); err != nil {
		t.Fatal(err)
	}
	net, err := simnet.New(1, []p2p.PeerID{n.peerIDs[1], n.peerIDs[2], n.peerIDs[3], n.peerIDs[4]}, simnet.Options{MinLatency: time.Millisecond, MaxLatency: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if n.chain, err = chain.New(chain.Config{Genesis: g}); err != nil {
		t.Fatal(err)
	}
	n.ceremony = &ceremony{genesis: g}
	if n.keys, err = openKeyStore(filepath.Join(t.TempDir(), "keys"), n.log); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	e := &edge4{Node: n, shares: shares, slot: uint64(now.Unix()) - 1}
	n.slots = newSlots(ns, n.hasKey, now)
	n.slots.setGroup(group, shares[0])
	n.slots.activate(now, e.slot)
	n.group.Store(group)
	for i := range uint32(4) {
		host, err := net.Start(n.peerIDs[i+1])
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			n.net = host
		} else {
			e.peers = append(e.peers, host)
		}
	}
	if err := n.joinTopics(); err != nil {
		t.Fatal(err)
	}
	if err := n.serveKeys(); err != nil {
		t.Fatal(err)
	}
	n.wg.Go(func() { n.loop.run(n.ctx) })
	t.Cleanup(func() {
		n.stop(errStopped)
		for _, p := range append(e.peers, n.net) {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		n.wg.Wait()
		if err := n.keys.close(); err != nil {
			t.Error(err)
		}
		net.Close()
	})
	eventually(t, "all connected", func() bool { return len(n.net.Connected()) == 3 })
	return e
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// envelope is member index's envelope of a slot, signed by the share of member `by`.
func (e *edge4) envelope(index, by uint32, slot uint64) partials.Envelope {
	id := tlock.SlotIdentity(slot)
	part := e.shares[by-1].Sign(partials.Prepare(e.ns, id))
	part.Index = index
	return e.group.Load().Seal(id, part)
}

func TestWhatPeersSendIsJudgedByWhoseFaultItIs(t *testing.T) {
	e := newEdge4(t)
	good := e.envelope(2, 2, e.slot)
	edit := func(f func(*partials.Envelope)) []byte {
		c := good
		f(&c)
		return c.Encode()
	}
	condition := e.group.Load().Seal(tlock.ConditionIdentity([32]byte{1}), good.Partial)
	for name, c := range map[string]struct {
		from uint32
		data []byte
		want p2p.Verdict
	}{
		"a good partial":                       {2, good.Encode(), p2p.Accept},
		"no envelope at all":                   {2, []byte("hello"), p2p.Reject},
		"an envelope with a byte more":         {2, append(good.Encode(), 0), p2p.Reject},
		"somebody else's partial as one's own": {3, good.Encode(), p2p.Reject},
		"a foreign index":                      {2, edit(func(c *partials.Envelope) { c.Partial.Index = 9 }), p2p.Reject},
		"another chain":                        {2, edit(func(c *partials.Envelope) { c.GenesisHash[0] ^= 1 }), p2p.Reject},
		"a later epoch, unknown here":          {2, edit(func(c *partials.Envelope) { c.Epoch++ }), p2p.Ignore},
		"an earlier epoch":                     {2, edit(func(c *partials.Envelope) { c.Epoch-- }), p2p.Ignore},
		"signed with another share":            {2, e.envelope(2, 3, e.slot).Encode(), p2p.Reject},
		"signed for another slot":              {2, edit(func(c *partials.Envelope) { c.Identity = tlock.SlotIdentity(e.slot - 1) }), p2p.Reject},
		"a slot that is not over":              {2, e.envelope(2, 2, e.slot+1000).Encode(), p2p.Ignore},
		"a slot of long ago":                   {2, e.envelope(2, 2, e.slot-1000).Encode(), p2p.Ignore},
		"a condition, not built yet":           {2, condition.Encode(), p2p.Ignore},
	} {
		m := &p2p.Message{Author: e.peerIDs[c.from], From: e.peerIDs[c.from], Topic: topicPartials, Data: c.data}
		if got := e.verdict(m, e.checkPartial(m)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAKeyIsMadeDespiteAMemberThatLies(t *testing.T) {
	e := newEdge4(t)
	var topics []p2p.Topic
	for _, p := range e.peers {
		topic, err := p.Join(topicPartials, p2p.TopicOptions{MaxSize: partials.MaxEnvelope, Handle: func(*p2p.Message) {}})
		if err != nil {
			t.Fatal(err)
		}
		topics = append(topics, topic)
	}
	e.loop.call(e.ctx, func() { e.act(e.slots.block(time.Now(), e.slot, nil)) })
	for i, env := range []partials.Envelope{e.envelope(2, 3, e.slot), e.envelope(3, 3, e.slot), e.envelope(4, 4, e.slot)} { // 2 lies
		if err := topics[i].Publish(t.Context(), env.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "key of the slot", func() bool { return e.hasKey(e.slot) })
	key, _, err := e.keys.get(e.slot)
	if want := keyOf(t, e.ns, e.group.Load(), e.shares, e.slot).Bytes(); err != nil || key != want {
		t.Errorf("key %x, %v", key, err)
	}
	eventually(t, "own partial was sent", func() bool { return len(e.outbox) > 0 })
}

// liar answers requests for keys with what the test says.
func (e *edge4) liar(t *testing.T, i int, answer func(slots []uint64) []byte) {
	t.Helper()
	_, err := p2p.ServeRequests(e.peers[i], protocolKeys, p2p.RequestLimits{MaxRequest: 8 * maxFetch},
		func(_ context.Context, _ p2p.PeerID, request []byte) ([]byte, error) {
			var slots []uint64
			for ; len(request) >= 8; request = request[8:] {
				slots = append(slots, binary.BigEndian.Uint64(request))
			}
			return answer(slots), nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

func record(slot uint64, key [tlock.KeySize]byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, slot), key[:]...)
}

func TestOnlyVerifiedKeysAreFetched(t *testing.T) {
	e := newEdge4(t)
	right := func(slot uint64) [tlock.KeySize]byte {
		return keyOf(t, e.ns, e.group.Load(), e.shares, slot).Bytes()
	}
	for i, c := range []struct {
		name   string
		answer func([]uint64) []byte
		says   string
	}{
		{"the key of another slot", func(s []uint64) []byte { return record(s[0], right(s[0]+1)) }, "not the group's key"},
		{"a slot nobody asked for", func(s []uint64) []byte { return record(s[0]+7, right(s[0]+7)) }, "was not asked for"},
		{"half a record", func(s []uint64) []byte { return record(s[0], right(s[0]))[:50] }, "answer of 50 bytes"},
	} {
		e.liar(t, i, c.answer)
		peer := e.peers[i].Self()
		keys, err := e.fetch(t.Context(), e.group.Load(), peer, []uint64{e.slot})
		if err == nil || !strings.Contains(err.Error(), c.says) || classOf(err) != invalid || len(keys) != 0 {
			t.Errorf("%s: %d keys, %v", c.name, len(keys), err)
		}
		e.fetchFrom(t.Context(), peer, []uint64{e.slot})
		if e.hasKey(e.slot) {
			t.Fatalf("%s: it was stored", c.name)
		}
	}
}

func TestKeysGoToWhoLacksThem(t *testing.T) {
	e := newEdge4(t)
	want := keyOf(t, e.ns, e.group.Load(), e.shares, e.slot)
	if err := e.keys.put(e.slot, want); err != nil {
		t.Fatal(err)
	}
	request := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, e.slot), e.slot-1)
	answer, err := p2p.Request(t.Context(), e.peers[0], e.net.Self(), protocolKeys, request, maxFetch*keyRecord)
	if err != nil || string(answer) != string(record(e.slot, want.Bytes())) {
		t.Errorf("answer of %d bytes, %v; want the one key that is there", len(answer), err)
	}
	for name, bad := range map[string][]byte{"empty": nil, "half a slot": {1, 2, 3}, "too many": make([]byte, 8*(maxFetch+1))} {
		if _, err := p2p.Request(t.Context(), e.peers[0], e.net.Self(), protocolKeys, bad, maxFetch*keyRecord); err == nil {
			t.Errorf("a request that is %s was answered", name)
		}
	}
}

func TestRequestsToSignAreChecked(t *testing.T) {
	e := newEdge4(t)
	for size, want := range map[int]p2p.Verdict{0: p2p.Reject, 7: p2p.Reject, 8: p2p.Accept, 8 * maxWants: p2p.Accept, 8 * (maxWants + 1): p2p.Reject} {
		m := &p2p.Message{Author: e.peerIDs[2], Topic: topicWants, Data: make([]byte, size)}
		if got := e.verdict(m, e.checkWants(m)); got != want {
			t.Errorf("%d bytes: %v, want %v", size, got, want)
		}
	}
}

func TestTransactionsOfPeersAreJudged(t *testing.T) {
	e := newEdge4(t)
	for name, c := range map[string]struct {
		data string
		want p2p.Verdict
	}{
		"garbage":              {"hello", p2p.Reject},
		"a system transaction": {"\x7e\x01", p2p.Reject},
	} {
		m := &p2p.Message{Author: e.peerIDs[2], Topic: topicTransactions, Data: []byte(c.data)}
		if got := e.verdict(m, e.checkTransaction(m)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestCeremonyEntriesOfPeersAreJudged(t *testing.T) {
	e := newEdge4(t)
	m := &p2p.Message{Author: e.peerIDs[2], Topic: topicCeremony, Data: []byte("hello")}
	if got := e.verdict(m, e.checkCeremony(m)); got != p2p.Ignore {
		t.Errorf("after the ceremony: %v, want ignore", got)
	}
	r := newCeremonyRun(t, 4)
	e.ceremony, e.dkgMembers = r.members[0].ceremony, membersOf(r.genesis)
	for name, c := range map[string]struct {
		data []byte
		want p2p.Verdict
	}{
		"an entry":             {r.members[1].wanted(time.Now())[0], p2p.Accept},
		"garbage":              {[]byte("hello"), p2p.Reject},
		"an entry cut off":     {r.members[1].wanted(time.Now())[0][:40], p2p.Reject},
		"an entry of nobody":   {newCeremonyRun(t, 4).members[1].wanted(time.Now())[0], p2p.Reject},
		"an entry with a tail": {append(r.members[1].wanted(time.Now())[0], 1), p2p.Reject},
	} {
		m := &p2p.Message{Author: e.peerIDs[2], Topic: topicCeremony, Data: c.data}
		if got := e.verdict(m, e.checkCeremony(m)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
