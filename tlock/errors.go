package tlock

import (
	"errors"
	"fmt"
)

// The three classes of error that opening and decoding give. Each says what a caller can do; test with errors.Is.
var (
	// ErrMalformed: the bytes are no encoding of what was asked for, whatever key is tried: wrong length, a point that is
	// not canonical or not in the group, calls that are not canonical ABI, a body with bad padding. Whoever wrote them is
	// wrong for ever; ask for other bytes.
	ErrMalformed = errors.New("malformed")

	// ErrWrongKey: this key does not belong to it. From GroupKey.Verify: it is not that group's key of that identity. From
	// opening: the 112 bytes were not sealed to this key. Bytes changed on the way look the same, since nobody can tell
	// another identity's ciphertext from a damaged one; so verify the key, and if it holds blame the ciphertext.
	ErrWrongKey = errors.New("wrong key")

	// ErrTampered: the key fits and opened the data key, but what the data key protects does not authenticate, or is not
	// what was committed to: the payload or commitment was altered, or it was sealed for another payer, slot or condition.
	ErrTampered = errors.New("tampered")
)

func malformed(format string, args ...any) error { return classed(ErrMalformed, format, args...) }
func wrongKey(format string, args ...any) error  { return classed(ErrWrongKey, format, args...) }
func tampered(format string, args ...any) error  { return classed(ErrTampered, format, args...) }

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
