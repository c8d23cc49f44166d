package variance_test

import (
	"context"
	"fmt"

	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// How much ten sampled rankings tell each estimator about the gradient of DCG@5 of
// lists of 125 documents.
func Example() {
	lists := variance.Normal(50, 125, 1, 42)
	traces, err := variance.Measure(context.Background(), lists, metrics.Discounts(5), variance.Options{Samples: 10})
	if err != nil {
		panic(err)
	}
	mean := variance.Mean(traces)
	for _, m := range variance.Estimators() {
		ratio, _ := mean.Ratio(m.Name, plackett.PLRank2.String())
		fmt.Printf("%-19s %.2g\n", m.Name, ratio)
	}
	// Output:
	// policy-gradient     5.6
	// policy-gradient-loo 2.5
	// plrank1             2.1
	// plrank1-loo         0.99
	// plrank2             1
	// plrank2-loo         0.55
	// plrank2-expected    0.51
	// plrank-rb           0.0027
}
