package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"
)

// finiteWeights is the hook that ends a run whose weights are not finite any more.
type finiteWeights struct{ idle }

func (finiteWeights) stepped(s *step) error {
	if !allFinite(s.weights) {
		return &weightError{s.weights[slices.IndexFunc(s.weights, notFinite)]}
	}
	return nil
}

// weightError is a weight that a step has made infinite.
type weightError struct{ weight float32 }

func (e *weightError) Error() string {
	return fmt.Sprintf("a weight became %v: a lower learning rate, or clipping the gradient, may help", e.weight)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func notFinite(v float32) bool { return v-v != 0 }

func allFinite(v []float32) bool {
	sum := vek32.Sum(v) // finite only if all are, but it may be too large itself
	return !notFinite(sum) || !slices.ContainsFunc(v, notFinite)
}
