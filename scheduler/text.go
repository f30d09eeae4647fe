package scheduler

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// String is the word in hex with 0x.
func (w Word) String() string { return "0x" + hex.EncodeToString(w[:]) }

// MarshalText is the word in hex with 0x.
func (w Word) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads 32 bytes of hex with 0x.
func (w *Word) UnmarshalText(text []byte) error { return unhex(w[:], text) }

// String is the address in lower-case hex with 0x.
func (a Addr) String() string { return "0x" + hex.EncodeToString(a[:]) }

// MarshalText is the address in lower-case hex with 0x.
func (a Addr) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads 20 bytes of hex with 0x, in any case.
func (a *Addr) UnmarshalText(text []byte) error { return unhex(a[:], text) }

func unhex(out, text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "0x")
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != len(out) {
		return fmt.Errorf("%q is not 0x and %d bytes of hex", text, len(out))
	}
	copy(out, b)
	return nil
}
