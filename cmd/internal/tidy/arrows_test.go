package tidy_test

import (
	"sort"
	"strings"
	"testing"
)

// arrows lists, for each folder below the module's root, what it may import of ours (a folder allows what lies below it).
// The longest matching folder rules. Everything under cmd may import everything but other commands.
var arrows = map[string][]string{
	"tlock/bls":                {},
	"tlock":                    {"tlock"},
	"partials":                 {"tlock", "partials"},
	"dkg":                      {"tlock", "partials", "dkg"},
	"condition":                {"tlock", "condition"},
	"p2p":                      {"p2p"},
	"scheduler":                {"tlock", "scheduler"},
	"scheduler/memory":         {"tlock", "scheduler", "scheduler/memory"},
	"scheduler/replay":         {"tlock", "scheduler", "scheduler/memory", "scheduler/replay"},
	"scheduler/chain":          {"tlock", "scheduler", "scheduler/memory", "scheduler/chain"},
	"scheduler/tasks":          {},
	"scheduler/chain/finality": {"tlock"},
	"vectors":                  {},
	"vectors/gen":              {},
	"cmd/beacond":              {"tlock", "partials", "dkg", "condition", "p2p", "scheduler", "cmd/internal", "vectors"},
	"cmd/tlock":                {"tlock", "partials", "scheduler", "cmd/internal", "vectors"},
	"cmd/internal":             {"tlock", "partials", "dkg", "condition", "p2p", "scheduler", "cmd/internal", "vectors"},
	"cmd/internal/tidy":        {},
}

// keepers lists outside modules that exactly one folder may import.
var keepers = map[string]string{
	"github.com/supranational/blst": "tlock/bls",
	"github.com/libp2p":             "p2p",
	"github.com/multiformats":       "p2p",
	"github.com/hashicorp/raft":     "scheduler/chain",
	"github.com/hashicorp/raft-wal": "scheduler/chain",
	"github.com/drand/kyber":        "dkg",
}

// without lists folders that must stay free of an outside module: go-ethereum is LGPL-3.0.
var without = map[string][]string{
	"github.com/ethereum/go-ethereum": {"tlock", "partials", "dkg", "condition", "p2p", "scheduler", "scheduler/memory", "scheduler/replay"},
}

func rule(path string) (string, bool) {
	best, found := "", false
	for dir := range arrows {
		if inside(path, dir) && len(dir) >= len(best) {
			best, found = dir, true
		}
	}
	return best, found
}

func TestImportsFollowTheArrows(t *testing.T) {
	for path, p := range load(t) {
		dir, ok := rule(path)
		if !ok {
			t.Errorf("%s: no rule says what this folder may import; only the folders of the layout hold code", path)
			continue
		}
		for imp := range p.Imports {
			ours, isOurs := strings.CutPrefix(imp, module+"/")
			if isOurs && !inside(ours, path) && !allowed(ours, arrows[dir]) {
				t.Errorf("%s imports %s, against the arrows (it may import: %s)", path, ours, strings.Join(arrows[dir], ", "))
			}
			if isOurs && inside(ours, "scheduler/chain") && inside(path, "scheduler") && !inside(path, "scheduler/chain") {
				t.Errorf("%s imports %s: the machine does not know the chain", path, ours)
			}
		}
	}
}

func allowed(imp string, dirs []string) bool {
	for _, d := range dirs {
		if inside(imp, d) {
			return true
		}
	}
	return false
}

func TestOutsideModulesHaveOneKeeper(t *testing.T) {
	for path, p := range load(t) {
		for imp := range p.Imports {
			for outside, keeper := range keepers {
				if inside(imp, outside) && path != keeper && !(keeper == "scheduler/chain" && inside(path, keeper)) {
					t.Errorf("%s imports %s; only %s may", path, imp, keeper)
				}
			}
			for outside, dirs := range without {
				dir, _ := rule(path)
				if i := sort.SearchStrings(sorted(dirs), dir); inside(imp, outside) && i < len(dirs) && sorted(dirs)[i] == dir {
					t.Errorf("%s imports %s, which must stay out of it", path, imp)
				}
			}
		}
	}
}

func sorted(s []string) []string {
	out := append([]string(nil), s...)
	sort.Strings(out)
	return out
}

// The task runtime is useful to any daemon by itself: a path of the standard library has no dot in its first element.
func TestTaskRuntimeImportsOnlyTheStandardLibrary(t *testing.T) {
	p, ok := load(t)["scheduler/tasks"]
	if !ok {
		t.Fatal("scheduler/tasks is missing")
	}
	for imp := range p.Imports {
		if first, _, _ := strings.Cut(imp, "/"); strings.Contains(first, ".") {
			t.Errorf("scheduler/tasks imports %s, which is not of the standard library", imp)
		}
	}
}
