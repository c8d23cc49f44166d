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
// serves as the second derivative of the loss of the query, as boosted trees need one. It is
//
//   - for minus an expected metric, exact or estimated, the bound of plackett.Expectation.Curvature, for exact-err,
//     exact-mrr, exact-success and, summed over intents, exact-alpha-ndcg the one of CascadeCurvature, and for exact-map a
//     bound from the signs of its pairs;
//   - for softmax, xe-ndcg and listnet p(1 − p), p the softmax of the scores, and the sum of it over the choices for listmle
//     and partial-listmle;
//   - for the losses of logistic pairs Σ w σ(1 − σ) over the pairs of the document, without the noise of lambdaloss;
//   - for mse, query-rmse, ordinal and cross-entropy the second derivative.
//
// For other losses it reports false, and adds nothing.
func (t Term) Curvature(q *Query, out []float64) (known bool, err error) {
	write, known := curvatures[t.curved()]
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
			of.Scores = slices.Clone(q.Scores)
			for d, w := range of.Weights {
				of.Scores[d] += logWeight(w)
			}
		}
	}
	err = write(&of, own)
	floats.AddScaled(out, factor, own)
	return true, err
}

// HasCurvature reports whether [Term.Curvature] knows the curvature.
func (t Term) HasCurvature() bool { return curvatures[t.curved()] != nil }

// curved is the name of the loss that the curvature is of.
func (t Term) curved() string { return cmp.Or(t.entry.objective, t.entry.name) }

// curvatures write the curvature of a loss, by its name, to zeros.
var curvatures = map[string]func(q *Query, out []float64) error{
	exact: func(q *Query, out []float64) error {
		gains := make([]float64, len(q.Gains)) // the bound holds for gains of any sign by their size
		for d, g := range q.Gains {
			gains[d] = math.Abs(g)
		}
		_, err := q.expectation.Curvature(q.Scores, gains, q.Discounts, make([]float64, len(out)), out)
		return err
	},
	"exact-err":     ofCascade(func(q *Query, d int) float64 { return stop(max(0, q.Labels[d]), cmp.Or(q.HighestGrade, 4)) }, inverseRank),
	"exact-mrr":     ofCascade(relevanceOf, inverseRank),
	"exact-success": ofCascade(relevanceOf, alike),
	"exact-map":     ofPrecision,
	"exact-alpha-ndcg": func(q *Query, out []float64) error {
		discounts, lambda, part := metrics.Discounts(len(q.Discounts)), make([]float64, len(out)), make([]float64, len(out))
		return eachIntent(q.Intents, q.number, discounts, func(rewards, continuations []float64) error {
			_, err := q.expectation.CascadeCurvature(q.Scores, rewards, continuations, discounts, lambda, part)
			floats.Add(out, part)
			return err
		})
	},

	"softmax": oneChoice, "xe-ndcg": oneChoice, "listnet": oneChoice,
	"listmle":         func(q *Query, out []float64) error { return ofChoices(q, math.Inf(-1), out) },
	"partial-listmle": func(q *Query, out []float64) error { return ofChoices(q, 0, out) },

	"ranknet": func(q *Query, out []float64) error {
		pairs, each := 0.0, pairWeights{each: 1}
		each.eachPair(num.DescendingOrder(nil, q.Scores), q.Gains, q.Weights, func(_, _ int, w float64) { pairs += w })
		ofPairWeights(q, q.Gains, each, 1/pairs, out)
		return nil
	},
	"lambdaloss":               ofDistances,
	"lambdaloss-deterministic": ofDistances,
	"lambdarank":               ofNormalized(func(q *Query) pairWeights { return pairWeights{swap: q.Discounts} }),
	"ndcg-loss2":               ofNormalized(func(q *Query) pairWeights { return pairWeights{distance: drops(q.Discounts, 1)} }),
	"ndcg-loss2pp":             ofNormalized(func(q *Query) pairWeights { return pairWeights{swap: q.Discounts, distance: drops(q.Discounts, 10)} }),
	"ndcg-loss2k":              ofNormalized(func(q *Query) pairWeights { return pairWeights{atCutoff: q.Discounts} }),

	"mse":           eachTerm(func(q *Query, d int) float64 { return 2 / float64(len(q.Scores)) }),
	"query-rmse":    eachTerm(func(*Query, int) float64 { return 2 }),
	"cross-entropy": eachTerm(func(q *Query, d int) float64 { return bell(q.Scores[d]) / float64(len(q.Scores)) }),
	"ordinal": eachTerm(func(q *Query, d int) (sum float64) {
		const near = 40 // as in thresholds
		m := q.Scores[d] + 0.5
		for c := max(1, math.Ceil(m-near)); c <= min(math.Ceil(cmp.Or(q.HighestGrade, 4)), m+near); c++ {
			sum += bell(m-c) / float64(len(q.Scores))
		}
		return sum
	}),
}

func relevanceOf(q *Query, d int) float64 {
	if weightOf(q.Weights, d) == 0 {
		return 0
	}
	return relevance(q.Labels[d])
}

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

// copies writes w exp(m − the largest m).
func copies(q *Query, out []float64) {
	top := slices.Max(q.Scores)
	for d, m := range q.Scores {
		out[d] = weightOf(q.Weights, d) * math.Exp(m-top)
	}
}

// ofChoices is Σ w p(1 − p) over the choices, by falling gain, of documents of gains above least, p among those that are left.
func ofChoices(q *Query, least float64, out []float64) error {
	order, left := num.DescendingOrder(nil, q.Gains), make([]float64, len(out))
	copies(q, out)
	for k, sum := len(order)-1, 0.0; k >= 0; k-- {
		sum += out[order[k]]
		left[k] = sum
	}
	inverse, squares := 0.0, 0.0 // Σ w/left, Σ w/left²
	for k, d := range order {
		if q.Gains[d] > least && left[k] > 0 {
			inverse += weightOf(q.Weights, d) / left[k]
			squares += weightOf(q.Weights, d) / (left[k] * left[k])
		}
		out[d] = max(0, out[d]*inverse-out[d]*out[d]*squares)
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
