package plackett_test

import (
	"fmt"

	"github.com/plrank/plrank/plackett"
)

var (
	scores    = []float64{0.3, -1.1, 0.8} // log-scores of three documents
	gains     = []float64{0, 1, 3}        // 2^label − 1
	discounts = []float64{1, 0.6309}      // of DCG@2
)

// The gradient of the expected DCG@2 of three documents, exactly, and
// from a thousand samples.
func Example() {
	var expectation plackett.Expectation
	exact := make([]float64, 3)
	if _, err := expectation.Gradient(scores, gains, discounts, exact); err != nil {
		panic(err)
	}

	var sampler plackett.Sampler
	rankings := plackett.NewRankings(1000, 2)
	if err := sampler.Draw(scores, plackett.Stream{Seed: 42}, rankings); err != nil {
		panic(err)
	}
	var kernel plackett.Kernel
	lambda := make([]float64, 3)
	if _, err := kernel.Gradient(plackett.PLRankRB, scores, gains, discounts, rankings, lambda); err != nil {
		panic(err)
	}
	fmt.Printf("exact    %.2f\nsampled  %.2f\n", exact, lambda)
	// Output:
	// exact    [-0.38 -0.03 0.41]
	// sampled  [-0.39 -0.02 0.41]
}

// A custom objective for a boosted-tree library, such as LightGBM or XGBoost: in each
// round the library gives a score to every document, and wants the first and second derivative of a
// loss, here minus the expected DCG@2. For the second it takes the curvature, which is never negative.
func Example_boostedTrees() {
	var expectation plackett.Expectation
	// sizes are the numbers of documents of the queries, as in a .query file.
	objective := func(scores, gains []float64, sizes []int) (gradient, hessian []float64) {
		from := 0
		for _, size := range sizes {
			to := from + size
			lambda, curvature := make([]float64, size), make([]float64, size)
			if _, err := expectation.Curvature(scores[from:to], gains[from:to], discounts, lambda, curvature); err != nil {
				panic(err)
			}
			for _, x := range lambda {
				gradient = append(gradient, -x)
			}
			hessian = append(hessian, curvature...)
			from = to
		}
		return gradient, hessian
	}
	gradient, hessian := objective([]float64{0, 0, 0, 0, 0}, []float64{0, 3, 0, 1, 0}, []int{3, 2})
	fmt.Printf("%.2f\n%.2f\n", gradient, hessian)
	// Output:
	// [0.39 -0.77 0.39 -0.09 0.09]
	// [0.39 0.77 0.39 0.09 0.09]
}

// One ranking of all documents, such as a search engine that explores would show.
func ExampleSampler_Draw() {
	var sampler plackett.Sampler
	ranking := plackett.NewRankings(1, len(scores))
	if err := sampler.Draw(scores, plackett.Stream{Seed: 7}, ranking); err != nil {
		panic(err)
	}
	fmt.Println(ranking.Documents)
	// Output:
	// [0 1 2]
}

// How much exposure each document gets on average, if rank k is seen with probability θ_k.
func ExampleKernel_Exposure() {
	var sampler plackett.Sampler
	rankings := plackett.NewRankings(1000, 2)
	if err := sampler.Draw(scores, plackett.Stream{Seed: 42}, rankings); err != nil {
		panic(err)
	}
	var kernel plackett.Kernel
	exposure := make([]float64, len(scores))
	if err := kernel.Exposure(scores, discounts, rankings, exposure); err != nil {
		panic(err)
	}
	fmt.Printf("%.2f\n", exposure)
	// Output:
	// [0.66 0.18 0.79]
}

// The log-probability of a ranking that was shown, such as off-policy estimators need.
func ExampleKernel_LogProbs() {
	shown := plackett.Rankings{Documents: []int{2, 0}, Cutoff: 2}
	logs := make([]float64, 2)
	var kernel plackett.Kernel
	if err := kernel.LogProbs(scores, shown, logs); err != nil {
		panic(err)
	}
	fmt.Printf("%.3f, of the ranking %.3f\n", logs, logs[0]+logs[1])
	// Output:
	// [-0.563 -0.220], of the ranking -0.784
}

// The gradient without sampling. With
// other gains it is the gradient of a function of the exposures, here of their squared distance from
// what the documents should have.
func ExampleExpectation() {
	var e plackett.Expectation
	lambda := make([]float64, 3)
	value, err := e.Gradient(scores, gains, discounts, lambda)
	if err != nil {
		panic(err)
	}
	fmt.Printf("expected DCG@2 %.3f, gradient %.3f\n", value, lambda)

	exposure := make([]float64, 3)
	if err := e.Exposure(scores, discounts, exposure); err != nil {
		panic(err)
	}
	loss, cotangent := 0.0, make([]float64, 3)
	for d, wanted := range []float64{0.2, 0.3, 1} {
		loss += (exposure[d] - wanted) * (exposure[d] - wanted)
		cotangent[d] = 2 * (exposure[d] - wanted)
	}
	if _, err := e.Gradient(scores, cotangent, discounts, lambda); err != nil {
		panic(err)
	}
	fmt.Printf("loss of exposures %.3f, gradient %.3f\n", loss, lambda)
	// Output:
	// expected DCG@2 2.562, gradient [-0.383 -0.025 0.408]
	// loss of exposures 0.262, gradient [0.233 -0.094 -0.139]
}
