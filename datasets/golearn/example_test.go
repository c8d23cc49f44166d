package golearn_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/sjwhitworth/golearn/trees"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/datasets/golearn"
	"github.com/plrank/plrank/metrics"
)

// queries are documents whose label is the sum of two of three features.
func queries(n int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := &datasets.Dataset{FeatureIDs: []int{1, 2, 4}, Offsets: []int{0}}
	for q := range n {
		for range 5 + rng.IntN(5) {
			a, b := float32(rng.IntN(2)), float32(rng.IntN(2))
			d.Features = append(d.Features, a, rng.Float32(), b)
			d.Labels = append(d.Labels, a+b)
		}
		d.QueryIDs = append(d.QueryIDs, fmt.Sprint(q+1))
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// A regression tree of golearn's as a baseline. It has no difficulty with a label that is the
// sum of two features. Given to a train.Trainer's Report as a train.Baseline, it is in the tables.
func ExampleGrid_baseline() {
	train, err := golearn.Grid(queries(30, 1), golearn.GridOptions{})
	if err != nil {
		log.Fatal(err)
	}
	tree := trees.NewDecisionTreeRegressor("mse", 4)
	if err := tree.Fit(train); err != nil {
		log.Fatal(err)
	}
	test := queries(10, 3)
	grid, err := golearn.Grid(test, golearn.GridOptions{})
	if err != nil {
		log.Fatal(err)
	}
	scores := tree.Predict(grid)
	ndcg, err := metrics.ParseMeasure("ndcg@10")
	if err != nil {
		log.Fatal(err)
	}
	values, err := ndcg.PerQuery(metrics.Queries{Scores: scores, Labels: test.Labels, Offsets: test.Offsets})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("NDCG@10 is %.2f\n", metrics.Mean(values, metrics.LabelFreeSkip))
	// Output:
	// NDCG@10 is 1.00
}
