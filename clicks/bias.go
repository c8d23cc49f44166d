package clicks

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/internal/names"
)

// A Bias is the affine model of clicks: the document d at rank k is clicked with probability
// α_k r_d + β_k.
type Bias struct {
	Alpha []float64 `json:"alpha"`          // by rank: α_k, 0 or more; the position-based model's θ_k
	Beta  []float64 `json:"beta,omitempty"` // by rank: β_k; nil: all are 0
}

// check checks a bias for impressions of so many ranks.
func (b Bias) check() error {
	if len(b.Alpha) == 0 {
		return errors.New("clicks: no bias given: EstimateBias estimates one")
	}
	if b.Beta != nil && len(b.Beta) != len(b.Alpha) {
		return fmt.Errorf("clicks: a bias with %d entries of beta and %d of alpha: want as many", len(b.Beta), len(b.Alpha))
	}
	for k, a := range b.Alpha {
		if !(a >= 0) || notFinite(a) || notFinite(b.beta(k)) {
			return fmt.Errorf("clicks: the bias of rank %d is %v and %v: want finite numbers, the first not negative", k+1, a, b.beta(k))
		}
	}
	return nil
}

// beta is β of rank k+1.
func (b Bias) beta(k int) float64 {
	if b.Beta == nil {
		return 0
	}
	return b.Beta[k]
}

// covers is an error if the bias has fewer ranks than an impression.
func (b Bias) covers(im *Impression) error {
	if len(im.Shown) > len(b.Alpha) {
		return fmt.Errorf("%d ranks shown, and the bias has only %d", len(im.Shown), len(b.Alpha))
	}
	return nil
}

// A Method is a way to estimate the bias of ranks, by name.
type Method string

const (
	// Harvest compares neighbouring ranks by the clicks on documents that could have been at
	// both, and chains the ratios (intervention harvesting, Agarwal et al., WSDM 2019). The
	// policy itself intervenes, so queries may all be different.
	Harvest Method = "harvest"
	// AllPairs compares all ranks with each other, and fits α to the logarithms of the
	// ratios by least squares, weighted by their precision. It is better than Harvest where
	// clicks are few or candidates many.
	AllPairs Method = "all-pairs"
	// RegressionEM is expectation maximisation (Wang et al., WSDM 2018), for rankings that
	// were not drawn by a known policy. The relevance of a document is a regression on its
	// features; without features it is a number for each document of a query, which needs
	// queries that are asked often, in different rankings.
	RegressionEM Method = "em"
)

// Methods are the names that EstimateBias knows.
func Methods() []Method { return []Method{Harvest, AllPairs, RegressionEM} }

// A BiasReport says what an estimate of the bias rests on.
type BiasReport struct {
	Impressions int       `json:"impressions"` // with a document shown
	ClickRate   []float64 `json:"clickRate"`   // by rank: clicks an impression that reached it

	// Overlap[k][j] is the mean over impressions of Σ_d min(P(d@k+1), P(d@j+1)): 1 where two
	// ranks have the same documents, 0 where no document can be at both. Entries of ranks
	// that are not compared are 0. nil for impressions without scores.
	Overlap [][]float64 `json:"overlap,omitempty"`

	// Connected are the ranks, from 1, in groups that are compared with each other, directly
	// or through others. With more than one group the log does not tell their biases apart
	// from the relevance of their documents. nil for impressions without scores.
	Connected [][]int `json:"connected,omitempty"`

	Iterations int `json:"iterations,omitempty"` // of em
}

// EstimateBias estimates the position bias α from a log, with α_1 = 1 and β = 0: what can be
// told from clicks alone. See [EstimateAffine] for β.
//
// Harvest and AllPairs weigh a click on document d at rank k by min(P(d@k), P(d@j)) / P(d@k)
// to compare it with rank j. With C_kj the sum of these, E[C_kj] / E[C_jk] = α_k / α_j.
//
// It is an error if an impression has no scores (other than for RegressionEM), and if ranks are
// not compared: the report is then complete, and says which.
func EstimateBias(l *Log, method Method) (Bias, BiasReport, error) {
	if !slices.Contains(Methods(), method) {
		var known []string
		for _, m := range Methods() {
			known = append(known, string(m))
		}
		return Bias{}, BiasReport{}, fmt.Errorf("clicks: unknown method %q: %s", method, names.Want(string(method), known))
	}
	report, err := describe(l)
	if err != nil {
		return Bias{}, report, err
	}
	situations := l.situations()
	if method == RegressionEM {
		b, err := maximise(l, situations, &report)
		return b, report, err
	}
	h, err := harvest(l, situations, len(report.ClickRate))
	if err != nil {
		return Bias{}, report, err
	}
	report.Overlap, report.Connected = h.overlap, h.connected(method == Harvest)
	if len(report.Connected) > 1 {
		return Bias{}, report, fmt.Errorf("clicks: ranks %v are not compared with the others: no clicked document could have been in both groups of ranks; use a higher temperature, more impressions, or method %s", report.Connected[1], RegressionEM)
	}
	b, err := h.solve(method == Harvest)
	return b, report, err
}

// describe checks a log and counts its impressions and clicks.
func describe(l *Log) (r BiasReport, err error) {
	if err := l.Validate(); err != nil {
		return r, err
	}
	var shown []float64
	for i := range l.Impressions {
		im := &l.Impressions[i]
		if len(im.Shown) > 0 {
			r.Impressions++
		}
		for k, c := range im.Clicks {
			if k == len(shown) {
				shown, r.ClickRate = append(shown, 0), append(r.ClickRate, 0)
			}
			shown[k]++
			r.ClickRate[k] += c
		}
	}
	if r.Impressions == 0 {
		return r, errors.New("clicks: no impressions to estimate the bias from")
	}
	for k := range shown {
		r.ClickRate[k] /= shown[k]
	}
	return r, nil
}

// EstimateAffine estimates α and β of the affine model where the relevance of the documents
// is known, from judges or a simulation: by a line through the clicks at each rank,
// c ≈ α_k r + β_k, weighted by the precision of binary clicks. That is as precise as an unbiased
// estimate can be (it reaches the Cramér–Rao bound); as ranks have no parameter in common, fitting
// them together would not help. relevance gives r for the documents of an impression. The scale of
// α is that of r: for r the probability that a document is relevant, α_k + β_k and β_k are those of a
// click on a relevant and another document at rank k (Agarwal et al., WWW 2019).
//
// A rank where all documents are as relevant is an error.
func EstimateAffine(l *Log, relevance Policy) (Bias, BiasReport, error) {
	report, err := describe(l)
	if err != nil {
		return Bias{}, report, err
	}
	ranks := len(report.ClickRate)
	known, clicked := make([][]float64, ranks), make([][]float64, ranks)
	for _, s := range l.situations() {
		r, err := relevance(s.Impression)
		if err == nil && (len(r) != len(s.Documents) || slices.ContainsFunc(r, notFinite)) {
			err = fmt.Errorf("%d numbers of relevance for %d documents: want a finite one for each", len(r), len(s.Documents))
		}
		if err != nil {
			return Bias{}, report, l.at(s.impressions[0], err)
		}
		for _, i := range s.impressions {
			im := &l.Impressions[i]
			for k, d := range im.Shown {
				known[k], clicked[k] = append(known[k], r[d]), append(clicked[k], im.Clicks[k])
			}
		}
	}
	b := Bias{Alpha: make([]float64, ranks), Beta: make([]float64, ranks)}
	for k := range ranks {
		if slices.Min(known[k]) == slices.Max(known[k]) {
			return Bias{}, report, fmt.Errorf("clicks: all documents at rank %d have the relevance %v: their clicks do not tell trust from relevance", k+1, known[k][0])
		}
		b.Beta[k], b.Alpha[k] = line(known[k], clicked[k])
	}
	return b, report, nil
}

// line fits clicks ≈ alpha·r + beta by least squares, and once more with the weights 1/p(1−p)
// of binary clicks at the p of the first line.
func line(r, clicks []float64) (beta, alpha float64) {
	beta, alpha = stat.LinearRegression(r, clicks, nil, false)
	weights := make([]float64, len(r))
	for i, x := range r {
		p := alpha*x + beta
		weights[i] = 1 / max(.01, p*(1-p))
	}
	return stat.LinearRegression(r, clicks, weights, false)
}
