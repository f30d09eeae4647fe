package node

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestEveryErrorHasOneMeaningAtEveryEdge(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		gossip p2p.Verdict
		status int
		exit   int
	}{
		"partial of no member":          {partials.ErrIndex, p2p.Reject, 400, 1},
		"two partials of one member":    {partials.ErrEquivocation, p2p.Reject, 400, 1},
		"partial came already":          {partials.ErrDuplicate, p2p.Ignore, 410, 1},
		"key is known":                  {partials.ErrDone, p2p.Ignore, 410, 1},
		"too few partials":              {partials.ErrTooFew, p2p.Ignore, 404, 3},
		"ceremony entry is no entry":    {dkg.ErrInvalid, p2p.Reject, 400, 1},
		"ceremony entry of another":     {dkg.ErrForeign, p2p.Ignore, 410, 1},
		"transaction of another chain":  {chain.ErrWrongChain, p2p.Reject, 400, 1},
		"transaction is known":          {chain.ErrKnown, p2p.Ignore, 410, 1},
		"transaction's nonce is ahead":  {chain.ErrNonceGap, p2p.Ignore, 404, 3},
		"not the leader":                {chain.ErrNotLeader, p2p.Ignore, 404, 3},
		"malformed key":                 {tlock.ErrMalformed, p2p.Reject, 400, 1},
		"key of another group":          {tlock.ErrWrongKey, p2p.Reject, 400, 1},
		"wrapped":                       {fmt.Errorf("slot 7: %w", partials.ErrIndex), p2p.Reject, 400, 1},
		"our disk":                      {&fs.PathError{Op: "write", Path: "x", Err: errors.New("no space")}, p2p.Ignore, 500, 1},
		"a file of another group: ours": {partials.ErrForeign, p2p.Ignore, 500, 1},
		"an error nobody knows":         {errors.New("?"), p2p.Ignore, 500, 1},
	} {
		got := edge[classOf(c.err)]
		if got.gossip != c.gossip || got.status != c.status || got.exit != c.exit {
			t.Errorf("%s: %v, %d, %d; want %v, %d, %d", name, got.gossip, got.status, got.exit, c.gossip, c.status, c.exit)
		}
	}
	if edge[notYet].exit != cli.ExitNotYet || edge[invalid].status != http.StatusBadRequest {
		t.Error("the table's columns are mixed up")
	}
}

func TestSubscribersGetAllOrAreCutOff(t *testing.T) {
	b := newBroker(1)
	_, lost, quick := b.subscribe(localhost, 0)
	_, _, slow := b.subscribe(localhost, 0)
	if lost {
		t.Error("a new client is told that events are lost")
	}
	var got []uint64
	for i := range subscriberEvents + 10 {
		b.publish("n", i)
		got = append(got, (<-quick.events).ID)
	}
	if !slices.IsSorted(got) || len(got) != subscriberEvents+10 {
		t.Errorf("the quick client got %d events", len(got))
	}
	n := 0
	for range slow.events { // ends, since it was cut off
		n++
	}
	if n != subscriberEvents {
		t.Errorf("the slow client got %d events before it was cut off, want %d", n, subscriberEvents)
	}
	b.close()
	if _, ok := <-quick.events; ok {
		t.Error("a closed broker goes on")
	}
	if _, _, s := b.subscribe(localhost, 0); s != nil {
		t.Error("a closed broker takes subscribers")
	}
	b.unsubscribe(quick) // twice does no harm
}

func TestKeptEventsAreBoundedAndGapsAreTold(t *testing.T) {
	b := newBroker(1)
	for i := range 3 * keptEvents {
		b.publish("n", i)
	}
	if len(b.kept) > keptEvents {
		t.Fatalf("%d events are kept", len(b.kept))
	}
	backlog, lost, s := b.subscribe(localhost, uint64(3*keptEvents-5))
	if lost || len(backlog) != 5 {
		t.Errorf("5 events missed: lost %v, backlog %d", lost, len(backlog))
	}
	b.unsubscribe(s)
	backlog, lost, s = b.subscribe(localhost, 5)
	if !lost || len(backlog) != len(b.kept) {
		t.Errorf("events long gone: lost %v, backlog %d of %d", lost, len(backlog), len(b.kept))
	}
	b.unsubscribe(s)
	if backlog, lost, _ = b.subscribe(localhost, uint64(3*keptEvents)); lost || len(backlog) != 0 {
		t.Errorf("nothing missed: lost %v, backlog %d", lost, len(backlog))
	}
	for range maxSubscribers + 5 {
		_, _, s = b.subscribe(localhost, 0)
	}
	if s != nil {
		t.Error("subscribers are not bounded")
	}
}

func TestKeyStoreFindsWhatIsMissing(t *testing.T) {
	s, err := openKeyStore(filepath.Join(t.TempDir(), "keys"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	ns, group, shares := testGroup(t, 1)
	if _, ok, err := s.latest(); ok || err != nil {
		t.Errorf("an empty store has a latest key: %v", err)
	}
	for _, slot := range []uint64{10, 11, 13, 1 << 40} {
		if err := s.put(slot, keyOf(t, ns, group, shares, slot)); err != nil {
			t.Fatal(err)
		}
	}
	if slot, ok, err := s.latest(); slot != 1<<40 || !ok || err != nil {
		t.Errorf("latest: %d %v %v", slot, ok, err)
	}
	key, ok, err := s.get(11)
	if want := keyOf(t, ns, group, shares, 11).Bytes(); key != want || !ok || err != nil {
		t.Errorf("key of slot 11: %v %v", ok, err)
	}
	if _, ok, err := s.get(12); ok || err != nil {
		t.Errorf("a key that was not put: %v %v", ok, err)
	}
	for name, c := range map[string]struct {
		from, to uint64
		limit    int
		want     []uint64
	}{
		"around":     {9, 14, 10, []uint64{9, 12, 14}},
		"limit":      {9, 14, 2, []uint64{9, 12}},
		"inside":     {10, 11, 10, nil},
		"nothing":    {14, 13, 10, nil},
		"beyond all": {1<<40 + 1, 1<<40 + 2, 10, []uint64{1<<40 + 1, 1<<40 + 2}},
	} {
		if got, err := s.missing(c.from, c.to, c.limit); !slices.Equal(got, c.want) || err != nil {
			t.Errorf("%s: %v %v, want %v", name, got, err, c.want)
		}
	}
	if err := s.setFirst(7); err != nil {
		t.Fatal(err)
	}
	if got, err := s.first(); got != 7 || err != nil {
		t.Errorf("first: %d %v", got, err)
	}
	if got, err := s.backfilled(); got != 0 || err != nil {
		t.Errorf("backfilled: %d %v", got, err)
	}
}

func TestRequestsToSignOldSlotsAreFew(t *testing.T) {
	w := newWantLimiter()
	now := time.Unix(1000, 0)
	if !w.allow(1, now) || w.allow(1, now) {
		t.Error("a slot is asked for twice at once")
	}
	if !w.allow(1, now.Add(wantAgain)) {
		t.Error("a slot is never asked for again")
	}
	now = now.Add(time.Hour)
	allowed := 0
	for slot := range uint64(1000) {
		if w.allow(slot+10, now) {
			allowed++
		}
	}
	if allowed != wantsBurst {
		t.Errorf("%d slots asked for at once, want %d", allowed, wantsBurst)
	}
	for slot := range uint64(3 * keptWants) {
		w.allow(slot, now.Add(time.Duration(slot)*time.Second))
	}
	if len(w.asked) > keptWants {
		t.Errorf("%d slots are remembered", len(w.asked))
	}
}

func TestCeremonyPoolIsBoundedAndProposesEachEntryOnce(t *testing.T) {
	p := newCeremonyPool(2)
	now := time.Unix(1000, 0)
	for member := range uint32(2) {
		for i := range waitingPerMember {
			p.add(member, []byte{byte(member), byte(i)})
		}
	}
	if p.add(0, []byte{0, 0}) || p.add(9, []byte{9}) || len(p.order) != p.limit {
		t.Fatalf("%d entries wait, the limit is %d", len(p.order), p.limit)
	}
	never := func([]byte) bool { return false }
	if got := p.due(now, never); len(got) != p.limit {
		t.Errorf("%d due at first, want all %d", len(got), p.limit)
	}
	if got := p.due(now.Add(time.Second), never); len(got) != 0 {
		t.Errorf("%d due again after a second", len(got))
	}
	if got := p.due(now.Add(ceremonyProposal), never); len(got) != p.limit {
		t.Errorf("%d due after the proposal may be lost, want %d", len(got), p.limit)
	}
	p.refused([]byte{0, 0})
	p.due(now, func(e []byte) bool { return e[0] == 1 && e[1] == 1 })
	if len(p.order) != p.limit-2 || len(p.waiting) != p.limit-2 || !p.add(0, []byte{200}) {
		t.Errorf("%d wait after one was refused and one came into the log, want %d", len(p.order), p.limit-2)
	}
}

func TestAMemberThatFloodsTheCeremonyPoolLosesOnlyItsOwn(t *testing.T) {
	p := newCeremonyPool(4)
	honest := []byte("honest")
	p.add(1, honest)
	for i := range 1000 {
		p.add(2, []byte{byte(i), byte(i >> 8)})
	}
	if !p.add(3, []byte("later")) {
		t.Error("there is no room for another member")
	}
	due := p.due(time.Unix(1000, 0), func([]byte) bool { return false })
	if len(due) != waitingPerMember+2 || string(due[0]) != "honest" || string(due[len(due)-1]) != "later" {
		t.Errorf("due: %q", due)
	}
}

func TestConfigReportsAllThatIsWrong(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	err := Config{Public: "x", Operator: "x", LogLevel: "loud", LogFormat: "xml", Listen: []string{"1.2.3.4"}}.Validate()
	for _, field := range []string{"listen: ", "public: ", "operator: \"x\"", "operator: must not", "log_level: ", "log_format: "} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("report %q lacks %q", err, field)
		}
	}
	for addr, private := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, "0.0.0.0:1": false, ":1": false, "203.0.113.7:1": false} {
		if got := (Config{Operator: addr}).OperatorIsPrivate(); got != private {
			t.Errorf("operator on %s: private %v, want %v", addr, got, private)
		}
	}
}

func TestSecretsStayOutOfWhatIsPublic(t *testing.T) {
	home := Home(filepath.Join(t.TempDir(), "h"))
	d, err := home.Init(DefaultConfig(), "a", Address{1}, []string{"/ip4/127.0.0.1/tcp/1"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := home.NetworkKey()
	if err != nil {
		t.Fatal(err)
	}
	seed := hex0x(key.Seed())[2:]
	for _, name := range []string{fileConfig, fileDescriptor} {
		text, err := os.ReadFile(home.Path(name))
		if err != nil || strings.Contains(string(text), seed) {
			t.Errorf("%s: %v, or it holds the network key's seed", name, err)
		}
	}
	if bytes.Contains(d.Encode(), []byte(seed)) {
		t.Error("the descriptor holds the seed")
	}
}

func TestPeersAreNamedInLogs(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(peerNames{slog.NewTextHandler(&out, nil), map[p2p.PeerID]string{"12D3KooWabc": "v2"}})
	log.With("peer", p2p.PeerID("12D3KooWabc")).Info("up", "peer", p2p.PeerID("other"), "slot", 7)
	if got := out.String(); !strings.Contains(got, "peer=v2 peer=other slot=7") {
		t.Errorf("wrote %q", got)
	}
}

func TestErrorBodiesSayWhatToDoAndNothingOfOurs(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"ours":     {errors.New("ceremony/share-1: no space left"), `{"error":"this node could not answer","hint":"its log says why"}`},
		"a client": {&httpError{err: classed(errInvalid, "no"), hint: "try"}, `{"error":"no","hint":"try"}`},
	} {
		w := httptest.NewRecorder()
		writeError(w, httptest.NewRequest("GET", "/x", nil), slog.New(slog.DiscardHandler), c.err)
		if got := strings.TrimSpace(w.Body.String()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
