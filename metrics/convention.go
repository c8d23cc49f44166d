package metrics

import "math"

// Convention says what a query for which a metric is not defined (no relevant
// document) counts in a mean. The zero value is LabelFreeZero.
type Convention int

const (
	LabelFreeZero Convention = iota // it counts 0 (the LETOR tools, RankLib)
	LabelFreeOne                    // it counts 1 (LightGBM, XGBoost, CatBoost)
	LabelFreeSkip                   // it is left out of the mean
)

var conventionNames = []string{LabelFreeZero: "zero", LabelFreeOne: "one", LabelFreeSkip: "skip"}

// String is the name that ParseConvention reads: "zero", "one" or "skip".
func (c Convention) String() string { return nameOf(conventionNames, int(c), "Convention") }

// ParseConvention reads the name of a convention: "zero", "one" or "skip".
func ParseConvention(name string) (Convention, error) {
	i, err := indexOf(conventionNames, name, "convention for label-free queries")
	return Convention(i), err
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
		case c == LabelFreeZero:
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
