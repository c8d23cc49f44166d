package losses_test

import (
	"math"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// The losses that say so, and no others that go by gains, are the same where the gains of every query are divided by
// a number of its own.
func TestRatiosOfGainsAreEnough(t *testing.T) {
	for _, name := range losses.Names() {
		term, err := losses.Terms(name)
		if err != nil {
			t.Fatal(err)
		}
		if term[0].LabelFree {
			continue
		}
		value := func(divided bool) float64 {
			f := newFixture(normal)
			for q := range len(f.offsets) - 1 {
				for d := f.offsets[q]; d < f.offsets[q+1]; d++ {
					if divided {
						f.gains[d] /= float64(q + 2)
					}
				}
			}
			b := f.batch(tensor.Float64)
			b.Sampler, b.Exposure = ops.NewSampler(8, 5, 1), ops.NewSampler(20, 5, 2)
			v, _ := differentiate(t, build(t, name, b), b.Lists.Scores)
			return v
		}
		was, is := value(false), value(true)
		if same := math.Abs(is-was) <= 1e-12*math.Abs(was); same != term[0].RatioOnly {
			t.Errorf("%s: %v, and %v by divided gains; by ratios alone: %t", name, was, is, term[0].RatioOnly)
		}
	}
}
