package node_test

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"go.uber.org/goleak"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; a loaded machine needs more than a quiet one.
const patience = time.Minute

// newHomes makes the folders of n validators with a common genesis.
func newHomes(t *testing.T, n int) []node.Home {
	t.Helper()
	var homes []node.Home
	var validators []node.Descriptor
	for i := range n {
		home := node.Home(filepath.Join(t.TempDir(), "home"))
		cfg := node.DefaultConfig()
		cfg.Listen, cfg.Public, cfg.Operator = []string{freeAddr(t)}, "127.0.0.1:0", "127.0.0.1:0"
		d, err := home.Init(cfg, fmt.Sprintf("v%d", i+1), node.Address{1}, cfg.Listen)
		if err != nil {
			t.Fatal(err)
		}
		homes, validators = append(homes, home), append(validators, d)
	}
	giveGenesis(t, homes, validators)
	return homes
}

func giveGenesis(t *testing.T, homes []node.Home, validators []node.Descriptor) {
	t.Helper()
	g, err := node.NewGenesis(node.GenesisOptions{
		ChainID: 7, Time: uint64(time.Now().Unix()), GasToken: node.DefaultGasToken, Treasury: node.DefaultTreasury,
		Balances: chain.Balances{crypto.PubkeyToAddress(holder.PublicKey): uint256.NewInt(1_000_000)},
	}, validators)
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range homes {
		if err := os.WriteFile(home.GenesisPath(), g.Encode(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// freeAddr is a multiaddress with a TCP port that is free now.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", l.Addr().(*net.TCPAddr).Port)
}

func start(t *testing.T, home node.Home) *node.Node {
	t.Helper()
	n, err := node.Start(home, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func client(t *testing.T, n *node.Node) *api.Client {
	t.Helper()
	c, err := api.NewClient(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// waitKey waits until the node has a key of a slot after `after`.
func waitKey(t *testing.T, c *api.Client, after uint64) api.Key {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if k, err := c.LatestKey(t.Context()); err == nil && k.Slot > after {
			return k
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no key of a slot after %d within %s", after, patience)
	return api.Key{}
}

func closeNode(t *testing.T, n *node.Node) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestValidatorsStartSignStopAndStartAgain(t *testing.T) {
	homes := newHomes(t, 3)
	var last uint64
	for round := range 2 {
		var nodes []*node.Node
		for _, home := range homes {
			nodes = append(nodes, start(t, home))
		}
		var groupKey string
		for i, n := range nodes {
			c := client(t, n)
			k := waitKey(t, c, last)
			info, err := c.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				groupKey = info.GroupKey
			}
			if info.GroupKey != groupKey || info.Index != i+1 {
				t.Errorf("round %d: node %d says index %d, group key %s; node 1 has %s", round, i+1, info.Index, info.GroupKey, groupKey)
			}
			last = max(last, k.Slot)
		}
		for _, n := range nodes {
			closeNode(t, n)
		}
	}
}

func TestANodeStopsWhateverItIsDoing(t *testing.T) {
	homes := newHomes(t, 4)
	for _, wait := range []time.Duration{0, 20 * time.Millisecond, 300 * time.Millisecond} {
		n := start(t, homes[0]) // alone of four: no leader, no ceremony
		time.Sleep(wait)
		closeNode(t, n)
	}
}

// startOne runs a network of one validator, and waits until it signs.
func startOne(t *testing.T) (*node.Node, *api.Client) {
	t.Helper()
	n := start(t, newHomes(t, 1)[0])
	t.Cleanup(func() { closeNode(t, n) })
	c := client(t, n)
	waitKey(t, c, 0)
	return n, c
}

// request sends a request and returns status and body; the body of an error must be JSON with an error in it.
func request(t *testing.T, method, url, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

func TestEveryEndpointRefusesBadInputWithOneClearError(t *testing.T) {
	n, c := startOne(t)
	info, err := c.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	future, ancient := info.Slot+1000, uint64(17)
	for _, r := range []struct {
		name, method, path, body string
		status                   int
		retry                    bool
		says                     string
	}{
		{"slot is no number", "GET", "/v1/keys/tomorrow", "", 400, false, "is not a number"},
		{"slot of more than 64 bits", "GET", "/v1/keys/18446744073709551616", "", 400, false, "is not a number"},
		{"negative slot", "GET", "/v1/keys/-1", "", 400, false, "is not a number"},
		{"slot of the year 5138", "GET", "/v1/keys/99999999999", "", 404, true, "is not over"},
		{"slot that is not over", "GET", fmt.Sprint("/v1/keys/", future), "", 404, true, "is not over"},
		{"slot of the far future", "GET", "/v1/keys/18446744073709551615", "", 404, true, "is not over"},
		{"slot before the network", "GET", fmt.Sprint("/v1/keys/", ancient), "", 410, false, "before the network began"},
		{"entry is no number", "GET", "/v1/entries/first", "", 400, false, "is not a number"},
		{"entry that is not there", "GET", "/v1/entries/1", "", 404, false, "there is no entry 1"},
		{"runs of an entry that is not there", "GET", "/v1/entries/7/runs", "", 404, false, "there is no entry 7"},
		{"account is no address", "GET", "/v1/accounts/alice", "", 400, false, "is not an address"},
		{"account is too short", "GET", "/v1/accounts/0x1234", "", 400, false, "is not an address"},
		{"block is no number", "GET", "/v1/blocks/last", "", 400, false, "is not a number"},
		{"block that is not there yet", "GET", "/v1/blocks/999999999", "", 404, true, "is not there"},
		{"block before the first", "GET", "/v1/blocks/0", "", 410, false, "too old"},
		{"hash is none", "GET", "/v1/transactions/0x12", "", 400, false, "is not a transaction's hash"},
		{"transaction nobody sent", "GET", "/v1/transactions/0x" + strings.Repeat("ab", 32), "", 404, false, "knows no such transaction"},
		{"empty transaction", "POST", "/v1/transactions", "", 400, false, "transaction of 0 bytes"},
		{"transaction is not hex", "POST", "/v1/transactions", "0xzz", 400, false, "is not hex"},
		{"transaction is garbage", "POST", "/v1/transactions", "hello", 400, false, "raw signed Ethereum transaction"},
		{"transaction is too long", "POST", "/v1/transactions", strings.Repeat("a", 1<<20), 400, false, "transaction of"},
		{"transaction of another chain", "POST", "/v1/transactions", rawTx(t, holder, 8, 0), 400, false, "chain"},
		{"nonce far ahead", "POST", "/v1/transactions", rawTx(t, holder, 7, 1000), 503, true, "nonce"},
		{"sender who owns nothing", "POST", "/v1/transactions", rawTx(t, newKey(), 7, 0), 402, false, "owns 0 in gas tokens and escrow"},
		{"system transaction", "POST", "/v1/transactions", "0x7e01", 400, false, "0x7e"},
		{"event id is no number", "GET", "/v1/stream?after=x", "", 400, false, "is not a number"},
		{"path that is not there", "GET", "/v2/info", "", 404, false, "there is no GET /v2/info"},
		{"wrong method", "DELETE", "/v1/info", "", 405, false, "there is no DELETE"},
		{"a wrong method of a path with a name in it", "PUT", "/v1/keys/7", "", 405, false, "there is no PUT"},
		{"a call that is read", "GET", "/v1/call", "", 405, false, "there is no GET"},
		{"a stream that is posted", "POST", "/v1/stream", "", 405, false, "there is no POST"},
		{"a call that is no JSON", "POST", "/v1/call", "0x", 400, false, "is not what was expected"},
		{"a call with a field nobody knows", "POST", "/v1/call", `{"gas":"1"}`, 400, false, "unknown field"},
		{"a call of nobody", "POST", "/v1/call", `{"from":"0x1","to":"0x00000000000000000000000000000000000000fe","input":"0x"}`, 400, false, "must be addresses"},
		{"a call without 0x", "POST", "/v1/call", `{"from":"0x00000000000000000000000000000000000000aa","to":"0x00000000000000000000000000000000000000fe","input":"00"}`, 400, false, "input hex"},
		{"a call that is too long", "POST", "/v1/call", `{"input":"0x` + strings.Repeat("ab", 1<<20) + `"}`, 400, false, "too large"},
		{"a call that fails", "POST", "/v1/call", fmt.Sprintf(`{"from":"0x00000000000000000000000000000000000000aa","to":"0x00000000000000000000000000000000000000fe","input":"%#x"}`, scheduler.CancelInput(1)), 422, false, "NotScheduled: "},
		{"metrics are not public", "GET", "/metrics", "", 404, false, "there is no GET /metrics"},
		{"profiles are not public", "GET", "/debug/pprof/heap", "", 404, false, "there is no GET"},
	} {
		status, header, body := request(t, r.method, n.URL()+r.path, r.body)
		var e api.ErrorBody
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Errorf("%s: body %.100q is no JSON", r.name, body)
			continue
		}
		if status != r.status || !strings.Contains(e.Error, r.says) || (header.Get("Retry-After") != "") != r.retry {
			t.Errorf("%s: %d, Retry-After %q, %q; want %d, retry %v, %q", r.name, status, header.Get("Retry-After"), e.Error, r.status, r.retry, r.says)
		}
	}
}

func TestAWrongMethodIsToldTheRightOnes(t *testing.T) {
	n, _ := startOne(t)
	for path, allow := range map[string]string{
		n.URL() + "/v1/info": "GET, HEAD", n.URL() + "/v1/transactions": "POST", n.URL() + "/v1/blocks/7": "GET, HEAD", n.OperatorURL() + "/metrics": "GET, HEAD",
	} {
		status, header, body := request(t, "PATCH", path, "")
		if status != 405 || header.Get("Allow") != allow || !strings.Contains(body, "the path answers to "+allow) {
			t.Errorf("PATCH %s: %d, Allow %q, %s; want 405, %q", path, status, header.Get("Allow"), body, allow)
		}
	}
}

// newKey is an account's key.
func newKey() *ecdsa.PrivateKey {
	key, err := crypto.GenerateKey()
	if err != nil {
		panic(err)
	}
	return key
}

// holder owns gas tokens on every test's chain.
var holder = newKey()

// rawTx is a signed transaction as hex.
func rawTx(t *testing.T, key *ecdsa.PrivateKey, chainID int64, nonce uint64) string {
	t.Helper()
	to := node.Address(scheduler.Address)
	tx, err := types.SignNewTx(key, types.NewLondonSigner(big.NewInt(chainID)), &types.DynamicFeeTx{
		ChainID: big.NewInt(chainID), Nonce: nonce, To: &to, Gas: 500_000, GasFeeCap: big.NewInt(1), GasTipCap: big.NewInt(1),
		Data: scheduler.ExpireInput(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%#x", raw)
}

func TestATransactionIsTakenOnceAndItsReceiptComes(t *testing.T) {
	n, c := startOne(t)
	raw := rawTx(t, holder, 7, 0)
	status, _, body := request(t, "POST", n.URL()+"/v1/transactions", raw)
	if status != 200 {
		t.Fatalf("posting: %d %s", status, body)
	}
	var sent api.Submitted
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		t.Fatal(err)
	}
	if status, _, body := request(t, "POST", n.URL()+"/v1/transactions", raw); status != 409 {
		t.Errorf("posting it again: %d %s, want 409", status, body)
	}
	deadline := time.Now().Add(patience)
	for {
		r, err := c.Receipt(t.Context(), sent.Hash)
		if err == nil {
			if r.Success || !strings.Contains(r.Error, "NotScheduled") || r.Block == 0 {
				t.Errorf("receipt %+v, want the scheduler's refusal by name", r)
			}
			return
		}
		if !api.NotYet(err) || time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

var errSeen = errors.New("seen")

func TestTheStreamTellsBlocksAndKeysAndResumes(t *testing.T) {
	_, c := startOne(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var ids []uint64
	kinds := make(map[string]bool)
	collect := func(e api.Event) error {
		ids, kinds[e.Kind] = append(ids, e.ID), true
		if kinds[api.EventBlock] && kinds[api.EventKey] && len(ids) >= 4 {
			return errSeen
		}
		return nil
	}
	if err := c.Stream(ctx, 0, collect); !errors.Is(err, errSeen) {
		t.Fatal(err)
	}
	var again []uint64
	err := c.Stream(ctx, ids[0], func(e api.Event) error {
		again = append(again, e.ID)
		if len(again) == len(ids) {
			return errSeen
		}
		return nil
	})
	if !errors.Is(err, errSeen) {
		t.Fatal(err)
	}
	for i, id := range again[:len(ids)-1] {
		if id != ids[i+1] {
			t.Fatalf("resumed with %v after %d, want %v", again, ids[0], ids[1:])
		}
	}
	// An id of long ago: the client is told that events are lost.
	err = c.Stream(ctx, 1, func(e api.Event) error {
		if e.Kind != "gap" {
			t.Errorf("first event after a lost id is %q, want gap", e.Kind)
		}
		return errSeen
	})
	if !errors.Is(err, errSeen) {
		t.Fatal(err)
	}
}

func TestOldSlotsAreSignedWhenSomebodyAsks(t *testing.T) {
	homes := newHomes(t, 1)
	// Genesis lies far enough back that there are slots which nobody signs by himself.
	replaceInFile(t, homes[0].GenesisPath(), `"genesis_time": `, fmt.Sprintf(`"genesis_time": %d, "was": `, time.Now().Unix()-100_000))
	n := start(t, homes[0])
	defer closeNode(t, n)
	c := client(t, n)
	waitKey(t, c, 0)
	old := uint64(time.Now().Unix() - 50_000)
	deadline := time.Now().Add(patience)
	for {
		k, err := c.Key(t.Context(), old)
		if err == nil {
			if k.Slot != old {
				t.Errorf("asked for slot %d, got %d", old, k.Slot)
			}
			return
		}
		if !api.NotYet(err) || time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func replaceInFile(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Replace(string(text), old, new, 1)
	if i := strings.Index(out, `, "was": `); i >= 0 { // drop the old value
		rest := out[i:]
		end := strings.Index(rest[2:], ",")
		out = out[:i] + rest[2+end:]
	}
	if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheNetworkFileIsWhatClientsTake(t *testing.T) {
	n, c := startOne(t)
	info, err := c.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status, _, body := request(t, "GET", n.URL()+"/v1/network", "")
	file, err := tlock.ParseNetwork([]byte(body))
	if status != 200 || err != nil {
		t.Fatalf("%d, %v", status, err)
	}
	if file.GroupKey.String() != info.GroupKey || file.Namespace.ChainID().Uint64() != info.ChainID {
		t.Errorf("network file %s is not the network of %+v", body, info)
	}
}

func TestHealthAndMetricsAreForTheOperator(t *testing.T) {
	n, c := startOne(t)
	k := waitKey(t, c, 0)
	waitKey(t, c, k.Slot+3)
	status, _, body := request(t, "GET", n.OperatorURL()+"/healthz", "")
	if status != 200 || !strings.Contains(body, "came in time") {
		t.Errorf("healthz: %d %q", status, body)
	}
	status, _, body = request(t, "GET", n.OperatorURL()+"/metrics", "")
	if status != 200 {
		t.Fatalf("metrics: %d", status)
	}
	for _, name := range []string{"daybreak_slot_end_to_key_seconds_count", "daybreak_head_height", "daybreak_peers", "process_resident_memory_bytes"} {
		if !strings.Contains(body, name) {
			t.Errorf("metrics lack %s", name)
		}
	}
	alone := start(t, newHomes(t, 4)[0])
	defer closeNode(t, alone)
	if status, _, body := request(t, "GET", alone.OperatorURL()+"/healthz", ""); status != 503 {
		t.Errorf("healthz of a node without a network: %d %q, want 503", status, body)
	}
}

func TestAValidatorThatLostItsShareSaysSo(t *testing.T) {
	home := newHomes(t, 1)[0]
	n := start(t, home)
	waitKey(t, client(t, n), 0)
	if _, _, body := request(t, "GET", n.OperatorURL()+"/metrics", ""); !strings.Contains(body, "daybreak_has_share 1") {
		t.Error("the metrics of a validator with a share do not tell of it")
	}
	closeNode(t, n)
	if err := os.RemoveAll(home.Path("ceremony")); err != nil {
		t.Fatal(err)
	}
	n = start(t, home)
	defer closeNode(t, n)
	c := client(t, n)
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		info, err := c.Info(t.Context())
		if err == nil && info.Share == api.ShareLost {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the share is %q, %v", info.Share, err)
		}
	}
	if status, _, body := request(t, "GET", n.OperatorURL()+"/healthz", ""); status != 503 || !strings.Contains(body, "put ceremony/share-1 back from the backup") {
		t.Errorf("healthz: %d %q", status, body)
	}
	if _, _, body := request(t, "GET", n.OperatorURL()+"/metrics", ""); !strings.Contains(body, "daybreak_has_share 0") {
		t.Error("the metrics of a validator without a share tell of one")
	}
}

// TestARestartedValidatorIsCatchingUpAndKnowsTheGroupKey: alone of four it cannot reach the end of its log, and what it says of
// the ceremony must still be true.
func TestARestartedValidatorIsCatchingUpAndKnowsTheGroupKey(t *testing.T) {
	homes := newHomes(t, 4)
	var nodes []*node.Node
	for _, home := range homes {
		nodes = append(nodes, start(t, home))
	}
	c := client(t, nodes[0])
	waitKey(t, c, 0)
	before, err := c.Info(t.Context())
	if err != nil || before.CatchingUp {
		t.Errorf("before the restart: catching up %v, %v", before.CatchingUp, err)
	}
	for _, n := range nodes {
		closeNode(t, n)
	}
	n := start(t, homes[0])
	defer closeNode(t, n)
	info, err := client(t, n).Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !info.CatchingUp || info.GroupKey != before.GroupKey || info.Epoch != 1 || strings.Contains(info.Ceremony, "phase") {
		t.Errorf("after the restart: %+v", info)
	}
	if status, _, body := request(t, "GET", n.OperatorURL()+"/healthz", ""); status != 503 || !strings.HasPrefix(body, "catching up: block ") {
		t.Errorf("healthz: %d %q", status, body)
	}
}

func TestWhatANodeRefusesToStartWith(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(home node.Home) error
		says  string
	}{
		"no folder":  {func(h node.Home) error { return os.RemoveAll(string(h)) }, "is not a validator's folder"},
		"no genesis": {func(h node.Home) error { return os.Remove(h.GenesisPath()) }, "genesis.json is missing"},
		"broken config": {func(h node.Home) error {
			return os.WriteFile(h.Path("config.json"), []byte(`{"listen": [], "loglevel": "info"}`), 0o644)
		}, "unknown field"},
		"no key":       {func(h node.Home) error { return os.Remove(h.Path("network.key")) }, "network.key"},
		"key readable": {func(h node.Home) error { return os.Chmod(h.Path("network.key"), 0o644) }, "chmod 600"},
		"another file as key": {func(h node.Home) error {
			return os.WriteFile(h.Path("network.key"), []byte("daybreak-share-v1\n"), 0o600)
		}, "does not begin with"},
		"ceremony folder cannot be made": {func(h node.Home) error { return os.WriteFile(h.Path("ceremony"), nil, 0o644) }, "ceremony"},
		"log cannot be made":             {func(h node.Home) error { return os.WriteFile(h.Path("log"), nil, 0o644) }, "log"},
		"key store cannot be made":       {func(h node.Home) error { return os.WriteFile(h.Path("keys"), nil, 0o644) }, "key store"},
	} {
		home := newHomes(t, 1)[0]
		if err := c.spoil(home); err != nil {
			t.Fatal(err)
		}
		refuse(t, name, home, c.says)
	}
}

func refuse(t *testing.T, name string, home node.Home, says string) {
	t.Helper()
	n, err := node.Start(home, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Errorf("%s: the node started", name)
		closeNode(t, n)
		return
	}
	if !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %q; want one line that says %q", name, err, says)
	}
}

func TestTwoDaemonsDoNotShareAFolder(t *testing.T) {
	home := newHomes(t, 1)[0]
	n := start(t, home)
	refuse(t, "second daemon", home, "another beacond runs on")
	closeNode(t, n)
	closeNode(t, start(t, home))
}

func TestForeignGenesisIsRefused(t *testing.T) {
	home, others := newHomes(t, 1)[0], newHomes(t, 1)[0]
	own, err := os.ReadFile(home.GenesisPath())
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(others.GenesisPath())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.GenesisPath(), foreign, 0o644); err != nil {
		t.Fatal(err)
	}
	refuse(t, "genesis without this validator", home, "is none of genesis")
	if err := os.WriteFile(home.GenesisPath(), own, 0o644); err != nil {
		t.Fatal(err)
	}
	closeNode(t, start(t, home)) // the folder now belongs to the genesis
	changed := strings.Replace(string(own), `"chain_id": 7`, `"chain_id": 9`, 1)
	if err := os.WriteFile(home.GenesisPath(), []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	refuse(t, "another genesis of the same validators", home, "belong to the network with genesis")
}

func TestPortsInUseAreNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	_, port, _ := net.SplitHostPort(taken)
	for name, c := range map[string]struct {
		field, value, says string
	}{
		"public":   {"public", `"` + taken + `"`, "public listener: port of " + taken + " is in use"},
		"operator": {"operator", `"` + taken + `"`, "operator listener: port of " + taken + " is in use"},
		"peers":    {"listen", `["/ip4/127.0.0.1/tcp/` + port + `"]`, "/ip4/127.0.0.1/tcp/" + port + ": port in use"},
	} {
		home := newHomes(t, 1)[0]
		setConfig(t, home, c.field, c.value)
		refuse(t, name, home, c.says)
	}
}

// setConfig changes one field of config.json.
func setConfig(t *testing.T, home node.Home, field, value string) {
	t.Helper()
	text, err := os.ReadFile(home.Path("config.json"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := make(map[string]json.RawMessage)
	if err := json.Unmarshal(text, &cfg); err != nil {
		t.Fatal(err)
	}
	cfg[field] = json.RawMessage(value)
	out, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.Path("config.json"), out, 0o644); err != nil {
		t.Fatal(err)
	}
}
