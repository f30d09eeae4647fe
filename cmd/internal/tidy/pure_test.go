package tidy_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// pure packages take facts and return decisions: no clock, goroutine, log, file, socket or map order.
var pure = []string{"tlock", "tlock/bls", "tlock/tlockage", "partials", "dkg", "condition", "scheduler", "scheduler/replay"}

var bannedImports = map[string]string{
	"log": "it logs", "os": "it touches files or the environment", "net": "it opens sockets", "net/http": "it opens sockets",
	"math/rand": "it is not crypto/rand", "math/rand/v2": "it is not crypto/rand", "os/exec": "it starts processes",
	"io/ioutil": "it touches files", "path/filepath": "it touches files",
}

// Of package time only the types may appear, of log/slog only what a redacting LogValue needs.
var bannedNames = map[string][]string{
	"time":     {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
	"log/slog": {"Debug", "Info", "Warn", "Error", "Log", "Default", "New", "SetDefault", "With"},
}

func TestPurePackagesAreDeterministic(t *testing.T) {
	all := load(t)
	for _, path := range pure {
		p, ok := all[path]
		if !ok {
			continue // a later part of the layout
		}
		walk(p, func(f *ast.File, n ast.Node) { checkPure(t, p, f, n) })
	}
}

func checkPure(t *testing.T, p *packages.Package, f *ast.File, n ast.Node) {
	bad := func(what string) { t.Errorf("%s: %s, in a pure package", p.Fset.Position(n.Pos()), what) }
	switch n := n.(type) {
	case *ast.ImportSpec:
		if name, err := strconv.Unquote(n.Path.Value); err == nil {
			if why, banned := bannedImports[name]; banned {
				bad("import of " + name + " (" + why + ")")
			}
		}
	case *ast.GoStmt:
		bad("go statement")
	case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
		bad("channel")
	case *ast.SelectorExpr:
		if pkg := importedPackage(p, n); pkg != "" {
			for _, name := range bannedNames[pkg] {
				if n.Sel.Name == name {
					bad("call of " + pkg + "." + name)
				}
			}
		}
	case *ast.RangeStmt:
		if _, isMap := typeOf(p, n.X).(*types.Map); isMap && !explained(p, f, n.Pos()) {
			bad(`loop over a map without a comment that says "any order" and why`)
		}
	}
}

func importedPackage(p *packages.Package, sel *ast.SelectorExpr) string {
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	if name, ok := p.TypesInfo.Uses[id].(*types.PkgName); ok {
		return name.Imported().Path()
	}
	return ""
}

func typeOf(p *packages.Package, e ast.Expr) types.Type {
	if tv := p.TypesInfo.TypeOf(e); tv != nil {
		return tv.Underlying()
	}
	return nil
}

// explained reports whether a comment on the line of pos or just above says that any order will do.
func explained(p *packages.Package, f *ast.File, pos token.Pos) bool {
	line := p.Fset.Position(pos).Line
	for _, group := range f.Comments {
		end := p.Fset.Position(group.End()).Line
		if (end == line || end == line-1) && strings.Contains(group.Text(), "any order") {
			return true
		}
	}
	return false
}
