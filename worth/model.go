package worth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Model is a Plackett–Luce model, as [Fit] makes it. One that is made of its exported fields, such as those
// that were saved in a file, can do all but what needs the rankings of the fit: Uncertainty and EqualWorths.
type Model struct {
	Items         []string
	LogWorths     []float64 // θ of every item; their mean is zero
	TieOrders     []int     // the sizes n of ties in the data, ascending
	LogTies       []float64 // log δ_n of these sizes
	LogLikelihood float64   // of the rankings, without the prior
	Steps         int       // that Fit took
	Change        float64   // the largest change of a parameter in the last step

	rankings *Observations
	prior    float64
}

// parameters are those of a likelihood without ghost.
func (m *Model) parameters() []float64 { return append(slices.Clone(m.LogWorths), m.LogTies...) }

// errNoRankings is the error of what needs the rankings of the fit.
var errNoRankings = errors.New("the model does not come from Fit: its rankings are not known")

// check reports the first field that makes it no model.
func (m *Model) check() error {
	if len(m.LogWorths) != len(m.Items) || len(m.LogTies) != len(m.TieOrders) {
		return fmt.Errorf("the model has %d items and %d log-worths, %d sizes of ties and %d parameters of them: want as many of each",
			len(m.Items), len(m.LogWorths), len(m.TieOrders), len(m.LogTies))
	}
	for _, x := range m.parameters() {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("the model has the parameter %v: log-worths and logs of tie parameters must be finite", x)
		}
	}
	for i, n := range m.TieOrders {
		if n < 2 || n > largestTie || i > 0 && n <= m.TieOrders[i-1] {
			return fmt.Errorf("the model has ties of %v items: want sizes from 2 to %d, ascending", m.TieOrders, largestTie)
		}
	}
	return nil
}

// Worths are α_i = exp(θ_i) / Σ_j exp(θ_j): the probability that item i is chosen from all items, if
// no items are tied for the first place.
func (m *Model) Worths() []float64 {
	worths := slices.Clone(m.LogWorths)
	logSum := floats.LogSumExp(worths)
	for i, t := range worths {
		worths[i] = math.Exp(t - logSum)
	}
	return worths
}

// Parameters is the number of free parameters: of all items but one, and of ties.
func (m *Model) Parameters() int { return len(m.LogWorths) - 1 + len(m.LogTies) }

// AIC is Akaike's criterion, 2·Parameters − 2·LogLikelihood: the smaller the better.
func (m *Model) AIC() float64 { return 2*float64(m.Parameters()) - 2*m.LogLikelihood }

// RatioTest is the result of a likelihood-ratio test.
type RatioTest struct {
	Statistic float64 // twice the difference of the log-likelihoods
	Freedom   int     // degrees of freedom
	PValue    float64
}

// LikelihoodRatio tests a model against a larger one that contains it, both fitted to the same
// rankings without a prior: by Wilks' theorem 2(l₁ − l₀), of the log-likelihoods l₀ of the smaller
// and l₁ of the larger model, has a χ² distribution if the smaller one holds, whose degrees of
// freedom are the parameters that the larger has more. To ask whether groups of rankings have
// different worths, l₁ is the sum over models of each group, l₀ that of one model of all.
// Values that are not finite and degrees of freedom below 1 are errors.
func LikelihoodRatio(l0, l1 float64, freedom int) (RatioTest, error) {
	statistic := max(0, 2*(l1-l0))
	if math.IsNaN(l1-l0) || math.IsInf(l1-l0, 0) {
		return RatioTest{}, fmt.Errorf("the log-likelihoods are %v and %v: they must be finite", l0, l1)
	}
	if freedom < 1 {
		return RatioTest{}, fmt.Errorf("a likelihood-ratio test has one or more degrees of freedom, not %d", freedom)
	}
	return RatioTest{statistic, freedom, distuv.ChiSquared{K: float64(freedom)}.Survival(statistic)}, nil
}

// EqualWorths is the [LikelihoodRatio] test that all items have the same worth, for a model without a
// prior. The tie parameters are free. Errors are those of [Fit], a model that does not come from it,
// and one with a prior.
func (m *Model) EqualWorths(ctx context.Context) (RatioTest, error) {
	if m.rankings == nil {
		return RatioTest{}, errNoRankings
	}
	if m.prior > 0 {
		return RatioTest{}, fmt.Errorf("the model was fitted with the prior %v: a likelihood-ratio test is of one without", m.prior)
	}
	n := newton{likelihood: newLikelihood(m.rankings, len(m.Items), m.TieOrders), equal: true}
	if err := n.options.check(); err != nil {
		return RatioTest{}, err
	}
	x, err := n.maximize(ctx)
	if err != nil {
		return RatioTest{}, err
	}
	return LikelihoodRatio(n.value(x), m.LogLikelihood, len(m.Items)-1)
}
