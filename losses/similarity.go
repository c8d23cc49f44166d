package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/intents"
	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// Similarity returns the loss E[mean cosine of the vectors of two documents that are shown] (the metric: Ziegler et al., WWW 2005).
//
// It is intra-list similarity, for diversity beside a loss for relevance: plrank-exact + 0.2*similarity. The expectation, under
// the Plackett–Luce policy of the scores, and its gradient are exact (docs/exact.md). The vector of a document is 1 for its group in
// Groups, or, where that is nil, for each of its intents in Intents: by groups the loss is the share of pairs that are alike. As many
// documents are shown as there are Discounts, whose values are not read. Labels do not count, and a query of one document has the
// loss 0.
func Similarity() Objective {
	return Objective{LabelFree: true, Vectors: true, labels: true, graph: similarity}
}

func similarity(b *batch) *G.Node {
	by, name := op.RowInts("groups", b.Groups), "losses: Similarity of groups"
	if b.Groups == nil {
		sets := given(b.Intents, "no groups and no intents: want Batch.Groups or Batch.Intents")
		by, name = op.RowSets("intents", sets), "losses: Similarity of intents"
	}
	return G.Must(op.Metric(name, "", b.Lists, func(l *op.List, lambda []float64) (float64, error) {
		groups, sets := l.Ints[1], []int(nil)
		if b.Groups == nil {
			groups, sets = nil, groups
			if err := intents.Check(sets, l.Len()); err != nil {
				return 0, err
			}
		}
		vectors, dimension := intents.Vectors(groups, sets, l.Len())
		there := l.Len()
		for d, weight := range l.Weights {
			if weight == 0 { // it is not there
				clear(vectors[d*dimension : (d+1)*dimension])
				there--
			}
		}
		shown := float64(min(len(l.Discounts), there))
		if shown < 2 {
			return 0, nil
		}
		return op.Own[plackett.Expectation](l).Similarity(l.X[0], vectors, dimension, counted(l.Discounts, func(int) float64 {
			return 2 / shown / (shown - 1)
		}), lambda)
	}, by, op.Weights(b.ownWeights()), op.Discounts(b.discounts())))
}
