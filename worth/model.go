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

// Model is a Plackett–Luce model, as [Fit] makes it. A Model made from the exported fields alone, such as one
// saved in a file, lacks the rankings of the fit, which Uncertainty and EqualWorths need.
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

// parameters returns the parameters as a likelihood without a prior takes them.
func (m *Model) parameters() []float64 { return append(slices.Clone(m.LogWorths), m.LogTies...) }

// errNoRankings is returned by methods that need the rankings of the fit.
var errNoRankings = errors.New("the model does not come from Fit: its rankings are unknown")

// check returns an error for the first field that is invalid.
func (m *Model) check() error {
	if len(m.LogWorths) != len(m.Items) || len(m.LogTies) != len(m.TieOrders) {
		return fmt.Errorf("the model has %d items and %d log-worths, %d sizes of ties and %d parameters for them: want equal numbers",
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

// Worths returns α_i = exp(θ_i) / Σ_j exp(θ_j): the probability that item i is chosen from all items, if
// no items are tied for the first place.
func (m *Model) Worths() []float64 {
	worths := slices.Clone(m.LogWorths)
	logSum := floats.LogSumExp(worths)
	for i, t := range worths {
		worths[i] = math.Exp(t - logSum)
	}
	return worths
}

// Parameters returns the number of free parameters: of all items but one, and of ties.
func (m *Model) Parameters() int { return len(m.LogWorths) - 1 + len(m.LogTies) }

// AIC returns Akaike's criterion, 2·Parameters − 2·LogLikelihood: the smaller the better.
func (m *Model) AIC() float64 { return 2*float64(m.Parameters()) - 2*m.LogLikelihood }

// RatioTest holds the result of a likelihood-ratio test.
type RatioTest struct {
	Statistic float64 `json:"statistic"` // twice the difference of the log-likelihoods
	Freedom   int     `json:"freedom"`   // degrees of freedom
	PValue    float64 `json:"p"`
}

// LikelihoodRatio tests a model with the log-likelihood l₀ against a larger one with l₁ that contains
// it, both fitted to the same rankings without a prior. If the smaller model holds, 2(l₁ − l₀) has a χ²
// distribution by Wilks' theorem, whose degrees of freedom are the additional parameters of the
// larger one. To ask whether groups of rankings have different worths, let l₀ come from one model of
// all rankings and add up l₁ over a model for each group.
// LikelihoodRatio returns an error for values that are not finite and for degrees of freedom below 1.
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

// EqualWorths performs the [LikelihoodRatio] test that all items have the same worth. The tie
// parameters are free. It returns the errors of [Fit], and an error if the model does not come from
// Fit or was fitted with a prior.
func (m *Model) EqualWorths(ctx context.Context) (RatioTest, error) {
	if m.rankings == nil {
		return RatioTest{}, errNoRankings
	}
	if m.prior > 0 {
		return RatioTest{}, fmt.Errorf("the model was fitted with the prior %v: a likelihood-ratio test needs a fit without a prior", m.prior)
	}
	n := newton{likelihood: newLikelihood(m.rankings, len(m.Items), m.TieOrders), equal: true}
	x, err := n.maximize(ctx, make([]float64, n.size()))
	if err != nil {
		return RatioTest{}, err
	}
	return LikelihoodRatio(n.value(x), m.LogLikelihood, len(m.Items)-1)
}
