package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/daybreak-beacon/daybreak/cmd/internal/clitest"
)

// TestReservesAndConditions runs tlock and beacond against a real validator whose genesis has a token and an oracle.
//
//	$REAL   the validator   $RICH   key of the account that has the token $TOKEN and writes the items PRICE and NEW
//	$RICHADDR               its address
func TestReservesAndConditions(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../beacond").CombinedOutput(); err != nil {
		t.Fatalf("building beacond: %v\n%s", err, out)
	}
	url, key := startNode(t)
	raw, err := hex.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	account, err := crypto.ToECDSA(raw)
	if err != nil {
		t.Fatal(err)
	}
	commands := clitest.Commands()
	commands["get"] = get
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/oracle.txtar"}, Cmds: commands, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{
				"REAL": url, "RICH": key, "RICHADDR": crypto.PubkeyToAddress(account.PublicKey).Hex(), "TOKEN": mip20.Hex(),
				"TARGET": "0x00000000000000000000000000000000000a11ce", "PATH": bin + string(filepath.ListSeparator) + env.Getenv("PATH"),
			} {
				env.Setenv(name, value)
			}
			return nil
		},
	})
}

// get prints what the node answers to a GET, on one line: get PATH.
func get(ts *testscript.TestScript, neg bool, args []string) {
	resp, err := http.Get(ts.Getenv("REAL") + args[0])
	ts.Check(err)
	defer resp.Body.Close()
	var body json.RawMessage
	ts.Check(json.NewDecoder(resp.Body).Decode(&body))
	fmt.Fprintf(ts.Stdout(), "%d %s\n", resp.StatusCode, body)
}
