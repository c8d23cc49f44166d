package plackett_test

import (
	"fmt"

	"github.com/plrank/plrank/plackett"
)

// The gradient of the expected DCG@2 of three documents, from all rankings, and
// from a thousand samples.
func Example() {
	scores := []float64{0.3, -1.1, 0.8}
	gains := []float64{0, 1, 3}
	discounts := []float64{1, 0.6309}

	exact, err := plackett.EnumerateMoments(scores, gains, discounts)
	if err != nil {
		panic(err)
	}

	var sampler plackett.Sampler
	rankings := plackett.Rankings{Documents: make([]int, 1000*2), Cutoff: 2}
	if err := sampler.Draw(scores, 1000, 2, 42, 0, 0, 0, rankings.Documents); err != nil {
		panic(err)
	}
	var kernel plackett.Kernel
	lambda := make([]float64, 3)
	if _, err := kernel.Gradient(plackett.PLRankRB, scores, gains, discounts, rankings, lambda); err != nil {
		panic(err)
	}
	fmt.Printf("exact    %.2f\nsampled  %.2f\n", exact.Gradient, lambda)
	// Output:
	// exact    [-0.38 -0.03 0.41]
	// sampled  [-0.39 -0.02 0.41]
}
