// Command bench runs the benchmarks that have a target and prints each beside it, as a ratio to one BLS12-381 pairing (of the
// task runtime: to a bare timer; of blocks: to the same block in another setting) measured in the same process, so that a slow or busy
// machine moves both alike. It quotes the median of several runs. What compares two cores with one needs a quiet machine all the same:
// other work takes its time from the two-core side only.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
)

// goal is one benchmark and the ratio it should stay under (or, where atLeast is set, reach).
type goal struct {
	what    string
	pkg     string
	bench   string // full name without the -GOMAXPROCS suffix
	unit    string
	target  float64
	atLeast bool
	must    bool
}

var goals = []goal{
	{"open under one key", "./tlock", "BenchmarkOpen", "x-pairing", 0.95, false, true},
	{"recover t=67 of n=100, from wire bytes", "./partials", "BenchmarkRecover/t=67/n=100", "x-pairing", 12.5, false, true},
	{"encrypt to a fresh identity", "./tlock", "BenchmarkEncryptFresh", "x-pairing", 1.5, false, true},
	{"encrypt to one slot, many times", "./tlock", "BenchmarkSealSame", "x-pairing", 0.35, false, false},
	{"OpenMany on two cores against one", "./tlock", "BenchmarkOpenManySpeedup", "x-one-core", 1.9, true, false},
	{"batch-verify 100 partials, decoded", "./partials", "BenchmarkVerifyBatch/n=100/decoded", "x-pairing", 10, false, false},
	{"batch-verify 100 partials, from wire", "./partials", "BenchmarkVerifyBatch/n=100/wire", "x-pairing", 26, false, false},
	{"arm, fire and stop a task", "./scheduler/tasks", "BenchmarkArmFireStop", "x-afterfunc", 3, false, true},
	{"ceremony n=16 in memory, per node", "./dkg", "BenchmarkCeremony/n=16", "x-pairing", 60, false, false},
	{"block of 100 due entries, 1,000,000 queued against 1,000", "./scheduler", "BenchmarkQueued", "x-1000-queued", 1.5, false, true},
	{"evaluate 1,024 watchers of 4 items", "./scheduler", "BenchmarkWatchers/items=4/none-fires", "x-pairing", 4, false, true},
	{"the same while 4,000 others watch 200 items", "./scheduler", "BenchmarkWatchers/items=4/none-fires/200-idle-items", "x-pairing", 4, false, true},
	{"the same, all firing into full slots", "./scheduler", "BenchmarkWatchers/items=4/all-fire-into-full-slots", "x-pairing", 4, false, true},
	{"evaluate 1,024 watchers of 1,024 items", "./scheduler", "BenchmarkWatchers/items=1024/none-fires", "x-pairing", 12, false, false},
	{"select among 1,024 entries with 8 dependencies each", "./scheduler", "BenchmarkSelection/select", "x-pairing", 6, false, true},
	{"begin that block, 128 chosen and 896 moved", "./scheduler", "BenchmarkSelection/chosen=128", "x-pairing", 6, false, false},
	{"begin that block, all chosen", "./scheduler", "BenchmarkSelection/chosen=1024", "x-pairing", 6, false, false},
	{"open 128 sealed entries, two cores against one", "./scheduler", "BenchmarkOpening/beginning", "x-one-core", 1.8, true, true},
	{"the whole block that opens and runs them", "./scheduler", "BenchmarkOpening/block", "x-one-core", 1.8, true, false},
}

const runs = 5

func main() {
	samples, err := measure()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	out := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0)
	fmt.Fprintf(out, "median of %d runs\tmeasured\ttarget\t\n", runs)
	missed := false
	for _, g := range goals {
		verdict, miss := judge(g, samples[g.bench+" "+g.unit])
		missed = missed || miss
		fmt.Fprintf(out, "%s\t%s\n", g.what, verdict)
	}
	out.Flush()
	if missed {
		os.Exit(1)
	}
}

// judge renders one row and tells whether a target that must be met was missed.
func judge(g goal, values []float64) (string, bool) {
	if len(values) == 0 {
		return "not measured\t\tMISSING", g.must
	}
	sort.Float64s(values)
	median := values[len(values)/2]
	met, sign := median <= g.target, "<="
	if g.atLeast {
		met, sign = median >= g.target, ">="
	}
	word, kind := "ok", "aim"
	if g.must {
		kind = "must"
	}
	if !met {
		word = "over"
	}
	return fmt.Sprintf("%.3f\t%s %.2f (%s)\t%s", median, sign, g.target, kind, word), g.must && !met
}

// measure runs each package's benchmarks and collects every "value unit" pair by "name unit".
func measure() (map[string][]float64, error) {
	samples := make(map[string][]float64)
	for _, pkg := range []string{"./tlock", "./partials", "./dkg", "./scheduler/tasks", "./scheduler"} {
		var names []string
		for _, g := range goals {
			if g.pkg == pkg {
				names = append(names, strings.SplitN(g.bench, "/", 2)[0])
			}
		}
		fmt.Fprintf(os.Stderr, "bench: %s on %d core(s)\n", pkg, runtime.NumCPU())
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^("+strings.Join(names, "|")+")$",
			"-benchtime", "300ms", "-count", strconv.Itoa(runs), "-timeout", "1h", pkg)
		var stdout bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", pkg, err, stdout.String())
		}
		collect(&stdout, samples)
	}
	return samples, nil
}

var procs = regexp.MustCompile(`-\d+$`)

func collect(out *bytes.Buffer, samples map[string][]float64) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := procs.ReplaceAllString(fields[0], "")
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				samples[name+" "+fields[i+1]] = append(samples[name+" "+fields[i+1]], v)
			}
		}
	}
}
