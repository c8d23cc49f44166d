package losses

import (
	"errors"
	"fmt"
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
	*draws
	exactExposure, estimatedExposure *G.Node
	byScores                         *batch // see weighted

	// The parameter of the term at hand:
	number  float64
	sampled bool // its exposure is estimated
}

// draws are the rankings and the noise that all terms share.
type draws struct{ rankings, noise, exposure *G.Node }

// A builder makes the losses of the queries, [queries]. It panics with its errors.
type builder func(*batch) *G.Node

// prepare checks the weights of the documents.
func prepare(given Batch) (b *batch, err error) {
	defer caught(&err)
	b = &batch{Batch: given, draws: new(draws)}
	b.Discounts = slices.Clone(b.Discounts) // not the caller's, who may change them
	if b.DocumentWeights == nil {
		return b, nil
	}
	b.checkRows("document weights", b.DocumentWeights)
	b.DocumentWeights = notNegative(b.Lists, "document weight", b.DocumentWeights)
	return b, nil
}

// weighted is the batch for a loss whose derivatives by the scores are multiplied by the weights
// of the documents: the scores do so, and there are no other weights.
func (b *batch) weighted() *batch {
	if b.DocumentWeights == nil {
		return b
	}
	if b.byScores == nil {
		of := &batch{Batch: b.Batch, draws: b.draws}
		of.Lists.Scores, of.DocumentWeights = weighted(b.Lists, b.DocumentWeights), nil
		b.byScores = of
	}
	return b.byScores
}

// weighted is the scores, with derivatives that are multiplied by weights.
func weighted(l ops.Lists, weights *G.Node) *G.Node {
	f := op.ListFunc{
		Name: "losses: WeightedScores", Do: copyDocuments,
		VJP: func(l *op.List) error {
			floats.MulTo(l.Out(), l.X[1], l.Last())
			return nil
		},
	}
	return G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.AnyRows("document weights", weights)))
}

// checkRows reports lists without scores, and a node that does not have a number of
// their dtype for every row.
func (b *batch) checkRows(what string, n *G.Node) {
	scores := b.Lists.Scores
	switch {
	case scores == nil:
		panic(errors.New("no scores: Lists.Scores is nil"))
	case n == nil:
		panic(fmt.Errorf("no %s: the node is nil", what))
	case n.Dtype() != scores.Dtype() || !n.Shape().Eq(scores.Shape()):
		panic(fmt.Errorf("%s are %v of shape %v: want %v of shape %v, as the scores", what, n.Dtype(), n.Shape(), scores.Dtype(), scores.Shape()))
	}
}

func (b *batch) gains() *G.Node {
	b.checkRows("gains", b.Gains)
	return b.Gains
}

// finiteGains and gainsFromZero are the gains, with a check in every run that they are.
func (b *batch) finiteGains() *G.Node   { return finite(b.Lists, "gain", b.gains()) }
func (b *batch) gainsFromZero() *G.Node { return notNegative(b.Lists, "gain", b.gains()) }

func (b *batch) discounts() []float64 {
	if len(b.Discounts) == 0 {
		panic(errors.New("no discounts: want one for every rank that counts"))
	}
	return b.Discounts
}

func (b *batch) labels() *G.Node {
	if b.Labels == nil {
		panic(errors.New("no labels: Batch.Labels is nil, want the raw grades of the documents"))
	}
	b.checkRows("labels", b.Labels)
	return b.Labels
}

// finiteLabels and labelsFromZero are the labels, with a check in every run that they are.
func (b *batch) finiteLabels() *G.Node   { return finite(b.Lists, "label", b.labels()) }
func (b *batch) labelsFromZero() *G.Node { return notNegative(b.Lists, "label", b.labels()) }

// highest is the highest grade.
func (b *batch) highest() float64 {
	if b.HighestGrade == 0 {
		return 4
	}
	return b.HighestGrade
}

func (b *batch) groups() *G.Node {
	if b.Groups == nil {
		panic(errors.New("no groups: Batch.Groups is nil, want the group of every document"))
	}
	return b.Groups
}

// rankings are those that the gradient is estimated from.
func (b *batch) rankings() *G.Node {
	if b.Rankings != nil {
		return b.Rankings
	}
	return once(&b.draws.rankings, func() (*G.Node, error) { return ops.Rankings(b.Lists, b.Sampler) })
}

func (b *batch) noise() *G.Node {
	if b.Noise != nil {
		return b.Noise
	}
	return once(&b.draws.noise, func() (*G.Node, error) { return ops.Gumbel(b.Lists, b.Sampler) })
}

// exposure of every document: exact, or estimated from other rankings than its gradient, which
// would otherwise be biased for functions of it that are not linear.
func (b *batch) exposure() *G.Node {
	if !b.sampled {
		return once(&b.exactExposure, func() (*G.Node, error) { return ops.ExpectedExposure(b.Lists, b.discounts()) })
	}
	return once(&b.estimatedExposure, func() (*G.Node, error) {
		forGradient, sampler := b.rankings(), b.Exposure
		if sampler == nil {
			sampler = b.Sampler
		}
		rankings := once(&b.draws.exposure, func() (*G.Node, error) { return ops.Rankings(b.Lists, sampler) })
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

// times is x multiplied by the weights of the documents, where there are any.
func (b *batch) times(x *G.Node) *G.Node {
	if b.DocumentWeights == nil {
		return x
	}
	return mul(x, b.DocumentWeights)
}
