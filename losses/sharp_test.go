package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// sharp is a fixture of two queries of a policy that is as sure as they become by
// training: the scores are so far apart that e^−gap is below the smallest normal number of
// the dtype for many pairs of documents.
func sharp(gap float64) fixture {
	rng := rand.New(rand.NewPCG(6, 6))
	f := fixture{offsets: []int{0, 60, 120}, discounts: []float64{1, .63, .5, .43, .39}}
	for range 120 {
		label := float64(rng.IntN(4))
		f.scores = append(f.scores, gap*(rng.Float64()+.1*label))
		f.labels = append(f.labels, label)
		f.gains = append(f.gains, math.Exp2(label)-1)
		f.groups = append(f.groups, rng.IntN(3))
	}
	return f
}

// The gradient of a sharp policy has no number below the smallest normal one, for which
// some processors take a hundred times as long as for others, in any loss.
func TestSharpPoliciesHaveNoSubnormalGradients(t *testing.T) {
	for _, c := range []struct {
		dt     tensor.Dtype
		normal float64 // the smallest
		gaps   []float64
	}{{tensor.Float32, 0x1p-126, []float64{90, 150, 400}}, {tensor.Float64, 0x1p-1022, []float64{750, 1500}}} {
		for _, gap := range c.gaps {
			f := sharp(gap)
			for _, name := range losses.Names() {
				b := sampled(t, f.batch(c.dt))
				_, gradient := differentiate(t, build(t, name, b), b.Lists.Scores)
				count := 0
				for _, v := range gradient {
					if v != 0 && math.Abs(v) < c.normal {
						count++
					}
				}
				if count > 0 {
					t.Errorf("%s: %d of %d numbers of the gradient are subnormal", fmt.Sprint(name, ", ", c.dt, ", gap ", gap), count, len(gradient))
				}
			}
		}
	}
}
