package chain

import (
	"errors"
	"fmt"
)

// Classes of errors, for errors.Is. An error of none of these classes is this node's own fault.
var (
	// ErrInvalid: what was given is wrong for ever; the sender should not send it again.
	ErrInvalid = errors.New("invalid")
	// ErrStale: it was fine once and is useless now.
	ErrStale = errors.New("stale")
	// ErrNotYet: it may become fine; try again later.
	ErrNotYet = errors.New("not yet")
)

// Particular errors that callers tell apart. Each also answers to its class.
var (
	ErrWrongChain  = fmt.Errorf("%w: transaction is for another chain", ErrInvalid)
	ErrSystemTx    = fmt.Errorf("%w: transactions of type 0x7e come only from block execution", ErrInvalid)
	ErrTooLarge    = fmt.Errorf("%w: larger than the limit", ErrInvalid)
	ErrGasLimit    = fmt.Errorf("%w: gas limit", ErrInvalid)
	ErrKnown       = fmt.Errorf("%w: transaction is already known", ErrStale)
	ErrNonceTooLow = fmt.Errorf("%w: nonce is already used", ErrStale)
	ErrNonceGap    = fmt.Errorf("%w: nonce is too far ahead", ErrNotYet)
	ErrUnderpriced = fmt.Errorf("%w: replacement is not priced 10%% higher", ErrStale)
	ErrSenderFull  = fmt.Errorf("%w: too many waiting transactions of this sender", ErrNotYet)
	ErrPoolFull    = fmt.Errorf("%w: too many waiting transactions", ErrNotYet)
	ErrFunds       = fmt.Errorf("%w: the sender owns too little", ErrNotYet)
	ErrNotLeader   = fmt.Errorf("%w: this validator does not lead the log", ErrNotYet)
)

// ErrDamaged says that the log on disk is not what this member left there. Such a log must not be used again.
var ErrDamaged = errors.New("the log is damaged")
