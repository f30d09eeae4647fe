package model

import "testing"

// tape decides by the bytes of a stream, two for each choice. When it is at its end, everything is the first choice.
type tape struct{ left []byte }

func (s *tape) intn(n int) int {
	if len(s.left) < 2 {
		s.left = nil
		return 0
	}
	v := int(s.left[0])<<8 | int(s.left[1])
	s.left = s.left[2:]
	return v % n
}

// FuzzScripts makes scripts of streams of bytes: machine and model print the same, and the invariants hold.
func FuzzScripts(f *testing.F) {
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) > 8_000 {
			return
		}
		var o story
		o.s, o.lines, o.seen = generate(&tape{stream}, 1+len(stream)/200)
		if what := examine(o, map[string]int{}, true); what != "" {
			t.Fatal(what)
		}
	})
}
