// Package vectorcheck runs a folder of test vectors against this build: the engine of `tlock vectors DIR`.
//
// Valid cases are recomputed whole: every recorded byte must come out again, from the functions that seal, open, recover
// and hash in this program. Sealing is random, so its vectors are met from both sides: the recorded ciphertext must follow
// step by step from the recorded randomness and open to what was sealed, and what this build seals afresh must open
// with the recorded key. Invalid cases must be refused at some step, or differ from the right result.
//
// What cannot be checked is skipped with its reason and counted apart, never as passed.
package vectorcheck

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxFile bounds a vector file, in bytes; the largest published one has 0.7 MB.
const maxFile = 32 << 20

// maxShown is how many failed cases of one file are named.
const maxShown = 20

// testCase is one case, ready to run. run returns nil if it passes, a *skip if it was not checked.
type testCase struct {
	name string
	run  func() error
}

// files says how each known file is read.
var files = map[string]func([]byte) ([]testCase, error){
	"beacon.json":           beaconFile,
	"timelock.json":         timelockFile,
	"condition.json":        conditionFile,
	"sealed.json":           sealedFile,
	"systemtx.json":         systemTxFile,
	"ceremony.json":         ceremonyFile,
	"timer.json":            notBuiltYet,
	"drand-beacons.json":    drandBeaconsFile,
	"drand-chain-info.json": drandChainsFile,
	"drand-tlock.json":      drandTlockFile,
	"tlockage.json":         tlockageFile,
	"envelope.json":         envelopeFile,
}

// Run checks every .json file at the root of dir and writes a line for each to w, with the failed cases indented below it.
// failed reports whether any case failed. The error is for a folder without vectors, or one that cannot be read.
func Run(dir fs.FS, w io.Writer) (failed bool, err error) {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(names, func(name string) bool { return files[name] != nil }) {
		return false, errors.New("no vector file here: expected beacon.json, timelock.json and their like")
	}
	for _, name := range names {
		t, err := checkFile(dir, name)
		if err != nil {
			return failed, err
		}
		failed = failed || len(t.failures) > 0
		if _, err := io.WriteString(w, t.String()); err != nil {
			return failed, err
		}
	}
	return failed, nil
}

func checkFile(dir fs.FS, name string) (tally, error) {
	t := tally{file: name}
	read := files[path.Base(name)]
	if read == nil {
		t.unknown = true
		return t, nil
	}
	raw, err := readBounded(dir, name)
	if err != nil {
		return t, err
	}
	cases, err := read(raw)
	if err != nil {
		t.failures = append(t.failures, "the file: "+err.Error())
	}
	for _, c := range cases {
		t.add(c.name, c.run())
	}
	return t, nil
}

func readBounded(dir fs.FS, name string) (raw []byte, err error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s: larger than %d bytes, no vector file is", name, maxFile)
	}
	return raw, err
}

// tally is the outcome of a file.
type tally struct {
	file     string
	unknown  bool
	passed   int
	failures []string
	skipped  []skipped // in order of appearance
}

type skipped struct {
	reason string
	n      int
}

// skip is the error of a case that this build does not check.
type skip struct{ reason string }

func (s *skip) Error() string { return "skipped: " + s.reason }

func (t *tally) add(name string, err error) {
	var s *skip
	switch {
	case err == nil:
		t.passed++
	case !errors.As(err, &s):
		t.failures = append(t.failures, name+": "+err.Error())
	default:
		i := slices.IndexFunc(t.skipped, func(k skipped) bool { return k.reason == s.reason })
		if i < 0 {
			i, t.skipped = len(t.skipped), append(t.skipped, skipped{reason: s.reason})
		}
		t.skipped[i].n++
	}
}

// String gives "beacon.json: 111 passed, 0 failed" and what follows from it.
func (t *tally) String() string {
	if t.unknown {
		return t.file + ": skipped (not a file of vectors that this build knows)\n"
	}
	var parts []string
	if t.passed+len(t.failures) > 0 || len(t.skipped) == 0 {
		parts = append(parts, fmt.Sprintf("%d passed, %d failed", t.passed, len(t.failures)))
	}
	for _, s := range t.skipped {
		parts = append(parts, fmt.Sprintf("%d skipped (%s)", s.n, s.reason))
	}
	out := t.file + ": " + strings.Join(parts, ", ") + "\n"
	for i, f := range t.failures {
		if i == maxShown {
			return out + fmt.Sprintf("  and %d more\n", len(t.failures)-i)
		}
		out += "  " + f + "\n"
	}
	return out
}
