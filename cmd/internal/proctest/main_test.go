package proctest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// beacond is the path of the daemon under test, built once.
var beacond string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "daybreak-proctest-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	beacond = filepath.Join(dir, "beacond")
	build := exec.Command("go", "build", "-o", beacond, "github.com/daybreak-beacon/daybreak/cmd/beacond")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building beacond:", err)
		return 1
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// seedOf is the seed of a test: SEED if it is set, else a fresh one. It is printed, so that a failure can be repeated.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64N(1 << 32)
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED=%q is not a number", text)
		}
	}
	t.Logf("SEED=%d", seed)
	return seed
}

// random is a stream of choices that depends on the seed and the purpose alone.
func random(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose)) // a hash takes anything
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
