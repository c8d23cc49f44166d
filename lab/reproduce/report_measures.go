package main

import "github.com/plrank/plrank/train"

// relevance is what the experiments with relevance report of the test split.
var relevance = []string{"expected-dcg@5", "dcg@5", "expected-ndcg@5", "ndcg@5"}

// mainMeasure is the measure of tables and plots: DCG@5 expected under the policy.
const mainMeasure = "expected-dcg@5"

// validation is the column of mainMeasure on the validation split.
const validation = "validation"

// disparity is the measure of the fairness experiments.
const disparity = "disparity"

// withTest gives a row the test measures of an epoch.
func withTest(row []any, e train.Epoch, measures []string) []any {
	for _, m := range measures {
		row = append(row, float64(e.Test[m]))
	}
	return row
}
