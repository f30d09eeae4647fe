package partials

import (
	"errors"
	"fmt"
)

// The classes of error; test with errors.Is. An error of none of them is the caller's own fault.
var (
	// ErrInvalid: whoever sent this is wrong for ever. Reject it and count it against its author.
	ErrInvalid = errors.New("invalid")
	// ErrStale: nothing is wrong with it, but it is of no use now. Ignore it.
	ErrStale = errors.New("stale")
	// ErrNotYet: it may be of use later, or with more of its kind.
	ErrNotYet = errors.New("not yet")
)

// What a caller may want to tell apart within a class.
var (
	// ErrIndex: the group has no member of this index. Invalid.
	ErrIndex = classed(ErrInvalid, "no member has this index")
	// ErrEquivocation: the author already sent another partial of this identity. A member has one only, so it lies. Invalid.
	ErrEquivocation = classed(ErrInvalid, "the author sent two different partials of one identity")
	// ErrDuplicate: this partial is already held, or its author is already found out at this identity. Stale.
	ErrDuplicate = classed(ErrStale, "the author's partial of this identity was already taken in")
	// ErrDone: the key of this identity is known. Stale.
	ErrDone = classed(ErrStale, "the key of this identity is already known")
	// ErrFull: the author has as many newer slots waiting as a member may have. Stale.
	ErrFull = classed(ErrStale, "the author has too many newer partials waiting")
	// ErrTooFew: less than threshold good partials. Not yet.
	ErrTooFew = classed(ErrNotYet, "fewer good partials than the threshold")
	// ErrForeign: a file or share belongs to another chain, epoch, group or member than the one it is used with.
	ErrForeign = errors.New("belongs to another group")
)

func invalid(format string, args ...any) error { return classed(ErrInvalid, format, args...) }

func classed(class error, format string, args ...any) error {
	return &classError{class: class, text: fmt.Sprintf(format, args...)}
}

// classError carries its class for errors.Is without repeating it in the text.
type classError struct {
	class error
	text  string
}

func (e *classError) Error() string { return e.text }
func (e *classError) Unwrap() error { return e.class }
