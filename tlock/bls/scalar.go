package bls

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"unsafe"

	blst "github.com/supranational/blst/bindings/go"
)

// Scalar is an integer modulo the group order r, always reduced. The zero
// value is zero. Scalars are compared with Equal; == does not compile, because
// it would not be constant time.
//
// A Scalar redacts itself when it is printed or logged. Package fmt cannot ask it
// inside an unexported field of another type: such a type must redact itself.
type Scalar struct {
	_ [0]func()
	v blst.Scalar // 32 bytes, little-endian
}

// RandomScalar draws a uniform nonzero scalar from crypto/rand.
func RandomScalar() (Scalar, error) {
	for {
		var wide [64]byte
		if _, err := io.ReadFull(rand.Reader, wide[:]); err != nil {
			return Scalar{}, fmt.Errorf("drawing a random scalar: %w", err)
		}
		if s := ScalarFromWide(wide[:]); !s.IsZero() {
			return s, nil
		}
	}
}

// ScalarFromBytes decodes 32 bytes big-endian, which must be less than r. Zero
// is accepted: whether it makes sense is for the caller to say.
func ScalarFromBytes(b []byte) (Scalar, error) {
	var s Scalar
	if len(b) != ScalarSize {
		return Scalar{}, fmt.Errorf("%w: scalar has %d bytes, want %d", ErrInvalid, len(b), ScalarSize)
	}
	var zero [ScalarSize]byte
	if s.v.Deserialize(b) == nil && subtle.ConstantTimeCompare(b, zero[:]) == 0 {
		return Scalar{}, fmt.Errorf("%w: scalar is not below the group order", ErrInvalid)
	}
	return s, nil
}

// ScalarFromWide reduces a big-endian integer of at most 64 bytes modulo r. It
// panics if b is longer.
func ScalarFromWide(b []byte) Scalar {
	if len(b) > 64 {
		panic("bls: ScalarFromWide takes at most 64 bytes")
	}
	var s Scalar
	var padded [64]byte
	copy(padded[64-len(b):], b)
	s.v.FromBEndian(padded[:]) // nil only says that the result is zero
	return s
}

// ScalarFromUint64 returns x as a scalar.
func ScalarFromUint64(x uint64) Scalar {
	var b [8]byte
	for i := range b {
		b[7-i] = byte(x >> (8 * i))
	}
	return ScalarFromWide(b[:])
}

// Add returns a + b.
func (a Scalar) Add(b Scalar) Scalar {
	a.v.AddAssign(&b.v) // the flag only says that the result is not zero
	return a
}

// Sub returns a - b.
func (a Scalar) Sub(b Scalar) Scalar {
	a.v.SubAssign(&b.v)
	return a
}

// Mul returns a * b.
func (a Scalar) Mul(b Scalar) Scalar {
	a.v.MulAssign(&b.v)
	return a
}

// Neg returns -a.
func (a Scalar) Neg() Scalar { return Scalar{}.Sub(a) }

// Inverse returns 1/a, or an error if a is zero.
func (a Scalar) Inverse() (Scalar, error) {
	if a.IsZero() {
		return Scalar{}, fmt.Errorf("bls: zero has no inverse")
	}
	return Scalar{v: *a.v.Inverse()}, nil
}

// IsZero reports whether a is zero, in constant time.
func (a Scalar) IsZero() bool { return a.Equal(Scalar{}) }

// Equal reports whether a = b, in constant time.
func (a Scalar) Equal(b Scalar) bool {
	return subtle.ConstantTimeCompare(a.littleEndian(), b.littleEndian()) == 1
}

// Bytes returns the 32 bytes of a, big-endian.
func (a Scalar) Bytes() [ScalarSize]byte {
	var out [ScalarSize]byte
	for i, x := range a.littleEndian() {
		out[ScalarSize-1-i] = x
	}
	return out
}

func (a *Scalar) littleEndian() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&a.v)), ScalarSize)
}

const redacted = "bls.Scalar(redacted)"

// String redacts the value: a scalar may be a secret.
func (a Scalar) String() string { return redacted }

// GoString redacts the value.
func (a Scalar) GoString() string { return redacted }

// Format redacts the value for every verb.
func (a Scalar) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue redacts the value.
func (a Scalar) LogValue() slog.Value { return slog.StringValue(redacted) }
