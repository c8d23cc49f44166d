package metrics_test

import (
	"fmt"
	"log"
	"slices"

	"github.com/plrank/plrank/metrics"
)

// Two queries; the second has no relevant document.
func Example() {
	in := metrics.Queries{
		Scores:  []float64{0.2, 1.5, -0.3, 0.9, 0.1},
		Labels:  []float32{2, 0, 1, 0, 0},
		Offsets: []int{0, 3, 5},
	}
	ndcg, err := metrics.ParseMeasure("ndcg@5")
	if err != nil {
		log.Fatal(err)
	}
	perQuery, err := ndcg.PerQuery(in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %.4f\n", ndcg, perQuery)
	for _, l := range []metrics.LabelFree{metrics.LabelFreeZero, metrics.LabelFreeOne, metrics.LabelFreeSkip} {
		fmt.Printf("mean, label-free queries %v: %.4f\n", l, metrics.Mean(perQuery, l))
	}
	expected, err := ndcg.Expected().PerQuery(in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("under the policy: %.4f\n", metrics.Mean(expected, metrics.LabelFreeSkip))
	// Output:
	// ndcg@5: [0.6590 NaN]
	// mean, label-free queries zero: 0.3295
	// mean, label-free queries one: 0.8295
	// mean, label-free queries skip: 0.6590
	// under the policy: 0.7049
}

// The share of the queries that have a document of the highest grade on top.
func ExampleNewMeasure() {
	top := metrics.NewMeasure("top", false, func(in metrics.Queries) ([]float64, error) {
		var perQuery []float64
		for q, first := range in.Offsets[:len(in.Offsets)-1] {
			end := in.Offsets[q+1]
			best := metrics.Rank(in.Scores[first:end])[0]
			hit := 0.0
			if in.Labels[first+best] == slices.Max(in.Labels[first:end]) {
				hit = 1
			}
			perQuery = append(perQuery, hit)
		}
		return perQuery, nil
	})
	ndcg, err := metrics.ParseMeasure("ndcg@1")
	if err != nil {
		log.Fatal(err)
	}
	in := metrics.Queries{
		Scores:  []float64{0.2, 1.5, -0.3, 0.9, 0.1},
		Labels:  []float32{2, 0, 1, 1, 0},
		Offsets: []int{0, 3, 5},
	}
	means, err := metrics.Means(in, []metrics.Measure{top, ndcg})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: %.1f, %v: %.1f\n", top, means[0], ndcg, means[1])
	// Output:
	// top: 0.5, ndcg@1: 0.5
}

// Is the second model better? Both were measured on the same queries.
func ExamplePairedT() {
	first := []float64{0.41, 0.62, 0.35, 0.80, 0.51, 0.47, 0.66, 0.29}
	second := []float64{0.48, 0.71, 0.33, 0.86, 0.64, 0.58, 0.65, 0.45}
	test, err := metrics.PairedT(second, first)
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
	// mean difference 0.0737, p = 0.0134
	// 95 % interval [0.03, 0.11]
}

// The ranking always puts the same one of two relevant documents first. Under the policy
// they take turns.
func ExampleExposure() {
	in := metrics.Queries{
		Scores:    []float64{10.01, 10, 0},
		Labels:    []float32{1, 1, 0},
		Discounts: metrics.Discounts(3),
	}
	ranked := in.Discounts // of the ranking by descending score
	shared, err := metrics.Exposure(in)
	if err != nil {
		log.Fatal(err)
	}
	eel, err := metrics.ParseMeasure("ee-l")
	if err != nil {
		log.Fatal(err)
	}
	for _, exposure := range [][]float64{ranked, shared} {
		in.Exposure = exposure
		loss, err := eel.PerQuery(in)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v of exposure %.1f: %.3f\n", eel, exposure, loss[0])
	}
	// Output:
	// ee-l of exposure [1.0 0.6 0.5]: 0.068
	// ee-l of exposure [0.8 0.8 0.5]: 0.000
}

func ExampleParseDiscounts() {
	for _, text := range []string{"dcg", "precision", "arp", "rbp(0.5)", "3, 2, 1"} {
		o, err := metrics.ParseDiscounts(text, 3)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.2f %q\n", text, o.Discounts, o.Metric)
	}
	_, err := metrics.ParseDiscounts("ndcg", 3)
	fmt.Println(err)
	// Output:
	// dcg: [1.00 0.63 0.50] "dcg@3"
	// precision: [0.33 0.33 0.33] "precision@3"
	// arp: [3.00 2.00 1.00] "arp@3"
	// rbp(0.5): [0.50 0.25 0.12] "rbp(p=0.5)@3"
	// 3, 2, 1: [3.00 2.00 1.00] ""
	// metrics: discounts "ndcg": number 1, "ndcg": want dcg, precision, arp, rbp, rbp(persistence), or finite numbers with commas between
}

// Three runs by the values of eight queries.
func ExampleCompare() {
	ndcg, err := metrics.ParseMeasure("ndcg@10")
	if err != nil {
		log.Fatal(err)
	}
	runs := [][]float64{
		{0.91, 0.62, 0.40, 0.75, 1, 0.55, 0.83, 0.64},
		{0.85, 0.50, 0.43, 0.60, 1, 0.41, 0.70, 0.60},
		{0.88, 0.55, 0.31, 0.63, 0.9, 0.43, 0.63, 0.61},
	}
	pairs, err := metrics.Compare(ndcg, runs, metrics.Bootstrap{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range pairs {
		fmt.Printf("%d − %d: %+.3f, t-test p = %.3f, randomization p = %.3f, won %d, lost %d\n",
			p.A, p.B, p.Difference.Mean, p.T.Holm, p.Randomization.Holm, p.Wins, p.Losses)
	}
	// Output:
	// 0 − 1: +0.076, t-test p = 0.033, randomization p = 0.062, won 6, lost 1
	// 0 − 2: +0.095, t-test p = 0.006, randomization p = 0.023, won 8, lost 0
	// 1 − 2: +0.019, t-test p = 0.454, randomization p = 0.469, won 3, lost 5
}
