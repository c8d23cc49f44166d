// Package judges computes what people would measure, from labels of all documents by a judge, such as a language model, and labels
// of a few by people. It uses neither graphs nor files.
//
// A measure that is a sum over documents, Σ_d w_d ρ_d, such as DCG or its expectation under a policy, is linear in the gains ρ_d. With
// gains ρ̂_d by the judge, and the gains of people for documents that were drawn with known probabilities π_d,
//
//	Σ_d w_d ρ̂_d + Σ_{d drawn} w_d (ρ_d − ρ̂_d)/π_d
//
// has the expectation Σ_d w_d ρ_d whatever the judge does: the difference estimator of survey sampling (Särndal, Swensson & Wretman
// 1992, §6.3). A good judge makes its interval narrow, and a bad one wide. [ByPairs] computes it, [Probabilities] are those that make it
// narrow, and [Draw] draws with them. [ByQueries] is for whole queries that people have judged.
//
// All intervals are for the value that people would measure if they judged everything that is there: these queries and documents, not
// others like them.
package judges

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate holds an estimate of a value and its uncertainty.
type Estimate struct {
	Value  float64
	StdErr float64 // of Value; 0 if everything was judged
	// Judged is the number of queries or pairs that people judged and that have an effect on the value.
	Judged int
	// Freedom is the degrees of freedom of Student's distribution for the interval; +Inf if everything was judged.
	Freedom float64

	first, variance, squares, scale float64 // see Always
}

// Interval returns the ends of the confidence interval of that level, such as .95, by Student's distribution; infinite without degrees
// of freedom.
func (e Estimate) Interval(level float64) (low, high float64) {
	if !(e.Freedom > 0) {
		return math.Inf(-1), math.Inf(1)
	}
	if e.StdErr == 0 {
		return e.Value, e.Value
	}
	half := e.StdErr * distuv.StudentsT{Sigma: 1, Nu: e.Freedom}.Quantile((1+level)/2)
	return e.Value - half, e.Value + half
}

// Always returns the ends of a confidence interval that holds for all rounds of [ByPairs] at once, so that one may look after every
// round and stop when it is narrow enough: the confidence sequence of a normal mixture for asymptotically normal martingales
// (Waudby-Smith et al., Annals of Statistics 2024), tightest after four rounds like the first.
func (e Estimate) Always(level float64) (low, high float64) {
	if e.StdErr == 0 || e.scale == 0 {
		return e.Interval(level)
	}
	alpha := 1 - level
	mixture := 4 * e.first / (1 - 2*math.Log(alpha) + math.Log(1-2*math.Log(alpha)))
	all := e.variance + mixture
	half := math.Sqrt(all*math.Log(all/(mixture*alpha*alpha))) / e.scale
	usual, _ := Estimate{StdErr: 1, Freedom: e.Freedom}.Interval(level)
	half *= usual / distuv.UnitNormal.Quantile(alpha/2) // few judgements
	return e.Value - half, e.Value + half
}

// fewQueries are too few to tell λ: intervals would be wider than without the judge.
const fewQueries = 5

// ByQueries estimates the mean over queries of what people measure, from the values by the judge for every query and by people for some,
// NaN for the others, which must be a random sample. people is the mean of what they measured. both is λ times the mean by the judge
// plus the mean of people − λ·judge where people judged, which is prediction-powered inference (Angelopoulos et al., Science 2023) with
// the power λ that makes the interval narrowest (PPI++, Angelopoulos, Duchi & Zrnic 2023), here from 0 to 1, and 0 if
// people judged 5 queries or fewer.
//
// Sampling is without replacement, so the variance is (1 − n/N) s²/n. Where s is 0, one of the n is taken to be off by the standard
// deviation of the judge's values. ByQueries returns an error if people judged fewer than two of
// several queries, and for values that are not finite.
func ByQueries(judge, people []float64) (both, alone Estimate, lambda float64, err error) {
	var h, j []float64
	for q, v := range people {
		if !math.IsNaN(v) {
			h, j = append(h, v), append(j, judge[q])
		}
	}
	mean := stat.Mean(judge, nil)
	if v := mean + floats.Sum(h); v-v != 0 {
		return both, alone, 0, errors.New("judges: a value of a query is not finite")
	}
	if len(h) < min(2, len(judge)) {
		return both, alone, 0, fmt.Errorf("judges: people judged %d of %d queries: want 2 or more", len(h), len(judge))
	}
	if v := stat.Variance(j, nil); len(h) > fewQueries && v > 0 {
		lambda = max(0, min(1, stat.Covariance(h, j, nil)/v))
	}
	alone = atPower(h, j, judge, 0)
	both = alone
	if lambda > 0 {
		both = atPower(h, j, judge, lambda)
	}
	return both, alone, lambda, nil
}

// atPower estimates the mean of all queries from values by people and by the judge for a sample, and by the judge for all.
func atPower(people, judge, all []float64, lambda float64) Estimate {
	residuals := slices.Clone(people)
	floats.AddScaled(residuals, -lambda, judge)
	n := float64(len(people))
	e := Estimate{Value: lambda*stat.Mean(all, nil) + stat.Mean(residuals, nil), Judged: len(people), Freedom: n - 1}
	if lambda > 0 {
		e.Freedom-- // λ is estimated, too
	}
	if len(people) == len(all) {
		e.Freedom = math.Inf(1)
	} else {
		squares, spread := stat.Variance(residuals, nil)*(n-1)/e.Freedom, stat.Variance(all, nil)
		if squares <= 1e-24*spread { // no difference was seen, which does not say that there is none
			squares = spread / n
		}
		e.StdErr = math.Sqrt((1 - n/float64(len(all))) * squares / n)
	}
	return e
}
