package fusion

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
// β·Σ_r v_r·feature_r, v_r = u_r²/Σu², less strength · n·Σ_r(v_r − 1/n)², which draws the weights of n runs to equal ones, less weak
// penalties of log β and log k. The parameters are u, log β, and log k with [Reciprocal].
type objective struct {
	form      Form
	strength  float64
	queries   []*Query
	features  [][][]float64 // by query and run; nil for Reciprocal
	discounts []float64
	expected  plackett.Expectation
}

// weak is the strength of priors that keep the inverse temperature and k from running away where the data leave them open: its product
// with the squared difference of their logarithms from where they begin is taken from the objective.
const weak = 0.002

func newObjective(ctx context.Context, form Form, strength float64, queries []*Query, discounts []float64) *objective {
	o := &objective{form: form, strength: strength, queries: queries, discounts: discounts,
		expected: plackett.Expectation{Tolerance: 1e-4, Check: ctx.Err}}
	if form != Reciprocal {
		for _, q := range queries {
			var runs [][]float64
			for _, scores := range q.Scores {
				runs = append(runs, form.Features(scores, 0))
			}
			o.features = append(o.features, runs)
		}
	}
	return o
}

// start returns where a fit begins: equal weights, k = 60, and a temperature at which scores differ by about 10.
func (o *objective) start() []float64 {
	u := make([]float64, len(o.queries[0].Scores), len(o.queries[0].Scores)+2)
	for r := range u {
		u[r] = 1
	}
	beta := map[Form]float64{MinMax: 10, L2: 40, ZScore: 4, DBSF: 20, Reciprocal: 1000}[o.form]
	u = append(u, math.Log(beta))
	if o.form == Reciprocal {
		u = append(u, math.Log(60))
	}
	return u
}

// weights returns the model of parameters.
func (o *objective) weights(u []float64) Weights {
	runs := len(o.queries[0].Scores)
	w := Weights{Form: o.form, Inverse: math.Exp(u[runs])}
	for _, x := range u[:runs] {
		w.Runs = append(w.Runs, x*x)
	}
	floats.Scale(1/floats.Sum(w.Runs), w.Runs)
	if o.form == Reciprocal {
		w.K = math.Exp(u[runs+1])
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
			if o.form == Reciprocal {
				features[r] = o.form.Features(q.Scores[r], w.K)
			} else {
				features[r] = o.features[i][r]
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
			if o.form == Reciprocal { // d/dk 1/(k + rank) is minus its square
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
	equal := 1 / float64(runs)
	for r, v := range w.Runs {
		total -= o.strength * (v - equal) * (v - equal) / equal
		dv[r] -= 2 * o.strength * (v - equal) / equal
	}
	sum, mean := floats.Dot(u[:runs], u[:runs]), floats.Dot(w.Runs, dv)
	prior := func(i int, gradient float64) {
		z := u[i] - o.start()[i]
		total -= weak * z * z
		if grad != nil {
			grad[i] = gradient - 2*weak*z
		}
	}
	prior(runs, dBeta*n)
	if o.form == Reciprocal {
		prior(runs+1, dK*n*w.K)
	}
	if grad != nil {
		for r := range dv { // dv_r/du_s = 2u_s(δ_rs − v_r)/Σu²
			grad[r] = 2 * u[r] * (dv[r] - mean) / sum
		}
	}
	return total, nil
}

// fit maximises the objective.
func (o *objective) fit() (Weights, error) {
	u, err := maximise(o.start(), o.value)
	return o.weights(u), err
}

// maximise climbs from u by the method of Broyden, Fletcher, Goldfarb and Shanno, with steps of at most 1, until a step gains less
// than 1e-5, or for 40 steps. f returns a value, and writes its gradient.
func maximise(u []float64, f func(u, grad []float64) (float64, error)) ([]float64, error) {
	n := len(u)
	grad, next, nextGrad, step, change := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	value, err := f(u, grad)
	inverse := mat.NewSymDense(n, nil) // of the Hessian, with the sign of a minimum
	for i := range n {
		inverse.SetSym(i, i, 1/max(0.1, floats.Norm(grad, 2)))
	}
	for range 40 {
		if err != nil {
			return u, err
		}
		mat.NewVecDense(n, step).MulVec(inverse, mat.NewVecDense(n, grad))
		floats.Scale(1/max(1, floats.Norm(step, 2)), step)
		gain := 0.0
		for try := 0; try < 12; try++ {
			floats.AddTo(next, u, step)
			var reached float64
			if reached, err = f(next, nextGrad); err != nil {
				return u, err
			}
			if gain = reached - value; gain >= 1e-4*floats.Dot(step, grad) {
				break
			}
			floats.Scale(0.4, step)
		}
		if gain < 1e-5 {
			break
		}
		floats.SubTo(change, grad, nextGrad)
		if curvature := floats.Dot(change, step); curvature > 1e-12 {
			product, y, s := make([]float64, n), mat.NewVecDense(n, change), mat.NewVecDense(n, step)
			hy := mat.NewVecDense(n, product)
			hy.MulVec(inverse, y)
			inverse.SymRankOne(inverse, (curvature+floats.Dot(change, product))/(curvature*curvature), s)
			inverse.RankTwo(inverse, -1/curvature, s, hy)
		}
		copy(u, next)
		copy(grad, nextGrad)
		value += gain
	}
	return u, nil
}
