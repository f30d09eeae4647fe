package partials

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Share is a member's secret. It prints as "redacted". The zero value is no share; an observer has it.
type Share struct {
	index uint32
	// A pointer, so that printing a struct with a Share inside shows an address: fmt does not call the methods of values in
	// unexported fields and would print the bytes.
	secret *bls.Scalar
}

// NewShare returns the share of the member with this index, from 1. The secret must not be zero.
func NewShare(index uint32, secret bls.Scalar) (Share, error) {
	if index == 0 || index > MaxMembers {
		return Share{}, classed(ErrIndex, "share of index %d: indices are 1 to %d", index, MaxMembers)
	}
	if secret.IsZero() {
		return Share{}, invalid("share of index %d is zero", index)
	}
	return Share{index: index, secret: &secret}, nil
}

// Index returns the member's index, or 0 if there is no share.
func (s Share) Index() uint32 { return s.index }

// IsZero reports whether there is no share.
func (s Share) IsZero() bool { return s.secret == nil }

// Check returns ErrForeign unless s is the share of its index in g.
func (s Share) Check(g *Group) error {
	if s.IsZero() {
		return classed(ErrForeign, "there is no share")
	}
	public, ok := g.PublicShare(s.index)
	if !ok {
		return classed(ErrForeign, "share of index %d in a group of %d members", s.index, g.N())
	}
	if !bls.MulG1Secret(*s.secret).Equal(public) {
		return classed(ErrForeign, "share of index %d does not belong to the group of epoch %d", s.index, g.epoch)
	}
	return nil
}

// Sign returns the member's partial of a prepared identity: share times Q, 0.3 of a pairing. Whether the identity may be
// released is for the caller to have decided: a partial cannot be taken back. It panics if there is no share.
func (s Share) Sign(p *Prepared) Partial {
	if s.IsZero() {
		panic("partials: internal error: signing without a share")
	}
	return Partial{Index: s.index, Sig: p.q.Mul(*s.secret).Bytes()}
}

const redacted = "partials.Share(redacted)"

// String returns no more than that it is a share.
func (s Share) String() string { return redacted }

// GoString is String.
func (s Share) GoString() string { return redacted }

// Format prints String under every verb.
func (s Share) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is String for slog.
func (s Share) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON refuses: a share leaves the process only by Encode.
func (s Share) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("a share is not for JSON")
}

const (
	shareTitle   = "daybreak-share-v1"
	maxShareFile = 1024
)

// Encode returns the text of the secret share file; ErrForeign unless the share is one of g:
//
//	daybreak-share-v1
//	chain 4217
//	genesis 0x…         32 bytes
//	epoch 1
//	index 2
//	secret 0x…          32 bytes
//	checksum 0x…        SHA-256 of all lines above
//
// The caller writes it with mode 0600 and lets nobody see it.
func (s Share) Encode(g *Group) ([]byte, error) {
	if err := s.Check(g); err != nil {
		return nil, err
	}
	return s.text(g), nil
}

func (s Share) text(g *Group) []byte {
	w := newSheet(shareTitle)
	writeChain(w, g.ns)
	w.number("epoch", g.epoch)
	w.number("index", uint64(s.index))
	secret := s.secret.Bytes()
	w.hex("secret", secret[:])
	return w.finish()
}

// DecodeShare reads the text of a share file and checks that it is a share of g. It accepts what Encode writes and nothing
// else: ErrInvalid otherwise, ErrForeign if it is the share of another chain, epoch or group.
func DecodeShare(g *Group, b []byte) (Share, error) {
	r := readSheet("share file", shareTitle, maxShareFile, b)
	if err := readChain(r, g.ns); err != nil {
		return Share{}, err
	}
	epoch := r.number("epoch", math.MaxUint64)
	index := r.number("index", MaxMembers)
	raw := r.hex("secret", bls.ScalarSize)
	if err := r.end(); err != nil {
		return Share{}, err
	}
	if epoch != g.epoch {
		return Share{}, classed(ErrForeign, "share file is of epoch %d, the group of epoch %d", epoch, g.epoch)
	}
	secret, err := bls.ScalarFromBytes(raw)
	if err != nil {
		return Share{}, invalid("share file has a secret that is not below the group's order")
	}
	s, err := NewShare(uint32(index), secret)
	if err != nil {
		return Share{}, invalid("share file: %v", err)
	}
	if err := s.Check(g); err != nil {
		return Share{}, err
	}
	if !bytes.Equal(s.text(g), b) {
		return Share{}, invalid("share file is not written the way this program writes it")
	}
	return s, nil
}
