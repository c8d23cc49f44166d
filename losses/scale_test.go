package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
)

// Gains and weights near the ends of float32: a loss has the gradient that it has in float64,
// in sign and size, or the run returns an error that says so.
func TestGainsAndWeightsNearTheEndsOfFloat32(t *testing.T) {
	f := newFixture(func(rng *rand.Rand, _ int) float64 { return float64(float32(rng.NormFloat64())) })
	ones := slices.Repeat([]float64{1}, len(f.scores))
	queries := slices.Repeat([]float64{1}, len(f.offsets)-1)
	times := func(x []float64, factor float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(float32(v * factor))
		}
		return y
	}
	run := func(name string, dt tensor.Dtype, gains, documents, perQuery []float64) ([]float64, error) {
		g := f
		g.gains = gains
		b := sampled(t, g.batch(dt))
		graph := b.Lists.Scores.Graph()
		b.DocumentWeights = vector(graph, "document weights", dt, documents)
		b.QueryWeights = vector(graph, "query weights", dt, perQuery)
		loss, err := losses.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		node, err := losses.Mean(loss, b)
		if err != nil {
			return nil, err
		}
		value, gradient, err := differentiated(node, b.Lists.Scores)
		if err == nil && value-value != 0 {
			err = fmt.Errorf("silently %v", value)
		}
		return gradient, err
	}
	for _, name := range losses.Names() {
		if _, by, ok := strings.Cut(name, "("); ok && by != "plrank-rb)" {
			continue // has the range of the loss without a parameter, whatever the estimator
		}
		if terms, _ := losses.Terms(name); terms[0].Sampled && strings.Contains(name, "plrank") && name != "plrank-rb" && !strings.Contains(name, "(") {
			continue // estimators have one range
		}
		if name == "exact-success" {
			continue // it is certain here, and its gradient is rounding
		}
		for _, factor := range []float64{0x1p-140, 1e-38, 1e-20, 1e-10, 1e20, 4e37} {
			for _, what := range []string{"gains", "document weights", "query weights", "term", "gains and query weights"} {
				gains, documents, perQuery, loss := f.gains, ones, queries, name
				switch what {
				case "gains":
					gains = times(f.gains, factor)
				case "document weights":
					documents = times(ones, factor)
				case "query weights":
					perQuery = times(queries, factor)
				case "gains and query weights":
					gains, perQuery = times(f.gains, factor), times(queries, factor)
				default:
					loss = fmt.Sprintf("%v*%s", factor, name)
				}
				where := fmt.Sprintf("%s, %s × %v", name, what, factor)
				got, err := run(loss, tensor.Float32, gains, documents, perQuery)
				if err != nil {
					if !strings.Contains(err.Error(), "float32") {
						t.Errorf("%s: %v", where, err)
					}
					if factor > 1e-11 && factor < 1e11 && what != "gains and query weights" {
						t.Errorf("%s is refused: %v", where, err)
					}
					continue
				}
				want, err := run(loss, tensor.Float64, gains, documents, perQuery)
				if err != nil {
					t.Fatal(where, err)
				}
				size := 0.0
				for _, v := range want {
					size = max(size, math.Abs(v))
				}
				for d, v := range want {
					if !(math.Abs(got[d]-v) <= 1e-4*size) {
						t.Errorf("%s: gradient[%d] is %v, in float64 %v", where, d, got[d], v)
						break
					}
				}
			}
		}
	}
}
