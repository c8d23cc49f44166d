package losses

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// A Query is one query on plain slices, as a [Batch] has it, for [Term.Curvature].
type Query struct {
	Scores, Gains, Labels []float64
	Weights               []float64 // of the documents; nil: 1
	Intents               []int     // of the documents, for exact-alpha-ndcg
	Discounts             []float64
	HighestGrade          float64

	number      float64               // the parameter of the loss
	expectation *plackett.Expectation // of this query and others that follow in its place
}

// Curvature adds to out, for each document, the curvature of the term by its score: a number that is not negative and
// serves as the second derivative of the loss of the query, as boosted trees need one. It is the second derivative
//
//   - for softmax, xe-ndcg and listnet, p(1 − p) with p the softmax of the scores, and for partial-listmle, the sum of it over
//     the choices;
//   - for the losses of logistic pairs, Σ w σ(1 − σ) over the pairs of the document, whose weights are constants;
//   - for mse, ordinal and cross-entropy.
//
// It is a bound on the size of the second derivative
//
//   - for query-rmse: it is 2w, the second derivative 2w (1 − w/Σw);
//   - where every rank counts, for minus an expected metric, exact or estimated, by plackett.Expectation.Curvature, for
//     exact-err, exact-mrr, exact-success and, summed over intents, exact-alpha-ndcg by CascadeCurvature, and for exact-map from
//     the signs of its pairs.
//
// It has that size, but is not a bound, for these metrics where the cutoff is below the number of documents, for lambdaloss, whose
// noise is left out, and for listmle. There, documents of equal gain are in an order that is drawn. The curvature is the mean over
// their orders if they have equal scores and weights, and near it if not.
//
// A document of weight 0, and a query without gain for a loss that is not LabelFree, has 0. For other losses Curvature reports
// false, and adds nothing.
func (t Term) Curvature(q *Query, out []float64) (known bool, err error) {
	c, known := curvatures[t.curved()]
	if !known {
		return false, nil
	}
	if q.expectation == nil {
		q.expectation = &plackett.Expectation{Tolerance: 1e-4} // a bound need not be exact
	}
	of, factor, own := *q, math.Abs(t.Weight), make([]float64, len(q.Scores))
	of.number = t.number
	if q.Weights != nil {
		share := floats.Sum(q.Weights) / float64(len(q.Weights))
		if share == 0 {
			return true, nil
		}
		of.Weights = slices.Clone(q.Weights)
		floats.Scale(1/share, of.Weights)
		factor *= share
		if t.entry.weights == ofPolicy {
			of.Gains, of.Labels, of.Intents = earned(q.Gains, q.Weights), earned(q.Labels, q.Weights), earned(q.Intents, q.Weights)
			of.Scores = slices.Clone(q.Scores)
			for d, w := range of.Weights {
				of.Scores[d] += logWeight(w)
			}
		}
	}
	err = c.write(&of, own)
	floats.AddScaled(out, factor, earned(own, of.Weights))
	return true, err
}

// HasCurvature reports whether [Term.Curvature] knows the curvature.
func (t Term) HasCurvature() bool { return curvatures[t.curved()].write != nil }

// curved is the name of the loss that the curvature is of.
func (t Term) curved() string { return cmp.Or(t.entry.objective, t.entry.name) }

// A curvature writes numbers to zeros, for a query whose weights have the mean 1.
type curvature struct {
	is    kind
	write func(q *Query, out []float64) error
}

// kind says what a curvature is of the gradient of its loss.
type kind int

const (
	secondDerivative kind = iota // of the documents' own scores; ranks and the weights of pairs are constants
	bound                        // at least the size of the second derivative; of a metric, where every rank counts
	size                         // neither, but about as large
)

// curvatures are those that are known, by the name of the loss.
var curvatures = map[string]curvature{
	exact: {bound, func(q *Query, out []float64) error {
		gains := make([]float64, len(q.Gains)) // the bound holds for gains of any sign by their size
		for d, g := range q.Gains {
			gains[d] = math.Abs(g)
		}
		_, err := q.expectation.Curvature(q.Scores, gains, q.Discounts, make([]float64, len(out)), out)
		return err
	}},
	"exact-err":     {bound, ofCascade(stopOf, inverseRank)},
	"exact-mrr":     {bound, ofCascade(relevanceOf, inverseRank)},
	"exact-success": {bound, ofCascade(relevanceOf, alike)},
	"exact-map":     {bound, ofPrecision},
	"exact-alpha-ndcg": {bound, func(q *Query, out []float64) error {
		discounts, lambda, part := metrics.Discounts(len(q.Discounts)), make([]float64, len(out)), make([]float64, len(out))
		return eachIntent(q.Intents, q.number, discounts, func(rewards, continuations []float64) error {
			_, err := q.expectation.CascadeCurvature(q.Scores, rewards, continuations, discounts, lambda, part)
			floats.Add(out, part)
			return err
		})
	}},

	"softmax": {write: withGains(oneChoice)}, "xe-ndcg": {write: withGains(oneChoice)}, "listnet": {write: oneChoice},
	"listmle":         {size, withGains(func(q *Query, out []float64) error { return ofChoices(q, true, out) })},
	"partial-listmle": {write: func(q *Query, out []float64) error { return ofChoices(q, false, out) }},

	"ranknet": {write: func(q *Query, out []float64) error {
		pairs, each := 0.0, pairWeights{each: 1}
		each.eachPair(num.DescendingOrder(nil, q.Scores), q.Gains, q.Weights, func(_, _ int, w float64) { pairs += w })
		ofPairWeights(q, q.Gains, each, 1/pairs, out)
		return nil
	}},
	"lambdaloss":               {size, ofDistances}, // without the noise
	"lambdaloss-deterministic": {write: ofDistances},
	"lambdarank":               {write: ofNormalized(func(q *Query) pairWeights { return pairWeights{swap: q.Discounts} })},
	"ndcg-loss2":               {write: ofNormalized(func(q *Query) pairWeights { return pairWeights{distance: drops(q.Discounts, 1)} })},
	"ndcg-loss2pp": {write: ofNormalized(func(q *Query) pairWeights {
		return pairWeights{swap: q.Discounts, distance: drops(q.Discounts, 10)}
	})},
	"ndcg-loss2k": {write: ofNormalized(func(q *Query) pairWeights { return pairWeights{atCutoff: q.Discounts} })},

	"mse":           {write: eachTerm(func(q *Query, d int) float64 { return 2 / float64(len(q.Scores)) })},
	"query-rmse":    {bound, eachTerm(func(*Query, int) float64 { return 2 })},
	"cross-entropy": {write: eachTerm(func(q *Query, d int) float64 { return bell(q.Scores[d]) / float64(len(q.Scores)) })},
	"ordinal": {write: eachTerm(func(q *Query, d int) (sum float64) {
		const near = 40 // as in thresholds
		m := q.Scores[d] + 0.5
		for c := max(1, math.Ceil(m-near)); c <= min(math.Ceil(cmp.Or(q.HighestGrade, 4)), m+near); c++ {
			sum += bell(m-c) / float64(len(q.Scores))
		}
		return sum
	})},
}

func stopOf(q *Query, d int) float64 { return stop(max(0, q.Labels[d]), cmp.Or(q.HighestGrade, 4)) }

func relevanceOf(q *Query, d int) float64 { return relevance(q.Labels[d]) }

// ofCascade is the bound of a reader who stops at each document with a probability, and earns the discount of its rank.
func ofCascade(stops func(q *Query, d int) float64, discount func(k int) float64) func(*Query, []float64) error {
	return func(q *Query, out []float64) error {
		rewards, continuations, discounts := make([]float64, len(out)), make([]float64, len(out)), make([]float64, len(q.Discounts))
		for d := range out {
			rewards[d] = stops(q, d)
			continuations[d] = 1 - rewards[d]
		}
		for k := range discounts {
			discounts[k] = discount(k)
		}
		_, err := q.expectation.CascadeCurvature(q.Scores, rewards, continuations, discounts, make([]float64, len(out)), out)
		return err
	}
}

// ofPrecision is a bound for average precision, by docs/exact.md, section 6. Its derivative has a part for the document of a
// rank alone, once, and one for the relevant documents above. All pairs of a document have the same sign, so that the size of
// either part is the sum of its pairs; the derivative of the second part is at most twice as large.
func ofPrecision(q *Query, out []float64) error {
	relevant, once, discounts := make([]float64, len(out)), make([]float64, len(out)), make([]float64, len(q.Discounts))
	for d := range relevant {
		relevant[d] = relevanceOf(q, d)
	}
	for k := range discounts {
		discounts[k] = inverseRank(k)
	}
	all := floats.Sum(relevant)
	if all == 0 {
		return nil
	}
	if _, err := q.expectation.AveragePrecision(q.Scores, relevant, len(discounts), out); err != nil {
		return err
	}
	_, err := q.expectation.Gradient(q.Scores, relevant, discounts, once)
	room := min(all, float64(len(discounts)))
	for d := range out {
		out[d] = max(0, 2*math.Abs(out[d])*all-math.Abs(once[d])) / room
	}
	return err
}

// bell is the derivative of sigmoid.
func bell(x float64) float64 { return sigmoid(x) * sigmoid(-x) }

func eachTerm(of func(q *Query, d int) float64) func(*Query, []float64) error {
	return func(q *Query, out []float64) error {
		for d := range out {
			out[d] = weightOf(q.Weights, d) * of(q, d)
		}
		return nil
	}
}

// oneChoice is p(1 − p).
func oneChoice(q *Query, out []float64) error {
	copies(q, out)
	all := floats.Sum(out)
	for d, e := range out {
		out[d] = e / all * (1 - e/all)
	}
	return nil
}

// withGains is 0 for a query without gains of documents that count, as [batch.withGains].
func withGains(of func(q *Query, out []float64) error) func(q *Query, out []float64) error {
	return func(q *Query, out []float64) error {
		if floats.Max(earned(q.Gains, q.Weights)) == 0 {
			return nil
		}
		return of(q, out)
	}
}

// copies writes w exp(m − the largest m).
func copies(q *Query, out []float64) {
	top := slices.Max(q.Scores)
	for d, m := range q.Scores {
		out[d] = weightOf(q.Weights, d) * math.Exp(m-top)
	}
}

// ofChoices is Σ w p(1 − p) over the choices of documents by falling gain, p the share of those that are left. Documents of equal
// gain are chosen at once, where they have a gain, or if drawn one by one, in any order: then as if they were alike, so that each
// of the n choices takes 1/n of what they have.
func ofChoices(q *Query, drawn bool, out []float64) error {
	order := slices.DeleteFunc(num.DescendingOrder(nil, q.Gains), func(d int) bool { return weightOf(q.Weights, d) == 0 })
	tops, sums := left(q.Scores, q.Weights, order, make([]float64, 2*len(order)))
	inverse, squares, top := 0.0, 0.0, math.Inf(1) // Σ w/left and Σ w/left² over the choices so far, times exp top and its square
	for first, end := 0, 0; first < len(order); first = end {
		fall := math.Exp(tops[first] - top)
		inverse, squares, top = inverse*fall, squares*fall*fall, tops[first]
		all, weight, below := 0.0, 0.0, 0.0
		for ; end < len(order) && q.Gains[order[end]] == q.Gains[order[first]]; end++ {
			d := order[end]
			out[d] = weightOf(q.Weights, d) * math.Exp(q.Scores[d]-top)
			all, weight = all+out[d], weight+weightOf(q.Weights, d)
		}
		if end < len(order) {
			below = sums[end] * math.Exp(tops[end]-top)
		}
		tied, before, beforeSquares := order[first:end], inverse, squares
		choices := len(tied)
		if !drawn {
			choices = 1
		}
		for k := range choices {
			if rest := below + all*(1-float64(k)/float64(choices)); drawn || q.Gains[tied[0]] > 0 {
				inverse += weight / float64(choices) / rest
				squares += weight / float64(choices) / (rest * rest)
			}
		}
		for _, d := range tied {
			share := out[d]
			if !drawn {
				out[d] = max(0, share*inverse-share*share*squares)
				continue
			}
			out[d] = max(0, share*before-share*share*beforeSquares)
			for k := 0; k < choices && share > 0; k++ { // that it is there for, with those that come after
				p := share / (below + share + (all-share)*(1-float64(k)/float64(max(1, choices-1))))
				out[d] += weight / float64(choices) * (1 - float64(k)/float64(choices)) * p * (1 - p)
			}
		}
	}
	return nil
}

func ofDistances(q *Query, out []float64) error {
	ofPairWeights(q, q.Gains, pairWeights{distance: drops(q.Discounts, 1)}, 1/math.Ln2, out)
	return nil
}

func ofNormalized(weights func(*Query) pairWeights) func(*Query, []float64) error {
	return func(q *Query, out []float64) error {
		ideal := make([]float64, len(out))
		plackett.RankedExposure(q.Gains, q.Discounts, ideal)
		if best := floats.Dot(ideal, q.Gains); best > 0 {
			ofPairWeights(q, q.Gains, weights(q), 1/(best*math.Ln2), out)
		}
		return nil
	}
}

// ofPairWeights is factor·Σ w σ(1 − σ) over the pairs of each document.
func ofPairWeights(q *Query, gains []float64, w pairWeights, factor float64, out []float64) {
	w.eachPair(num.DescendingOrder(nil, q.Scores), gains, q.Weights, func(better, worse int, weight float64) {
		c := factor * weight * bell(q.Scores[worse]-q.Scores[better])
		out[better] += c
		out[worse] += c
	})
}
