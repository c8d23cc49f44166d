package losses

import (
	"errors"
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
)

// A batch is a Batch with what the terms of a weighted sum share: what is drawn, and
// the exposure.
type batch struct {
	Batch
	drawnRankings, drawnNoise, estimatedExposure *G.Node
}

// A builder makes a loss of the parts of a batch that it needs.
type builder func(*batch) (*G.Node, error)

func (f builder) build(name string, b *batch) (*G.Node, error) {
	loss, err := f(b)
	if err != nil {
		return nil, fmt.Errorf("losses: %s: %w", name, err)
	}
	return loss, nil
}

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

// exposure of every document, estimated from rankings of its own: the gradient of
// a function of it that is not linear would otherwise be biased.
func (b *batch) exposure() (*G.Node, error) {
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

func onLabels(loss func(l ops.Lists, labels *G.Node) (*G.Node, error)) builder {
	return func(b *batch) (*G.Node, error) {
		if b.Labels == nil {
			return nil, errNoLabels
		}
		return loss(b.Lists, b.Labels)
	}
}

func listMLE(b *batch) (*G.Node, error) {
	ideal, err := ops.IdealRankings(b.Lists, b.Gains, b.Sampler)
	if err != nil {
		return nil, err
	}
	return ListMLE(b.Lists, ideal)
}

func approxNDCG(temperature float64) builder {
	return func(b *batch) (*G.Node, error) { return ApproxNDCG(b.Lists, b.Gains, temperature) }
}

func piRank(temperature float64) builder {
	return func(b *batch) (*G.Node, error) { return PiRank(b.Lists, b.Gains, b.Discounts, temperature) }
}

func ordinal(b *batch) (*G.Node, error) {
	highest := b.HighestGrade
	if highest == 0 {
		highest = 4
	}
	return onLabels(func(l ops.Lists, labels *G.Node) (*G.Node, error) { return Ordinal(l, labels, highest) })(b)
}

func disparity(b *batch) (*G.Node, error) {
	exposure, err := b.exposure()
	if err != nil {
		return nil, err
	}
	return Disparity(b.Lists, b.Gains, exposure)
}

// disparityBy is the disparity with the gradient by another loss for an expected
// metric. Its value is that loss's.
func disparityBy(loss builder) builder {
	return func(b *batch) (*G.Node, error) {
		exposure, err := b.exposure()
		if err != nil {
			return nil, err
		}
		gains := b.Gains
		defer func() { b.Gains = gains }() // of the next terms of a sum
		if b.Gains, err = DisparityGains(b.Lists, gains, exposure); err != nil {
			return nil, err
		}
		return loss(b)
	}
}

func exposureLoss(b *batch) (*G.Node, error) {
	exposure, err := b.exposure()
	if err != nil {
		return nil, err
	}
	return ExposureLoss(b.Lists, b.Gains, exposure, b.Discounts)
}

func groupExposure(b *batch) (*G.Node, error) {
	if b.Groups == nil {
		return nil, errNoGroups
	}
	exposure, err := b.exposure()
	if err != nil {
		return nil, err
	}
	return GroupExposure(b.Lists, b.Groups, exposure)
}

func groupTreatment(b *batch) (*G.Node, error) {
	if b.Groups == nil {
		return nil, errNoGroups
	}
	exposure, err := b.exposure()
	if err != nil {
		return nil, err
	}
	return GroupTreatment(b.Lists, b.Gains, b.Groups, exposure)
}
