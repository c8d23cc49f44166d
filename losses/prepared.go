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

// A batch is what the losses of the table are built on: a Batch, with what the terms of a sum
// share, namely what is drawn, and the exposure. Its methods give the fields that a loss needs, and panic, for
// caught, with an error that names the one that is missing.
type batch struct {
	Batch
	drawnRankings, drawnNoise *G.Node
	exposures                 [CascadeExposure + 1]*G.Node

	meanWeights *G.Node // of the documents of every query; nil: there are no weights
	given       *G.Node // the weights as they are; DocumentWeights are divided by their mean

	policy  *batch // see weighted
	noiseOf *batch // that draws the noise, and has the weights; nil: itself
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

// weighted is the batch with the policy that chooses documents in proportion to w e^m, with their
// weights w, and without weights.
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

// copies are lists of the scores m + log w, where a document of weight w is chosen as one of w of
// them would be; without weights, of the scores. A document of weight 0 is not there: its score is
// so low that it has no share, and no derivative.
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

// logWeight is the logarithm of a weight, and for 0 a number that float32 can hold.
func logWeight(w float64) float64 {
	if w > 0 {
		return math.Log(w)
	}
	return -1e37
}

// checkRows reports lists that do not fit, and a node that does not have a number of the dtype of the
// scores for every row.
func (b *batch) checkRows(what string, n *G.Node) {
	if err := op.Check(b.Lists, op.AnyRows(what, n)); err != nil {
		panic(err)
	}
}

// earned is x, which documents of weight 0 have none of in a policy: they are not there.
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

// finiteGains and gainsFromZero are the gains, with a check in every run that they are.
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

// finiteLabels and labelsFromZero are the labels, with a check in every run that they are.
func (b *batch) finiteLabels() *G.Node   { return finite(b.Lists, "label", b.labels()) }
func (b *batch) labelsFromZero() *G.Node { return b.earned(notNegative(b.Lists, "label", b.labels())) }

// highest is the highest grade.
func (b *batch) highest() float64 { return cmp.Or(b.HighestGrade, 4) }

func (b *batch) groups() *G.Node {
	return given(b.Groups, "no groups: Batch.Groups is nil, want the group of every document")
}

func (b *batch) intents() *G.Node {
	return given(b.Intents, "no intents: Batch.Intents is nil, want the intents of every document")
}

// given is a node that must be there, or else the error is text.
func given(n *G.Node, text string) *G.Node {
	if n == nil {
		panic(errors.New(text))
	}
	return n
}

// rankings are those that the gradient is estimated from.
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

// exposure of every document. If it is estimated, it is from other rankings than its gradient, which
// would otherwise be biased for functions of it that are not linear.
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

// once makes a node where there is none.
func once(n **G.Node, build func() (*G.Node, error)) *G.Node {
	if *n == nil {
		*n = G.Must(build())
	}
	return *n
}

// withGains is the losses of the queries, and 0 for those without a gain: for losses whose
// target is nothing but noise there.
func (b *batch) withGains(perQuery *G.Node) *G.Node {
	return mul(perQuery, nonzero(total(b.Lists, b.times(nonzero(b.gains())))))
}

// weightOf is the weight of a document, 1 where there are none, and ofPair the product of two.
func weightOf(weights []float64, d int) float64 {
	if weights == nil {
		return 1
	}
	return weights[d]
}

func ofPair(weights []float64, i, j int) float64 { return weightOf(weights, i) * weightOf(weights, j) }

// times is x multiplied by the weights of the documents, where there are any.
func (b *batch) times(x *G.Node) *G.Node {
	if b.DocumentWeights == nil {
		return x
	}
	return mul(x, b.DocumentWeights)
}
