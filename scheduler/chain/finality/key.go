package finality

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// PublicKey is a validator's voting key. In JSON it is 0x and 96 hexadecimal digits.
type PublicKey [bls.G1Size]byte

// Possession proves that whoever published a voting key holds its secret half. In JSON it is 0x and 192 hexadecimal digits.
type Possession [bls.G2Size]byte

// MarshalText writes 0x and hexadecimal digits.
func (k PublicKey) MarshalText() ([]byte, error) { return hexText(k[:]), nil }

// UnmarshalText takes what MarshalText writes.
func (k *PublicKey) UnmarshalText(text []byte) error { return unhex("voting key", k[:], text) }

// String is MarshalText.
func (k PublicKey) String() string { return string(hexText(k[:])) }

// MarshalText writes 0x and hexadecimal digits.
func (p Possession) MarshalText() ([]byte, error) { return hexText(p[:]), nil }

// UnmarshalText takes what MarshalText writes.
func (p *Possession) UnmarshalText(text []byte) error {
	return unhex("proof of possession", p[:], text)
}

func hexText(b []byte) []byte { return []byte("0x" + hex.EncodeToString(b)) }

func unhex(what string, to, text []byte) error {
	if len(text) != 2+2*len(to) || string(text[:2]) != "0x" {
		return invalid("%s is not 0x and %d hexadecimal digits", what, 2*len(to))
	}
	if _, err := hex.Decode(to, text[2:]); err != nil {
		return invalid("%s: %v", what, err)
	}
	return nil
}

// Verify checks the proof of possession: ErrInvalid unless the key is a point of the subgroup other than the identity and the proof
// is its signature of itself.
func (k PublicKey) Verify(p Possession) error {
	point, err := bls.DecodeG1(k[:])
	if err != nil {
		return invalid("voting key: %v", err)
	}
	sig, err := bls.DecodeG2(p[:])
	if err != nil {
		return invalid("proof of possession: %v", err)
	}
	if !bls.VerifyG2(point, bls.Prepare(bls.HashToG2(k[:], []byte(popTag))), sig) {
		return invalid("the proof of possession is not of this voting key")
	}
	return nil
}

// Secret is the secret half of a voting key. It prints as "redacted". The zero value is no key.
type Secret struct {
	// A pointer, so that printing a struct with a Secret inside shows an address.
	scalar *bls.Scalar
}

// NewSecret draws a voting key.
func NewSecret() (Secret, error) {
	s, err := bls.RandomScalar()
	if err != nil {
		return Secret{}, fmt.Errorf("drawing a voting key: %w", err)
	}
	return Secret{&s}, nil
}

// SecretFromBytes reads the 32 bytes of a key file: big-endian, below the group's order, not zero.
func SecretFromBytes(b []byte) (Secret, error) {
	s, err := bls.ScalarFromBytes(b)
	if err != nil || s.IsZero() {
		return Secret{}, invalid("voting key: not a nonzero number of %d bytes below the group's order", bls.ScalarSize)
	}
	return Secret{&s}, nil
}

// Bytes are the key's 32 bytes, for its file only.
func (s Secret) Bytes() [bls.ScalarSize]byte { return s.scalar.Bytes() }

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.scalar == nil }

// Public is the public half.
func (s Secret) Public() PublicKey { return bls.MulG1Secret(*s.scalar).Bytes() }

// Possession is the proof that goes into genesis with Public.
func (s Secret) Possession() Possession {
	k := s.Public()
	return bls.HashToG2(k[:], []byte(popTag)).Mul(*s.scalar).Bytes()
}

const redacted = "finality.Secret(redacted)"

// String returns no more than that it is a secret.
func (s Secret) String() string { return redacted }

// GoString is String.
func (s Secret) GoString() string { return redacted }

// Format prints String under every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is String for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
