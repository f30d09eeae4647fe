// Command gen writes the vectors that Daybreak adds to the given ones: tlockage.json and envelope.json.
//
//	go run ./vectors/gen            # from the module's root
//	go run ./vectors/gen -dir DIR
//
// It shares no code with package tlock, and no curve: formats and formulas are written out here from their
// documentation over gnark-crypto, so that a mistake has to be made twice to go unseen. Nothing in it is random: what a
// real program draws is derived from a label, and the output is the same every time.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", "vectors", "folder to write to")
	flag.Parse()
	if err := write(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the files by name.
func generate() (files map[string][]byte, err error) {
	// The formulas below have no business failing: what fails is a mistake in this program, reported as an error.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return map[string][]byte{
		"tlockage.json": encode(tlockageDescription, tlockageCases()),
		"envelope.json": encode(envelopeDescription, envelopeCases()),
	}, nil
}

// object is one case; fields keep their order.
type object []field

type field struct {
	name  string
	value any
}

// MarshalJSON writes the fields in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(description string, cases []object) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	must(enc.Encode(object{
		{"description", description},
		{"source", "vectors/gen of this repository, over gnark-crypto"},
		{"cases", cases},
	}))
	return out.Bytes()
}

func hexed(b []byte) string { return fmt.Sprintf("0x%x", b) }

func must(err error) {
	if err != nil {
		panic(err)
	}
}
