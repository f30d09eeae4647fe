package tasks

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/bits"
)

// Why nothing exact can be said of samples.
var (
	// ErrSamplesSaturated: more samples were recorded than a uint64 counts.
	ErrSamplesSaturated = errors.New("tasks: the number of samples overflowed")
	// ErrTotalSaturated: the samples' total overflowed 128 bits.
	ErrTotalSaturated = errors.New("tasks: the total of the samples overflowed")
	// ErrMeanOverflow: the scaled mean does not fit the result.
	ErrMeanOverflow = errors.New("tasks: the scaled mean does not fit 64 bits")
)

// MeasurementSummary sums up samples of one quantity: their number, their exact total over 128 bits, the latest and the
// greatest. A bound that is reached exactly is exact; only what goes beyond it saturates, and is marked.
type MeasurementSummary struct {
	samples                          uint64
	hi, lo                           uint64
	latest, maximum                  uint64
	samplesSaturated, totalSaturated bool
}

func (m *MeasurementSummary) record(v uint64) {
	if m.samples == math.MaxUint64 {
		m.samplesSaturated = true
	} else {
		m.samples++
	}
	lo, carry := bits.Add64(m.lo, v, 0)
	hi, carry := bits.Add64(m.hi, 0, carry)
	if carry != 0 {
		hi, lo, m.totalSaturated = math.MaxUint64, math.MaxUint64, true
	}
	m.hi, m.lo = hi, lo
	m.latest, m.maximum = v, max(m.maximum, v)
}

// Samples is the number of samples.
func (m MeasurementSummary) Samples() uint64 { return m.samples }

// Total is the samples' total, hi<<64 + lo.
func (m MeasurementSummary) Total() (hi, lo uint64) { return m.hi, m.lo }

// Latest is the last sample; false if there is none.
func (m MeasurementSummary) Latest() (uint64, bool) { return m.latest, m.samples > 0 }

// Maximum is the greatest sample; false if there is none.
func (m MeasurementSummary) Maximum() (uint64, bool) { return m.maximum, m.samples > 0 }

// SamplesSaturated says that there were more samples than Samples can tell.
func (m MeasurementSummary) SamplesSaturated() bool { return m.samplesSaturated }

// TotalSaturated says that the total is greater than Total can tell.
func (m MeasurementSummary) TotalSaturated() bool { return m.totalSaturated }

// overflow is the reason why nothing exact can be said any more.
func (m MeasurementSummary) overflow() error {
	var errs []error
	if m.samplesSaturated {
		errs = append(errs, ErrSamplesSaturated)
	}
	if m.totalSaturated {
		errs = append(errs, ErrTotalSaturated)
	}
	return errors.Join(errs...)
}

// Mean is the total divided by the number of samples, rounded down; false without samples, and an error once the number
// or the total overflowed.
func (m MeasurementSummary) Mean() (mean uint64, ok bool, err error) { return m.ScaledMean(1) }

// ScaledMean is the total times scale, divided by the number of samples, rounded down once at the end. It is false without
// samples; an error after an overflow, even if scale is 0; and ErrMeanOverflow if the result needs more than 64 bits.
func (m MeasurementSummary) ScaledMean(scale uint64) (mean uint64, ok bool, err error) {
	if err := m.overflow(); err != nil {
		return 0, false, err
	}
	return scaledMean(m.hi, m.lo, m.samples, scale)
}

// scaledMean is total*scale/samples, rounded down.
func scaledMean(hi, lo, samples, scale uint64) (mean uint64, ok bool, err error) {
	if samples == 0 {
		return 0, false, nil
	}
	// total*scale is h2<<128 + h1<<64 + h0.
	c1, h0 := bits.Mul64(lo, scale)
	h2, h1 := bits.Mul64(hi, scale)
	h1, carry := bits.Add64(h1, c1, 0)
	h2 += carry // cannot overflow: the product of 128 and 64 bits has 192
	if h2 != 0 || h1 >= samples {
		return 0, false, ErrMeanOverflow
	}
	mean, _ = bits.Div64(h1, h0, samples)
	return mean, true, nil
}

// MarshalJSON gives the total as a decimal text, for it may be wider than a JSON reader's numbers; without samples there
// are no latest, maximum and mean, and after an overflow there is no mean.
func (m MeasurementSummary) MarshalJSON() ([]byte, error) {
	total := new(big.Int).SetUint64(m.hi)
	total.Lsh(total, 64).Or(total, new(big.Int).SetUint64(m.lo))
	out := struct {
		Samples          uint64  `json:"samples"`
		Total            string  `json:"total"`
		Latest           *uint64 `json:"latest,omitempty"`
		Maximum          *uint64 `json:"maximum,omitempty"`
		Mean             *uint64 `json:"mean,omitempty"`
		SamplesSaturated bool    `json:"samples_saturated,omitempty"`
		TotalSaturated   bool    `json:"total_saturated,omitempty"`
	}{Samples: m.samples, Total: total.String(), SamplesSaturated: m.samplesSaturated, TotalSaturated: m.totalSaturated}
	if m.samples > 0 {
		out.Latest, out.Maximum = &m.latest, &m.maximum
	}
	if mean, ok, err := m.Mean(); ok && err == nil {
		out.Mean = &mean
	}
	return json.Marshal(out)
}
