package dkg

import (
	"errors"
	"fmt"
)

// The classes of error of Apply and CheckEntry; test with errors.Is. An error of none of them is the caller's own fault.
var (
	// ErrInvalid: the bytes are no entry of a member: wrong for ever. Reject it; the blame is the forwarder's.
	ErrInvalid = errors.New("invalid")
	// ErrStale: a duplicate, an entry of a phase that is over, of another ceremony or after the end. Ignore it.
	ErrStale = errors.New("stale")
	// ErrNotYet: an entry of a phase that has not begun. It counts for nothing at this place of the log.
	ErrNotYet = errors.New("not yet")
)

// ErrFork is the ErrStale of an entry whose author made it upon another log than this one. If the author is honest, someone
// shows different logs to different members.
var ErrFork = classed(ErrStale, "entry made upon another log")

// ErrForeign is the ErrStale of an entry of another ceremony: another attempt, epoch, chain, or other members.
var ErrForeign = classed(ErrStale, "entry of another ceremony")

func invalid(format string, args ...any) error { return classed(ErrInvalid, format, args...) }
func stale(format string, args ...any) error   { return classed(ErrStale, format, args...) }
func notYet(format string, args ...any) error  { return classed(ErrNotYet, format, args...) }

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
