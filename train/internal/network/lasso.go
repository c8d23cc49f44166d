package network

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/batches"
)

// GroupLasso makes a proximal step after a step of the optimizer at
// rate η, by which the n weights w_j that lead from input j into the first layer become
//
//	w_j · max(0, 1 − ηλ·√n·√(r̄/r_j) / ‖w_j‖),
//
// where r_j = ‖w_j‖/√n, and r̄ is the mean of r_j over the inputs. Without √(r̄/r_j) it is the step of the penalty λ·√n·Σ_j ‖w_j‖
// (group lasso: Yuan & Lin 2006; proximal: Parikh & Boyd 2014, section 6.5.4). With it inputs of small weights, mostly
// noise, are shrunk more than others: it is the step of a penalty on the roots of the norms (group bridge: Huang
// et al. 2009), made linear around the weights as they are (Zou & Li 2008). Of an input with bins, lines and bends, see [coordinates], are
// two such groups, and r_j is over both. The weights of an input that says nothing about the objective become exactly 0; with Adam,
// whose steps are no smaller where the gradient is, only if λ is large enough.
func GroupLasso(weights []float32, arrays []nn.Array, step float64) {
	for _, a := range arrays {
		if layer := weights[:a.Size()]; a.Inputs && len(layer) > 0 {
			shrinkInputs(layer, a.Size()/a.Shape[0], a.Bins, step)
		}
		weights = weights[a.Size():]
	}
}

// shrinkInputs is a step of ηλ on a first layer, in rows of weights: of the first inputs one for each bin, and one
// of every other.
func shrinkInputs(weights []float32, row int, bins []int, step float64) {
	var inputs [][]float32
	for len(weights) > 0 {
		n := row
		if len(inputs) < len(bins) {
			n *= bins[len(inputs)]
		}
		inputs, weights = append(inputs, weights[:n]), weights[n:]
	}
	lines, bends, sizes := make([]float64, len(inputs)), make([]float64, len(inputs)), make([]float64, len(inputs))
	mean, workers := 0., parallel.Workers(len(inputs))
	parallel.For(len(inputs), workers, func(_, j int) {
		w := inputs[j]
		lines[j], bends[j] = batches.Norm(w[:row]), batches.Norm(w[row:])
		sizes[j] = math.Sqrt((lines[j]*lines[j] + bends[j]*bends[j]) / float64(len(w)))
	})
	for _, size := range sizes {
		mean += size / float64(len(inputs))
	}
	parallel.For(len(inputs), workers, func(_, j int) {
		w, by := inputs[j], step*math.Sqrt(mean/sizes[j])
		shrink(w[:row], lines[j], by)
		shrink(w[row:], bends[j], by)
	})
}

// shrink makes the norm n of weights smaller by as much as by times the root of their number, to 0 at most.
func shrink(weights []float32, n, by float64) {
	if n != 0 {
		blas32.Scal(float32(max(0, 1-by*math.Sqrt(float64(len(weights)))/n)), vector(weights)) // NaN stays
	}
}

func vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }
