package train

import (
	"slices"

	"github.com/plrank/plrank/nn"
)

// newHooks are the hooks of a run, in the order in which the loop calls them at each moment. The
// weights that are evaluated are averaged ones with Config.Average.
func newHooks(c Config, s schedule, arrays []nn.Array, evaluated []float32, v *validation, h *history) []hook {
	list := []hook{
		newRates(c, s, h),
		newSkipping(c.OnNaN),
		newL2(c.L2, arrays),
		&clipping{most: c.Clip},
		newGroupLasso(c.GroupLasso, arrays),
		finiteWeights{},
		newAverage(c.Average, evaluated),
		v,
		h,
		&patience{history: h, epochs: c.Epochs, patience: c.Patience},
	}
	return slices.DeleteFunc(list, func(h hook) bool { return h == nil })
}
