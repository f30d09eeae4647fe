package tidy_test

import (
	"bufio"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExportedNamesAreDocumented holds for every package that others can import.
func TestExportedNamesAreDocumented(t *testing.T) {
	for path, p := range load(t) {
		if strings.HasPrefix(path, "cmd/") || strings.Contains(path, "internal") || path == "vectors/gen" {
			continue
		}
		documented := false
		for _, f := range p.Syntax {
			documented = documented || f.Doc.Text() != ""
			for _, d := range f.Decls {
				if name := undocumented(d); name != "" {
					t.Errorf("%s: exported %s has no comment", p.Fset.Position(d.Pos()), name)
				}
			}
		}
		if !documented {
			t.Errorf("%s has no package comment", path)
		}
	}
}

func undocumented(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && exportedReceiver(d) && d.Doc.Text() == "" {
			return d.Name.Name
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" {
					return s.Name.Name
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" && s.Comment.Text() == "" {
					return s.Names[0].Name
				}
			}
		}
	}
	return ""
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	e := d.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	id, ok := e.(*ast.Ident)
	return !ok || id.IsExported()
}

// leftovers must not stand in any source file: marks of unfinished work, skipped tests, paths of one machine.
var leftovers = map[string]*regexp.Regexp{
	"a mark of unfinished work": regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`),
	"a skipped test":            regexp.MustCompile(`\bt\.Skip(f|Now)?\(`),
	"a path of one machine":     regexp.MustCompile(`(^|[^A-Za-z0-9_.])/(wo` + `rk|ro` + `ot|ho` + `me)/[a-z]`),
}

func TestNothingIsLeftLyingAround(t *testing.T) {
	for _, path := range sources(t) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<24)
		for n := 1; lines.Scan(); n++ {
			for what, re := range leftovers {
				if re.MatchString(lines.Text()) {
					t.Errorf("%s:%d: %s: %s", path, n, what, strings.TrimSpace(lines.Text()))
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		file.Close()
	}
}

func sources(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "bin") {
			return fs.SkipDir
		}
		switch filepath.Ext(path) {
		case ".go", ".c", ".h", ".md", ".txt", ".txtar":
			out = append(out, path)
		}
		if d.Name() == "Makefile" {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// clocks are the ways to be woken by time beside the task runtime.
var clocks = map[string]bool{"NewTicker": true, "Tick": true, "NewTimer": true, "AfterFunc": true, "After": true, "Sleep": true}

// TestTheDaemonHasNoOtherClock: what the daemon does by time is a task of its runtime, so that one inventory shows all of it.
func TestTheDaemonHasNoOtherClock(t *testing.T) {
	for path, p := range load(t) {
		if path != "cmd/internal/node" && path != "cmd/beacond" {
			continue
		}
		for _, f := range p.Syntax {
			if strings.HasSuffix(p.Fset.Position(f.Pos()).Filename, "_test.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || !clocks[sel.Sel.Name] {
					return true
				}
				if importedPackage(p, sel) == "time" { // whatever the file calls it
					t.Errorf("%s: time.%s: make it a task of the runtime", p.Fset.Position(sel.Pos()), sel.Sel.Name)
				}
				return true
			})
		}
	}
}
