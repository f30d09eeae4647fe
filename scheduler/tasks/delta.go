package tasks

import (
	"errors"
	"math/bits"
	"time"
)

// Role says whose cost a summary is.
type Role string

const (
	RoleScheduler Role = "scheduler" // a watchdog's scheduler steps
	RoleWork      Role = "work"      // the callback
)

// Unit says what a summary sums up.
type Unit string

const (
	UnitElapsed   Unit = "elapsed-ns"      // Performance.Elapsed
	UnitCPU       Unit = "cpu-ns"          // Performance.CPU
	UnitAllocated Unit = "allocated-bytes" // Performance.Memory.Allocated
)

// Observation is one summary with all that must agree before another may be subtracted from it.
type Observation struct {
	Registration RegistrationID
	Role         Role
	Unit         Unit
	At           Instant
	Summary      MeasurementSummary
}

// Observe takes one summary out of the snapshot; false if there is no such role or unit.
func (s Snapshot) Observe(role Role, unit Unit) (Observation, bool) {
	p := s.Work
	switch role {
	case RoleScheduler:
		p = s.Scheduler
	case RoleWork:
	default:
		return Observation{}, false
	}
	o := Observation{Registration: s.Registration, Role: role, Unit: unit, At: s.At}
	switch unit {
	case UnitElapsed:
		o.Summary = p.Elapsed
	case UnitCPU:
		o.Summary = p.CPU
	case UnitAllocated:
		o.Summary = p.Memory.Allocated
	default:
		return Observation{}, false
	}
	return o, true
}

// Why two observations cannot be subtracted; a saturated one gives ErrSamplesSaturated or ErrTotalSaturated.
var (
	ErrOtherProcess      = errors.New("tasks: the observations are of different processes")
	ErrOtherRegistration = errors.New("tasks: the observations are of different registrations; counting began anew between them")
	ErrOtherRole         = errors.New("tasks: the observations are of different roles")
	ErrOtherUnit         = errors.New("tasks: the observations are of different units")
	ErrTimeStoodStill    = errors.New("tasks: the second observation is not later than the first")
	ErrNotMonotone       = errors.New("tasks: the second observation counts less than the first")
)

// Interval is what was measured between two observations.
type Interval struct {
	Elapsed time.Duration // between the observations
	Samples uint64
	hi, lo  uint64
}

// Total is the total of the interval's samples, hi<<64 + lo.
func (i Interval) Total() (hi, lo uint64) { return i.hi, i.lo }

// Mean is the interval's total divided by its samples, rounded down; false without samples.
func (i Interval) Mean() (mean uint64, ok bool, err error) {
	return scaledMean(i.hi, i.lo, i.Samples, 1)
}

// Delta is what was measured from a to b.
func Delta(a, b Observation) (Interval, error) {
	switch {
	case a.Registration.Epoch != b.Registration.Epoch:
		return Interval{}, ErrOtherProcess
	case a.Registration.Sequence != b.Registration.Sequence:
		return Interval{}, ErrOtherRegistration
	case a.Role != b.Role:
		return Interval{}, ErrOtherRole
	case a.Unit != b.Unit:
		return Interval{}, ErrOtherUnit
	case b.At <= a.At:
		return Interval{}, ErrTimeStoodStill
	}
	if err := errors.Join(a.Summary.overflow(), b.Summary.overflow()); err != nil {
		return Interval{}, err
	}
	lo, borrow := bits.Sub64(b.Summary.lo, a.Summary.lo, 0)
	hi, borrow := bits.Sub64(b.Summary.hi, a.Summary.hi, borrow)
	if borrow != 0 || b.Summary.samples < a.Summary.samples {
		return Interval{}, ErrNotMonotone
	}
	return Interval{b.At.Since(a.At), b.Summary.samples - a.Summary.samples, hi, lo}, nil
}
