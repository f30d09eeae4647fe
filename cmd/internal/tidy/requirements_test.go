package tidy_test

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

//go:embed requirements.txt
var requirementsFile string

// requirement is one line of requirements.txt.
type requirement struct{ id, title, owner string }

var (
	requirementLine = regexp.MustCompile(`^(S-[A-Z]+-\d\d) ([^>]+?)(?: -> (\S.*))?$`)
	leadingID       = regexp.MustCompile(`^S-[A-Z]+-\d\d\b`)
)

// requirements reads the list, which must be sound: ids of a group count from 01 without a gap, titles have three to eight words.
func requirements(t *testing.T) (all []requirement) {
	t.Helper()
	last := map[string]int{}
	for n, line := range strings.Split(requirementsFile, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := requirementLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("requirements.txt:%d: %q is not an id, a title and perhaps an arrow and a part", n+1, line)
		}
		r := requirement{m[1], m[2], m[3]}
		group, number := r.id[:len(r.id)-3], r.id[len(r.id)-2:]
		if last[group]++; number != strconv.Itoa(100 + last[group])[1:] {
			t.Errorf("requirements.txt:%d: %s is not the next of its group", n+1, r.id)
		}
		if words := len(strings.Fields(r.title)); words < 3 || words > 8 {
			t.Errorf("requirements.txt:%d: the title of %s has %d words", n+1, r.id, words)
		}
		all = append(all, r)
	}
	return all
}

// TestEveryRequirementHasASubtest looks through the names of all subtests of the module: those given to Run, and those in a table of a
// file that calls Run. A name may begin with several ids if it tests them all.
func TestEveryRequirementHasASubtest(t *testing.T) {
	tested := map[string]bool{}
	for _, path := range sources(t) {
		if strings.HasSuffix(path, "_test.go") {
			for _, name := range subtestNames(t, path) {
				for id := leadingID.FindString(name); id != ""; id = leadingID.FindString(name) {
					tested[id] = true
					name = strings.TrimSpace(name[len(id):])
				}
			}
		}
	}
	all := requirements(t)
	if len(all) != 239 {
		t.Errorf("requirements.txt lists %d requirements, the scheduler has 239", len(all))
	}
	for _, r := range all {
		switch {
		case r.owner == "" && !tested[r.id]:
			t.Errorf("no subtest's name begins with %s (%s)", r.id, r.title)
		case r.owner != "" && tested[r.id]:
			t.Errorf("%s has a subtest: take the arrow off its line in requirements.txt", r.id)
		}
		delete(tested, r.id)
	}
	for id := range tested {
		t.Errorf("a subtest is named after %s, which requirements.txt does not list", id)
	}
}

// subtestNames lists the constant beginnings of the names that a test file gives to Run or holds in the literals of a table.
func subtestNames(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	add := func(e ast.Expr) {
		for sum, ok := e.(*ast.BinaryExpr); ok; sum, ok = e.(*ast.BinaryExpr) {
			e = sum.X
		}
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				names = append(names, s)
			}
		}
	}
	runs := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Run" && len(n.Args) == 2 {
				runs = true
				add(n.Args[0])
			}
		case *ast.CompositeLit:
			for i, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					add(kv.Key)
					if key, ok := kv.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "name") {
						add(kv.Value)
					}
				} else if i == 0 {
					add(e)
				}
			}
		}
		return true
	})
	if !runs {
		return nil
	}
	return names
}
