package tlock_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// client is a program of another module that knows nothing of Daybreak but this package.
const client = `package main

import (
	"fmt"
	"math/big"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func main() {
	secret := bls.ScalarFromUint64(7)
	ns, err := tlock.NewNamespace(big.NewInt(1), [32]byte{2})
	check(err)
	gk, err := tlock.GroupKeyFromPoint(bls.MulG1Secret(secret))
	check(err)
	id := tlock.SlotIdentity(1800000000)
	msg := [32]byte{1, 2, 3}
	ct, err := tlock.Encrypt(ns, gk, id, &msg)
	check(err)
	key, err := tlock.KeyFromPoint(ns.Point(id).Mul(secret))
	check(err)
	got, err := tlock.Decrypt(key, ct)
	check(err)
	fmt.Println("opened", got == msg)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`

// A client seals with this package alone: what it links must not include a chain, a network or a log.
func TestPackageIsUsableFromAnotherModule(t *testing.T) {
	dir := t.TempDir()
	writeClientModule(t, dir)
	if got := goTool(t, dir, "run", "."); strings.TrimSpace(got) != "opened true" {
		t.Fatalf("the client printed %q", got)
	}
	deps := goTool(t, dir, "list", "-deps", ".")
	if !strings.Contains(deps, "supranational/blst") {
		t.Fatalf("the dependency list has no blst, so it is not the list it should be:\n%s", deps)
	}
	for _, foreign := range []string{"go-ethereum", "libp2p", "hashicorp", "kyber", "gnark", "filippo.io", "pebble", "prometheus"} {
		if strings.Contains(deps, foreign) {
			t.Errorf("tlock depends on %s", foreign)
		}
	}
}

// writeClientModule requires what this checkout requires, in the same versions, so that the module cache suffices.
func writeClientModule(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/daybreak-beacon/daybreak"
	text := strings.Replace(string(mod), "module "+path, "module example.com/client", 1) +
		"\nrequire " + path + " v0.0.0\n\nreplace " + path + " => " + root + "\n"
	for name, content := range map[string]string{"go.mod": text, "go.sum": string(sum), "main.go": client} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
