package metrics

import (
	"errors"
	"fmt"
	"math"
)

// Gain turns the label of a document, its raw grade, into the gain ρ that DCG sums.
// The zero value is Exp2Gain.
type Gain int

const (
	Exp2Gain   Gain = iota // 2^label − 1 (Burges et al. 2005), the usual one
	LinearGain             // the label itself (Järvelin & Kekäläinen 2002)
	BinaryGain             // 1 for relevant documents, whose label is 1 or more, and 0 for others (precision and RBP)
)

// relevant is the lowest label of a relevant document, for the metrics that know only
// relevant and irrelevant.
const relevant = 1

// maxExp2Label is the highest label that Exp2Gain takes, as in XGBoost and LightGBM: the
// gain of a higher one hides all others.
const maxExp2Label = 31

var gainNames = []string{Exp2Gain: "exp2", LinearGain: "linear", BinaryGain: "binary"}

// String is the name that ParseGain reads: "exp2", "linear" or "binary".
func (g Gain) String() string { return nameOf(gainNames, int(g), "Gain") }

// ParseGain reads "exp2", "linear" or "binary".
func ParseGain(name string) (Gain, error) {
	i, err := indexOf(gainNames, name, "gain")
	return Gain(i), err
}

// Of is the gain of one label. A label that is negative, NaN or infinite is an
// error, and for Exp2Gain one above 31.
func (g Gain) Of(label float32) (float64, error) {
	if err := checkLabel(label); err != nil {
		return 0, err
	}
	switch g {
	case Exp2Gain:
		if label > maxExp2Label {
			return 0, fmt.Errorf("label %v is too high for a gain of 2^label − 1 (at most %d): use the gain %q", label, maxExp2Label, LinearGain)
		}
		if grade := uint(label); float32(grade) == label { // the usual case needs no exponential
			return float64(uint(1)<<grade - 1), nil
		}
		return math.Exp2(float64(label)) - 1, nil
	case LinearGain:
		return float64(label), nil
	case BinaryGain:
		if label >= relevant {
			return 1, nil
		}
		return 0, nil
	}
	return 0, fmt.Errorf("metrics: invalid gain: %v", g)
}

// Gains gives the gains of labels, row by row. An error names the row.
func (g Gain) Gains(labels []float32) ([]float64, error) {
	gains, err := g.gains(labels)
	if bad := (*rowError)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("metrics: row %d: %w", bad.row, bad.err)
	}
	return gains, err
}

// Gains32 is Gains for graphs of float32.
func (g Gain) Gains32(labels []float32) ([]float32, error) {
	gains, err := g.Gains(labels)
	if err != nil {
		return nil, err
	}
	narrow := make([]float32, len(gains))
	for i, v := range gains {
		narrow[i] = float32(v)
	}
	return narrow, nil
}

// gains is Gains with *rowError as the error.
func (g Gain) gains(labels []float32) ([]float64, error) {
	gains := make([]float64, len(labels))
	for row, label := range labels {
		var err error
		if gains[row], err = g.Of(label); err != nil {
			return nil, &rowError{row, err}
		}
	}
	return gains, nil
}

func checkLabel(label float32) error {
	switch l := float64(label); {
	case math.IsNaN(l) || math.IsInf(l, 0):
		return fmt.Errorf("label %v: it must be finite", label)
	case l < 0:
		return fmt.Errorf("label %v is negative: a grade is 0 or more; leave unlabelled documents out or label them 0", label)
	}
	return nil
}
