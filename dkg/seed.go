package dkg

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"golang.org/x/crypto/chacha20"
)

// Seed is the 32 random bytes from which a member derives all its secrets of a ceremony. It prints as "redacted".
//
// Whoever has the seed and the log has the member's share: the seed opens the deals that lie in the log for good. So the
// caller writes it down before the ceremony starts, and erases it once the ceremony is over and the share is stored.
type Seed [32]byte

const redactedSeed = "dkg.Seed(redacted)"

// String returns no more than that it is a seed.
func (s Seed) String() string { return redactedSeed }

// GoString is String.
func (s Seed) GoString() string { return redactedSeed }

// Format prints String under every verb.
func (s Seed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedSeed) }

// LogValue is String for slog.
func (s Seed) LogValue() slog.Value { return slog.StringValue(redactedSeed) }

// MarshalText refuses: a seed is not for JSON.
func (s Seed) MarshalText() ([]byte, error) { return nil, fmt.Errorf("a seed is not for text") }

// derive returns n bytes for one purpose in one ceremony: HKDF-SHA256 (RFC 5869) with the ceremony id as salt.
func (s *Seed) derive(id ID, purpose string, n int) []byte {
	out, err := hkdf.Key(sha256.New, s[:], id[:], "daybreak-dkg-v1 "+purpose, n)
	if err != nil {
		panic("dkg: internal error: " + err.Error()) // only for more than 8160 bytes
	}
	return out
}

// stream returns an endless stream for one purpose in one ceremony: ChaCha20 (RFC 8439) under a derived key, used once, so
// the nonce is zero.
func (s *Seed) stream(id ID, purpose string) cipher.Stream {
	c, err := chacha20.NewUnauthenticatedCipher(s.derive(id, purpose, chacha20.KeySize), make([]byte, chacha20.NonceSize))
	if err != nil {
		panic("dkg: internal error: " + err.Error()) // only for keys and nonces of a wrong length
	}
	return c
}

// scalar returns a uniform scalar for one purpose in one ceremony; it is zero with a chance of 2^-255.
func (s *Seed) scalar(id ID, purpose string) bls.Scalar {
	return bls.ScalarFromWide(s.derive(id, purpose, 64))
}
