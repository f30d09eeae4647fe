package main

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
	"github.com/daybreak-beacon/daybreak/cmd/internal/node"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// mip20 is a token of startNode's network.
var mip20 = node.Address{19: 0x70}

// startNode runs a network of one real validator, with an account that has gas tokens and 1,000 of the token mip20, and writes the
// oracle's items: PRICE, with the value 2000, and NEW, never written. It returns its URL and the account's key in hex.
func startNode(t *testing.T) (url, key string) {
	t.Helper()
	account, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	home := node.Home(filepath.Join(t.TempDir(), "home"))
	cfg := node.DefaultConfig()
	cfg.Listen, cfg.Public, cfg.Operator = []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port)}, "127.0.0.1:0", "127.0.0.1:0"
	d, err := home.Init(cfg, "solo", node.Address{1}, cfg.Listen)
	if err != nil {
		t.Fatal(err)
	}
	g, err := node.NewGenesis(node.GenesisOptions{
		ChainID: 9, Time: uint64(time.Now().Unix()), GasToken: node.DefaultGasToken, Treasury: node.DefaultTreasury,
		Balances: chain.Balances{crypto.PubkeyToAddress(account.PublicKey): uint256.NewInt(1e15)},
		Tokens:   chain.Tokens{mip20: {crypto.PubkeyToAddress(account.PublicKey): uint256.NewInt(1000)}},
		Catalog: &chain.Catalog{
			Writers: []chain.Addr{crypto.PubkeyToAddress(account.PublicKey)}, Items: []chain.Item{{Name: "PRICE", Value: "2000"}, {Name: "NEW"}},
		},
	}, []node.Descriptor{d})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.GenesisPath(), g.Encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := node.Start(home, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	waitReady(t, n.URL())
	return n.URL(), hex.EncodeToString(crypto.FromECDSA(account))
}

func waitReady(t *testing.T, url string) {
	t.Helper()
	c, err := api.NewClient(url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	deadline := time.Now().Add(time.Minute)
	for {
		info, err := c.Info(t.Context())
		if err == nil && info.GroupKey != "" && info.LatestKey > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("node not ready: %+v, %v", info, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
