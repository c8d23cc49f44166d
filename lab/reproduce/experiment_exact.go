package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

const (
	exactLists   = 10    // that each error is the largest of
	exactTruth   = 1e-13 // the tolerance of what errors are measured against
	exactSamples = 1000  // of PL-Rank-RB, with which the exact gradient is compared
	exactRepeats = 20    // of each time, of which the shortest counts
)

var (
	exactTolerances = []float64{1e-3, 1e-5, 1e-7, 1e-9, 1e-11}
	exactDeviations = []float64{0, 0.5, 1, 4, 12, 30}
	exactShapes     = []struct{ documents, cutoff int }{
		{24, 5}, {24, 24}, {125, 5}, {125, 10}, {125, 50}, {125, 125}, {1000, 5}, {1000, 50},
	}
)

// The lists whose weights of pairs are shown.
const (
	pairDocuments = 40
	pairCutoff    = 10
)

var (
	pairDeviations = []float64{1, 3}
	pairShown      = []int{1, 3, 10, 20} // documents, by rank of their scores
)

// Columns of the CSV files.
var (
	exactColumns = []string{
		"documents",
		"cutoff",
		"sd",
		"tolerance",
		"lists",
		"nodes",
		"lambda_error",
		"lambda_error_of_largest",
		"exposure_error",
	}
	costColumns = []string{"documents", "cutoff", "sd", "nodes", "exact_seconds", "samples", "sampled_seconds"}
	pairColumns = []string{"sd", "document", "other", "score", "other_score", "weight", "lambdarank"}
)

// runExact measures exact gradients on normal scores.
func runExact(ctx context.Context, s *session) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // samples are drawn on as many cores as there are
	s.data = &collection{ID: identity{Name: "normal-scores", Scale: 1}}
	if err := s.openFolder(); err != nil {
		return err
	}
	errors, costs := newTable(exactColumns...), newTable(costColumns...)
	whole, times := newTable(wholeColumns...), newTable(wholeTimes...)
	shapes := len(exactShapes) * len(exactDeviations)
	bar := newProgress(s.stderr, s.command, shapes+len(wholeDocuments))
	defer bar.finish()
	for i, shape := range exactShapes {
		for j, sd := range exactDeviations {
			lists := variance.Normal(exactLists, shape.documents, sd, s.Seed)
			if err := addErrors(errors, lists, shape.cutoff, sd); err != nil {
				return err
			}
			if err := addCost(costs, lists[0], shape.cutoff, sd, s.Seed); err != nil {
				return err
			}
			bar.done(i*len(exactDeviations)+j, fmt.Sprintf("D = %d, K = %d, sd %v", shape.documents, shape.cutoff, sd))
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	for i, documents := range wholeDocuments {
		if err := addWhole(ctx, whole, times, documents, s.Seed); err != nil {
			return err
		}
		bar.done(shapes+i, fmt.Sprintf("D = K = %d", documents))
	}
	pairs, err := pairTable()
	if err != nil {
		return err
	}
	for name, t := range map[string]*csvTable{exactFile: errors, costFile: costs, wholeFile: whole, wholeTimesFile: times, pairFile: pairs} {
		if err := t.write(s.file(name)); err != nil {
			return err
		}
	}
	return s.publish(exactChapter)
}

// addErrors adds a row for each tolerance: the largest errors over the lists, of λ relative
// to max |ρ| Σ|θ| and to its largest entry, and of the exposure relative to max |θ|.
func addErrors(t *csvTable, lists []variance.List, cutoff int, sd float64) error {
	discounts := metrics.Discounts(cutoff)
	truth := plackett.Expectation{Tolerance: exactTruth}
	for _, tolerance := range exactTolerances {
		e := plackett.Expectation{Tolerance: tolerance}
		nodes, lambdaError, relative, exposureError := 0, 0.0, 0.0, 0.0
		for _, l := range lists {
			n := len(l.Scores)
			lambda, exact, exposure, exactExposure := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			if _, err := truth.Gradient(l.Scores, l.Gains, discounts, exact); err != nil {
				return err
			}
			if err := truth.Exposure(l.Scores, discounts, exactExposure); err != nil {
				return err
			}
			if err := e.Exposure(l.Scores, discounts, exposure); err != nil {
				return err
			}
			if _, err := e.Gradient(l.Scores, l.Gains, discounts, lambda); err != nil {
				return err
			}
			nodes += e.Nodes()
			scale := largest(l.Gains) * sum(discounts)
			off := distance(lambda, exact)
			if scale > 0 {
				lambdaError = max(lambdaError, off/scale)
				relative = max(relative, off/largest(exact))
			}
			exposureError = max(exposureError, distance(exposure, exactExposure)/largest(discounts))
		}
		t.add(len(lists[0].Scores), cutoff, sd, tolerance, len(lists), float64(nodes)/float64(len(lists)), lambdaError, relative, exposureError)
	}
	return nil
}

func sum(list []float64) float64 {
	total := 0.0
	for _, x := range list {
		total += x
	}
	return total
}

// distance is the largest difference.
func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(a[i]-b[i]))
	}
	return d
}

func largest(a []float64) float64 { return distance(a, make([]float64, len(a))) }

// addCost adds the times of the exact gradient of a list and of PL-Rank-RB, sampling
// included, which are taken in turn.
func addCost(t *csvTable, l variance.List, cutoff int, sd float64, seed uint64) error {
	discounts, lambda := metrics.Discounts(cutoff), make([]float64, len(l.Scores))
	var e plackett.Expectation
	var sampler plackett.Sampler
	var kernel plackett.Kernel
	rankings := plackett.NewRankings(exactSamples, cutoff)
	exact, sampled := time.Hour, time.Hour
	for step := range exactRepeats {
		start := time.Now()
		if _, err := e.Gradient(l.Scores, l.Gains, discounts, lambda); err != nil {
			return err
		}
		exact = min(exact, time.Since(start))
		start = time.Now()
		if err := sampler.Draw(l.Scores, plackett.Stream{Seed: seed, Step: uint64(step)}, rankings); err != nil {
			return err
		}
		if _, err := kernel.Gradient(plackett.PLRankRB, l.Scores, l.Gains, discounts, rankings, lambda); err != nil {
			return err
		}
		sampled = min(sampled, time.Since(start))
	}
	t.add(len(l.Scores), cutoff, sd, e.Nodes(), exact.Seconds(), exactSamples, sampled.Seconds())
	return nil
}

// pairTable has the weights of pairs of lists whose scores are quantiles of normal
// ones, descending, and LambdaRank's weights for the same pairs.
func pairTable() (*csvTable, error) {
	t := newTable(pairColumns...)
	discounts := metrics.Discounts(pairCutoff)
	theta := make([]float64, pairDocuments)
	copy(theta, discounts)
	for _, sd := range pairDeviations {
		scores, weights := make([]float64, pairDocuments), make([]float64, pairDocuments*pairDocuments)
		for d := range scores {
			scores[d] = sd * distuv.UnitNormal.Quantile(1-(float64(d)+0.5)/pairDocuments)
		}
		e := plackett.Expectation{Tolerance: exactTruth}
		gains := make([]float64, len(scores))
		for j := range gains { // W_dj is minus the λ_d of a gain of 1 for j alone
			gains[j] = 1
			if _, err := e.Gradient(scores, gains, discounts, weights[j*pairDocuments:(j+1)*pairDocuments]); err != nil {
				return nil, err
			}
			gains[j], weights[j*pairDocuments+j] = 0, 0
		}
		for _, shown := range pairShown {
			d := shown - 1
			for j := range scores {
				// Burges (2010), for a pair that is in the wrong order.
				swap := math.Abs(theta[d]-theta[j]) / (1 + math.Exp(-math.Abs(scores[d]-scores[j])))
				t.add(sd, shown, j+1, scores[d], scores[j], -weights[j*pairDocuments+d], swap)
			}
		}
	}
	return t, nil
}
