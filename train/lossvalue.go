package train

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/graph"
)

// lossValues compute the loss of given scores.
type lossValues struct {
	loss *trainingLoss

	mu sync.Mutex
	by map[*datasets.Dataset]*lossValue
}

// perQuery returns the loss of every query of in, which is of d: NaN for queries that it learns nothing
// from. The losses that estimate an exact one are replaced by it, see [losses.ParseExact]; what
// others draw depends on the seed and the query alone.
func (l *lossValues) perQuery(d *datasets.Dataset, in metrics.Queries) ([]float64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.by[d]
	if v == nil {
		var err error
		if v, err = newLossValue(l.loss, d); err != nil {
			return nil, err
		}
		l.by[d] = v
	}
	perQuery := make([]float64, len(in.Offsets)-1)
	for q := range perQuery {
		loss, err := v.query(in.Scores, in.Offsets[q], in.Offsets[q+1], q)
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
		v.graphs.Close()
	}
	clear(l.by)
}

// A lossValue computes the loss of scores of the documents of one dataset.
type lossValue struct {
	data      *datasets.Dataset
	objective *graph.Objective
	labelFree bool // it has a value for label-free queries
	gains     []float32
	graphs    graph.Cache[*graph.Step]
	batch     graph.Batch
}

func newLossValue(l *trainingLoss, d *datasets.Dataset) (v *lossValue, err error) {
	unweighted := *d
	unweighted.QueryWeights, unweighted.BaseScores = nil, nil // the mean has the weights, and the scores have the base scores
	v = &lossValue{data: d, labelFree: l.learnsLabelFree(), objective: l.objective(&unweighted, len(l.discounts.Discounts))}
	if l.terms != nil {
		if v.objective.Loss, err = losses.ParseExact(l.settings.Loss); err != nil {
			return nil, err
		}
	}
	v.gains, err = l.gains(d)
	return v, err
}

// query returns the loss of the query of that number, which has the given rows.
func (v *lossValue) query(scores []float64, from, to, number int) (float64, error) {
	b := &v.batch
	if from == to || !v.labelFree && !slices.ContainsFunc(v.gains[from:to], func(g float32) bool { return g != 0 }) {
		return math.NaN(), nil
	}
	b.Rows = batches.Capacity(to - from)
	g, err := v.graphs.Get(graph.Size{Rows: b.Rows}, func() (*graph.Step, error) { return graph.NewLoss(v.objective, b.Rows) })
	if err != nil {
		return 0, err
	}
	b.Packed.Pack(v.data, batches.NoFeatures(v.data), []int{number}, b.Rows, 1)
	x := b.Packed.X[:0] // scores take the place of features
	for _, s := range scores[from:to] {
		x = append(x, float32(s))
	}
	b.Packed.X = batches.Padded(x, nil, b.Rows, 0)
	batches.PackGains(b, v.data, v.gains, number)
	v.objective.SetStep(uint64(number))
	loss, err := g.Loss(b, nil)
	if err == nil && !finite(loss) {
		err = fmt.Errorf("the loss is %v", loss)
	}
	return loss, err
}
