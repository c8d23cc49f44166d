package nn

import (
	"math/rand/v2"

	"github.com/plrank/plrank/internal/model"
)

// initialise sets the weights of a new model: each array from its own stream of the seed.
func initialise(weights *Weights, seed uint64, arrays []model.Array) error {
	for _, a := range arrays {
		initial := make([]float64, Array{Shape: a.Shape}.Size())
		rng := rand.New(rand.NewPCG(seed, a.Initial.Stream))
		for i := range initial {
			switch {
			case a.Initial.Limit == 0:
				initial[i] = a.Initial.Value
			case i >= a.Initial.Zeros:
				initial[i] = a.Initial.Limit * (2*rng.Float64() - 1)
			}
		}
		if err := weights.Set(a.Name, initial); err != nil {
			return err
		}
	}
	return nil
}

// arraysOf are the arrays as models have them.
func arraysOf(described []model.Array) (arrays []Array) {
	for _, a := range described {
		arrays = append(arrays, Array{Name: a.Name, Shape: a.Shape, Bias: a.Bias, Inputs: a.Inputs})
	}
	return arrays
}
