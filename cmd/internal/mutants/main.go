// Command mutants shows that the tests of the scheduler and of the task runtime notice faults: it plants one at a time from a list (a
// bound off by one, a refund dropped, an order flipped) and demands that some test fails. It prints a line for each and fails if a mutant
// does not apply, does not compile, or survives. A survivor is a missing test.
//
// The tree is never changed: faulty files stand in an overlay of the build. One test binary of each package holds all its mutants and the
// package as it is, and an environment variable says which is planted (see plant.go). The tests run up to the first failure: first
// without the slow ones (properties over random streams, comparisons with the model), and if the mutant survives that, those alone.
// Without a mutant all must pass, or nothing is shown; that is checked first.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// slow tests run only against mutants that the others let live.
const slow = `^(TestInvariants|TestReplicasAgree|TestFieldsAtTheirEnds|TestItemsThatComeAndGo|TestTargetsThatCallBack|Test.*Model|Fuzz|TestSoak)`

// limit ends a test run that hangs, which is a mutant noticed.
const limit = 2 * time.Minute

// main takes words: only mutants whose file or phrase holds one of them are planted.
func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(words []string) error {
	var errs []error
	found := false
	for _, list := range [][]mutant{mutants, taskMutants} {
		var chosen []mutant
		for _, m := range list {
			holds := func(word string) bool { return strings.Contains(m.file+" "+m.breaks, word) }
			if len(words) == 0 || slices.ContainsFunc(words, holds) {
				chosen = append(chosen, m)
			}
		}
		if len(chosen) > 0 {
			found = true
			errs = append(errs, runAll(chosen))
		}
	}
	if !found {
		return fmt.Errorf("no mutant's file or phrase holds one of %q", words)
	}
	return errors.Join(errs...)
}

// runAll plants the mutants of one package.
func runAll(chosen []mutant) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	started := time.Now()
	binaries, err := build(dir, chosen)
	if err != nil {
		return err
	}
	if out, err := test(binaries[0], chosen[0].folder(), noMutant); err != nil {
		return fmt.Errorf("the tests fail without a mutant: %w\n%s", err, out)
	}
	fmt.Printf("%-8s %5.1fs  built, and without a mutant all tests pass\n", "control", time.Since(started).Seconds())
	return verdict(chosen, tryAll(chosen, binaries))
}

// tryAll plants each mutant in its binary, as many at once as there are cores.
func tryAll(chosen []mutant, binaries []string) []result {
	results := make([]result, len(chosen))
	next := make(chan int)
	var wg sync.WaitGroup
	var print sync.Mutex
	for range runtime.NumCPU() {
		wg.Go(func() {
			for i := range next {
				r := try(binaries[i], chosen[i].folder(), i)
				results[i] = r
				print.Lock()
				fmt.Printf("%-8s %5.1fs  %s: %s%s\n", r.verdict, r.took.Seconds(), chosen[i].file, chosen[i].breaks, r.by)
				print.Unlock()
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	wg.Wait()
	return results
}

// verdict names the mutants that were not killed.
func verdict(chosen []mutant, results []result) error {
	var errs []error
	for i, m := range chosen {
		if results[i].verdict != killed {
			errs = append(errs, fmt.Errorf("%s: %s: %s\n\t%s\n\tbecame\n\t%s", results[i].verdict, m.file, m.breaks, m.old, m.new))
		}
	}
	fmt.Printf("%d mutants, %d killed\n", len(chosen), len(chosen)-len(errs))
	return errors.Join(errs...)
}

// The verdicts on a mutant.
const (
	killed   = "killed"
	survived = "SURVIVED"
)

type result struct {
	verdict string
	by      string // the test that failed first
	took    time.Duration
}

// try runs the tests against the mutant of that number.
func try(binary, folder string, number int) result {
	started := time.Now()
	out, err := test(binary, folder, number)
	if err != nil {
		return result{killed, firstFailure(out), time.Since(started)}
	}
	return result{survived, "", time.Since(started)}
}

// test runs a test binary in its package's folder, up to its first failure.
func test(binary, folder string, number int) ([]byte, error) {
	if out, err := testPart(binary, folder, number, "-test.skip"); err != nil {
		return out, err
	}
	return testPart(binary, folder, number, "-test.run")
}

// testPart runs the tests that are slow, or those that are not.
func testPart(binary, folder string, number int, choice string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.failfast", "-test.timeout", limit.String(), "-rapid.nofailfile", choice, slow)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", plantedVariable, number))
	return cmd.CombinedOutput()
}

// build makes the test binary of each mutant. One holds all that lie in functions; the others have their own.
func build(dir string, chosen []mutant) ([]string, error) {
	together, alone, err := sortOut(chosen)
	if err != nil {
		return nil, err
	}
	binaries := make([]string, len(chosen))
	shared, out, err := compile(dir, "all", chosen[0].folder(), together)
	if err != nil {
		return nil, errors.Join(culprits(filepath.Join(dir, "all"), out, together), fmt.Errorf("the mutants do not compile: %w\n%s", err, out))
	}
	for i := range binaries {
		binaries[i] = shared
	}
	for _, p := range alone {
		binary, out, err := compile(dir, fmt.Sprint(p.number), p.folder(), []planted{p})
		if err != nil {
			return nil, p.notBuilt(out)
		}
		binaries[p.number] = binary
	}
	return binaries, nil
}

// position is where a compiler's message says that the fault is.
var position = regexp.MustCompile(`(?m)^\S*?(\w+\.go):(\d+):`)

// culprits names the mutants in whose versions the compiler found faults.
func culprits(dir string, out []byte, together []planted) error {
	var errs []error
	for _, m := range position.FindAllSubmatch(out, -1) {
		s, err := readSource(filepath.Join(dir, string(m[1])))
		if err != nil {
			return err
		}
		line, _ := strconv.Atoi(string(m[2]))
		for _, p := range together {
			if f := s.functionAtLine(line); f != nil && strings.HasSuffix(f.Name.Name, fmt.Sprintf("__%d", p.number)) {
				errs = append(errs, p.notBuilt(m[0]))
			}
		}
	}
	return errors.Join(errs...)
}

func (p planted) notBuilt(out []byte) error {
	return fmt.Errorf("NOT BUILT: %s: %s\n%s", p.file, p.breaks, out)
}

// compile makes a test binary with mutants in it.
func compile(dir, name, folder string, with []planted) (binary string, out []byte, err error) {
	overlay, err := writeOverlay(filepath.Join(dir, name), folder, with)
	if err != nil {
		return "", nil, err
	}
	binary = filepath.Join(dir, name+".test")
	out, err = exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", overlay, "-o", binary, "./"+folder).CombinedOutput()
	return binary, out, err
}

var (
	failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	crash   = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.{0,60})`)
)

// firstFailure names the innermost test that failed first, or the panic that ended the run.
func firstFailure(out []byte) string {
	name := ""
	for _, m := range failure.FindAllSubmatch(out, -1) {
		if name != "" && !strings.HasPrefix(string(m[1]), name+"/") {
			break
		}
		name = string(m[1])
	}
	if m := crash.FindSubmatch(out); name == "" && m != nil {
		name = "panic: " + string(m[1])
	}
	return "; by " + name
}
