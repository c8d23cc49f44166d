package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ops"
)

// lossMeasure stands for the loss among measures, until bound says of which data.
var lossMeasure = metrics.NewMeasure(LossMetric, true, nil)

func isLoss(m metrics.Measure) bool { return m.String() == LossMetric }

// bound is list with the loss made one of d.
func (p *parsed) bound(d *datasets.Dataset, list []metrics.Measure) []metrics.Measure {
	i := slices.IndexFunc(list, isLoss)
	if i < 0 {
		return list
	}
	list = slices.Clone(list)
	list[i] = metrics.NewMeasure(LossMetric, true, func(in metrics.Input) ([]float64, error) { return p.lossValues.of(p, d, in) }).TieAware()
	return list
}

// mean is that of the estimates of a measure. Label-free queries that a loss learns nothing
// from are left out of its mean, as they are in training, whatever the convention.
func mean(m metrics.Measure, in metrics.Input, e metrics.Estimate) (metrics.Summary, error) {
	if isLoss(m) {
		in.LabelFree = metrics.LabelFreeSkip
	}
	return m.Mean(in, e)
}

// lossValues compute the loss of given scores.
type lossValues struct {
	mu sync.Mutex
	by map[*datasets.Dataset]*lossValue
}

// of is the loss of every query of in, which is of d: NaN for those that it learns nothing
// from. The losses that estimate an exact one are replaced by it, see [losses.Objective]; what
// others draw depends on the seed and the query alone.
func (l *lossValues) of(p *parsed, d *datasets.Dataset, in metrics.Input) ([]float64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.by[d]
	if v == nil {
		var err error
		if v, err = p.newLossValue(d); err != nil {
			return nil, err
		}
		l.by[d] = v
	}
	perQuery := make([]float64, len(in.Offsets)-1)
	for q := range perQuery {
		from, to := in.Offsets[q], in.Offsets[q+1]
		loss, err := v.query(d, in, from, to, uint64(q))
		if err == nil && math.IsInf(loss, 0) {
			err = fmt.Errorf("the loss is %v", loss)
		}
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", d.QueryIDs[q], err)
		}
		if d.QueryWeights != nil && in.QueryWeights == nil { // else the mean has them
			loss *= float64(d.QueryWeights[q])
		}
		perQuery[q] = loss
	}
	return perQuery, nil
}

// close frees the memory of the graphs.
func (l *lossValues) close() {
	for _, v := range l.by {
		v.graphs.close()
	}
	clear(l.by)
}

// A lossValue computes the loss of scores of the documents of one dataset.
type lossValue struct {
	objective
	labelFree bool // it has a value for label-free queries
	gains     []float32
	graphs    graphs[*stepGraph]
	batch     batch
}

func (p *parsed) newLossValue(d *datasets.Dataset) (*lossValue, error) {
	v := &lossValue{labelFree: p.learnsLabelFree(), graphs: graphs[*stepGraph]{}}
	v.objective = objective{
		loss:      p.loss,
		sampler:   ops.NewSampler(p.Samples.most(), p.Cutoff, p.Seed),
		exposure:  ops.NewSampler(exposureSamples, p.Cutoff, ^p.Seed),
		discounts: p.optimised.Discounts, highestGrade: p.lossGrade,
		grouped: d.Groups != nil, documentWeights: d.Weights != nil,
	}
	var err error
	if p.parts.Loss == nil {
		if v.loss, err = losses.Objective(p.Loss); err != nil {
			return nil, err
		}
	}
	v.gains, err = p.trainingGains(d)
	return v, err
}

// query is the loss of the query that has the given rows.
func (v *lossValue) query(d *datasets.Dataset, in metrics.Input, from, to int, number uint64) (float64, error) {
	gains := v.gains[from:to]
	if from == to || !v.labelFree && !slices.ContainsFunc(gains, func(g float32) bool { return g > 0 }) {
		return math.NaN(), nil
	}
	b := &v.batch
	b.rows = datasets.Capacity(to - from)
	g, err := v.graphs.get(b.rows, func() (*stepGraph, error) { return newLossGraph(&v.objective, b.rows) })
	if err != nil {
		return 0, err
	}
	b.packed.X = b.packed.X[:0]
	for _, s := range in.Scores[from:to] {
		b.packed.X = append(b.packed.X, float32(s))
	}
	b.packed.X = padded(b.packed.X, nil, b.rows, 0)
	b.gains = padded(b.gains[:0], gains, b.rows, 0)
	b.packed.Labels = padded(b.packed.Labels[:0], d.Labels[from:to], b.rows, 0)
	b.packed.Offsets = append(b.packed.Offsets[:0], 0, to-from)
	if d.Groups != nil {
		b.packed.Groups = padded(b.packed.Groups[:0], d.Groups[from:to], b.rows, -1)
	}
	if d.Weights != nil {
		b.packed.Weights = padded(b.packed.Weights[:0], d.Weights[from:to], b.rows, 0)
	}
	v.setStep(number)
	loss, err := g.run(b, nil)
	if err == nil && math.IsNaN(loss) {
		err = fmt.Errorf("the loss is %v", loss)
	}
	return loss, err
}

// padded is to with values behind it, and then as many of fill as make it that long.
func padded[T any](to, values []T, length int, fill T) []T {
	for to = append(to, values...); len(to) < length; {
		to = append(to, fill)
	}
	return to
}

// newLossGraph is a stepGraph of one query whose scores take the place of its features, and
// which has no gradient.
func newLossGraph(o *objective, rows int) (*stepGraph, error) {
	ctx := context.Background()
	g := G.NewGraph()
	building.Lock()
	s := newInputs(g, o, rows, 1)
	s.x = G.NewVector(g, tensor.Float32, G.WithShape(rows), G.WithName("scores"))
	s.members = 1
	cost, err := s.cost(ctx, G.Nodes{s.x}, o)
	building.Unlock()
	if err == nil {
		s.vm, err = compiled(ctx, g, s.x, s.outputs(cost))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}
