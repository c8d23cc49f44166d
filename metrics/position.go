package metrics

import (
	"gonum.org/v1/gonum/floats"
)

// prepareARP writes ARP@k as a sum over the ranks up to k:
// (k+1) − Σ_{r≤k} (k+1−r) label_r / Σ label.
func prepareARP(e *evaluator, labels []float32) (bool, error) {
	beyond := e.metric.cutoff + 1
	if e.metric.cutoff == 0 {
		beyond = len(labels) + 1
	}
	e.setWeights(len(labels), func(rank float64) float64 { return rank - float64(beyond) })
	err := e.setValues(labels, LinearGain.Of)
	e.base, e.norm = float64(beyond), floats.Sum(e.values)
	return e.norm > 0, err
}
