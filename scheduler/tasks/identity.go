package tasks

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxIdentityBytes bounds each of an identity's three parts.
const MaxIdentityBytes = 64

// Identity names a task: who owns it, for which subsystem, and its name there. It is made by NewIdentity, so that every
// identity in a registry is sound; the zero Identity names nothing and is refused.
type Identity struct{ owner, subsystem, name string }

// NewIdentity checks the parts: each is 1 to 64 bytes of UTF-8 without control characters or blanks at its ends.
// Its error is an *IdentityError.
func NewIdentity(owner, subsystem, name string) (Identity, error) {
	id := Identity{owner, subsystem, name}
	return id, id.check()
}

// MustIdentity is NewIdentity for parts written in the source; it panics where NewIdentity returns an error.
func MustIdentity(owner, subsystem, name string) Identity {
	id, err := NewIdentity(owner, subsystem, name)
	if err != nil {
		panic("tasks: " + err.Error())
	}
	return id
}

// Owner is the identity's first part.
func (id Identity) Owner() string { return id.owner }

// Subsystem is the identity's second part.
func (id Identity) Subsystem() string { return id.subsystem }

// Name is the identity's third part.
func (id Identity) Name() string { return id.name }

// String is owner/subsystem/name, for people. Identities are compared part by part, not by this text.
func (id Identity) String() string { return id.owner + "/" + id.subsystem + "/" + id.name }

// MarshalText is String.
func (id Identity) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// Compare orders identities by owner, then subsystem, then name: the order of the inventory.
func (id Identity) Compare(other Identity) int {
	return cmp.Or(strings.Compare(id.owner, other.owner), strings.Compare(id.subsystem, other.subsystem),
		strings.Compare(id.name, other.name))
}

func (id Identity) check() error {
	for _, part := range []struct{ field, text string }{{"owner", id.owner}, {"subsystem", id.subsystem}, {"name", id.name}} {
		if cause := checkPart(part.text); cause != "" {
			return &IdentityError{Field: part.field, Cause: cause}
		}
	}
	return nil
}

func checkPart(s string) IdentityCause {
	switch {
	case s == "":
		return IdentityEmpty
	case len(s) > MaxIdentityBytes:
		return IdentityTooLong
	case !utf8.ValidString(s):
		return IdentityNotUTF8
	case strings.ContainsFunc(s, unicode.IsControl):
		return IdentityControl
	case strings.TrimSpace(s) != s:
		return IdentityBlank
	}
	return ""
}
