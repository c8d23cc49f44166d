package metrics_test

import (
	"fmt"
	"log"

	"github.com/plrank/plrank/metrics"
)

// Two queries, of which the second has no relevant document.
func Example() {
	l := metrics.Lists{
		Scores:  []float64{0.2, 1.5, -0.3, 0.9, 0.1},
		Labels:  []float32{2, 0, 1, 0, 0},
		Offsets: []int{0, 3, 5},
	}
	ndcg, err := metrics.Parse("ndcg@5")
	if err != nil {
		log.Fatal(err)
	}
	perQuery, err := metrics.PerQuery(ndcg, l, metrics.Exp2Gain)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %.4f\n", ndcg, perQuery)
	for _, c := range []metrics.Convention{metrics.LabelFreeZero, metrics.LabelFreeOne, metrics.LabelFreeSkip} {
		fmt.Printf("mean, label-free queries %v: %.4f\n", c, metrics.Mean(perQuery, c))
	}
	expected, err := metrics.Expected(ndcg, l, metrics.Exp2Gain, metrics.Policy{Samples: 10000, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	mean, stdErr := expected.Mean(metrics.LabelFreeSkip)
	fmt.Printf("under the policy: %.1f, standard error below .01: %t\n", mean, stdErr < .01)
	// Output:
	// ndcg@5: [0.6590 NaN]
	// mean, label-free queries zero: 0.3295
	// mean, label-free queries one: 0.8295
	// mean, label-free queries skip: 0.6590
	// under the policy: 0.7, standard error below .01: true
}

// Is the second model better? Both were judged on the same queries.
func ExampleWilcoxon() {
	first := []float64{0.41, 0.62, 0.35, 0.80, 0.51, 0.47, 0.66, 0.29}
	second := []float64{0.48, 0.71, 0.33, 0.86, 0.64, 0.58, 0.65, 0.45}
	test, err := metrics.Wilcoxon(second, first)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean difference %.4f, p = %.4f\n", test.Difference, test.PValue)
	differences, err := metrics.Differences(second, first)
	if err != nil {
		log.Fatal(err)
	}
	interval, err := metrics.Bootstrap{Seed: 1}.MeanInterval(differences)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("95 %% interval [%.2f, %.2f]\n", interval.Low, interval.High)
	// Output:
	// mean difference 0.0737, p = 0.0391
	// 95 % interval [0.03, 0.11]
}

// Two relevant documents with equal scores: ranked, one stands first (by row), and
// under the policy they take turns.
func ExampleFairness() {
	l := metrics.Lists{Scores: []float64{10, 10, 0}, Labels: []float32{1, 1, 0}}
	discounts := metrics.Discounts(3)
	ranked, err := metrics.RankExposure(l, discounts)
	if err != nil {
		log.Fatal(err)
	}
	shared, err := metrics.Exposure(l, discounts, metrics.Policy{Samples: 100000, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, exposure := range [][]float64{ranked, shared} {
		e := metrics.Exposed{Exposure: exposure, Labels: l.Labels, Discounts: discounts}
		loss, err := metrics.EEL.PerQuery(e, metrics.Exp2Gain)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v of exposure %.2f: %.3f\n", metrics.EEL, exposure, loss[0])
	}
	// Output:
	// ee-l of exposure [1.00 0.63 0.50]: 0.068
	// ee-l of exposure [0.81 0.82 0.50]: 0.000
}
