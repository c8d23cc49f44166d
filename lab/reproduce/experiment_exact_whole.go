package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/lab/internal/variance"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

const (
	wholeDeviation = 1.
	wholeSweeps    = 3000       // the longest list that is swept for its time
	wholeSwept     = 1000       // the longest list whose errors are measured against a sweep
	wholePlaced    = 10_000_000 // documents placed in all rankings together; fewer rankings are scaled to exactSamples
)

var (
	wholeDocuments  = []int{32, 100, 300, 1000, 3000, 10_000, 100_000}
	wholeTolerances = []float64{1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13}
	wholeColumns    = []string{"documents", "tolerance", "terms", "nodes", "lambda_error", "exposure_error", "seconds"}
	wholeTimes      = []string{"documents", "product_seconds", "top10_seconds", "sweep_seconds", "samples", "sampled_seconds"}
)

// addWhole measures DCG of whole lists: a row of errors for each tolerance, and a row of times.
func addWhole(ctx context.Context, errors, times *csvTable, documents int, seed uint64) error {
	l := variance.Normal(1, documents, wholeDeviation, seed)[0]
	if err := addWholeErrors(errors, l); err != nil {
		return err
	}
	return addWholeTimes(ctx, times, l, seed)
}

// A wholeResult is the gradient and the exposure of a list.
type wholeResult struct{ lambda, exposure []float64 }

func wholeOf(e *plackett.Expectation, l variance.List, discounts []float64) (wholeResult, error) {
	r := wholeResult{make([]float64, len(l.Scores)), make([]float64, len(l.Scores))}
	if err := e.Exposure(l.Scores, discounts, r.exposure); err != nil {
		return r, err
	}
	_, err := e.Gradient(l.Scores, l.Gains, discounts, r.lambda)
	return r, err
}

// addWholeErrors measures against the sweep, and for lists too long for it against products of
// the tightest tolerance.
func addWholeErrors(t *csvTable, l variance.List) error {
	documents := len(l.Scores)
	discounts := metrics.Discounts(documents)
	truth, err := wholeTruth(l, discounts)
	if err != nil {
		return err
	}
	for _, tolerance := range wholeTolerances {
		if documents > wholeSwept && tolerance == exactTruth {
			continue // this is the truth
		}
		e := &plackett.Expectation{Tolerance: tolerance}
		got, err := wholeOf(e, l, discounts)
		if err != nil {
			return err
		}
		seconds, err := shortest(exactRepeats, func(int) error {
			_, err := e.Gradient(l.Scores, l.Gains, discounts, got.lambda)
			return err
		})
		if err != nil {
			return err
		}
		t.add(documents, tolerance, e.Terms(), e.Nodes(), distance(got.lambda, truth.lambda)/(largest(l.Gains)*sum(discounts)),
			distance(got.exposure, truth.exposure)/largest(discounts), seconds)
	}
	return nil
}

// wholeTruth is from a sweep, which takes all cutoffs below the number of documents: less the last
// discount, which all documents get, one rank less counts.
func wholeTruth(l variance.List, discounts []float64) (wholeResult, error) {
	e := &plackett.Expectation{Tolerance: exactTruth}
	if len(discounts) > wholeSwept {
		return wholeOf(e, l, discounts)
	}
	last := discounts[len(discounts)-1]
	less := slices.Clone(discounts[:len(discounts)-1])
	floats.AddConst(-last, less)
	r, err := wholeOf(e, l, less)
	floats.AddConst(last, r.exposure)
	return r, err
}

// addWholeTimes times products, the sweep, DCG@10 and samples of PL-Rank-RB.
func addWholeTimes(ctx context.Context, t *csvTable, l variance.List, seed uint64) error {
	documents := len(l.Scores)
	discounts, lambda := metrics.Discounts(documents), make([]float64, documents)
	exact := func(discounts []float64, repeats int) (float64, error) {
		var e plackett.Expectation
		e.Check = ctx.Err
		return shortest(repeats, func(int) error {
			_, err := e.Gradient(l.Scores, l.Gains, discounts, lambda)
			return err
		})
	}
	product, err := exact(discounts, exactRepeats)
	if err != nil {
		return err
	}
	top, err := exact(metrics.Discounts(10), exactRepeats)
	if err != nil {
		return err
	}
	sweep := any("")
	if documents <= wholeSweeps {
		if sweep, err = exact(discounts[:documents-1], 1+min(exactRepeats, 10_000/documents)); err != nil {
			return err
		}
	}
	samples := min(exactSamples, wholePlaced/documents)
	rankings := plackett.NewRankings(samples, documents)
	var sampler plackett.Sampler
	var kernel plackett.Kernel
	sampled, err := shortest(1+min(exactRepeats, 10_000/documents), func(step int) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := sampler.Draw(l.Scores, plackett.Stream{Seed: seed, Step: uint64(step)}, rankings); err != nil {
			return err
		}
		_, err := kernel.Gradient(plackett.PLRankRB, l.Scores, l.Gains, discounts, rankings, lambda)
		return err
	})
	if err != nil {
		return fmt.Errorf("%d rankings of %d documents: %w", samples, documents, err)
	}
	t.add(documents, product, top, sweep, samples, sampled)
	return nil
}

// shortest is the shortest time of some calls, in seconds. The first, which finds sums and takes
// memory, does not count where there are more.
func shortest(calls int, call func(step int) error) (float64, error) {
	best := time.Duration(0)
	for step := range calls {
		start := time.Now()
		if err := call(step); err != nil {
			return 0, err
		}
		if took := time.Since(start); step <= 1 || took < best {
			best = took
		}
	}
	return best.Seconds(), nil
}
