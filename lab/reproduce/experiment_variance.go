package main

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/metrics"
)

const (
	varianceQueries = 100 // that are measured, at most
	leastLong       = 5   // queries that must have as many documents as are measured
)

// What is held where something else is varied.
const (
	varianceSamples = 10
	varianceCutoff  = 5
)

// Axes of subcommand variance: what is varied, and how.
var (
	samplesAxis   = axis{"samples", "samples N", []int{1, 10, 100, 1000}}
	cutoffAxis    = axis{"cutoff", "cutoff K", []int{1, 2, 5, 10, 20, 50}}
	documentsAxis = axis{"documents", "documents D", []int{5, 10, 20, 50, 100, 200}}
	varianceAxes  = []axis{samplesAxis, cutoffAxis, documentsAxis}
)

type axis struct {
	name, label string
	values      []int
}

// methodsAxis is a single point at which all methods are compared.
const methodsAxis = "methods"

// paperEstimators are the methods of the paper and PL-Rank-RB, without those that estimate
// another gradient, or the same numbers as another one.
func paperEstimators() []variance.Method {
	return slices.DeleteFunc(variance.Estimators(), func(e variance.Method) bool {
		return !slices.ContainsFunc(methods, func(m method) bool { return m.loss == e.Name })
	})
}

// allMethods are the estimators and their competitors.
func allMethods() []variance.Method {
	return append(variance.Estimators(), variance.Competitors()...)
}

// A point is what is measured at once: a value on an axis.
type point struct {
	axis  string
	value int
	lists []variance.List
}

func (p point) methods() []variance.Method {
	if p.axis == methodsAxis {
		return allMethods()
	}
	return paperEstimators()
}

func (p point) samples() int {
	if p.axis == samplesAxis.name {
		return p.value
	}
	return varianceSamples
}

func (p point) cutoff() int {
	if p.axis == cutoffAxis.name {
		return p.value
	}
	return varianceCutoff
}

// varianceColumns are the columns of its CSV before the spreadColumns.
var varianceColumns = []string{"data", "stage", "axis", "value", "samples", "cutoff", "queries", "documents", "sd"}

// runVariance measures the variance of the estimators on training queries, with the
// network's scores before, in the middle of and after training, or with the scores of a
// model file; for a synthetic collection on normal scores as well.
func runVariance(ctx context.Context, s *session) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	stages, err := s.varianceStages(ctx)
	if err != nil {
		return err
	}
	var points [][]point // by stage
	trials := 0
	if s.Synthetic() {
		trials += len(normalShapes) * len(normalDeviations)
	}
	for _, stage := range stages {
		list := pointsOf(stage.Lists, s.Seed)
		points = append(points, list)
		trials += len(list)
	}
	sizes := 0
	for _, p := range points[0] {
		if p.axis == documentsAxis.name {
			sizes++
		}
	}
	if sizes < len(documentsAxis.values) {
		s.leftOut = append(
			s.leftOut,
			fmt.Sprintf(
				"the variance in lists of %d documents and more, which fewer than %d of the measured queries have",
				documentsAxis.values[sizes],
				leastLong,
			),
		)
	}
	bar := newProgress(s.stderr, s.command, trials)
	defer bar.finish()
	t := newTable(append(slices.Clone(varianceColumns), spreadColumns...)...)
	trial := 0
	for i, stage := range stages {
		for _, p := range points[i] {
			o := variance.Options{Methods: p.methods(), Samples: p.samples(), Repeats: s.Repeats, Seed: s.Seed}
			traces, err := variance.Measure(ctx, p.lists, metrics.Discounts(p.cutoff()), o)
			if err != nil {
				return err
			}
			addSpread(
				t,
				o.Methods,
				traces,
				s.data.ID.Name,
				stage.Name,
				p.axis,
				p.value,
				p.samples(),
				p.cutoff(),
				len(p.lists),
				meanDocuments(p.lists),
				meanDeviation(p.lists),
			)
			bar.done(trial, fmt.Sprintf("%s, %s %d", stage.Name, p.axis, p.value))
			trial++
		}
	}
	if s.Synthetic() {
		normal, err := s.normalVariance(ctx, func(what string) {
			bar.done(trial, what)
			trial++
		})
		if err != nil {
			return err
		}
		if err := normal.write(s.file(normalFile)); err != nil {
			return err
		}
	}
	if err := t.write(s.file(varianceFile)); err != nil {
		return err
	}
	if s.Model == "" {
		if err := s.runVarianceTraining(ctx); err != nil {
			return err
		}
	}
	return s.publish(varianceChapter)
}

// pointsOf are the points of all axes. All sizes of lists are measured on the same
// queries, of which there must be some: those that have as many documents as
// the largest size. Smaller lists are random parts of theirs.
func pointsOf(lists []variance.List, seed uint64) []point {
	var points []point
	for _, a := range []axis{samplesAxis, cutoffAxis} {
		for _, v := range a.values {
			points = append(points, point{a.name, v, lists})
		}
	}
	sizes := documentsAxis.values
	for n := len(sizes); n > 0; n-- {
		var long []variance.List
		for _, l := range lists {
			if len(l.Scores) >= sizes[n-1] {
				long = append(long, l)
			}
		}
		if len(long) < leastLong {
			continue
		}
		long = variance.Shuffle(long, seed)
		for _, v := range sizes[:n] {
			points = append(points, point{documentsAxis.name, v, variance.Head(long, v)})
		}
		break
	}
	if short := shortLists(lists); len(short) > 0 {
		points = append(points, point{methodsAxis, varianceSamples, short})
	}
	return points
}

// shortLists are those that quasi-random rankings can be drawn for.
func shortLists(lists []variance.List) []variance.List {
	return slices.DeleteFunc(slices.Clone(lists), func(l variance.List) bool { return len(l.Scores) > variance.MostQuasiRandom })
}

func meanDocuments(lists []variance.List) float64 {
	sum := 0
	for _, l := range lists {
		sum += len(l.Scores)
	}
	return float64(sum) / float64(len(lists))
}

// meanDeviation is the mean over lists of the standard deviation of the scores.
func meanDeviation(lists []variance.List) float64 {
	sum := 0.0
	for _, l := range lists {
		sum += stat.PopStdDev(l.Scores, nil)
	}
	return sum / float64(len(lists))
}

// spreadColumns are the columns of a CSV that addSpread fills, after others.
var spreadColumns = []string{
	"estimator",
	"trace",
	"trace_se",
	"ratio",
	"ratio_se",
	"ratio_p10",
	"ratio_p50",
	"ratio_p90",
	"bias",
	"bias_se",
}

// addSpread adds a row for each method to a table: the mean over lists of the trace of its
// covariance; that divided by the mean of PL-Rank-2; standard errors of both, from the
// sampling of rankings for these lists; quantiles over lists of the ratio of each; and the
// squared bias relative to the squared gradient. Lists in which nothing varies have no ratio.
func addSpread(t *csvTable, measured []variance.Method, lists []variance.Traces, before ...any) {
	mean := variance.Mean(lists)
	for _, m := range measured {
		trace, traceErr := mean.Trace(m.Name)
		ratio, ratioErr := mean.Ratio(m.Name, reference)
		bias, biasErr := mean.Bias(m.Name)
		var ratios []float64
		for _, l := range lists {
			if r, _ := l.Ratio(m.Name, reference); r == r { // not NaN
				ratios = append(ratios, r)
			}
		}
		slices.Sort(ratios)
		t.add(append(slices.Clone(before), m.Name, trace, traceErr, ratio, ratioErr,
			quantile(0.1, ratios), quantile(0.5, ratios), quantile(0.9, ratios), bias, biasErr)...)
	}
}
