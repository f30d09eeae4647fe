package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// mutant is one fault: old, which occurs once in file, becomes new.
type mutant struct {
	file, old, new string
	breaks         string // what it breaks, in a few words
}

// folder is that of m's package.
func (m mutant) folder() string { return filepath.Dir(m.file) }

// Planting. A function with faults is written out once as it is, under its name and __, and once for each fault with the mutant's number
// behind; under its own name stands one that calls the version which is planted. So one compilation serves all mutants, which is
// what takes the time. A fault outside a function, in a constant, replaces its file in a binary of its own.

// plantedVariable is the environment variable that says which mutant is planted.
const plantedVariable = "DAYBREAK_MUTANT"

// noMutant plants none.
const noMutant = -1

const plantedFile = "planted_mutant.go"

const plantedSource = `package %s

import (
	"os"
	"strconv"
)

var plantedMutant, _ = strconv.Atoi(os.Getenv("` + plantedVariable + `"))
`

// planted is a mutant with its number and, if it lies in a function, that function.
type planted struct {
	mutant
	number int
	in     *ast.FuncDecl
}

// source is a file of the machine.
type source struct {
	text  []byte
	files *token.FileSet
	tree  *ast.File
}

func readSource(path string) (*source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &source{text: text, files: token.NewFileSet()}
	s.tree, err = parser.ParseFile(s.files, path, text, parser.SkipObjectResolution)
	return s, err
}

func (s *source) offset(p token.Pos) int { return s.files.Position(p).Offset }

// apply is m's file with the fault.
func (m mutant) apply(text []byte) ([]byte, error) {
	if n := bytes.Count(text, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("NOT APPLIED: %s: %s: %q occurs %d times, not once", m.file, m.breaks, m.old, n)
	}
	return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
}

// sortOut finds each mutant's function.
func sortOut(chosen []mutant) (together, alone []planted, err error) {
	var errs []error
	sources := map[string]*source{}
	for i, m := range chosen {
		s := sources[m.file]
		if s == nil {
			if s, err = readSource(m.file); err != nil {
				return nil, nil, err
			}
			sources[m.file] = s
		}
		if _, err := m.apply(s.text); err != nil {
			errs = append(errs, err)
			continue
		}
		if f := s.functionAt(bytes.Index(s.text, []byte(m.old)), len(m.old)); f != nil {
			together = append(together, planted{m, i, f})
		} else {
			alone = append(alone, planted{m, i, nil})
		}
	}
	return together, alone, errors.Join(errs...)
}

// functionAt is the function in whose body that stretch lies.
func (s *source) functionAt(at, length int) *ast.FuncDecl {
	for _, d := range s.tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && s.offset(f.Body.Pos()) <= at && at+length <= s.offset(f.Body.End()) {
			return f
		}
	}
	return nil
}

// functionAtLine is the function on that line.
func (s *source) functionAtLine(line int) *ast.FuncDecl {
	for _, d := range s.tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && s.files.Position(f.Pos()).Line <= line && line <= s.files.Position(f.End()).Line {
			return f
		}
	}
	return nil
}

// writeOverlay writes the files with mutants and the overlay that puts them in place.
func writeOverlay(dir, folder string, with []planted) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	texts := map[string][]byte{filepath.Join(folder, plantedFile): fmt.Appendf(nil, plantedSource, filepath.Base(folder))}
	byFile := map[string][]planted{}
	for _, p := range with {
		byFile[p.file] = append(byFile[p.file], p)
	}
	for file, ps := range byFile {
		s, err := readSource(file)
		if err != nil {
			return "", err
		}
		if texts[file], err = s.plant(ps); err != nil {
			return "", err
		}
	}
	replace := map[string]string{}
	for file, text := range texts {
		path, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(replace[path], text, 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o600)
}

// plant is the file with mutants: one outside a function replaces it, those in functions become versions of these.
func (s *source) plant(ps []planted) ([]byte, error) {
	if len(ps) == 1 && ps[0].in == nil {
		return ps[0].apply(s.text)
	}
	byFunction := map[int][]planted{} // by the offset of its name
	for _, p := range ps {
		byFunction[s.offset(p.in.Name.Pos())] = append(byFunction[s.offset(p.in.Name.Pos())], p)
	}
	var out, more bytes.Buffer
	done := 0
	for _, d := range s.tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || byFunction[s.offset(f.Name.Pos())] == nil {
			continue
		}
		versions := byFunction[s.offset(f.Name.Pos())]
		out.Write(s.text[done:s.offset(f.Name.End())]) // what is left of the original is itself under another name
		out.WriteString("__")
		done = s.offset(f.Name.End())
		for _, p := range versions {
			body := s.text[s.offset(f.Pos()):s.offset(f.End())]
			faulty, err := p.apply(body)
			if err != nil {
				return nil, err
			}
			name := s.offset(f.Name.End()) - s.offset(f.Pos())
			fmt.Fprintf(&more, "\n%s__%d%s\n", faulty[:name], p.number, faulty[name:])
		}
		more.WriteString(s.switchOf(f, versions))
	}
	out.Write(s.text[done:])
	out.Write(more.Bytes())
	return out.Bytes(), nil
}

// switchOf is the function under its own name: it calls the version that is planted.
func (s *source) switchOf(f *ast.FuncDecl, versions []planted) string {
	text := func(n ast.Node) string { return string(s.text[s.offset(n.Pos()):s.offset(n.End())]) }
	var params, args []string
	for _, field := range f.Type.Params.List {
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("p%d", len(params))
			params = append(params, name+" "+text(field.Type))
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				name += "..."
			}
			args = append(args, name)
		}
	}
	receiver, on, results, give := "", "", "", ""
	if f.Recv != nil {
		receiver, on = "(self "+text(f.Recv.List[0].Type)+") ", "self."
	}
	if f.Type.Results != nil {
		results, give = " "+text(f.Type.Results), "return "
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nfunc %s%s(%s)%s {\n\tswitch plantedMutant {\n", receiver, f.Name.Name, strings.Join(params, ", "), results)
	for _, p := range versions {
		fmt.Fprintf(&b, "\tcase %d:\n\t\t%s%s%s__%d(%s)\n", p.number, give, on, f.Name.Name, p.number, strings.Join(args, ", "))
	}
	fmt.Fprintf(&b, "\tdefault:\n\t\t%s%s%s__(%s)\n\t}\n}\n", give, on, f.Name.Name, strings.Join(args, ", "))
	return b.String()
}
