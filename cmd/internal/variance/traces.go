package variance

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/plackett"
)

const estimators = 4

// Estimators are those whose traces are measured.
var Estimators = [estimators]plackett.Estimator{
	plackett.PolicyGradient, plackett.PLRank1, plackett.PLRank2, plackett.PLRankRB,
}

// Traces are estimates of the traces of the covariances of all [Estimators] for one
// list, or their means over lists, with what is known of their errors.
type Traces struct {
	mean       [estimators]float64
	covariance [estimators][estimators]float64 // of the errors of mean
}

// newTraces sums up distances whose expectations are the traces. They count as
// independent of each other, which they are but for the common λ̄: errors come out too
// small where there are only a few.
func newTraces(distances [][estimators]float64) Traces {
	var t Traces
	n := float64(len(distances))
	for _, x := range distances {
		for e := range x {
			t.mean[e] += x[e] / n
		}
	}
	for _, x := range distances {
		for a := range x {
			for b := range x {
				t.covariance[a][b] += (x[a] - t.mean[a]) * (x[b] - t.mean[b]) / (n * (n - 1))
			}
		}
	}
	return t
}

// Mean is the mean over lists. Its errors are those of the traces of these lists;
// that the lists may be a sample of others is not in them. Without lists it is NaN.
func Mean(lists []Traces) Traces {
	var t Traces
	n := float64(len(lists))
	for a := range t.mean {
		for _, l := range lists {
			t.mean[a] += l.mean[a]
			for b := range t.mean {
				t.covariance[a][b] += l.covariance[a][b]
			}
		}
		t.mean[a] /= n
		for b := range t.mean {
			t.covariance[a][b] /= n * n
		}
	}
	return t
}

// Trace is the trace of an estimator and its standard error.
func (t Traces) Trace(e plackett.Estimator) (trace, stdErr float64) {
	i := index(e)
	return t.mean[i], math.Sqrt(t.covariance[i][i])
}

// Ratio is the trace of an estimator divided by that of another one, and its
// standard error to first order (the delta method, with the covariance of the two).
// Where the other one's trace is 0 both are NaN.
func (t Traces) Ratio(e, to plackett.Estimator) (ratio, stdErr float64) {
	i, j := index(e), index(to)
	if t.mean[j] == 0 {
		return math.NaN(), math.NaN()
	}
	ratio = t.mean[i] / t.mean[j]
	variance := t.covariance[i][i] - 2*ratio*t.covariance[i][j] + ratio*ratio*t.covariance[j][j]
	return ratio, math.Sqrt(max(0, variance)) / t.mean[j]
}

func index(e plackett.Estimator) int {
	for i, other := range Estimators {
		if other == e {
			return i
		}
	}
	panic(fmt.Sprintf("variance: %s is not among the estimators that are measured", e))
}
