package losses

import (
	"errors"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// A batch is a Batch with what the terms of a weighted sum share: what is drawn, and
// the exposure. Its gains are multiplied by the weights of the documents, and these are
// checked.
type batch struct {
	Batch
	drawnRankings, drawnNoise, exactExposure, estimatedExposure *G.Node
}

// newBatch applies the weights of the documents, and checks that there is room for the
// terms.
func newBatch(given Batch, terms []Term) (b *batch, err error) {
	b = &batch{Batch: given}
	if given.DocumentWeights != nil {
		if err := b.weigh(); err != nil {
			return nil, err
		}
	}
	var scales []lossops.Scale
	for _, t := range terms {
		if t.Weight != 0 {
			scales = append(scales, t.scale(b))
		}
	}
	b.Lists.Scores, err = lossops.InRange(b.Lists, b.QueryWeights, scales)
	return b, err
}

// weigh applies the weights of the documents.
func (b *batch) weigh() (err error) {
	if err := checkRows(b.Lists, "document weights", b.DocumentWeights); err != nil {
		return err
	}
	defer caught(&err)
	b.DocumentWeights = notNegative(b.Lists, "document weight", b.DocumentWeights)
	if b.Gains != nil {
		if err := checkRows(b.Lists, "gains", b.Gains); err != nil {
			return err
		}
		b.Gains = mul(finite(b.Lists, "gain", b.Gains), b.DocumentWeights)
	}
	return nil
}

// mean makes a loss of the losses of the queries, with their weights.
func (b *batch) mean(perQuery *G.Node) (loss *G.Node, err error) {
	defer caught(&err)
	if b.QueryWeights != nil {
		perQuery = mul(perQuery, G.Must(lossops.CheckedQueries(b.Lists, "query weight", b.QueryWeights)))
	}
	return ops.MeanOverQueries(b.Lists, perQuery)
}

// A builder makes the losses of the queries, [queries], of the parts of a batch that it
// needs.
type builder func(*batch) (*G.Node, error)

// once makes a node where there is none.
func once(n **G.Node, build func() (*G.Node, error)) (*G.Node, error) {
	var err error
	if *n == nil {
		*n, err = build()
	}
	return *n, err
}

// rankings are those that the gradient is estimated from.
func (b *batch) rankings() (*G.Node, error) {
	return once(&b.drawnRankings, func() (*G.Node, error) { return ops.Rankings(b.Lists, b.Sampler) })
}

func (b *batch) noise() (*G.Node, error) {
	return once(&b.drawnNoise, func() (*G.Node, error) { return ops.Gumbel(b.Lists, b.Sampler) })
}

// exposure of every document, exactly.
func (b *batch) exposure() (*G.Node, error) {
	return once(&b.exactExposure, func() (*G.Node, error) { return ops.ExpectedExposure(b.Lists, b.Discounts) })
}

// sampledExposure is estimated from rankings of its own: the gradient of a function of it
// that is not linear would otherwise be biased.
func (b *batch) sampledExposure() (*G.Node, error) {
	return once(&b.estimatedExposure, func() (*G.Node, error) {
		forGradient, err := b.rankings()
		if err != nil {
			return nil, err
		}
		sampler := b.Exposure
		if sampler == nil {
			sampler = b.Sampler
		}
		rankings, err := ops.Rankings(b.Lists, sampler)
		if err != nil {
			return nil, err
		}
		return ops.Exposure(b.Lists, rankings, forGradient, b.Discounts)
	})
}

var (
	errNoDiscounts = errors.New("no discounts: want one for every rank that counts")

	errNoLabels = errors.New("no labels: Batch.Labels is nil, want the raw grades of the documents")
	errNoGroups = errors.New("no groups: Batch.Groups is nil, want the group of every document")
)

func onRankings(loss func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) {
		rankings, err := b.rankings()
		if err != nil {
			return nil, err
		}
		return loss(b.Lists, b.Gains, rankings, b.Discounts)
	}
}

func onNoise(loss func(l ops.Lists, gains, noise *G.Node, discounts []float64) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) {
		noise, err := b.noise()
		if err != nil {
			return nil, err
		}
		return loss(b.Lists, b.Gains, noise, b.Discounts)
	}
}

func onGains(loss func(l ops.Lists, gains *G.Node) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) { return loss(b.Lists, b.Gains) }
}

func onDiscounts(loss func(l ops.Lists, gains *G.Node, discounts []float64) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) { return loss(b.Lists, b.Gains, b.Discounts) }
}

func onLabels(loss func(l ops.Lists, labels, weights *G.Node) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) {
		if b.Labels == nil {
			return nil, errNoLabels
		}
		return loss(b.Lists, b.Labels, b.DocumentWeights)
	}
}

func buildListMLE(b *batch) (*G.Node, error) {
	ideal, err := ops.IdealRankings(b.Lists, b.Gains, b.Sampler)
	if err != nil {
		return nil, err
	}
	return b.withGains(listMLE(b.Lists, ideal))
}

// withGains is the losses of the queries, and 0 for those without a gain: for losses whose
// target is nothing but noise there.
func (b *batch) withGains(perQuery *G.Node, err error) (*G.Node, error) {
	if err != nil {
		return nil, err
	}
	return G.HadamardProd(perQuery, nonzero(total(b.Lists, nonzero(b.Gains))))
}

func buildApproxNDCG(temperature float64) builder {
	return func(b *batch) (*G.Node, error) { return approxNDCG(b.Lists, b.Gains, temperature) }
}

func buildGumbelApproxNDCG(temperature float64) builder {
	return func(b *batch) (*G.Node, error) {
		noise, err := b.noise()
		if err != nil {
			return nil, err
		}
		return gumbelApproxNDCG(b.Lists, b.Gains, noise, temperature)
	}
}

func buildXENDCG(b *batch) (*G.Node, error) {
	noise, err := b.noise()
	if err != nil {
		return nil, err
	}
	return b.withGains(xendcg(b.Lists, b.Gains, noise))
}

func buildNeuralNDCG(temperature float64) builder {
	return func(b *batch) (*G.Node, error) { return neuralNDCG(b.Lists, b.Gains, b.Discounts, temperature) }
}

func buildPiRank(temperature float64) builder {
	return func(b *batch) (*G.Node, error) { return piRank(b.Lists, b.Gains, b.Discounts, temperature) }
}

// onGrades are the losses that go by the labels and the highest of them.
func onGrades(loss func(l ops.Lists, labels, weights *G.Node, highest float64) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) {
		highest := b.HighestGrade
		if highest == 0 {
			highest = 4
		}
		return onLabels(func(l ops.Lists, labels, weights *G.Node) (*G.Node, error) {
			return loss(l, labels, weights, highest)
		})(b)
	}
}

// onExposure builds a loss of the exposure, exact or sampled.
func onExposure(exposure func(*batch) (*G.Node, error), loss func(b *batch, exposure *G.Node) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) {
		e, err := exposure(b)
		if err != nil {
			return nil, err
		}
		return loss(b, e)
	}
}

func buildDisparity(b *batch, exposure *G.Node) (*G.Node, error) {
	return disparity(b.Lists, b.Gains, exposure)
}

func buildExposureLoss(b *batch, exposure *G.Node) (*G.Node, error) {
	return exposureLoss(b.Lists, b.Gains, exposure, b.Discounts)
}

func buildGroupExposure(b *batch, exposure *G.Node) (*G.Node, error) {
	if b.Groups == nil {
		return nil, errNoGroups
	}
	return groupExposure(b.Lists, b.Groups, exposure)
}

func buildGroupTreatment(b *batch, exposure *G.Node) (*G.Node, error) {
	if b.Groups == nil {
		return nil, errNoGroups
	}
	return groupTreatment(b.Lists, b.Gains, b.Groups, exposure)
}

// disparityBy is the disparity of sampled exposure, with the gradient by another loss for
// an expected metric. Its value is that loss's.
func disparityBy(loss builder) builder {
	return onExposure((*batch).sampledExposure, func(b *batch, exposure *G.Node) (*G.Node, error) {
		rewards, err := DisparityGains(b.Lists, b.Gains, exposure)
		if err != nil {
			return nil, err
		}
		gains := b.Gains
		defer func() { b.Gains = gains }() // of the next terms of a sum
		b.Gains = rewards
		return loss(b)
	})
}
