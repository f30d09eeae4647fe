package node_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// records keeps what a node logs at warning level and above.
type records struct {
	mu    sync.Mutex
	lines []string
}

func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, string(b))
	return len(b), nil
}

// with returns the lines that contain all of words.
func (r *records) with(words ...string) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(l, w) }) {
			out = append(out, l)
		}
	}
	return out
}

// siege is a network of four validators of which the last means harm: it has a genesis key and a share, and honours nothing.
type siege struct {
	t       *testing.T
	homes   []node.Home
	nodes   []*node.Node // the honest ones
	clients []*api.Client
	logs    []*records

	ns     tlock.Namespace
	hash   [32]byte
	group  *partials.Group
	share  partials.Share // of the evil one
	key    ed25519.PrivateKey
	peers  []p2p.Peer
	topics map[string]p2p.Topic
	net    *p2p.Host

	mu    sync.Mutex
	early []string // partials of honest members of slots that were not over
	seen  int
}

const evil = 4

func newSiege(t *testing.T) *siege {
	s := &siege{t: t, homes: newHomes(t, evil)}
	for _, home := range s.homes {
		log := new(records)
		n, err := node.Start(home, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			t.Fatal(err)
		}
		s.nodes, s.logs = append(s.nodes, n), append(s.logs, log)
	}
	for _, n := range s.nodes {
		s.clients = append(s.clients, client(t, n))
	}
	for _, c := range s.clients {
		waitKey(t, c, 0)
	}
	closeNode(t, s.nodes[evil-1]) // its part is played by the test from here on
	s.nodes, s.clients = s.nodes[:evil-1], s.clients[:evil-1]
	t.Cleanup(func() {
		for _, n := range s.nodes {
			closeNode(t, n)
		}
	})
	s.steal(s.homes[evil-1])
	s.attach()
	return s
}

// steal reads what the evil validator's operator has.
func (s *siege) steal(home node.Home) {
	g, err := home.LoadGenesis()
	if err != nil {
		s.t.Fatal(err)
	}
	s.hash = g.Hash()
	if s.ns, err = tlock.NewNamespace(new(big.Int).SetUint64(g.ChainID), s.hash); err != nil {
		s.t.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(home.Path("ceremony", name))
		if err != nil {
			s.t.Fatal(err)
		}
		return b
	}
	if s.group, err = partials.DecodeGroup(s.ns, read("group-1")); err != nil {
		s.t.Fatal(err)
	}
	if s.share, err = partials.DecodeShare(s.group, read("share-1")); err != nil {
		s.t.Fatal(err)
	}
	if s.key, err = home.NetworkKey(); err != nil {
		s.t.Fatal(err)
	}
	for _, v := range g.Validators {
		id, err := p2p.PeerIDOf(v.NetworkKey.Public())
		if err != nil {
			s.t.Fatal(err)
		}
		s.peers = append(s.peers, p2p.Peer{ID: id, Addrs: v.Addrs})
	}
}

// attach connects the evil validator to the honest ones, whom it watches for partials that come too early.
func (s *siege) attach() {
	var err error
	s.net, err = p2p.New(p2p.Config{Key: s.key, Listen: s.peers[evil-1].Addrs, Peers: s.peers, GenesisHash: s.hash, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { s.net.Close() })
	s.topics = make(map[string]p2p.Topic)
	for _, name := range []string{"partials", "transactions", "ceremony", "wants"} {
		o := p2p.TopicOptions{MaxSize: p2p.MaxMessageSize, PerAuthor: p2p.Rate{PerSecond: 1e6, Burst: 1e6}, Handle: func(*p2p.Message) {}}
		if name == "partials" {
			o.Handle = s.watch
		}
		if s.topics[name], err = s.net.Join(name, o); err != nil {
			s.t.Fatal(err)
		}
	}
	s.eventually("the evil validator is connected", func() bool { return len(s.net.Connected()) == evil-1 })
}

func (s *siege) watch(m *p2p.Message) {
	e, err := partials.DecodeEnvelope(m.Data)
	if err != nil || m.Author == s.net.Self() {
		return
	}
	slot, _ := e.Identity.Slot()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen++
	if now := time.Now(); now.Before(tlock.SlotEnd(slot)) {
		s.early = append(s.early, fmt.Sprintf("member %d, slot %d at %s", e.Partial.Index, slot, now))
	}
}

func (s *siege) eventually(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func (s *siege) publish(topic string, data []byte) {
	s.t.Helper()
	if err := s.topics[topic].Publish(s.t.Context(), data); err != nil {
		s.t.Fatal(err)
	}
}

// partial is the evil validator's own partial of a slot, good in all but its time.
func (s *siege) partial(slot uint64) partials.Envelope {
	id := tlock.SlotIdentity(slot)
	return s.group.Seal(id, s.share.Sign(partials.Prepare(s.ns, id)))
}

// holds checks that the honest validators make key after key, that they think well of one another, and that none has signed
// what is not over.
func (s *siege) holds(after string) {
	s.t.Helper()
	now := uint64(time.Now().Unix())
	for _, c := range s.clients {
		waitKey(s.t, c, now+2)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.early) > 0 {
		s.t.Fatalf("%s: partials of slots that were not over: %v", after, s.early)
	}
	for i, log := range s.logs[:evil-1] {
		for _, l := range log.with("banned") {
			if !strings.Contains(l, "peer=v4") {
				s.t.Errorf("%s: v%d banned an honest validator: %s", after, i+1, l)
			}
		}
		if lines := log.with("level=ERROR"); len(lines) > 0 {
			s.t.Errorf("%s: v%d is in trouble: %v", after, i+1, lines)
		}
	}
}

// banned waits until every honest validator has had enough of the evil one, and says so.
func (s *siege) banned() {
	s.t.Helper()
	for i, log := range s.logs[:evil-1] {
		s.eventually(fmt.Sprintf("v%d bans v4", i+1), func() bool { return len(log.with("banned", "peer=v4")) > 0 })
		if len(log.with("a member sent what is wrong", fmt.Sprintf("index=%d", evil))) == 0 {
			s.t.Errorf("v%d does not say what v4 did", i+1)
		}
	}
}

func TestAHostileValidatorOpensNothingEarlyAndStopsNobody(t *testing.T) {
	s := newSiege(t)
	s.holds("before the attack")
	s.mu.Lock()
	if s.seen == 0 {
		t.Fatal("the evil validator sees no partials: the watch for early ones is worth nothing")
	}
	s.mu.Unlock()
	before := memory()
	future := s.future()

	for _, slot := range future {
		s.publish("partials", s.partial(slot).Encode())
		s.publish("wants", binary.BigEndian.AppendUint64(nil, slot))
	}
	s.holds("partials and requests before the slot's time")
	s.noKeys(future)

	old := s.partial(uint64(time.Now().Unix()) - 3).Encode()
	for range 3000 {
		s.publish("partials", old)
	}
	for i := range uint64(300) {
		var slots []byte
		for j := range uint64(16) {
			slots = binary.BigEndian.AppendUint64(slots, 16*i+j)
		}
		s.publish("wants", slots)
	}
	s.holds("floods of old partials and requests")

	s.streams(future)
	s.holds("abused streams")
	s.noKeys(future)

	if after := memory(); after > before+256<<20 {
		t.Errorf("the attack takes %d MiB", (after-before)>>20)
	}
	for i, log := range s.logs[:evil-1] {
		if lines := log.with("banned"); len(lines) > 0 {
			t.Errorf("v%d banned v4 for what may be a slow clock: %v", i+1, lines)
		}
	}
}

// future are slots that are not over while the test runs, near, far and at the edges of what 64 bits hold.
func (s *siege) future() []uint64 {
	now := uint64(time.Now().Unix())
	return []uint64{now + 600, now + 1000, now + 1<<20, 1 << 32, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64}
}

func (s *siege) noKeys(slots []uint64) {
	s.t.Helper()
	for _, c := range s.clients {
		for _, slot := range slots {
			if k, err := c.Key(s.t.Context(), slot); !api.NotYet(err) {
				s.t.Errorf("slot %d: %+v, %v, want not yet", slot, k, err)
			}
		}
	}
}

// streams opens what the protocols have, as wrongly as possible.
func (s *siege) streams(future []uint64) {
	var ask []byte
	for _, slot := range future {
		ask = binary.BigEndian.AppendUint64(ask, slot)
	}
	for _, peer := range s.net.Connected() {
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		if out, err := p2p.Request(ctx, s.net, peer, "keys/1", ask, 1<<20); err != nil || len(out) != 0 {
			s.t.Errorf("asked for keys of the future: %x, %v", out, err)
		}
		for _, bad := range [][]byte{{1}, make([]byte, 7), make([]byte, 1<<20)} {
			if out, err := p2p.Request(ctx, s.net, peer, "keys/1", bad, 1<<20); err == nil {
				s.t.Errorf("request of %d bytes answered with %d", len(bad), len(out))
			}
		}
		for _, protocol := range []string{"log/1", "keys/1"} {
			for i := range 40 { // more than are allowed; half of them stay open
				st, err := s.net.Open(ctx, peer, protocol)
				if err != nil {
					continue
				}
				if i%2 == 0 {
					continue
				}
				if err := st.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
					s.t.Fatal(err)
				}
				_, _ = st.Write(garbage[i%len(garbage)]) // the other side may have had enough
			}
		}
		cancel()
	}
}

// garbage for raft's connections: no RPC, RPCs cut short, and lengths of gigabytes that nothing follows.
var garbage = [][]byte{
	[]byte("GET / HTTP/1.1\r\n\r\n"), bytes.Repeat([]byte{0xff}, 4096), {0}, {1}, {2}, {3}, {4},
	{0, 0x81, 0xa7, 'E', 'n', 't', 'r', 'i', 'e', 's', 0xdd, 0xff, 0xff, 0xff, 0xff},
	{0, 0x81, 0xa6, 'L', 'e', 'a', 'd', 'e', 'r', 0xc6, 0xff, 0xff, 0xff, 0xff},
	{0, 0x81, 0xa6, 'L', 'e', 'a', 'd', 'e', 'r', 0xdb, 0x7f, 0xff, 0xff, 0xff},
	{1, 0xdf, 0xff, 0xff, 0xff, 0xff}, {2, 0x9f, 0x9f, 0x9f}, bytes.Repeat([]byte{0x91}, 1<<20), append([]byte{0}, bytes.Repeat([]byte{0x91}, 1<<20)...),
}

func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAHostileValidatorIsBannedForWhatIsWrong(t *testing.T) {
	s := newSiege(t)
	over := uint64(time.Now().Unix()) - 2
	good := s.partial(over)
	change := func(f func(*partials.Envelope)) []byte {
		e := good
		f(&e)
		return e.Encode()
	}
	id := tlock.SlotIdentity(over + 1)
	wrong := s.group.Seal(id, s.share.Sign(partials.Prepare(s.ns, tlock.SlotIdentity(over)))) // a good point of another slot
	for range 3 {
		for _, data := range [][]byte{
			nil, {0}, make([]byte, partials.MaxEnvelope), good.Encode()[1:],
			change(func(e *partials.Envelope) { e.Partial.Index = 1 }),
			change(func(e *partials.Envelope) { e.Partial.Index = 0 }),
			change(func(e *partials.Envelope) { e.Partial.Index = math.MaxUint32 }),
			change(func(e *partials.Envelope) { e.GenesisHash[0]++ }),
			change(func(e *partials.Envelope) { e.Partial.Sig[95] ^= 1 }),
			change(func(e *partials.Envelope) { e.Partial.Sig = [96]byte{0: 0xc0} }),
			wrong.Encode(),
		} {
			s.publish("partials", data)
		}
		s.publish("wants", nil)
		s.publish("wants", []byte{1, 2, 3})
		s.publish("transactions", []byte("no transaction"))
		s.publish("transactions", []byte{0x7e, 1})
	}
	s.banned()
	s.holds("wrong messages")
}
