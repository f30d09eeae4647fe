package node

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// testGenesis is a genesis of n validators and their network keys.
func testGenesis(t *testing.T, n int) (*chain.Genesis, []ed25519.PrivateKey) {
	t.Helper()
	var validators []Descriptor
	var keys []ed25519.PrivateKey
	for i := range n {
		pub, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		voting, err := finality.NewSecret()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
		validators = append(validators, Descriptor{
			Name: fmt.Sprintf("v%d", i+1), NetworkKey: hex.EncodeToString(pub), Proposer: Address{1}, Addrs: []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", i+1)},
			VotingKey: voting.Public(), VotingProof: voting.Possession(),
		})
	}
	g, err := NewGenesis(GenesisOptions{ChainID: 7, Time: 1000, GasToken: DefaultGasToken, Treasury: DefaultTreasury}, validators)
	if err != nil {
		t.Fatal(err)
	}
	return g, keys
}

// drivenCeremony is a member's driver, with what it reported.
type drivenCeremony struct {
	*ceremony
	dir   string
	group *partials.Group
	share partials.Share
	fatal error
	lines bytes.Buffer // its log, from debug on
}

func newDriven(t *testing.T, dir string, g *chain.Genesis, self uint32, key ed25519.PrivateKey) *drivenCeremony {
	t.Helper()
	ns, err := tlock.NewNamespace(new(big.Int).SetUint64(g.ChainID), g.Hash())
	if err != nil {
		t.Fatal(err)
	}
	files, err := newCeremonyFiles(Home(dir), ns, self)
	if err != nil {
		t.Fatal(err)
	}
	d := &drivenCeremony{dir: dir}
	log := slog.New(slog.NewTextHandler(&d.lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d.ceremony = &ceremony{
		genesis: g, ns: ns, self: self, signer: key, files: files, log: log,
		ready: func(g *partials.Group, s partials.Share) { d.group, d.share = g, s },
		fatal: func(err error) { d.fatal = err },
	}
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	return d
}

// ceremonyRun is a log of ceremony entries and the members that follow it.
type ceremonyRun struct {
	t       *testing.T
	genesis *chain.Genesis
	keys    []ed25519.PrivateKey
	members []*drivenCeremony
	log     [][]byte
}

func newCeremonyRun(t *testing.T, n int) *ceremonyRun {
	g, keys := testGenesis(t, n)
	r := &ceremonyRun{t: t, genesis: g, keys: keys}
	for i := range n {
		r.members = append(r.members, newDriven(t, t.TempDir(), g, uint32(i+1), keys[i]))
	}
	return r
}

// step puts every member's wanted entries into the log, and applies them; false if there were none.
func (r *ceremonyRun) step(now time.Time) bool {
	r.t.Helper()
	var entries [][]byte
	for _, m := range r.members {
		entries = append(entries, m.wanted(now)...)
	}
	for _, e := range entries {
		r.log = append(r.log, e)
		var first *chain.CeremonyResult
		for i, m := range r.members {
			result, err := m.ApplyCeremony(uint64(len(r.log)), e, false)
			if err != nil && classOf(err) != stale {
				r.t.Fatalf("member %d: %v", i+1, err)
			}
			if i > 0 && (result == nil) != (first == nil) || result != nil && i > 0 && *result != *first {
				r.t.Fatalf("member %d has result %v, member 1 has %v", i+1, result, first)
			}
			if i == 0 {
				first = result
			}
		}
	}
	return len(entries) > 0
}

// restart begins a member again from its folder, and replays the log.
func (r *ceremonyRun) restart(i int) {
	r.t.Helper()
	m := newDriven(r.t, r.members[i].dir, r.genesis, uint32(i+1), r.keys[i])
	for at, e := range r.log {
		if _, err := m.ApplyCeremony(uint64(at+1), e, true); err != nil && classOf(err) != stale {
			r.t.Fatal(err)
		}
	}
	r.members[i] = m
}

func (m *drivenCeremony) files(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(m.dir, dirCeremony))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCeremonyLeavesShareAndGroupAndNoSeed(t *testing.T) {
	r := newCeremonyRun(t, 4)
	for r.step(time.Now()) {
	}
	for i, m := range r.members {
		if m.fatal != nil || m.group == nil || m.share.IsZero() {
			t.Fatalf("member %d: group %v, fatal %v", i+1, m.group, m.fatal)
		}
		if !m.group.Equal(r.members[0].group) {
			t.Errorf("member %d has another group", i+1)
		}
		if got := strings.Join(m.files(t), " "); got != "group-1 share-1" {
			t.Errorf("member %d left %s", i+1, got)
		}
		info, err := os.Stat(filepath.Join(m.dir, dirCeremony, "share-1"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("share file: %v, %v", info, err)
		}
	}
}

func TestAMemberThatRestartsAtAnyStepEndsWithTheSameGroupAndItsShare(t *testing.T) {
	r := newCeremonyRun(t, 4)
	for step := 0; r.step(time.Now()); step++ {
		r.restart(step % 4)
	}
	for i := range r.members {
		r.restart(i) // after the end too
		m := r.members[i]
		if m.fatal != nil || m.group == nil || m.share.IsZero() || !m.group.Equal(r.members[0].group) {
			t.Errorf("member %d: group %v, share %v, fatal %v", i+1, m.group, m.share, m.fatal)
		}
		if err := m.share.Check(m.group); err != nil {
			t.Errorf("member %d: %v", i+1, err)
		}
	}
}

func TestASnapshotOfTheLogLeadsToTheSame(t *testing.T) {
	r := newCeremonyRun(t, 4)
	for r.step(time.Now()) {
	}
	var records []chain.CeremonyRecord
	judge := newDriven(t, t.TempDir(), r.genesis, 1, r.keys[0]) // tells which entries count
	for i, e := range r.log {
		if _, err := judge.ApplyCeremony(uint64(i+1), e, true); err == nil {
			records = append(records, chain.CeremonyRecord{Index: uint64(i + 1), Entry: e})
		}
	}
	m := newDriven(t, r.members[2].dir, r.genesis, 3, r.keys[2])
	m.RestoreCeremony(records)
	if m.fatal != nil || m.group == nil || !m.group.Equal(r.members[0].group) || m.share.IsZero() {
		t.Fatalf("after a snapshot: group %v, fatal %v", m.group, m.fatal)
	}
	// A member that has lost its disk learns the group, has no share, and says so instead of signing wrongly.
	lost := newDriven(t, t.TempDir(), r.genesis, 3, r.keys[2])
	lost.RestoreCeremony(records)
	if lost.fatal != nil || lost.group == nil || !lost.group.Equal(r.members[0].group) || !lost.share.IsZero() {
		t.Fatalf("without its disk: group %v, share zero %v, fatal %v", lost.group, lost.share.IsZero(), lost.fatal)
	}
}

func TestAShareThatCannotBeStoredStopsTheNodeAndIsNotLost(t *testing.T) {
	r := newCeremonyRun(t, 1)
	m := r.members[0]
	folder := filepath.Join(m.dir, dirCeremony)
	seed, err := os.ReadFile(filepath.Join(folder, "seed-1-0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil { // as if the disk had gone away
		t.Fatal(err)
	}
	for r.step(time.Now()) {
	}
	if m.fatal == nil || !strings.Contains(m.fatal.Error(), "cannot be stored") || !strings.Contains(m.fatal.Error(), "share-1") {
		t.Fatalf("reported %v, want one clear error that names the file", m.fatal)
	}
	if m.group != nil {
		t.Fatal("the node went on without a stored share")
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := m.files(t); len(got) != 0 {
		t.Fatalf("half-written: %v", got)
	}
	if err := os.WriteFile(filepath.Join(folder, "seed-1-0"), seed, 0o600); err != nil { // the disk is back
		t.Fatal(err)
	}
	r.restart(0)
	if m := r.members[0]; m.fatal != nil || m.share.IsZero() {
		t.Fatalf("after the restart: share zero %v, fatal %v", m.share.IsZero(), m.fatal)
	}
}

func TestACrashBetweenShareAndGroupLosesNothing(t *testing.T) {
	for name, missing := range map[string]string{"group not written": "group-1", "share not written": "share-1"} {
		r := newCeremonyRun(t, 1)
		m := r.members[0]
		folder := filepath.Join(m.dir, dirCeremony)
		seed, err := os.ReadFile(filepath.Join(folder, "seed-1-0"))
		if err != nil {
			t.Fatal(err)
		}
		for r.step(time.Now()) {
		}
		share := m.share
		if err := os.Remove(filepath.Join(folder, missing)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "seed-1-0"), seed, 0o600); err != nil {
			t.Fatal(err)
		}
		r.restart(0)
		m = r.members[0]
		if m.fatal != nil || m.share.IsZero() || m.share.Check(m.group) != nil || share.Check(m.group) != nil {
			t.Errorf("%s: share zero %v, fatal %v", name, m.share.IsZero(), m.fatal)
		}
		if got := strings.Join(m.files(t), " "); got != "group-1 share-1" {
			t.Errorf("%s: left %s", name, got)
		}
	}
}

// TestALostGroupFileDoesNotCostTheShare: the group is public and comes from the log again; the share beside it still fits.
func TestALostGroupFileDoesNotCostTheShare(t *testing.T) {
	r := newCeremonyRun(t, 4)
	for r.step(time.Now()) {
	}
	path := filepath.Join(r.members[1].dir, dirCeremony, "share-1")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	group := filepath.Join(r.members[1].dir, dirCeremony, "group-1")
	if err := os.Remove(group); err != nil {
		t.Fatal(err)
	}
	r.restart(1)
	m := r.members[1]
	after, err := os.ReadFile(path)
	if m.fatal != nil || err != nil || string(after) != string(before) {
		t.Fatalf("the share on disk changed (%v), or the node stopped (%v)", err, m.fatal)
	}
	if m.share.IsZero() || m.share.Index() != 2 || m.share.Check(m.group) != nil {
		t.Error("the node goes on without its share")
	}

	// A share that is damaged as well is never passed over.
	if err := errors.Join(os.Remove(group), os.WriteFile(path, before[:len(before)-9], 0o600)); err != nil {
		t.Fatal(err)
	}
	r.restart(1)
	if m := r.members[1]; m.fatal == nil || !strings.Contains(m.fatal.Error(), path) {
		t.Errorf("a damaged share beside a lost group file: %v", m.fatal)
	}
}

// TestALostShareIsToldWithItsRemedy: whoever was dealt a share and has none must hear of it, and what to do.
func TestALostShareIsToldWithItsRemedy(t *testing.T) {
	r := newCeremonyRun(t, 4)
	if got := r.members[1].tellShare(); got != "" {
		t.Errorf("before the ceremony's end the share is told to be %q", got)
	}
	for r.step(time.Now()) {
	}
	m := r.members[1]
	if got := m.tellShare(); got != api.ShareHeld || !strings.Contains(m.lines.String(), "ceremony done: share stored") {
		t.Errorf("after the ceremony the share is %q, and the log is\n%s", got, m.lines.String())
	}
	for name, lose := range map[string]func(folder string) error{
		"the folder": os.RemoveAll,
		"the file":   func(folder string) error { return os.Remove(filepath.Join(folder, "share-1")) },
	} {
		folder := filepath.Join(r.members[1].dir, dirCeremony)
		kept := filepath.Join(t.TempDir(), dirCeremony)
		if err := os.CopyFS(kept, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if err := lose(folder); err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"the first start", "the second start"} {
			r.restart(1)
			m := r.members[1]
			if got := m.tellShare(); got != api.ShareLost || m.fatal != nil {
				t.Errorf("%s lost, %s: the share is %q, fatal %v", name, when, got, m.fatal)
			}
			text := m.lines.String()
			if strings.Contains(text, "share stored") || !strings.Contains(text, "level=WARN") || !strings.Contains(text, "put ceremony/share-1 back from the backup") {
				t.Errorf("%s lost, %s: the log is\n%s", name, when, text)
			}
		}
		share, err := os.ReadFile(filepath.Join(kept, "share-1"))
		if err := errors.Join(err, os.WriteFile(filepath.Join(folder, "share-1"), share, 0o600)); err != nil {
			t.Fatal(err)
		}
		r.restart(1)
		if got := r.members[1].tellShare(); got != api.ShareHeld || r.members[1].share.IsZero() {
			t.Errorf("%s lost: after the remedy the share is %q", name, got)
		}
	}
}

func TestWhoWasDealtNoShareIsNotToldToFindOne(t *testing.T) {
	g, keys := testGenesis(t, 7)
	g.Ceremony.MinQual = 6
	r := &ceremonyRun{t: t, genesis: g, keys: keys}
	for i := range keys {
		r.members = append(r.members, newDriven(t, t.TempDir(), g, uint32(i+1), keys[i]))
	}
	late := r.members[6]
	r.members = r.members[:6]
	now := time.Now()
	for r.step(now) {
	}
	r.step(now.Add(time.Duration(g.Ceremony.PhaseTimeoutSeconds+1) * time.Second))
	for r.step(time.Now()) {
	}
	r.members = append(r.members, late)
	r.restart(6)
	m := r.members[6]
	if got := m.tellShare(); got != api.ShareNone || m.group == nil || m.fatal != nil {
		t.Fatalf("the share is %q, group %v, fatal %v", got, m.group, m.fatal)
	}
	text := m.lines.String()
	if strings.Contains(text, "backup") || strings.Contains(text, "share stored") || !strings.Contains(text, "it takes part again when the key is dealt anew") {
		t.Errorf("the log is\n%s", text)
	}
}

func TestTheShareOfAnotherValidatorIsRefused(t *testing.T) {
	r := newCeremonyRun(t, 4)
	for r.step(time.Now()) {
	}
	text, err := os.ReadFile(filepath.Join(r.members[0].dir, dirCeremony, "share-1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.members[3].dir, dirCeremony, "share-1"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.members[3].open(); err == nil || !strings.Contains(err.Error(), "share of validator 1, and this is validator 4") {
		t.Errorf("opening: %v", err)
	}
}

func TestFilesOfAnotherNetworkAreRefusedByName(t *testing.T) {
	r := newCeremonyRun(t, 1)
	for r.step(time.Now()) {
	}
	other, _ := testGenesis(t, 1)
	ns, err := tlock.NewNamespace(new(big.Int).SetUint64(other.ChainID), other.Hash())
	if err != nil {
		t.Fatal(err)
	}
	files, err := newCeremonyFiles(Home(r.members[0].dir), ns, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := files.load(firstEpoch); err == nil || !strings.Contains(err.Error(), "group-1") {
		t.Errorf("loading: %v", err)
	}
	path := filepath.Join(r.members[0].dir, dirCeremony, "share-1")
	for name, damage := range map[string]func() error{
		"share readable by others": func() error { return os.Chmod(path, 0o644) },
		"share cut off":            func() error { return errorsOf(os.Chmod(path, 0o600), os.Truncate(path, 50)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.members[0].ceremony.files.load(firstEpoch); err == nil || !strings.Contains(err.Error(), "share-1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestSilentMembersAreTimedOutAndANewAttemptFollows(t *testing.T) {
	r := newCeremonyRun(t, 4)
	silent := r.members[3]
	r.members = r.members[:3]
	now := time.Now()
	for r.step(now) {
	}
	if r.members[0].attempt != 0 || r.members[0].group != nil {
		t.Fatal("the ceremony went on without the fourth member before any timeout")
	}
	r.step(now.Add(time.Duration(r.genesis.Ceremony.PhaseTimeoutSeconds+1) * time.Second))
	if r.members[0].attempt != 1 {
		t.Fatalf("attempt %d after the timeout, want 1", r.members[0].attempt)
	}
	if text := r.members[0].lines.String(); !strings.Contains(text, "level=WARN msg=\"ceremony attempt failed") {
		t.Errorf("the failure is not told aloud:\n%s", text)
	}
	r.restart(0) // tells what it replays at debug level only
	if text := r.members[0].lines.String(); !strings.Contains(text, "level=DEBUG msg=\"ceremony attempt failed") || strings.Contains(text, "level=WARN") || strings.Contains(text, "level=INFO") {
		t.Errorf("replaying told:\n%s", text)
	}
	// The fourth comes, replays the log, and the second attempt succeeds with all.
	r.members = append(r.members, silent)
	r.restart(3)
	for r.step(time.Now()) {
	}
	for i, m := range r.members {
		if m.group == nil || m.share.IsZero() {
			t.Errorf("member %d has no share after the second attempt", i+1)
		}
	}
}
