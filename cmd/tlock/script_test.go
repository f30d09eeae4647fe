package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/clitest"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tlock": func() { os.Exit(run()) }})
}

// TestScripts runs the real command against a network whose whole secret the test knows, and nodes that answer for it:
//
//	$NODE      an honest node            network.json   its network
//	$FOREIGN   a node of another chain   foreign.json   its network
//	$REAL      a real validator, a network of its own; $RICH is the key of an account with gas tokens there
//	$LIAR      a node that hands out keys of other slots
//	$SOON      the slot after next
//	$NOW       the present slot          $PAST, $PASTKEY   a slot that is over, and its key
func TestScripts(t *testing.T) {
	home := newNetwork(t, 7, false)
	foreign := newNetwork(t, 8, false)
	liar := &network{ns: home.ns, secret: home.secret, lies: true}
	liar.serve(t)
	real, rich := startNode(t)
	commands := clitest.Commands()
	commands["key"] = func(ts *testscript.TestScript, neg bool, args []string) {
		slot, err := strconv.ParseUint(args[1], 10, 64)
		ts.Check(err)
		ts.Setenv(args[0], home.key(slot))
	}
	commands["waitopen"] = waitOpen
	commands["available"] = available
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: commands, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			now := uint64(time.Now().Unix())
			vectors, err := filepath.Abs("../../vectors")
			if err != nil {
				return err
			}
			for name, value := range map[string]string{
				"NODE": home.url, "FOREIGN": foreign.url, "LIAR": liar.url, "VECTORS": vectors,
				"REAL": real, "RICH": rich, "TARGET": "0x00000000000000000000000000000000000a11ce",
				"NOW": fmt.Sprint(now), "SOON": fmt.Sprint(now + 2), "PAST": fmt.Sprint(now - 100), "PASTKEY": home.key(now - 100),
			} {
				env.Setenv(name, value)
			}
			for name, n := range map[string]*network{"network.json": home, "foreign.json": foreign} {
				text, err := n.file().Encode()
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), text, 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// waitOpen waits until the slot that a file is sealed to is over.
func waitOpen(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(ts.Exec("tlock", "inspect", "--json", args[0]))
	var stanza struct{ Slot uint64 }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &stanza))
	time.Sleep(time.Until(tlock.SlotEnd(stanza.Slot)))
}

// available sets a variable to the escrow that the account $RICH has at $REAL and that is not locked.
func available(ts *testscript.TestScript, neg bool, args []string) {
	key, err := crypto.HexToECDSA(ts.Getenv("RICH"))
	ts.Check(err)
	c, err := api.NewClient(ts.Getenv("REAL"))
	ts.Check(err)
	defer c.Close()
	account, err := c.Account(context.Background(), crypto.PubkeyToAddress(key.PublicKey).Hex())
	ts.Check(err)
	ts.Setenv(args[0], account.Escrow)
}

// network is a network whose secret is known.
type network struct {
	ns     tlock.Namespace
	secret bls.Scalar
	lies   bool
	url    string
}

func newNetwork(t *testing.T, chainID int64, lies bool) *network {
	t.Helper()
	ns, err := tlock.NewNamespace(big.NewInt(chainID), [32]byte{byte(chainID)})
	if err != nil {
		t.Fatal(err)
	}
	n := &network{ns: ns, secret: bls.ScalarFromUint64(uint64(chainID) * 1_000_003), lies: lies}
	n.serve(t)
	return n
}

func (n *network) file() tlock.Network {
	gk, err := tlock.GroupKeyFromPoint(bls.MulG1Public(n.secret))
	if err != nil {
		panic(err)
	}
	return tlock.Network{Namespace: n.ns, GroupKey: gk}
}

func (n *network) key(slot uint64) string {
	return fmt.Sprintf("%#x", n.ns.Point(tlock.SlotIdentity(slot)).Mul(n.secret).Bytes())
}

// serve answers as a node does, from the clock and the secret.
func (n *network) serve(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/info", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, api.Info{
			ChainID: n.ns.ChainID().Uint64(), GenesisHash: fmt.Sprintf("%#x", n.ns.GenesisHash()), GroupKey: n.file().GroupKey.String(),
		})
	})
	mux.HandleFunc("GET /v1/policy", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, api.Policy{GasPerBlock: 1_000_000, GuaranteedGasPerSlot: 300_000, MaxHorizonSlots: 86400, MinGasPrice: 7, GasToken: "0x00000000000000000000000000000000000070c4"})
	})
	mux.HandleFunc("GET /v1/keys/{slot}", func(w http.ResponseWriter, r *http.Request) {
		slot, err := strconv.ParseUint(r.PathValue("slot"), 10, 64)
		if err != nil || time.Now().Before(tlock.SlotEnd(slot)) {
			w.Header().Set("Retry-After", "1")
			writeJSON(w, 404, api.ErrorBody{Error: "not yet"})
			return
		}
		if n.lies {
			writeJSON(w, 200, api.Key{Slot: slot, Key: n.key(slot + 1)})
			return
		}
		writeJSON(w, 200, api.Key{Slot: slot, Key: n.key(slot)})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	n.url = server.URL
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(err)
	}
}
