package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/internal/names"
)

// Gain turns the label of a document, its raw grade, into the gain ρ that DCG sums.
// The zero value is Exp2Gain.
type Gain int

const (
	Exp2Gain   Gain = iota // 2^label − 1 (Burges et al. 2005), the usual one
	LinearGain             // the label itself (Järvelin & Kekäläinen 2002)
	BinaryGain             // 1 for relevant documents, whose label is 1 or more, and 0 for others (precision and RBP)
)

// maxExp2Label is the highest label that Exp2Gain takes, as in XGBoost and LightGBM: the
// gain of a higher one hides all others.
const maxExp2Label = 31

// ErrHighLabel is returned for a label above 31 where the gain is Exp2Gain.
var ErrHighLabel = errors.New(`use the gain "linear"`)

var gainNames = []string{Exp2Gain: "exp2", LinearGain: "linear", BinaryGain: "binary"}

// String returns the name that ParseGain reads: "exp2", "linear" or "binary".
func (g Gain) String() string { return nameOf(gainNames, int(g), "Gain") }

// ParseGain reads "exp2", "linear" or "binary".
func ParseGain(name string) (Gain, error) { return parseName[Gain](gainNames, name, "gain") }

// Of returns the gain of one label, and an error if the label is negative, NaN, infinite or, for
// Exp2Gain, above 31.
func (g Gain) Of(label float32) (float64, error) {
	l := float64(label)
	switch {
	case l-l != 0:
		return 0, fmt.Errorf("label %v: it must be finite", label)
	case l < 0:
		return 0, fmt.Errorf("label %v is negative: a grade is 0 or more; leave unlabelled documents out or label them 0", label)
	}
	switch g {
	case Exp2Gain:
		if label > maxExp2Label {
			return 0, fmt.Errorf("label %v is too high for a gain of 2^label − 1 (at most %d): %w", label, maxExp2Label, ErrHighLabel)
		}
		if grade := uint(label); float32(grade) == label { // the usual case needs no exponential
			return float64(uint(1)<<grade - 1), nil
		}
		return math.Exp2(l) - 1, nil
	case LinearGain:
		return l, nil
	case BinaryGain:
		if label >= 1 {
			return 1, nil
		}
		return 0, nil
	}
	return 0, fmt.Errorf("metrics: invalid gain: %v", g)
}

// Gains returns the gains of labels, row by row. An error names the row.
func (g Gain) Gains(labels []float32) ([]float64, error) {
	gains, err := appendValues(make([]float64, 0, len(labels)), labels, g.Of)
	if bad := (*rowError)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("metrics: row %d: %w", bad.row, bad.err)
	}
	return gains, nil
}

// Gains32 returns the gains of labels as float32, for graphs of that type.
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

// appendValues appends the values of labels to dst. Its error is a *rowError.
func appendValues(dst []float64, labels []float32, value func(label float32) (float64, error)) ([]float64, error) {
	for row, label := range labels {
		v, err := value(label)
		if err != nil {
			return dst, &rowError{row, err}
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// Ties says how documents of equal scores are ranked. The zero value is TiesRandom.
type Ties int

const (
	// TiesRandom gives the expected value over random orders of documents with equal scores. It
	// is exact for every built-in metric (McSherry & Najork, ECIR 2008, have most of the
	// formulas) and a mean over some orders for a custom measure. The order of the rows does
	// not matter.
	TiesRandom Ties = iota
	// TiesOrder ranks them in the order of the rows: a constant score then ranks as the
	// file does.
	TiesOrder
)

var tiesNames = []string{TiesRandom: "random", TiesOrder: "order"}

// String returns the name that ParseTies reads: "random" or "order".
func (t Ties) String() string { return nameOf(tiesNames, int(t), "Ties") }

// ParseTies reads "random" or "order".
func ParseTies(name string) (Ties, error) {
	return parseName[Ties](tiesNames, name, "way to rank ties")
}

// LabelFree says what a query counts in a mean if the metric is not defined for it, because
// it has no relevant document. The zero value is LabelFreeZero.
type LabelFree int

const (
	LabelFreeZero LabelFree = iota // it counts 0 (the LETOR tools, RankLib)
	LabelFreeOne                   // it counts 1 (LightGBM, XGBoost, CatBoost)
	LabelFreeSkip                  // it is left out of the mean
	LETOR4                         // it counts 0, and ndcg means letor4-ndcg (LETOR 4.0's tools; their MAP and precision are the usual ones)
)

var labelFreeNames = []string{LabelFreeZero: "zero", LabelFreeOne: "one", LabelFreeSkip: "skip", LETOR4: "letor4"}

// String returns the name that ParseLabelFree reads: "zero", "one", "skip" or "letor4".
func (l LabelFree) String() string { return nameOf(labelFreeNames, int(l), "LabelFree") }

// ParseLabelFree reads "zero", "one", "skip" or "letor4".
func ParseLabelFree(name string) (LabelFree, error) {
	return parseName[LabelFree](labelFreeNames, name, "convention for label-free queries")
}

// counted returns the value by which v enters a mean, and whether it does.
func (l LabelFree) counted(v float64) (float64, bool) {
	switch {
	case !math.IsNaN(v):
		return v, true
	case l == LabelFreeOne:
		return 1, true
	}
	return 0, l != LabelFreeSkip
}

// Counted returns the values that enter a mean, in order, with NaN replaced or left out. Use it
// before significance tests and bootstrap intervals.
func (l LabelFree) Counted(perQuery []float64) []float64 {
	counted := make([]float64, 0, len(perQuery))
	for _, v := range perQuery {
		if v, counts := l.counted(v); counts {
			counted = append(counted, v)
		}
	}
	return counted
}

// nameOf returns the name of setting i.
func nameOf(names []string, i int, typeName string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", typeName, i)
	}
	return names[i]
}

// parseName is the inverse of nameOf. The error of an unknown name lists the valid ones.
func parseName[T ~int](valid []string, name, what string) (T, error) {
	if i := slices.Index(valid, name); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("metrics: unknown %s %q: %s", what, name, names.Want(name, valid))
}
