package train

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train/internal/graph"
)

// lossValues compute the loss of given scores.
type lossValues struct {
	loss *trainingLoss

	mu sync.Mutex
	by map[*datasets.Dataset]*lossValue
}

// of is the loss of every query of in, which is of d: NaN for those that it learns nothing
// from. The losses that estimate an exact one are replaced by it, see [losses.Objective]; what
// others draw depends on the seed and the query alone.
func (l *lossValues) of(d *datasets.Dataset, in metrics.Input) ([]float64, error) {
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
		v.graphs.Close()
	}
	clear(l.by)
}

// A lossValue computes the loss of scores of the documents of one dataset.
type lossValue struct {
	objective *graph.Objective
	labelFree bool // it has a value for label-free queries
	gains     []float32
	graphs    graph.Cache[*graph.Step]
	batch     graph.Batch
}

func newLossValue(l *trainingLoss, d *datasets.Dataset) (*lossValue, error) {
	v := &lossValue{labelFree: l.learnsLabelFree(), graphs: graph.Cache[*graph.Step]{}, objective: l.objective(d, l.settings.Cutoff)}
	v.objective.QueryWeights = false // the mean has them
	var err error
	if !l.custom {
		if v.objective.Loss, err = losses.Objective(l.settings.Loss); err != nil {
			return nil, err
		}
	}
	v.gains, err = l.gains(d)
	return v, err
}

// query is the loss of the query that has the given rows.
func (v *lossValue) query(d *datasets.Dataset, in metrics.Input, from, to int, number uint64) (float64, error) {
	gains := v.gains[from:to]
	if from == to || !v.labelFree && !slices.ContainsFunc(gains, func(g float32) bool { return g > 0 }) {
		return math.NaN(), nil
	}
	b := &v.batch
	b.Rows = datasets.Capacity(to - from)
	g, err := v.graphs.Get(b.Rows, func() (*graph.Step, error) { return graph.NewLoss(v.objective, b.Rows) })
	if err != nil {
		return 0, err
	}
	b.Packed.X = b.Packed.X[:0]
	for _, s := range in.Scores[from:to] {
		b.Packed.X = append(b.Packed.X, float32(s))
	}
	b.Packed.X = padded(b.Packed.X, nil, b.Rows, 0)
	b.Gains = padded(b.Gains[:0], gains, b.Rows, 0)
	b.Packed.Labels = padded(b.Packed.Labels[:0], d.Labels[from:to], b.Rows, 0)
	b.Packed.Offsets = append(b.Packed.Offsets[:0], 0, to-from)
	if d.Groups != nil {
		b.Packed.Groups = padded(b.Packed.Groups[:0], d.Groups[from:to], b.Rows, -1)
	}
	if d.Logged != nil {
		b.Packed.Logged = padded(b.Packed.Logged[:0], d.Logged[from:to], b.Rows, 0)
	}
	if d.Weights != nil {
		b.Packed.Weights = padded(b.Packed.Weights[:0], d.Weights[from:to], b.Rows, 0)
	}
	v.objective.SetStep(number)
	loss, err := g.Run(b, nil)
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
