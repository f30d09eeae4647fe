package tasks_test

import (
	"fmt"
	"regexp"
	"testing"
)

// requirement is one test of a requirement whose id its name begins with.
type requirement struct {
	name string
	test func(*world)
}

// sections are all requirement tests, by the sections of the document's ledger.
var sections = map[string][]requirement{
	"registry": registryTests, "starting": startingTests, "policies": policyTests, "watchdog": watchdogTests,
	"commands": commandTests, "abandonment": abandonmentTests, "observability": observabilityTests, "reconcile": reconcileTests,
}

// notHere are requirements that no test of this package can be named after, and why.
var notHere = map[string]string{
	"R-98": "toolchains, packages and canisters of another language: here it is one module path and the race detector, which make runs",
}

// ranges are the ids that there are.
var ranges = [][2]int{{1, 12}, {20, 25}, {30, 37}, {40, 49}, {50, 60}, {65, 68}, {70, 84}, {90, 98}}

func TestRequirements(t *testing.T) {
	for section, tests := range sections {
		t.Run(section, func(t *testing.T) {
			for _, r := range tests {
				t.Run(r.name, func(t *testing.T) { r.test(newWorld(t)) })
			}
		})
	}
}

func TestEveryRequirementHasATest(t *testing.T) {
	id := regexp.MustCompile(`^R-\d\d `)
	tested := map[string]bool{}
	for _, tests := range sections {
		for _, r := range tests {
			if m := id.FindString(r.name); m == "" {
				t.Errorf("%q names no requirement", r.name)
			} else {
				tested[m[:4]] = true
			}
		}
	}
	all := 0
	for _, span := range ranges {
		for n := span[0]; n <= span[1]; n++ {
			all++
			name := fmt.Sprintf("R-%02d", n)
			if _, excused := notHere[name]; excused == tested[name] {
				t.Errorf("%s: tested %v, excused %v", name, tested[name], excused)
			}
			delete(tested, name)
		}
	}
	if all != 75 || len(tested) > 0 {
		t.Errorf("%d requirements, want 75; not among them: %v", all, tested)
	}
}
