package tidy_test

import (
	"go/ast"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/daybreak-beacon/daybreak"

// tree loads every package of the module once, with types, without tests.
var tree = sync.OnceValues(func() ([]*packages.Package, error) {
	cfg := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
			packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps,
		Dir: root(),
	}
	return packages.Load(cfg, "./...")
})

func root() string {
	dir, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}

// load returns the module's packages keyed by their path inside it ("" is the root).
func load(t *testing.T) map[string]*packages.Package {
	t.Helper()
	pkgs, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	byPath := make(map[string]*packages.Package)
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatalf("%s: %v", p.PkgPath, e)
		}
		byPath[strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, module), "/")] = p
	}
	if len(byPath) < 5 {
		t.Fatalf("found %d packages: the loader looks in the wrong place", len(byPath))
	}
	return byPath
}

// inside reports whether path is dir or lies below it.
func inside(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// walk calls visit for every node of every file of p; cgo's generated twins are left out.
func walk(p *packages.Package, visit func(file *ast.File, n ast.Node)) {
	for _, f := range p.Syntax {
		if name := p.Fset.Position(f.Package).Filename; strings.Contains(name, "_cgo_") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				visit(f, n)
			}
			return true
		})
	}
}
