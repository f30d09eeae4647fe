package dkg

import (
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"github.com/drand/kyber"
	"github.com/drand/kyber/xof/blake2xb"
)

// suite is the group G1 of package bls in the shape kyber wants, with all of its randomness taken from one stream.
//
// kyber's encryption of shares draws its ephemeral scalars from crypto/rand, whatever reader its configuration names. A
// dealer that restarts would then publish another bundle than before, which nobody can tell from a cheat. So a scalar of this
// suite picks from the suite's stream and not from the one it is handed: polynomial and ephemerals are a function of the seed.
// Nobody but this member knows the stream, and the same ephemeral only ever meets the same share of the same polynomial.
type suite struct{ stream cipher.Stream }

func (s *suite) String() string              { return "daybreak-bls12381-g1" }
func (s *suite) ScalarLen() int              { return bls.ScalarSize }
func (s *suite) Scalar() kyber.Scalar        { return &scalar{stream: s.stream} }
func (s *suite) PointLen() int               { return bls.G1Size }
func (s *suite) Point() kyber.Point          { return &point{} }
func (s *suite) Hash() hash.Hash             { return sha256.New() }
func (s *suite) XOF(seed []byte) kyber.XOF   { return blake2xb.New(seed) }
func (s *suite) RandomStream() cipher.Stream { return s.stream }
func asScalar(s kyber.Scalar) *scalar        { return s.(*scalar) }
func asPoint(p kyber.Point) *point           { return p.(*point) }
func pointOf(p kyber.Point) bls.G1           { return asPoint(p).p }
func scalarOf(s kyber.Scalar) bls.Scalar     { return asScalar(s).v }
func kyberPoint(p bls.G1) kyber.Point        { return &point{p} }
func kyberScalar(s bls.Scalar) kyber.Scalar  { return &scalar{v: s} }

// scalar is an integer modulo r. short is set, and equal to it, only for the small public integers that kyber makes by
// SetInt64, the indices at which it evaluates commitments: a point times one of those takes a few doublings, not 255.
type scalar struct {
	v      bls.Scalar
	short  uint64
	stream cipher.Stream
}

func (a *scalar) set(v bls.Scalar) kyber.Scalar {
	a.v, a.short = v, 0
	return a
}

func (a *scalar) Equal(b kyber.Scalar) bool { return a.v.Equal(scalarOf(b)) }

func (a *scalar) Set(b kyber.Scalar) kyber.Scalar {
	a.v, a.short = asScalar(b).v, asScalar(b).short
	return a
}

func (a *scalar) Clone() kyber.Scalar {
	c := *a
	return &c
}

func (a *scalar) SetInt64(x int64) kyber.Scalar {
	if x < 0 {
		return a.set(bls.ScalarFromUint64(uint64(-x)).Neg())
	}
	a.v, a.short = bls.ScalarFromUint64(uint64(x)), uint64(x)
	return a
}

func (a *scalar) Zero() kyber.Scalar                 { return a.set(bls.Scalar{}) }
func (a *scalar) One() kyber.Scalar                  { return a.SetInt64(1) }
func (a *scalar) Add(x, y kyber.Scalar) kyber.Scalar { return a.set(scalarOf(x).Add(scalarOf(y))) }
func (a *scalar) Sub(x, y kyber.Scalar) kyber.Scalar { return a.set(scalarOf(x).Sub(scalarOf(y))) }
func (a *scalar) Mul(x, y kyber.Scalar) kyber.Scalar { return a.set(scalarOf(x).Mul(scalarOf(y))) }
func (a *scalar) Neg(x kyber.Scalar) kyber.Scalar    { return a.set(scalarOf(x).Neg()) }

func (a *scalar) Inv(x kyber.Scalar) kyber.Scalar {
	inverse, err := scalarOf(x).Inverse()
	if err != nil {
		panic("dkg: internal error: inverse of zero")
	}
	return a.set(inverse)
}

func (a *scalar) Div(x, y kyber.Scalar) kyber.Scalar {
	x = x.Clone() // the receiver may be x
	return a.Mul(x, a.Inv(y))
}

// Pick draws a uniform nonzero scalar from the suite's stream; the argument serves scalars that have none.
func (a *scalar) Pick(given cipher.Stream) kyber.Scalar {
	if a.stream != nil {
		given = a.stream
	}
	for {
		var wide [64]byte
		given.XORKeyStream(wide[:], wide[:])
		if v := bls.ScalarFromWide(wide[:]); !v.IsZero() {
			return a.set(v)
		}
	}
}

// SetBytes reduces up to 64 bytes, big-endian, modulo r.
func (a *scalar) SetBytes(b []byte) kyber.Scalar { return a.set(bls.ScalarFromWide(b)) }

func (a *scalar) MarshalBinary() ([]byte, error) {
	b := a.v.Bytes()
	return b[:], nil
}

func (a *scalar) UnmarshalBinary(b []byte) error {
	v, err := bls.ScalarFromBytes(b)
	if err == nil {
		a.set(v)
	}
	return err
}

func (a *scalar) String() string                         { return a.v.String() } // redacted
func (a *scalar) MarshalSize() int                       { return bls.ScalarSize }
func (a *scalar) MarshalTo(w io.Writer) (int, error)     { return marshalTo(a, w) }
func (a *scalar) UnmarshalFrom(r io.Reader) (int, error) { return unmarshalFrom(a, r) }

// point is a point of G1. The operations work on copies, so the receiver may be an argument too.
type point struct{ p bls.G1 }

func (a *point) set(p bls.G1) kyber.Point {
	a.p = p
	return a
}

func (a *point) Equal(b kyber.Point) bool         { return a.p.Equal(pointOf(b)) }
func (a *point) Null() kyber.Point                { return a.set(bls.G1{}) }
func (a *point) Base() kyber.Point                { return a.set(bls.G1Generator()) }
func (a *point) Set(b kyber.Point) kyber.Point    { return a.set(pointOf(b)) }
func (a *point) Clone() kyber.Point               { return &point{a.p} }
func (a *point) Add(x, y kyber.Point) kyber.Point { return a.set(pointOf(x).Add(pointOf(y))) }
func (a *point) Sub(x, y kyber.Point) kyber.Point { return a.set(pointOf(x).Sub(pointOf(y))) }
func (a *point) Neg(x kyber.Point) kyber.Point    { return a.set(pointOf(x).Neg()) }

// Mul takes the generator for a nil point. It is constant time in s unless s is short.
func (a *point) Mul(s kyber.Scalar, p kyber.Point) kyber.Point {
	k, q := asScalar(s), generator
	if p != nil {
		q = pointOf(p)
	}
	switch {
	case k.short != 0:
		return a.set(q.MulUint64(k.short))
	case q.Equal(generator):
		return a.set(bls.MulG1Secret(k.v))
	}
	return a.set(q.Mul(k.v))
}

var generator = bls.G1Generator()

func (a *point) MarshalBinary() ([]byte, error) {
	b := a.p.Bytes()
	return b[:], nil
}

// UnmarshalBinary refuses the identity and points outside of the subgroup.
func (a *point) UnmarshalBinary(b []byte) error {
	p, err := bls.DecodeG1(b)
	if err == nil {
		a.p = p
	}
	return err
}

func (a *point) String() string                         { return fmt.Sprintf("%x", a.p.Bytes()) }
func (a *point) MarshalSize() int                       { return bls.G1Size }
func (a *point) MarshalTo(w io.Writer) (int, error)     { return marshalTo(a, w) }
func (a *point) UnmarshalFrom(r io.Reader) (int, error) { return unmarshalFrom(a, r) }

// Pick returns a random multiple of the generator.
func (a *point) Pick(stream cipher.Stream) kyber.Point {
	return a.Mul((&scalar{}).Pick(stream), nil)
}

// The ceremony embeds no data in points.
func (a *point) EmbedLen() int                           { return 0 }
func (a *point) Embed([]byte, cipher.Stream) kyber.Point { panic("dkg: internal error: Embed") }
func (a *point) Data() ([]byte, error)                   { return nil, errors.New("points carry no data") }

func marshalTo(m kyber.Marshaling, w io.Writer) (int, error) {
	b, err := m.MarshalBinary()
	if err != nil {
		return 0, err
	}
	return w.Write(b)
}

func unmarshalFrom(m kyber.Marshaling, r io.Reader) (int, error) {
	b := make([]byte, m.MarshalSize())
	n, err := io.ReadFull(r, b)
	if err != nil {
		return n, err
	}
	return n, m.UnmarshalBinary(b)
}
