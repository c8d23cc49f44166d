package losses

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// A batch is a Batch that is prepared for the terms of a sum, which share its samples and its exposure. Its methods return the
// fields that a loss needs. If one is missing, they panic with an error that names it, which caught returns.
type batch struct {
	Batch
	drawnRankings, drawnNoise *G.Node
	exposures                 [CascadeExposure + 1]*G.Node

	factor float64 // of the term that is built, for its curvature

	meanWeights *G.Node // [queries] the mean weight of the documents; nil: no weights
	given       *G.Node // the original weights; DocumentWeights are divided by their mean

	policy  *batch // see weighted
	noiseOf *batch // the batch that draws the noise and has the weights; nil: this one
}

// prepare divides the weights of the documents by their mean in the query.
func prepare(given Batch) (b *batch, err error) {
	defer caught(&err)
	b = &batch{Batch: given}
	b.Discounts = slices.Clone(b.Discounts) // not the caller's, who may change them
	if b.DocumentWeights == nil {
		return b, nil
	}
	b.checkRows("document weights", b.DocumentWeights)
	b.given = notNegative(b.Lists, "document weight", b.DocumentWeights)
	weights := op.AnyRows("document weights", b.given)
	b.meanWeights = fixed("losses: MeanWeight", op.PerQuery, func(l *op.List, out []float64) {
		out[0] = mean(l.X[0], nil)
	}, b.Lists, weights)
	b.DocumentWeights = fixed("losses: RelativeWeights", op.PerRow, func(l *op.List, out []float64) {
		if all := mean(l.X[0], nil); all > 0 {
			floats.ScaleTo(out, 1/all, l.X[0])
		}
	}, b.Lists, weights)
	return b, nil
}

// weighted returns the batch for losses of a policy. It has no weights: the policy chooses documents in proportion to w e^m, w
// their weights here.
func (b *batch) weighted() *batch {
	if b.DocumentWeights == nil {
		return b
	}
	if b.policy == nil {
		b.policy = &batch{Batch: b.Batch, noiseOf: b}
		b.policy.Lists, b.policy.DocumentWeights = b.copies(b.Lists.Scores), nil
		if b.LoggedScores != nil {
			b.policy.LoggedScores = b.copies(b.LoggedScores).Scores
		}
	}
	return b.policy
}

// copies returns lists with the scores m + log w: a document of weight w is as likely as w documents. At weight 0 the score is so
// low that the document has no share and no derivative. Without weights, the scores stay.
func (b *batch) copies(scores *G.Node) ops.Lists {
	l := ops.Lists{Scores: scores, Offsets: b.Lists.Offsets}
	if b.DocumentWeights == nil {
		return l
	}
	f := op.ListFunc{
		Name: "losses: Copies",
		Do: func(l *op.List) error {
			out := l.Out()
			for d, w := range l.X[1] {
				out[d] = l.X[0][d] + logWeight(w)
			}
			return nil
		},
		VJP: func(l *op.List) error {
			out := l.Out()
			for d, w := range l.X[1] {
				if w > 0 {
					out[d] = l.Last()[d]
				}
			}
			return nil
		},
	}
	l.Scores = G.Must(f.Apply(b.Lists, op.Rows("scores", scores), op.AnyRows("document weights", b.DocumentWeights)))
	return l
}

// logWeight returns the logarithm of a weight, for 0 a number that float32 can hold.
func logWeight(w float64) float64 {
	if w > 0 {
		return math.Log(w)
	}
	return -1e37
}

// checkRows panics with an error if the lists do not fit, or if n does not have a number of the dtype of the scores for every
// row.
func (b *batch) checkRows(what string, n *G.Node) {
	if err := op.Check(b.Lists, op.AnyRows(what, n)); err != nil {
		panic(err)
	}
}

// ownWeights returns the weights of the documents; the scores of a policy have them in them.
func (b *batch) ownWeights() *G.Node {
	if b.noiseOf != nil {
		return b.noiseOf.DocumentWeights
	}
	return b.DocumentWeights
}

// earned returns x, and 0 for documents of weight 0, which do not exist for a policy.
func (b *batch) earned(x *G.Node) *G.Node {
	if b.noiseOf == nil {
		return x
	}
	return mul(x, nonzero(b.noiseOf.DocumentWeights))
}

func (b *batch) gains() *G.Node {
	b.checkRows("gains", b.Gains)
	return b.earned(b.Gains)
}

// finiteGains and gainsFromZero return the gains; a run returns an error if they are not finite, or negative.
func (b *batch) finiteGains() *G.Node { return finite(b.Lists, "gain", b.gains()) }

func (b *batch) gainsFromZero() *G.Node {
	b.checkRows("gains", b.Gains)
	return b.earned(notNegative(b.Lists, "gain", b.Gains))
}

func (b *batch) discounts() []float64 {
	if len(b.Discounts) == 0 {
		panic(errors.New("no discounts: want one for every rank that counts"))
	}
	return b.Discounts
}

func (b *batch) labels() *G.Node {
	given(b.Labels, "no labels: Batch.Labels is nil, want the raw grades of the documents")
	b.checkRows("labels", b.Labels)
	return b.Labels
}

// finiteLabels and labelsFromZero return the labels; a run returns an error if they are not finite, or negative.
func (b *batch) finiteLabels() *G.Node   { return finite(b.Lists, "label", b.labels()) }
func (b *batch) labelsFromZero() *G.Node { return b.earned(notNegative(b.Lists, "label", b.labels())) }

// highest returns the highest grade.
func (b *batch) highest() float64 { return cmp.Or(b.HighestGrade, 4) }

func (b *batch) groups() *G.Node {
	return given(b.Groups, "no groups: Batch.Groups is nil, want the group of every document")
}

func (b *batch) intents() *G.Node {
	return given(b.Intents, "no intents: Batch.Intents is nil, want the intents of every document")
}

// given returns n. If n is nil, it panics with the error text.
func given(n *G.Node, text string) *G.Node {
	if n == nil {
		panic(errors.New(text))
	}
	return n
}

// rankings returns the rankings from which gradients are estimated.
func (b *batch) rankings() *G.Node {
	if b.Rankings != nil {
		return b.Rankings
	}
	return once(&b.drawnRankings, func() (*G.Node, error) { return ops.Rankings(b.Lists, b.Sampler) })
}

func (b *batch) noise() *G.Node {
	switch {
	case b.Noise != nil:
		return b.Noise
	case b.noiseOf != nil:
		return b.noiseOf.noise()
	}
	return once(&b.drawnNoise, func() (*G.Node, error) { return ops.Gumbel(b.Lists, b.Sampler) })
}

// exposure returns the exposure of every document. An estimate and its gradient come from different rankings: with the same, the
// gradient of a function that is not linear would be biased.
func (b *batch) exposure(e Exposure) *G.Node {
	return once(&b.exposures[e], func() (*G.Node, error) {
		switch e {
		case CascadeExposure:
			return b.onCascade(b.Lists.Scores)
		case ExactExposure:
			return ops.ExpectedExposure(b.Lists, b.discounts())
		}
		forGradient, sampler := b.rankings(), b.Exposure
		if sampler == nil {
			sampler = b.Sampler
		}
		rankings := G.Must(ops.Rankings(b.Lists, sampler))
		return ops.Exposure(b.Lists, rankings, forGradient, b.discounts())
	})
}

// once returns *n, which it builds at the first call.
func once(n **G.Node, build func() (*G.Node, error)) *G.Node {
	if *n == nil {
		*n = G.Must(build())
	}
	return *n
}

// withGains sets the loss of queries without gains to 0, for losses whose target would be noise alone.
func (b *batch) withGains(perQuery *G.Node) *G.Node {
	return mul(perQuery, nonzero(total(b.Lists, b.times(nonzero(b.gains())))))
}

// weightOf returns the weight of a document, 1 without weights, and ofPair the product for two documents.
func weightOf(weights []float64, d int) float64 {
	if weights == nil {
		return 1
	}
	return weights[d]
}

func ofPair(weights []float64, i, j int) float64 { return weightOf(weights, i) * weightOf(weights, j) }

// times multiplies x by the weights of the documents, if there are any.
func (b *batch) times(x *G.Node) *G.Node {
	if b.DocumentWeights == nil {
		return x
	}
	return mul(x, b.DocumentWeights)
}
