package tlock

import (
	"fmt"
	"sync"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Sizes in bytes of the compressed points on the wire.
const (
	GroupKeySize = bls.G1Size
	KeySize      = bls.G2Size
)

// GroupKey is the public key of a network's validators: a point of G1 whose secret nobody holds whole. Keep and pass one
// value: the first Encrypt builds a table (129 KiB, under 2 pairings of work) that all copies share. The zero value is no
// key; compare with Equal.
type GroupKey struct {
	_ [0]func() // not comparable by ==: copies of one key may come from two parses
	p *preparedKey
}

type preparedKey struct {
	point bls.G1
	table func() *bls.G1Table
}

// ParseGroupKey reads 48 bytes: canonical, in the group, not the identity point; anything else is ErrMalformed.
func ParseGroupKey(b []byte) (GroupKey, error) {
	p, err := bls.DecodeG1(b)
	if err != nil {
		return GroupKey{}, malformed("group key: %v", err)
	}
	return newGroupKey(p), nil
}

// GroupKeyFromPoint returns the group key of a point, which must be in the group and not the identity point: else
// ErrMalformed.
func GroupKeyFromPoint(p bls.G1) (GroupKey, error) {
	if p.IsInfinity() || !p.InSubgroup() {
		return GroupKey{}, malformed("group key: point is the identity or outside the group")
	}
	return newGroupKey(p), nil
}

func newGroupKey(p bls.G1) GroupKey {
	return GroupKey{p: &preparedKey{point: p, table: sync.OnceValue(func() *bls.G1Table { return bls.NewG1Table(p) })}}
}

// IsZero reports whether gk is the zero value.
func (gk GroupKey) IsZero() bool { return gk.p == nil }

// Point returns the point; infinity for the zero value.
func (gk GroupKey) Point() bls.G1 {
	if gk.p == nil {
		return bls.G1{}
	}
	return gk.p.point
}

// Bytes returns the 48-byte compressed form.
func (gk GroupKey) Bytes() [GroupKeySize]byte { return gk.Point().Bytes() }

// Equal reports whether both are the same key.
func (gk GroupKey) Equal(other GroupKey) bool {
	return gk.IsZero() == other.IsZero() && (gk.IsZero() || gk.p.point.Equal(other.p.point))
}

// String returns the key in hex: it is public.
func (gk GroupKey) String() string {
	if gk.IsZero() {
		return "no group key"
	}
	return fmt.Sprintf("%#x", gk.Bytes())
}

// Verify checks that k is the group's key of id: e(gk, Q) == e(G1, k). If not, the error is ErrWrongKey. Do it once
// when a key is taken in, about 1.7 pairings; opening does not repeat it.
func (gk GroupKey) Verify(ns Namespace, id Identity, k Key) error {
	if gk.IsZero() || ns.IsZero() || id.IsZero() || k.IsZero() {
		return wrongKey("verifying a key: group key, namespace, identity or key is missing")
	}
	if !bls.VerifyG2(gk.p.point, bls.Prepare(ns.Point(id)), k.point) {
		return wrongKey("this is not the group's key of %v", id)
	}
	return nil
}

// Key is the key of one identity: the group's BLS signature over it, recovered from enough partials. It is public once
// the identity's time has come. The zero value is no key; compare with Equal.
type Key struct {
	_     [0]func()
	point bls.G2
	set   bool
}

// ParseKey reads 96 bytes: canonical, in the group, not the identity point; anything else is ErrMalformed. Whose key it
// is, GroupKey.Verify tells.
func ParseKey(b []byte) (Key, error) {
	p, err := bls.DecodeG2(b)
	if err != nil {
		return Key{}, malformed("key: %v", err)
	}
	return Key{point: p, set: true}, nil
}

// KeyFromPoint returns the key of a point, which must be in the group and not the identity point: else ErrMalformed.
func KeyFromPoint(p bls.G2) (Key, error) {
	if p.IsInfinity() || !p.InSubgroup() {
		return Key{}, malformed("key: point is the identity or outside the group")
	}
	return Key{point: p, set: true}, nil
}

// IsZero reports whether k is the zero value.
func (k Key) IsZero() bool { return !k.set }

// Point returns the point.
func (k Key) Point() bls.G2 { return k.point }

// Bytes returns the 96-byte compressed form.
func (k Key) Bytes() [KeySize]byte { return k.point.Bytes() }

// Equal reports whether both are the same key.
func (k Key) Equal(other Key) bool {
	return k.set == other.set && (!k.set || k.point.Equal(other.point))
}
