package tasks

import (
	"errors"
	"fmt"
)

// What a caller did, or can do, about an error stands in its text; errors.Is tells them apart.
var (
	// ErrNotInitialized: the runtime was not made by New or InitializeRuntime.
	ErrNotInitialized = errors.New("tasks: the runtime is not initialized; call New or InitializeRuntime first")
	// ErrCapacity: there are MaxRegistrations tasks; unregister one first.
	ErrCapacity = fmt.Errorf("tasks: all %d registrations are taken; unregister one first", MaxRegistrations)
	// ErrIdentityAlreadyRegistered: the identity has a declaration, which stays as it is.
	ErrIdentityAlreadyRegistered = errors.New("tasks: the identity is already registered; unregister it first or use its registration")
	// ErrClaimGenerationExhausted: the runtime has given out all of its registration numbers.
	ErrClaimGenerationExhausted = errors.New("tasks: the registration numbers are used up; make a new runtime")
	// ErrDelayOutOfRange: a delay is negative or longer than a time.Duration can hold.
	ErrDelayOutOfRange = errors.New("tasks: the delay is negative or too long")
	// ErrDeadlineOverflow: now plus the delay is beyond the last Instant.
	ErrDeadlineOverflow = errors.New("tasks: the deadline is beyond the clock's range")
	// ErrInvalidCadence: a cadence is not positive.
	ErrInvalidCadence = errors.New("tasks: the cadence must be positive")
	// ErrInvalidStart: a Start was not made by Retained or RemoveWhenStopped.
	ErrInvalidStart = errors.New("tasks: the start is empty; use Retained or RemoveWhenStopped")
	// ErrNoCallback: a callback is nil.
	ErrNoCallback = errors.New("tasks: the callback is nil")
	// ErrRegistrationExpired: the task was unregistered or removed, or the callback that the context belongs to has ended.
	ErrRegistrationExpired = errors.New("tasks: the registration has expired; register the task again")
	// ErrOwnershipInvariant: a task would own more handles than it may. It means a fault in this package.
	ErrOwnershipInvariant = errors.New("tasks: internal error: a task would own more handles than it may")
	// ErrReconciliationConflict: the slot holds a registration of another identity, policy, cadence, lifetime or runtime.
	ErrReconciliationConflict = errors.New("tasks: the slot holds a registration with another declaration; unregister it first")
	// ErrShutdown: the runtime is shutting down and arms nothing more.
	ErrShutdown = errors.New("tasks: the runtime is shutting down")
	// ErrUnfinished: work was still running when the grace period of a shutdown ended.
	ErrUnfinished = errors.New("tasks: work was still running when the grace period ended")
)

// IdentityCause says what is wrong with a part of an identity.
type IdentityCause string

const (
	IdentityEmpty   IdentityCause = "it is empty"                     // no byte at all
	IdentityTooLong IdentityCause = "it is longer than 64 bytes"      // more than MaxIdentityBytes
	IdentityNotUTF8 IdentityCause = "it is not UTF-8"                 // invalid bytes
	IdentityControl IdentityCause = "it contains a control character" // anywhere in the part
	IdentityBlank   IdentityCause = "it begins or ends with a blank"  // white space
)

// IdentityError names the part of an identity that was refused: owner, subsystem or name.
type IdentityError struct {
	Field string
	Cause IdentityCause
}

// Error names the part and the cause.
func (e *IdentityError) Error() string {
	return fmt.Sprintf("tasks: identity %s: %s", e.Field, string(e.Cause))
}

// ControlError says that the runtime itself could not go on with a task, which it therefore stopped. Reason is one of the
// control failures among the inactive reasons; Err, if there is one, is what the clock answered.
type ControlError struct {
	Reason InactiveReason
	Err    error
}

// Error gives the reason and what the clock answered.
func (e *ControlError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("tasks: the task was stopped (%s): %v", e.Reason, e.Err)
	}
	return fmt.Sprintf("tasks: the task was stopped (%s)", e.Reason)
}

// Unwrap is Err.
func (e *ControlError) Unwrap() error { return e.Err }

// Is takes all control failures for one kind.
func (e *ControlError) Is(target error) bool { _, ok := target.(*ControlError); return ok }

// controlReason is the inactive reason of a failed arming or a refused decision.
func controlReason(err error) InactiveReason {
	var control *ControlError
	switch {
	case errors.As(err, &control):
		return control.Reason
	case errors.Is(err, ErrDelayOutOfRange):
		return ReasonDelayOutOfRange
	case errors.Is(err, ErrDeadlineOverflow):
		return ReasonDeadlineOverflow
	}
	return ReasonBindingFailed
}
