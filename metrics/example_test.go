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
	fmt.Printf("under the policy: %.2f, standard error below .01: %t\n", mean, stdErr < .01)
	// Output:
	// ndcg@5: [0.6590 NaN]
	// mean, label-free queries zero: 0.3295
	// mean, label-free queries one: 0.8295
	// mean, label-free queries skip: 0.6590
	// under the policy: 0.71, standard error below .01: true
}
