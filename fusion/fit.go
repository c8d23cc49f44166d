package fusion

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/plrank/plrank/plackett"
)

// Weights are a linear model of the runs: the score of a document is Σ_r Weights[r] · feature_r.
type Weights struct {
	Form    Form
	K       float64   // of [Reciprocal]
	Runs    []float64 // 0 or more, with the sum 1
	Inverse float64   // the inverse temperature of the fitted policy, by which its scores are multiplied
}

// Scores returns the scores of the documents of a query.
func (w Weights) Scores(q *Query) []float64 {
	scores := make([]float64, q.documents())
	for r, weight := range w.Runs {
		floats.AddScaled(scores, weight, w.Form.Features(q.Scores[r], w.K))
	}
	return scores
}

// An objective is what a fit maximises: the mean over queries of E[Σ_k θ_k ρ_{y_k}] under the Plackett–Luce policy of the scores
// β·Σ_r v_r·feature_r, v_r = u_r²/Σu², less strength · n·Σ_r(v_r − w_r)², which draws the weights v of n runs to w, from which the fit
// begins, and less weak penalties of log β and log k. The parameters are u, and where more than the runs' weights is learned, log β, and
// log k of [Reciprocal].
type objective struct {
	from      Weights
	runsOnly  bool
	strength  float64
	queries   []*Query
	features  [][][]float64 // by query and run, for the k of from
	discounts []float64
	expected  plackett.Expectation
}

// weak is the strength of priors that keep the inverse temperature and k from running away where the data leave them open: its product
// with the squared difference of their logarithms from where they begin is taken from the objective.
const weak = 0.002

// newObjective returns the objective of a fit of the weights of the runs, which begins at others.
func newObjective(ctx context.Context, from Weights, strength float64, queries []*Query, discounts []float64) *objective {
	o := &objective{from: from, runsOnly: true, strength: strength, queries: queries, discounts: discounts,
		expected: plackett.Expectation{Tolerance: 1e-4, Check: ctx.Err}}
	for _, q := range queries {
		var runs [][]float64
		for _, scores := range q.Scores {
			runs = append(runs, from.Form.Features(scores, from.K))
		}
		o.features = append(o.features, runs)
	}
	return o
}

// newShared returns the objective of a fit that begins at equal weights, k = 60, and a temperature at which scores differ by about 10.
func newShared(ctx context.Context, form Form, strength float64, queries []*Query, discounts []float64) *objective {
	from := Weights{Form: form, Runs: make([]float64, len(queries[0].Scores))}
	floats.AddConst(1/float64(len(from.Runs)), from.Runs)
	from.Inverse = map[Form]float64{MinMax: 10, L2: 40, ZScore: 4, DBSF: 20, Reciprocal: 1000}[form]
	if form == Reciprocal {
		from.K = 60
	}
	o := newObjective(ctx, from, strength, queries, discounts)
	o.runsOnly = false
	return o
}

// start returns the parameters from which a fit begins. Weights are not quite 0, where they would have no slope.
func (o *objective) start() (u []float64) {
	for _, weight := range o.from.Runs {
		u = append(u, math.Sqrt(max(0.01, weight*float64(len(o.from.Runs)))))
	}
	if o.runsOnly {
		return u
	}
	if u = append(u, math.Log(o.from.Inverse)); o.from.Form == Reciprocal {
		u = append(u, math.Log(o.from.K))
	}
	return u
}

// weights returns the model of parameters.
func (o *objective) weights(u []float64) Weights {
	runs := len(o.queries[0].Scores)
	w := Weights{Form: o.from.Form, K: o.from.K, Inverse: o.from.Inverse}
	for _, x := range u[:runs] {
		w.Runs = append(w.Runs, x*x)
	}
	floats.Scale(1/floats.Sum(w.Runs), w.Runs)
	exp := func(x float64) float64 { return math.Exp(max(-50, min(50, x))) } // a line search may try long steps
	if len(u) > runs {
		w.Inverse = exp(u[runs])
	}
	if len(u) > runs+1 {
		w.K = exp(u[runs+1])
	}
	return w
}

// value returns the objective, and writes its gradient to grad if it is not nil.
func (o *objective) value(u, grad []float64) (float64, error) {
	w := o.weights(u)
	runs := len(w.Runs)
	dv, dBeta, dK, total := make([]float64, runs), 0.0, 0.0, 0.0
	for i, q := range o.queries {
		features := make([][]float64, runs)
		scores := make([]float64, q.documents())
		for r, weight := range w.Runs {
			if features[r] = o.features[i][r]; len(u) > runs+1 {
				features[r] = w.Form.Features(q.Scores[r], w.K)
			}
			floats.AddScaled(scores, weight*w.Inverse, features[r])
		}
		lambda := make([]float64, len(scores))
		value, err := o.expected.Gradient(scores, q.Gains, o.discounts, lambda)
		if err != nil {
			return 0, fmt.Errorf("fusion: query %s: %w", q.ID, err)
		}
		total += value
		for r, weight := range w.Runs {
			dv[r] += w.Inverse * floats.Dot(lambda, features[r])
			if len(u) > runs+1 { // d/dk 1/(k + rank) is minus its square
				for d, f := range features[r] {
					dK -= lambda[d] * w.Inverse * weight * f * f
				}
			}
		}
		dBeta += floats.Dot(lambda, scores)
	}
	n := 1 / float64(len(o.queries))
	total *= n
	floats.Scale(n, dv)
	drawn := o.strength * float64(runs)
	for r, v := range w.Runs {
		z := v - o.from.Runs[r]
		total -= drawn * z * z
		dv[r] -= 2 * drawn * z
	}
	sum, mean := floats.Dot(u[:runs], u[:runs]), floats.Dot(w.Runs, dv)
	start := o.start()
	prior := func(i int, gradient float64) {
		z := u[i] - start[i]
		total -= weak * z * z
		if grad != nil {
			grad[i] = gradient - 2*weak*z
		}
	}
	if len(u) > runs {
		prior(runs, dBeta*n)
	}
	if len(u) > runs+1 {
		prior(runs+1, dK*n*w.K)
	}
	if grad != nil {
		for r := range dv { // dv_r/du_s = 2u_s(δ_rs − v_r)/Σu²
			grad[r] = 2 * u[r] * (dv[r] - mean) / sum
		}
	}
	return total, nil
}

// fit maximises the objective by the method of Broyden, Fletcher, Goldfarb and Shanno, until a step gains less than 1e-7.
func (o *objective) fit() (Weights, error) {
	var failed error
	var at []float64 // of grad and value: both are asked for, one after the other
	grad, value := make([]float64, len(o.start())), 0.0
	evaluate := func(u []float64) {
		if failed == nil && !slices.Equal(u, at) {
			at = append(at[:0], u...)
			value, failed = o.value(u, grad)
		}
	}
	found, err := optimize.Minimize(optimize.Problem{
		Func:   func(u []float64) float64 { evaluate(u); return -value },
		Grad:   func(to, u []float64) { evaluate(u); floats.ScaleTo(to, -1, grad) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, failed },
	}, o.start(), &optimize.Settings{
		MajorIterations: 100, GradientThreshold: 1e-10, Converger: &optimize.FunctionConverge{Absolute: 1e-7, Iterations: 1},
	}, &optimize.BFGS{})
	if failed != nil || found == nil {
		return Weights{}, cmp.Or(failed, err)
	}
	return o.weights(found.X), nil // also where a line search found nothing better: the expectation is exact to its tolerance alone
}
