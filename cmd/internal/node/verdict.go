package node

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/p2p"
	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// class is what an error means for whoever sent the thing it is about.
type class int

const (
	ours    class = iota // nobody's fault but this node's: any error without a class
	invalid              // the sender is wrong for ever
	stale                // it was fine once and is useless now
	notYet               // it may be fine later
)

// The node's own errors of each class.
var (
	errInvalid = errors.New("invalid")
	errStale   = errors.New("stale")
	errNotYet  = errors.New("not yet")
)

// classed makes an error of one of the classes that does not repeat the class in its text.
func classed(class error, format string, args ...any) error {
	return &classError{class: class, text: fmt.Sprintf(format, args...)}
}

type classError struct {
	class error
	text  string
}

func (e *classError) Error() string { return e.text }
func (e *classError) Unwrap() error { return e.class }

// classes lists, for each class, the errors that the packages below give it.
var classes = []struct {
	class  class
	errors []error
}{
	{invalid, []error{errInvalid, partials.ErrInvalid, dkg.ErrInvalid, chain.ErrInvalid, finality.ErrInvalid, tlock.ErrMalformed, tlock.ErrWrongKey, tlock.ErrTampered}},
	{stale, []error{errStale, partials.ErrStale, dkg.ErrStale, chain.ErrStale}},
	{notYet, []error{errNotYet, partials.ErrNotYet, dkg.ErrNotYet, chain.ErrNotYet}},
}

// classOf is the one place where an error gets its meaning. An error that is none of these is ours: no peer pays for it.
func classOf(err error) class {
	for _, c := range classes {
		for _, e := range c.errors {
			if errors.Is(err, e) {
				return c.class
			}
		}
	}
	return ours
}

// edge is what each class means to a peer, to an HTTP client and to a script.
var edge = map[class]struct {
	gossip p2p.Verdict
	status int
	exit   int
}{
	ours:    {p2p.Ignore, http.StatusInternalServerError, cli.ExitError},
	invalid: {p2p.Reject, http.StatusBadRequest, cli.ExitError},
	stale:   {p2p.Ignore, http.StatusGone, cli.ExitError},
	notYet:  {p2p.Ignore, http.StatusNotFound, cli.ExitNotYet},
}
