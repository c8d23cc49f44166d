package variance_test

import (
	"context"
	"fmt"

	"github.com/plrank/plrank/cmd/internal/variance"
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
	for _, e := range variance.Estimators {
		ratio, _ := mean.Ratio(e, plackett.PLRank2)
		fmt.Printf("%-15s %.3g\n", e, ratio)
	}
	// Output:
	// policy-gradient 5.62
	// plrank1         2.06
	// plrank2         1
	// plrank-rb       0.0027
}
