package metrics

import "math"

// Convention says what a query for which a metric is not defined (no relevant
// document) counts in a mean. The zero value is LabelFreeZero.
type Convention int

const (
	LabelFreeZero Convention = iota // it counts 0 (the LETOR tools, RankLib)
	LabelFreeOne                    // it counts 1 (LightGBM, XGBoost, CatBoost)
	LabelFreeSkip                   // it is left out of the mean
	LETOR4                          // it counts 0, and NDCG is LETOR 4.0's, see Convention.Metric
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

// Metric is the metric that a name like ndcg@5 means under the convention. It
// differs from m for LETOR4 alone, whose NDCG ("letor4-ndcg") discounts rank 2 by
// 1 and the others by 1/log2(rank), and is 0 at cutoffs beyond the end of a list.
// The mean of it over all cutoffs, MeanNDCG, is "letor4-meanndcg"; LETOR 4.0's
// MAP and precision are the usual ones.
func (c Convention) Metric(m Metric) Metric {
	if c == LETOR4 && m.kind == ndcg {
		m.kind = letor4NDCG
	}
	return m
}

// Counted gives the values that enter a mean under the convention: NaN is
// replaced, or left out, the order stays. It is what significance tests and
// bootstrap intervals are to be given.
func (c Convention) Counted(perQuery []float64) []float64 {
	counted := make([]float64, 0, len(perQuery))
	for _, v := range perQuery {
		switch {
		case !math.IsNaN(v):
			counted = append(counted, v)
		case c == LabelFreeZero, c == LETOR4:
			counted = append(counted, 0)
		case c == LabelFreeOne:
			counted = append(counted, 1)
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
