package clicks

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/plrank/plrank/internal/names"
)

// A Method names a way to estimate position bias.
type Method string

const (
	// Harvest compares neighbouring ranks by the clicks on documents that could have been at
	// both, and chains the ratios (intervention harvesting, Agarwal et al., WSDM 2019). The
	// policy itself intervenes, so no query needs to occur twice.
	Harvest Method = "harvest"
	// AllPairs compares all ranks with each other, and fits α to the logarithms of the
	// ratios by least squares, weighted by their precision. It is better than Harvest if
	// clicks are few or candidates many.
	AllPairs Method = "all-pairs"
	// RegressionEM is expectation maximisation (Wang et al., WSDM 2018), for rankings that
	// were not drawn by a known policy. The relevance of a document is a regression on its
	// features; without features, or with sparse or more than 1,000 ones, it is a number for each
	// document of a query, which needs queries that are asked often, in different rankings.
	RegressionEM Method = "em"
)

// Methods returns the names that EstimateBias knows.
func Methods() []Method { return []Method{Harvest, AllPairs, RegressionEM} }

// A BiasReport describes the data behind an estimate of position bias.
type BiasReport struct {
	Impressions int       `json:"impressions"` // with a document shown
	ClickRate   []float64 `json:"clickRate"`   // by rank: clicks per impression that reached the rank

	// Overlap[k][j] is the mean of Σ_d min(P(d@k+1), P(d@j+1)) over the impressions that reached both
	// ranks: 1 if any document could have been at either, 0 if none could. nil for impressions without
	// scores.
	Overlap [][]float64 `json:"overlap,omitempty"`

	// Connected has the ranks, from 1, in groups that are compared with each other, directly
	// or through others. If there are several groups, the log cannot separate their biases from
	// the relevance of their documents. nil for impressions without scores.
	Connected [][]int `json:"connected,omitempty"`

	// Neighbours has the groups if only neighbouring ranks are compared, as by Harvest.
	Neighbours [][]int `json:"-"`

	// Low and High are the ends of intervals of 95 % of α by rank, and BetaLow and BetaHigh of β, by resampling
	// impressions: a jackknife over 100 groups for harvest and all-pairs, and a bootstrap for others. nil: the estimate failed.
	Low      []float64 `json:"low,omitempty"`
	High     []float64 `json:"high,omitempty"`
	BetaLow  []float64 `json:"betaLow,omitempty"`
	BetaHigh []float64 `json:"betaHigh,omitempty"`

	Iterations int  `json:"iterations,omitempty"` // of em
	Unsettled  bool `json:"unsettled,omitempty"`  // em stopped after 300 iterations, before its probabilities settled
}

// EstimateBias estimates the position bias α from a log, with α_1 = 1 and β = 0. Clicks alone
// do not identify β: see [EstimateAffine].
//
// Harvest and AllPairs weigh a click on document d at rank k by min(P(d@k), P(d@j)) / P(d@k)
// to compare it with rank j. With C_kj the sum of these, E[C_kj] / E[C_jk] = α_k / α_j.
//
// EstimateBias returns an error if an impression has no scores (unless the method is
// RegressionEM), if ranks are not compared (the report is then complete and says which), or if
// RegressionEM finds no clicks at rank 1.
func EstimateBias(l *Log, method Method) (Bias, BiasReport, error) {
	e, err := NewBiasEstimation(method)
	if err != nil {
		return Bias{}, BiasReport{}, err
	}
	return e.estimateLog(l)
}

// A BiasEstimation is [EstimateBias], or [EstimateAffine], for a log that comes in parts, see [Scan]. Its
// memory does not grow with the log. For RegressionEM it is proportional to the documents of all
// queries, and for the affine model to the number of different relevances.
type BiasEstimation struct {
	report BiasReport
	shown  []float64 // by rank; report.ClickRate has sums of clicks until the end
	method biasMethod

	ended bool // by Estimate, which turns sums into means, and keeps what it found
	bias  Bias
	err   error
}

// A biasMethod adds up the parts of a log, and estimates the bias from its sums.
type biasMethod interface {
	add(l *Log, situations []situation) error
	// estimate completes the report. shown is how often each rank was shown.
	estimate(report *BiasReport, shown []float64) (Bias, error)
	// again returns the estimate from a resample of the impressions, after estimate.
	again(random *rand.Rand, resample int) (Bias, error)
	// resamples returns how many there are, and how much more than the standard deviation over them the standard error is.
	resamples() (n int, spread float64)
}

// intervals sets the intervals of a report.
func (e *BiasEstimation) intervals() {
	random := rand.New(rand.NewPCG(1, 2))
	var alpha, beta [][]float64 // by rank, by resample
	n, spread := e.method.resamples()
	for i := range n {
		b, err := e.method.again(random, i)
		if err != nil || len(b.Alpha) != len(e.bias.Alpha) {
			continue // clicks at a rank are too few for this resample
		}
		for k, a := range b.Alpha {
			if i == 0 || k >= len(alpha) {
				alpha, beta = append(alpha, nil), append(beta, nil)
			}
			alpha[k], beta[k] = append(alpha[k], a), append(beta[k], b.beta(k))
		}
	}
	r := &e.report
	for k := range alpha {
		low, high := interval95(e.bias.Alpha[k], spread, alpha[k])
		r.Low, r.High = append(r.Low, max(0, low)), append(r.High, high)
		if e.bias.Beta != nil {
			low, high = interval95(e.bias.Beta[k], spread, beta[k])
			r.BetaLow, r.BetaHigh = append(r.BetaLow, low), append(r.BetaHigh, high)
		}
	}
}

// interval95 returns the interval of a value by its standard deviation over resamples.
func interval95(value, spread float64, resamples []float64) (low, high float64) {
	half := distuv.UnitNormal.Quantile(.975) * spread * stat.StdDev(resamples, nil)
	return value - half, value + half
}

// NewBiasEstimation returns an estimation without impressions.
func NewBiasEstimation(method Method) (*BiasEstimation, error) {
	switch method {
	case Harvest, AllPairs:
		return &BiasEstimation{method: &harvested{neighbours: method == Harvest}}, nil
	case RegressionEM:
		return &BiasEstimation{method: &expectationMaximisation{at: map[rowAtRank]int{}}}, nil
	}
	var known []string
	for _, m := range Methods() {
		known = append(known, string(m))
	}
	return nil, fmt.Errorf("clicks: unknown method %q: %s", method, names.Want(string(method), known))
}

// NewAffineEstimation returns an estimation by [EstimateAffine] without impressions.
func NewAffineEstimation(relevance PolicyFunc) *BiasEstimation {
	return &BiasEstimation{method: &affineFit{relevance: relevance}}
}

// estimateLog returns the estimate from one log.
func (e *BiasEstimation) estimateLog(l *Log) (Bias, BiasReport, error) {
	if err := e.Add(l); err != nil {
		return Bias{}, e.report, err
	}
	return e.Estimate()
}

// Add adds the impressions of a log.
func (e *BiasEstimation) Add(l *Log) error {
	if e.ended {
		return errors.New("clicks: Add called after Estimate: create a new BiasEstimation")
	}
	if err := l.Validate(); err != nil {
		return err
	}
	for i := range l.Impressions {
		im := &l.Impressions[i]
		if len(im.Shown) > 0 {
			e.report.Impressions++
		}
		for k, c := range im.Clicks {
			if k == len(e.shown) {
				e.shown, e.report.ClickRate = append(e.shown, 0), append(e.report.ClickRate, 0)
			}
			e.shown[k]++
			e.report.ClickRate[k] += c
		}
	}
	return e.method.add(l, l.situations())
}

// Estimate returns the estimate, with the same errors as [EstimateBias] and [EstimateAffine]. Nothing can be added afterwards.
func (e *BiasEstimation) Estimate() (b Bias, r BiasReport, err error) {
	switch {
	case e.ended:
	case e.report.Impressions == 0:
		e.err = errors.New("clicks: no impressions to estimate the position bias from")
	default:
		floats.Div(e.report.ClickRate, e.shown)
		if e.bias, e.err = e.method.estimate(&e.report, e.shown); e.err == nil {
			e.intervals()
		}
	}
	e.ended = true
	return e.bias, e.report, e.err
}

// EstimateAffine estimates α and β of the affine model if the relevance of the documents is
// known, from judges or a simulation. It fits a line c ≈ α_k r + β_k to the clicks at each rank,
// weighted by the precision of binary clicks. This reaches the Cramér–Rao bound, so no unbiased
// estimate is more precise. Ranks share no parameter, and fitting them together would not help.
// The function relevance returns r for the documents of an impression. If r is the probability
// that a document is relevant, α_k + β_k and β_k are the probabilities of a click on a relevant
// and on another document at rank k (Agarwal et al., WWW 2019).
//
// EstimateAffine returns an error if all documents at a rank are equally relevant.
func EstimateAffine(l *Log, relevance PolicyFunc) (Bias, BiasReport, error) {
	return NewAffineEstimation(relevance).estimateLog(l)
}

// affineFit is the estimation of [EstimateAffine].
type affineFit struct {
	relevance PolicyFunc
	known     []map[float64]clicksOn // by rank, by relevance
}

// clicksOn counts how often documents were shown, and their clicks.
type clicksOn struct{ shown, clicks float64 }

func (f *affineFit) add(l *Log, situations []situation) error {
	for _, s := range situations {
		r, err := f.relevance(s.Impression)
		if err == nil && (len(r) != len(s.Documents) || slices.ContainsFunc(r, notFinite)) {
			err = fmt.Errorf("%d relevances for %d documents: want a finite number for each", len(r), len(s.Documents))
		}
		if err != nil {
			return l.impressionError(s.impressions[0], err)
		}
		for _, i := range s.impressions {
			im := &l.Impressions[i]
			for k, d := range im.Shown {
				if k == len(f.known) {
					f.known = append(f.known, map[float64]clicksOn{})
				}
				on := f.known[k][r[d]]
				f.known[k][r[d]] = clicksOn{on.shown + 1, on.clicks + im.Clicks[k]}
			}
		}
	}
	return nil
}

func (f *affineFit) resamples() (n int, spread float64) { return 200, 1 }

// again draws how often a document was shown and clicked, as by the impressions of a resample.
func (f *affineFit) again(random *rand.Rand, _ int) (Bias, error) {
	own := &affineFit{}
	for _, known := range f.known {
		drawn := map[float64]clicksOn{}
		for _, r := range slices.Sorted(maps.Keys(known)) {
			clicks := poisson(random, known[r].clicks)
			drawn[r] = clicksOn{clicks + poisson(random, known[r].shown-known[r].clicks), clicks}
			if drawn[r].shown == 0 {
				delete(drawn, r)
			}
		}
		if len(drawn) == 0 {
			return Bias{}, errors.New("a rank without impressions")
		}
		own.known = append(own.known, drawn)
	}
	return own.estimate(nil, nil)
}

// poisson draws how often impressions of that number, or weight, are in a resample.
func poisson(random *rand.Rand, n float64) float64 {
	if !(n > 0) {
		return 0
	}
	return distuv.Poisson{Lambda: n, Src: random}.Rand()
}

func (f *affineFit) estimate(*BiasReport, []float64) (Bias, error) {
	b := Bias{Alpha: make([]float64, len(f.known)), Beta: make([]float64, len(f.known))}
	for k, known := range f.known {
		relevance := slices.Sorted(maps.Keys(known))
		if len(relevance) == 1 {
			return Bias{}, fmt.Errorf("clicks: all documents at rank %d have the relevance %v: their clicks cannot separate trust from relevance",
				k+1, relevance[0])
		}
		var rates, shown []float64
		for _, r := range relevance {
			rates, shown = append(rates, known[r].clicks/known[r].shown), append(shown, known[r].shown)
		}
		b.Beta[k], b.Alpha[k] = line(relevance, rates, shown)
	}
	return b, nil
}

// line fits rates ≈ alpha·r + beta by least squares, weighted by how often each was shown. It then fits once more, with
// the weights divided by p(1−p), the variance of binary clicks at the p of the first line.
func line(r, rates, shown []float64) (beta, alpha float64) {
	beta, alpha = stat.LinearRegression(r, rates, shown, false)
	weights := make([]float64, len(r))
	for i, x := range r {
		p := alpha*x + beta
		weights[i] = shown[i] / max(.01, p*(1-p))
	}
	return stat.LinearRegression(r, rates, weights, false)
}
