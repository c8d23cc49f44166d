package metrics

import "math"

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

// String is the name that ParseLabelFree reads: "zero", "one", "skip" or "letor4".
func (l LabelFree) String() string { return nameOf(labelFreeNames, int(l), "LabelFree") }

// ParseLabelFree reads "zero", "one", "skip" or "letor4".
func ParseLabelFree(name string) (LabelFree, error) {
	i, err := indexOf(labelFreeNames, name, "convention for label-free queries")
	return LabelFree(i), err
}

// counted is the value that enters a mean, and whether any does.
func (l LabelFree) counted(v float64) (float64, bool) {
	switch {
	case !math.IsNaN(v):
		return v, true
	case l == LabelFreeOne:
		return 1, true
	}
	return 0, l != LabelFreeSkip
}

// Counted gives the values that enter a mean, in their order: NaN is replaced or left out.
// Significance tests and bootstrap intervals take these values.
func (l LabelFree) Counted(perQuery []float64) []float64 {
	counted := make([]float64, 0, len(perQuery))
	for _, v := range perQuery {
		if v, counts := l.counted(v); counts {
			counted = append(counted, v)
		}
	}
	return counted
}

// Mean is the mean over queries, of which those that are NaN count as l says. It is NaN if
// no query counts.
func Mean(perQuery []float64, l LabelFree) float64 {
	sum, n := 0.0, 0
	for _, v := range l.Counted(perQuery) {
		sum += v
		n++
	}
	return sum / float64(n)
}
