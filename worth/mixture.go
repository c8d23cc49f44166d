package worth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
)

// Mixture holds several Plackett–Luce models, its components. Every ranking follows one of them, without saying which;
// the components may stand for groups of voters:
//
//	P(ranking) = Σ_k π_k P_k(ranking).
type Mixture struct {
	Weights       []float64 // π_k, which sum to 1; the largest first
	Components    []*Model  // in the order of Weights; their own LogLikelihood, Steps and Change are not set
	Rankings      float64   // the sum of the weights of the rankings
	LogLikelihood float64   // of the rankings, without the prior
	Steps         int       // of EM that the best start took
}

// MixtureOptions holds the settings of [FitMixture]; only Components must be set.
type MixtureOptions struct {
	Components int     // k; 1 is the model of Fit
	Prior      float64 // see Options.Prior, of every component
	Seed       uint64  // of the starts
	Starts     int     // random starts; the best one goes on. Zero is 10
	Tolerance  float64 // EM ends where two steps raise the log-likelihood by less. Zero is 1e-6
	MaxSteps   int     // of EM. Zero is 1000

	// Progress, unless nil, is called after every other step.
	Progress func(MixtureProgress)
}

// MixtureProgress describes how far a fit of a mixture has come.
type MixtureProgress struct {
	Start, Step   int     // from 1
	LogLikelihood float64 // with the prior; it never falls from step to step
}

// Parameters returns the number of free parameters: of all components, and all weights but one.
func (m *Mixture) Parameters() int {
	n := len(m.Weights) - 1
	for _, c := range m.Components {
		n += c.Parameters()
	}
	return n
}

// BIC returns Schwarz's criterion, Parameters·log(Rankings) − 2·LogLikelihood: the smaller the better. It helps to
// choose the number of components (Gormley and Murphy, Journal of the American Statistical Association 103, 2008).
func (m *Mixture) BIC() float64 {
	return float64(m.Parameters())*math.Log(m.Rankings) - 2*m.LogLikelihood
}

// Evaluate returns Σ weight · log P(ranking) of rankings of the same items, and the sum of their weights. It returns the
// same errors as [Model.Evaluate].
func (m *Mixture) Evaluate(r *Observations) (logLikelihood, weight float64, err error) {
	logs := make([][]float64, len(m.Components))
	for k, c := range m.Components {
		if err := c.checkRankings(r); err != nil {
			return 0, 0, err
		}
		logs[k] = make([]float64, r.Len())
		newLikelihood(r, len(r.Items), c.TieOrders).logs(c.parameters(), logs[k])
	}
	terms := make([]float64, len(logs))
	for i, s := range r.spans {
		weight += s.weight
		logLikelihood += s.weight * mixed(terms, m.Weights, logs, i)
	}
	return logLikelihood, weight, nil
}

// mixed returns log P of ranking i, and writes the log of every component's part of P to terms.
func mixed(terms, weights []float64, logs [][]float64, i int) float64 {
	for k := range terms {
		terms[k] = math.Log(weights[k]) + logs[k][i]
	}
	return floats.LogSumExp(terms)
}

// mostOfMixture bounds the rankings and items of all components together, which then take some 3 GB.
const mostOfMixture = 1 << 25

// FitMixture estimates a mixture by the EM algorithm (Dempster, Laird and Rubin, Journal of the Royal Statistical
// Society B 39, 1977) from several random starts. After some steps only the start with the largest likelihood, including
// the prior, goes on. A step divides every ranking among the components by its probabilities under them, and then improves
// the worths of each component by a step of [Fit], so that the likelihood never falls. A start adds standard normal
// numbers to the log-worths of Fit. The same seed gives the same bits.
//
// A component may become empty: its weight is then 0, and its worths have no meaning. Fewer components are enough.
//
// If the context ends after the first start has begun, FitMixture returns the best mixture so far and the cause. It also
// returns the best mixture and an error if the best start has not converged after MixtureOptions.MaxSteps, or if
// the rankings of a component do not connect the items, a [*DisconnectedError]: worths then grow without a limit,
// and a prior is a remedy. FitMixture also returns the errors of Fit for all rankings.
func FitMixture(ctx context.Context, r *Observations, o MixtureOptions) (*Mixture, error) {
	o.Starts, o.Tolerance, o.MaxSteps = cmp.Or(o.Starts, 10), cmp.Or(o.Tolerance, 1e-6), cmp.Or(o.MaxSteps, 1000)
	switch {
	case o.Components < 1:
		return nil, fmt.Errorf("MixtureOptions.Components is %d: want 1 or more", o.Components)
	case o.Components > r.Len() && r.Len() > 0:
		return nil, fmt.Errorf("MixtureOptions.Components is %d: there are %d rankings", o.Components, r.Len())
	case o.Components > 1 && o.Components > mostOfMixture/max(1, r.Len()+len(r.Items)):
		return nil, fmt.Errorf("MixtureOptions.Components is %d: with %d rankings and %d items each, they take too much memory: want at most %d",
			o.Components, r.Len(), len(r.Items), max(1, mostOfMixture/(r.Len()+len(r.Items))))
	case o.Starts < 1 || o.MaxSteps < 1 || !(o.Tolerance > 0):
		return nil, errors.New("MixtureOptions.Starts, MaxSteps and Tolerance must be positive")
	}
	n, err := newNewton(r, Options{Prior: o.Prior})
	if err != nil {
		return nil, err
	}
	x, err := n.maximize(ctx, make([]float64, n.size()))
	if err != nil {
		return nil, err
	}
	if o.Components == 1 {
		o.Starts = 1
	}
	var best *em
	for start := 1; start <= o.Starts && (best == nil || ctx.Err() == nil); start++ {
		e := newEM(r, n, x, o, start)
		e.run(ctx, min(stepsOfStart, o.MaxSteps))
		if best == nil || e.value > best.value {
			best = e
		}
	}
	best.run(ctx, o.MaxSteps)
	err = best.end(ctx)
	return best.mixture(r.Items), err
}

// stepsOfStart is the number of steps that tell a good start from others (Biernacki, Celeux and Govaert, Computational Statistics
// and Data Analysis 41, 2003).
const stepsOfStart = 20

// An em runs the EM algorithm from one start.
type em struct {
	options    MixtureOptions
	start      int // its number
	components []*newton
	x          [][]float64 // their parameters
	mixing     []float64   // π

	observed      []float64   // the weights of the rankings; further ones, of the prior, follow in spans
	total         float64     // of observed
	logs          [][]float64 // log P of every ranking under every component
	value         float64     // the log-likelihood with the prior
	logLikelihood float64
	steps         int
	converged     bool
	reach         float64 // how far ahead, in steps, the best is looked for
}

// newEM starts near x, with the same parameters for all components before noise.
func newEM(r *Observations, all *newton, x []float64, o MixtureOptions, start int) *em {
	e, rng := &em{options: o, start: start, reach: 2}, rand.New(rand.NewPCG(o.Seed, uint64(start)))
	for _, s := range r.spans {
		e.observed = append(e.observed, s.weight)
	}
	e.total = floats.Sum(e.observed)
	for range o.Components {
		own := *all.rankings // with weights of its own
		own.spans = slices.Clone(own.spans)
		n := &newton{likelihood: newLikelihood(&own, all.items, all.orders), options: all.options}
		theta := slices.Clone(x)
		for i := range r.Items {
			if o.Components > 1 {
				theta[i] += rng.NormFloat64()
			}
		}
		e.components = append(e.components, n)
		e.x = append(e.x, theta)
		e.mixing = append(e.mixing, 1/float64(o.Components))
		e.logs = append(e.logs, make([]float64, len(own.spans)))
	}
	e.expect()
	return e
}

// run takes steps until they gain little, or until most steps in all. Two steps in a row show where the next ones would
// lead to: run goes there at once if that is better (Varadhan and Roland, Scandinavian Journal of Statistics 35, 2008,
// the scheme S3).
func (e *em) run(ctx context.Context, most int) {
	for !e.converged && e.steps < most && ctx.Err() == nil {
		before, p0 := e.value, e.parameters()
		e.step(ctx)
		p1 := e.parameters()
		e.step(ctx)
		p2, value := e.parameters(), e.value
		e.converged = value-before <= e.options.Tolerance+1e-13*math.Abs(value) // for rounding
		if far := e.extrapolated(p0, p1, p2); far != nil && !e.converged {
			if e.set(far); e.value > value {
				e.reach *= 2
			} else {
				e.reach = max(2, e.reach/2)
				e.set(p2)
			}
		}
		if e.options.Progress != nil {
			e.options.Progress(MixtureProgress{e.start, e.steps, e.value})
		}
	}
}

// step takes one step of EM.
func (e *em) step(ctx context.Context) {
	_ = e.maximize(ctx, 2) // two steps need not reach the maximum; end takes all
	e.expect()
	e.steps++
}

// parameters returns the logarithms of the weights, each with the parameters of its component.
func (e *em) parameters() []float64 {
	var p []float64
	for k, x := range e.x {
		p = append(append(p, math.Log(e.mixing[k])), x...)
	}
	return p
}

// set sets the parameters, where the weights may be off by a factor.
func (e *em) set(p []float64) {
	n := len(e.x[0]) + 1
	for k := range e.x {
		e.mixing[k], e.x[k] = math.Exp(p[k*n]), slices.Clone(p[k*n+1:(k+1)*n])
	}
	floats.Scale(1/floats.Sum(e.mixing), e.mixing)
	e.expect()
}

// extrapolated returns where steps from p0 to p1 and p2 lead to, within reach; nil if that is not further
// than p2, or not finite.
func (e *em) extrapolated(p0, p1, p2 []float64) []float64 {
	r, v := make([]float64, len(p0)), make([]float64, len(p0))
	for i := range r {
		r[i] = p1[i] - p0[i]
		v[i] = p2[i] - p1[i] - r[i]
	}
	length := min(floats.Norm(r, 2)/floats.Norm(v, 2), e.reach)
	if !(length > 1) {
		return nil
	}
	far := slices.Clone(p0)
	floats.AddScaled(far, 2*length, r)
	floats.AddScaled(far, length*length, v)
	return far
}

// expect divides every ranking among the components, and computes the likelihood.
func (e *em) expect() {
	for k, n := range e.components {
		n.logs(e.x[k], e.logs[k])
	}
	e.logLikelihood, e.value = 0, 0
	terms := make([]float64, len(e.mixing))
	for i, w := range e.observed {
		log := mixed(terms, e.mixing, e.logs, i)
		e.logLikelihood += w * log
		for k, n := range e.components {
			n.rankings.spans[i].weight = w * math.Exp(terms[k]-log)
		}
	}
	for k, n := range e.components {
		for i := len(e.observed); i < len(e.logs[k]); i++ {
			e.value += n.rankings.spans[i].weight * e.logs[k][i]
		}
	}
	e.value += e.logLikelihood
}

// maximize improves the parameters for the rankings as they are divided, by a few steps for each component. It
// returns an error if it does not reach the maximum.
func (e *em) maximize(ctx context.Context, steps int) error {
	var errs error
	for k, n := range e.components {
		e.mixing[k] = 0
		for i := range e.observed {
			e.mixing[k] += n.rankings.spans[i].weight / e.total
		}
		n.options.MaxSteps = steps
		x, err := n.maximize(ctx, e.x[k])
		e.x[k] = x
		if err != nil && !e.empty(k) {
			errs = errors.Join(errs, e.componentError(k, err))
		}
	}
	return errs
}

// empty reports whether a component has lost its rankings.
func (e *em) empty(k int) bool { return e.mixing[k] < 1e-9 }

// end moves to the maximum, or returns an error if a component has no finite estimate.
func (e *em) end(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !e.converged {
		return fmt.Errorf("the fit has not converged after %d steps of EM: MixtureOptions.MaxSteps can be more", e.steps)
	}
	for k, n := range e.components {
		if e.options.Prior > 0 || e.empty(k) {
			continue
		}
		if classes := n.connectivity(e.observed); len(classes) > 1 {
			return e.componentError(k, &DisconnectedError{n.rankings.Items, classes})
		}
	}
	err := e.maximize(ctx, 100)
	e.expect()
	return err
}

// componentError adds the weight of the component to an error.
func (e *em) componentError(k int, err error) error {
	return fmt.Errorf("the component of weight %.3g: %w", e.mixing[k], err)
}

// connectivity returns the classes of items of the rankings that follow the component. When steps no longer gain the
// tolerance, a worth that grows without a limit has left it less than a ten-thousandth of the rankings that contradict it.
func (n *newton) connectivity(observed []float64) [][]int {
	own := *n.rankings
	own.spans = nil
	for i, s := range n.rankings.spans[:len(observed)] {
		if s.weight > 1e-4*observed[i] {
			own.spans = append(own.spans, s)
		}
	}
	return Connectivity(&own)
}

// mixture returns the result.
func (e *em) mixture(items []string) *Mixture {
	m := &Mixture{Rankings: e.total, LogLikelihood: e.logLikelihood, Steps: e.steps}
	for _, k := range num.DescendingOrder(nil, e.mixing) {
		m.Weights = append(m.Weights, e.mixing[k])
		m.Components = append(m.Components, e.components[k].model(items, e.x[k]))
	}
	return m
}
