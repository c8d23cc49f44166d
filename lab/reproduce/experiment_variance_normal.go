package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/metrics"
)

// normalLists is how many lists each number on normal scores is the mean of.
const normalLists = 200

var (
	normalDeviations = []float64{0.5, 1, 2, 4}
	normalShapes     = []struct{ documents, cutoff, samples int }{
		{24, 5, 1}, {24, 5, 10}, {125, 5, 1}, {125, 5, 10}, {125, 5, 100}, {125, 10, 10}, {125, 50, 10},
	}
)

// normalColumns are the columns of the CSV before the spreadColumns.
var normalColumns = []string{"documents", "cutoff", "samples", "sd", "lists"}

// normalVariance measures the variance of the estimators on lists with normal scores.
func (s *session) normalVariance(ctx context.Context, done func(what string)) (*csvTable, error) {
	t := newTable(append(slices.Clone(normalColumns), spreadColumns...)...)
	for _, shape := range normalShapes {
		for _, sd := range normalDeviations {
			lists := variance.Normal(normalLists, shape.documents, sd, s.Seed)
			o := variance.Options{Methods: paperEstimators(), Samples: shape.samples, Repeats: s.Repeats, Seed: s.Seed}
			if shape.cutoff == varianceCutoff && shape.samples == varianceSamples {
				o.Methods = allMethods()
			}
			traces, err := variance.Measure(ctx, lists, metrics.Discounts(shape.cutoff), o)
			if err != nil {
				return nil, err
			}
			addSpread(t, o.Methods, traces, shape.documents, shape.cutoff, shape.samples, sd, normalLists)
			done(fmt.Sprintf("normal scores, D = %d, K = %d, N = %d, sd %v", shape.documents, shape.cutoff, shape.samples, sd))
		}
	}
	return t, nil
}
