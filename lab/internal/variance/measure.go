package variance

import (
	"context"
	"fmt"
	"math"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/plackett"
)

// A List is the documents of a query.
type List struct {
	Scores []float64 // log-scores m_d
	Gains  []float64 // ρ_d, as many

	// Pull maps a gradient with respect to the scores to that with respect to something
	// else, such as the weights of the model that gave them, of which the variance is then
	// told. nil: the scores. It may be called from several goroutines.
	Pull func(lambda []float64) ([]float64, error) `json:"-"`
}

func (l List) pull(lambda []float64) ([]float64, error) {
	if l.Pull == nil {
		return lambda, nil
	}
	return l.Pull(lambda)
}

// Options say how Measure measures.
type Options struct {
	Methods []Method // nil: Estimators()
	Samples int      // N: rankings of an estimate; 0: 10
	Repeats int      // R: independent estimates of each kind, 2 or more, some tens for standard errors to mean much; 0: 100
	Seed    uint64   // of the rankings
}

// Measure estimates the traces of the covariances for every list and all methods, for as
// many ranks as there are discounts, from R independent estimates λ_r:
//
//	1/(R−1) Σ_r ‖λ_r − λ̄‖²,   λ̄ = 1/R Σ_r λ_r,
//
// which is unbiased. The r-th estimates of all [Estimators] come from the same N rankings,
// so that their ratios are known better than the traces themselves.
//
// The result depends on the seed and the position of a list, not on the number of
// cores. Lists that have no documents or no gain have traces of 0. Scores that are
// not finite, and other numbers of gains than of scores, are an error; so is a
// context that ends.
func Measure(ctx context.Context, lists []List, discounts []float64, o Options) ([]Traces, error) {
	if o.Methods == nil {
		o.Methods = Estimators()
	}
	if o.Samples == 0 {
		o.Samples = 10
	}
	if o.Repeats == 0 {
		o.Repeats = 100
	}
	if o.Samples < 1 || o.Repeats < 2 {
		return nil, fmt.Errorf("variance: %d samples and %d repeats: want 1 and 2 or more", o.Samples, o.Repeats)
	}
	traces := make([]Traces, len(lists))
	errs := make([]error, len(lists))
	workers := make([]worker, parallel.Workers(len(lists)))
	for i := range workers {
		workers[i] = worker{discounts: discounts, options: o, exact: plackett.Expectation{Tolerance: exactTolerance}}
	}
	parallel.For(len(lists), len(workers), func(w, i int) {
		if ctx.Err() == nil {
			traces[i], errs[i] = workers[w].measure(lists[i], uint64(i))
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("variance: list %d: %w", i, err)
		}
	}
	return traces, nil
}

// exactTolerance is the tolerance of the gradient that biases are measured against, far below what sampling
// can show.
const exactTolerance = 1e-11

// A worker measures list after list, in memory of its own.
type worker struct {
	discounts []float64
	options   Options
	sampler   plackett.Sampler
	kernel    plackett.Kernel
	exact     plackett.Expectation

	independent plackett.Rankings // of the list and the repeat in hand
	quasi       plackett.Rankings // of quasiFrom
	quasiFrom   plackett.Stream
}

func (w *worker) measure(l List, query uint64) (Traces, error) {
	if len(l.Gains) != len(l.Scores) {
		return Traces{}, fmt.Errorf("%d scores and %d gains", len(l.Scores), len(l.Gains))
	}
	w.independent = plackett.NewRankings(w.options.Samples, len(w.discounts))
	estimates := make([][][]float64, len(w.options.Methods)) // by method and repeat
	for r := range w.options.Repeats {
		from := plackett.Stream{Seed: w.options.Seed, Step: uint64(r), Query: query}
		if err := w.sampler.Draw(l.Scores, from, w.independent); err != nil {
			return Traces{}, err
		}
		for m, method := range w.options.Methods {
			lambda := make([]float64, len(l.Scores))
			if err := method.estimate(w, l, from, lambda); err != nil {
				return Traces{}, err
			}
			var err error
			if lambda, err = l.pull(lambda); err != nil {
				return Traces{}, err
			}
			estimates[m] = append(estimates[m], lambda)
		}
	}
	gradient, err := w.gradient(l)
	if err != nil {
		return Traces{}, err
	}
	return newTraces(w.options.Methods, estimates, gradient), nil
}

// gradient is the exact one.
func (w *worker) gradient(l List) ([]float64, error) {
	gradient := make([]float64, len(l.Scores))
	if _, err := w.exact.Gradient(l.Scores, l.Gains, w.discounts, gradient); err != nil {
		return nil, err
	}
	return l.pull(gradient)
}

// Picking is the trace of the covariance of the exact gradient of a list that is picked at
// random: the noise that a step on one query has even without any from rankings. The gradients
// must be of one length, such as those with respect to the weights of a model.
func Picking(lists []List, discounts []float64) (float64, error) {
	w := worker{exact: plackett.Expectation{Tolerance: exactTolerance}, discounts: discounts}
	if len(lists) < 2 {
		return math.NaN(), nil
	}
	var gradients [][]float64
	for i, l := range lists {
		g, err := w.gradient(l)
		if err != nil {
			return 0, fmt.Errorf("variance: list %d: %w", i, err)
		}
		if i > 0 && len(g) != len(gradients[0]) {
			return 0, fmt.Errorf("variance: list %d: a gradient of %d numbers, want %d", i, len(g), len(gradients[0]))
		}
		gradients = append(gradients, g)
	}
	sum := 0.0
	for _, d := range distancesOf(gradients) {
		sum += d / float64(len(gradients))
	}
	return sum, nil
}
