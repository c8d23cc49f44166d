package metrics

import "math"

// Convention says what a query for which a metric is not defined (no relevant
// document) counts in a mean. The zero value is LabelFreeZero.
type Convention int

const (
	LabelFreeZero Convention = iota // it counts 0 (the LETOR tools, RankLib)
	LabelFreeOne                    // it counts 1 (LightGBM, XGBoost, CatBoost)
	LabelFreeSkip                   // it is left out of the mean
	LETOR4                          // it counts 0, and ndcg means letor4-ndcg (LETOR 4.0's tools; their MAP and precision are the usual ones)
)

var conventionNames = []string{LabelFreeZero: "zero", LabelFreeOne: "one", LabelFreeSkip: "skip", LETOR4: "letor4"}

// String is the name that ParseConvention reads: "zero", "one", "skip" or
// "letor4".
func (c Convention) String() string { return nameOf(conventionNames, int(c), "Convention") }

// ParseConvention reads the name of a convention: "zero", "one", "skip" or
// "letor4".
func ParseConvention(name string) (Convention, error) {
	i, err := indexOf(conventionNames, name, "convention for label-free queries")
	return Convention(i), err
}

// metric is the metric that m means under the convention.
func (c Convention) metric(m metric) metric {
	if c == LETOR4 && m.kind == ndcg {
		m.kind = letor4NDCG
	}
	return m
}

// counted is the value that enters a mean, if any does.
func (c Convention) counted(v float64) (float64, bool) {
	switch {
	case !math.IsNaN(v):
		return v, true
	case c == LabelFreeOne:
		return 1, true
	}
	return 0, c != LabelFreeSkip
}

// Counted gives the values that enter a mean under the convention: NaN is
// replaced, or left out, the order stays. It is what significance tests and
// bootstrap intervals are to be given.
func (c Convention) Counted(perQuery []float64) []float64 {
	counted := make([]float64, 0, len(perQuery))
	for _, v := range perQuery {
		if v, counts := c.counted(v); counts {
			counted = append(counted, v)
		}
	}
	return counted
}

// Mean is the mean over queries under the convention for those that are NaN,
// and NaN itself where no query counts.
func Mean(perQuery []float64, c Convention) float64 {
	sum, n := 0.0, 0
	for _, v := range c.Counted(perQuery) {
		sum += v
		n++
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / float64(n)
}
