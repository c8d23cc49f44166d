package clicks_test

import (
	"fmt"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
)

// A log of a policy that draws documents evenly says how much better another one would do,
// which ranks are examined, and what the documents are worth.
func Example() {
	d := &datasets.Dataset{
		Labels: []float32{0, 0, 1, 0, 1, 0}, Offsets: []int{0, 3, 6}, QueryIDs: []string{"red shoes", "blue shoes"},
		DocumentIDs: []string{"boot", "hat", "shoe", "sky", "jeans", "sea"},
	}
	user := clicks.User{Behaviour: clicks.PositionBased([]float64{1, .5}), Attraction: func(label float32) float64 { return .1 + .8*float64(label) }}
	log, err := clicks.Simulate(d, clicks.Logger{Cutoff: 2}, user, 5000, 1)
	if err != nil {
		panic(err)
	}

	bias, report, err := clicks.EstimateBias(log, clicks.Harvest)
	if err != nil {
		panic(err)
	}
	fmt.Printf("position bias %.1f, compared: %v\n", bias.Alpha, report.Connected)

	better := func(im *clicks.Impression) ([]float64, error) {
		scores := make([]float64, len(im.Documents))
		for d, name := range im.Documents {
			if name == "shoe" || name == "jeans" {
				scores[d] = 2
			}
		}
		return scores, nil
	}
	estimates, err := clicks.Evaluate(log, clicks.Target{Policy: better, Baseline: clicks.Logged, Bootstrap: metrics.Bootstrap{Resamples: 500}}, clicks.IIPS)
	if err != nil {
		panic(err)
	}
	e := estimates[0]
	fmt.Printf("%.1f clicks per impression, %.1f more than now; better: %v\n", e.Value, e.Difference.Mean, e.Difference.Low > 0)

	gains, err := clicks.Gains(log, bias, clicks.DR)
	if err != nil {
		panic(err)
	}
	fmt.Printf("gains of %s %.1f\n", gains.QueryIDs[0], gains.Gains[:3])
	// Output:
	// position bias [1.0 0.5], compared: [[1 2]]
	// 0.8 clicks per impression, 0.3 more than now; better: true
	// gains of blue shoes [0.1 0.9 0.1]
}
