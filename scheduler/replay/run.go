package replay

import (
	"errors"
	"fmt"
	"io"
)

// Run plays a script and hands each line of output, with its line feed, to emit: one for each block, then the final one. It ends at
// the first block that breaks a rule, or when emit fails.
func Run(s Script, emit func(line []byte) error) error {
	p, err := NewPlayer(s.Genesis)
	if err != nil {
		return err
	}
	for i, b := range s.Blocks {
		if err := p.emit(b, emit); err != nil {
			return fmt.Errorf("block %d: %w", i+1, err)
		}
	}
	return emit(p.Final().Encode())
}

// Stream is Run for a script that is still being read: each block's line is handed on before the next block is read.
func Stream(r io.Reader, emit func(line []byte) error) error {
	in := NewReader(r)
	g, err := in.Genesis()
	if err != nil {
		return err
	}
	p, err := NewPlayer(g)
	if err != nil {
		return fmt.Errorf("line %d: %w", in.Line(), err)
	}
	for {
		b, err := in.Block()
		if errors.Is(err, io.EOF) {
			return emit(p.Final().Encode())
		}
		if err != nil {
			return err
		}
		if err := p.emit(b, emit); err != nil {
			return fmt.Errorf("line %d: %w", in.Line(), err)
		}
	}
}

func (p *Player) emit(b Block, emit func(line []byte) error) error {
	line, err := p.Block(b)
	if err != nil {
		return err
	}
	return emit(line.Encode())
}
